"""Reports show what a run found and did: as JSON, tables, pages and metrics."""
