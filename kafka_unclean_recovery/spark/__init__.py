"""Spark scans the disks of thousands of brokers as one job; only this package imports pyspark.

The scanner, the planner and the salvage are those of every other command. Spark spreads them over
executors, and does the set operations between them.
"""
