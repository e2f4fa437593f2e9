"""A salvage in bulk gives each replica to one Spark task."""
