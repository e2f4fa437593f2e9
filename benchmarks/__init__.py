"""Each module prints one JSON object: the figure, what it was measured against, the ratio."""
