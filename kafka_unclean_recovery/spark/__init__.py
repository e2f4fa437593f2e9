"""The disks of thousands of brokers as one Spark job; the only part that imports pyspark.

The scanner, the planner and the salvage are those of every other command: Spark spreads them over
executors and does the set work between.
"""
