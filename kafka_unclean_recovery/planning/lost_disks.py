"""Find what it means that the disks of a dead broker are lost for good: nothing is hoped of it, and
an empty disk under its id may be worse than none; no I/O."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from kafka_unclean_recovery.model import Candidate, Finding, PartitionState, ReplicaLog, Severity
from kafka_unclean_recovery.planning.led_on_return import led_on_return
from kafka_unclean_recovery.planning.reach import records_beyond
from kafka_unclean_recovery.planning.started_replica import empty_log
from kafka_unclean_recovery.wording import count_text

LOST_DISK = "disk_is_lost"


def lost_disks(
    state: PartitionState,
    logs: Sequence[ReplicaLog],
    ranking: Sequence[Candidate],
    gone: Container[int],
) -> Iterator[Finding]:
    """Yield a finding for each dead replica on a lost disk. gone: brokers whose disks are lost, as
    the operator says; a log of theirs was scanned before that."""
    leader = ranking[0].log if ranking else None
    for log in logs:
        if log.live or log.broker not in gone:
            continue
        severity, what = _what_it_held(log, leader)
        said = f"the disks of broker {log.broker} are lost for good (--gone): {what}"
        yield Finding(LOST_DISK, severity, said + _trap(state, log.broker, logs))


def _what_it_held(log: ReplicaLog, leader: ReplicaLog | None) -> tuple[Severity, str]:
    records = None if leader is None else records_beyond(log, leader)
    if records is None or not log.sure:
        return Severity.UNKNOWN, "what only they held is lost, and nobody knows how much that is"
    if not records:
        return Severity.NOTICE, "they held nothing beyond the designated log when they were scanned"
    what = f"{count_text(records, 'record')} beyond the designated log"
    return Severity.LOSS, f"they held {what} when they were scanned, which are lost with them"


def _trap(state: PartitionState, broker: int, logs: Sequence[ReplicaLog]) -> str:
    """Return what an empty disk under the id of the broker does before another one leads; "" where
    it cuts nobody."""
    others = [log for log in logs if log.broker != broker]
    led = led_on_return(state, empty_log(broker), others, clean=False)
    if led is None or not led.cuts.better:
        return ""
    return f". Start no broker with empty disks under its id before another one leads: {led.text}"
