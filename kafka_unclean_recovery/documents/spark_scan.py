"""scan.json, the head of a scan whose rows are Parquet."""

from __future__ import annotations

from typing import Literal

from kafka_unclean_recovery.documents.replica_info import MetadataJson, WholeDiskJson
from kafka_unclean_recovery.documents.values import BrokerIds, Entry
from kafka_unclean_recovery.mechanisms import ScanMode


class SparkScanJson(Entry, frozen=True, kw_only=True):
    """What holds for the tables replicas and partitions beside it. It is written last: without it
    the scan has not ended.

    cluster_id: Null where no log directory names one.
    scanned_at: When the scan began, ISO 8601 with the offset from UTC.
    brokers: Those with a log directory that was read.
    metadata: How far the metadata log reaches that the states of partitions are from; null where
        there is none.
    problems: What could not be looked at, and what is odd about log directories as a whole.
    whole: Brokers of which every log directory was read.
    """

    format_version: Literal[1] = 1
    kind: Literal["spark-scan"] = "spark-scan"
    cluster_id: str | None
    scanned_at: str
    mode: ScanMode
    brokers: BrokerIds
    metadata: MetadataJson | None
    problems: tuple[str, ...]
    whole: tuple[WholeDiskJson, ...] = ()
