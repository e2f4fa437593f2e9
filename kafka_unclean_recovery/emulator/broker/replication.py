"""A follower's fetch from its leader runs in process here: the request, the answer and its effect
on each side.

Source: kafka.server.AbstractFetcherThread (truncation on the answer's diverging epoch, offsets out
of range) and kafka.cluster.Partition (updateFollowerFetchState).
"""

from __future__ import annotations

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.log import truncation_point
from kafka_unclean_recovery.emulator.broker.replica import (
    Reading,
    Replica,
    committed_end,
    in_sync,
    note_fetch,
    read,
)
from kafka_unclean_recovery.log_dir.errors import BadFormat

# This is the default of replica.fetch.max.bytes.
_MAX_BYTES = 1 << 20


def fetch_once(
    leader: Broker, replica: Replica, follower: Broker, now: float, lag: int = 0
) -> bool:
    """Fetch once and return whether either side has changed. `replica` is the leader's. A follower
    with a lag leaves at least so many records at the log end unfetched."""
    copy = follower.replicas[replica.key]
    log, known = copy.log, replica.followers[follower.id]
    before = (known.end_offset, log.end_offset, log.epochs[-1:], copy.high_watermark)
    offset = log.end_offset
    end = replica.log.end_offset - lag
    reading = read(replica, offset, log.latest_epoch, end, _MAX_BYTES)
    if not reading.error and reading.diverging is None:
        note_fetch(replica, follower.id, offset, now)
        known.broker_epoch = follower.epoch
    _take(follower, copy, leader, replica, reading)
    return before != (known.end_offset, log.end_offset, log.epochs[-1:], copy.high_watermark)


def _take(
    follower: Broker, copy: Replica, leader: Broker, replica: Replica, reading: Reading
) -> None:
    if reading.diverging is not None:
        follower.truncate(copy, truncation_point(copy.log, reading.diverging))
    elif reading.error:
        # The offset is out of range: the follower's log is longer than the leader's, or has epochs
        # that the leader never heard of.
        follower.truncate(copy, min(copy.log.end_offset, replica.log.end_offset))
    else:
        records = leader.records(replica, reading)
        if records and not _appended(follower, copy, records):
            return
        copy.high_watermark = max(
            copy.high_watermark, min(replica.high_watermark, copy.log.end_offset)
        )


def _appended(follower: Broker, copy: Replica, records: bytes) -> bool:
    """Append fetched records, and return False if they are damaged: the follower takes none of them
    and asks again and again."""
    try:
        follower.append(copy, records)
    except BadFormat:
        return False
    return True


def joining(replica: Replica, follower: int) -> bool:
    """Return whether the leader proposes an ISR with this follower added."""
    return follower not in replica.isr and in_sync(replica, follower)


def advance(replica: Replica, min_isr: int) -> bool:
    """Raise the leader's high watermark as far as it may go, and return whether it rose."""
    before, replica.high_watermark = replica.high_watermark, committed_end(replica, min_isr)
    return replica.high_watermark > before
