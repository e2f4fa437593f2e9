"""DescribeLogDirs (35) lists the broker's log directories and the bytes of each replica in them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from kafka.protocol.admin.cluster import DescribeLogDirsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.replica import Replica
from kafka_unclean_recovery.emulator.disks.log_directories import LogDirectory
from kafka_unclean_recovery.kafka_names import Errors


async def answer(context: Context, request: Any) -> Fields:
    wanted = list(_wanted(context, request))
    directories = context.broker.directories
    return {"results": [_result(context.broker, each, wanted) for each in directories]}


def _result(broker: Broker, directory: LogDirectory, wanted: Iterable[Replica]) -> Fields:
    if not directory.online:
        return {
            "log_dir": str(directory.path),
            "error_code": Errors.KAFKA_STORAGE_ERROR,
            "topics": [],
        }
    usage = shutil.disk_usage(directory.path)
    return {
        "log_dir": str(directory.path),
        "topics": _topics(r for r in wanted if broker.log_directory_of(r) is directory),
        "total_bytes": usage.total,
        "usable_bytes": usage.free,
    }


def _wanted(context: Context, request: Any) -> Iterable[Replica]:
    replicas = context.broker.replicas.values()
    if request.topics is None:
        return replicas
    named = {(topic.topic, number) for topic in request.topics for number in topic.partitions}
    return [replica for replica in replicas if replica.topic_partition in named]


def _topics(replicas: Iterable[Replica]) -> list[Fields]:
    ordered = sorted(replicas, key=lambda replica: replica.topic_partition)
    return [
        {"name": topic, "partitions": [_partition(replica) for replica in of_topic]}
        for topic, of_topic in groupby(ordered, key=lambda replica: replica.topic)
    ]


def _partition(replica: Replica) -> Fields:
    """Return a replica's size, and its lag behind the high watermark, as Kafka's is."""
    return {
        "partition_index": replica.key.partition,
        "partition_size": replica.log.size,
        "offset_lag": max(0, replica.high_watermark - replica.log.end_offset),
        "is_future_key": False,
    }


API = Api(DescribeLogDirsRequest, 1, 4, answer)
