"""Log directories in a notebook or a script: python examples/explore_log_dirs.py DIRECTORY...

Run by itself it has a local session of its own; by spark-submit, that of the cluster.
"""

from __future__ import annotations

import sys

from pyspark.sql import functions as f

from kafka_unclean_recovery.spark.notebook.data_source import register
from kafka_unclean_recovery.spark.session import session


def main(paths: list[str]) -> None:
    with session(None, {}) as spark:
        register(spark)
        replicas = spark.read.format("kafka_log_dirs").option("mode", "recover").load(paths)

        # What each disk holds of each topic, how far it reaches, and what is not to be trusted.
        replicas.groupBy("broker", "topic").agg(
            f.count("*").alias("replicas"),
            f.sum("size").alias("bytes"),
            f.max("log_end_offset").alias("longest"),
            f.count_if(f.col("trust") != "trusted").alias("not_trusted"),
        ).orderBy("broker", "topic").show(truncate=False)

        # Where a log ends at damage. Only the replicas of this topic are opened.
        orders = replicas.where("topic = 'orders'")
        orders.where("damage is not null").select("broker", "partition", "damage").show(
            truncate=False
        )


if __name__ == "__main__":
    main(sys.argv[1:])
