"""kafka-unclean-recovery spark reads the disks of thousands of brokers with Spark jobs."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_unclean_recovery.cli.command import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Do what scan-log-dirs, plan and salvage do, on the executors of a Spark cluster.

    Needs pip install 'kafka-unclean-recovery[spark]'. Executors need pyspark, pyarrow and pandas;
    this package is sent to them.
    """


COMMAND = Command(Options, None)
