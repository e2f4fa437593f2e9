"""Plans over any number of partitions, by Spark."""
