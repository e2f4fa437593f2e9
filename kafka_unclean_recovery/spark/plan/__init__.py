"""Spark makes plans over any number of partitions."""
