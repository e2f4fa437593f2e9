"""Read the lineages of replicas by their probes (lineage_probe.py), over one connection."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_unclean_recovery.cluster.requests.asking import Portion
from kafka_unclean_recovery.cluster.requests.replica_probe import epoch_ends, watermarks
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.transport.lineage_probe import LineageProbe

# Kafka answers -1 where a header field has no value.
_NO_OFFSET = -1

Probes = Mapping[TopicPartition, LineageProbe]
"""The probes by partition, sorted by topic."""


async def read_lineages(connection: Connection, probes: Probes, deadline: Deadline) -> None:
    """Ask until no probe has a question left, or no more answers come (see
    LineageProbe.unanswered). Raises ConnectionFailed."""
    portion = Portion()
    await _read_epochs(connection, probes, deadline, portion)
    await _read_headers(connection, probes, deadline, portion)


def known_offset(offset: int | None) -> int | None:
    return None if offset == _NO_OFFSET else offset


async def _read_epochs(
    connection: Connection, probes: Probes, deadline: Deadline, portion: Portion
) -> None:
    """Send rounds of one request each, for the replicas that have a question left."""
    asking = {tp: probe.ask for tp, probe in probes.items() if probe.ask is not None}
    while asking:
        answers = await epoch_ends(connection, asking, deadline, portion)
        for tp, answer in answers.items():
            probes[tp].tell(answer)
        asking = {tp: probe.ask for tp in answers if (probe := probes[tp]).ask is not None}


async def _read_headers(
    connection: Connection, probes: Probes, deadline: Deadline, portion: Portion
) -> None:
    """Read high watermark and log start of replicas that answered no epoch, mostly empty ones."""
    silent = {
        tp: probe.log_end_offset
        for tp, probe in probes.items()
        if probe.log_start_offset is None and probe.problem is None and probe.ask is None
    }
    headers = await watermarks(connection, silent, deadline, portion) if silent else {}
    for tp, header in headers.items():
        probe = probes[tp]
        if header.error == Errors.NONE:
            probe.high_watermark = header.high_watermark
            probe.log_start_offset = known_offset(header.log_start_offset)
        else:
            probe.error, probe.problem = header.error, error_name(header.error)
