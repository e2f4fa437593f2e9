"""One tail is fetched from the broker that holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.replica_fetch import Fetched, fetch_records
from kafka_unclean_recovery.cluster.wire.error_codes import PASSING, error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.model import Broker
from kafka_unclean_recovery.salvage.live.fetched_log import FetchedLog

FETCH_BYTES = 4 << 20
_PAUSE_SECONDS = 0.2


class TailLost(Exception):
    """The tail could not be had whole; the message says why."""


async def fetch_tail(
    nodes: Nodes,
    broker: Broker,
    log: FetchedLog,
    deadline: Deadline,
    patience_seconds: float,
    came: Callable[[int], None],
) -> None:
    """Fetch the whole tail into `log`. The broker may take `patience_seconds` for each step
    forward; `came` is told how many bytes each step brought.

    Raises TailLost when the broker answers with anything but the tail, ConnectionFailed when it
    does not answer any more, OSError when the log can't be written. What came before the error is
    in the log.
    """
    patience = deadline.within(patience_seconds)
    most = FETCH_BYTES
    while not log.whole:
        answer = await _fetch(nodes, broker, log, most, patience)
        if not isinstance(answer, Fetched):
            # A quota counts the whole answer, and an answer this large may never fit into it.
            most = max(1, most // 2)
        if not isinstance(answer, Fetched) or answer.error in PASSING:
            if patience.expired:
                raise _stuck(answer, log)
            await asyncio.sleep(min(_PAUSE_SECONDS, patience.remaining()))
            continue
        before = log.size
        _take(answer, log)
        came(log.size - before)
        patience = deadline.within(patience_seconds)


async def _fetch(
    nodes: Nodes, broker: Broker, log: FetchedLog, most: int, patience: Deadline
) -> Fetched | ConnectionFailed | None:
    """Ask once. Return None when a quota kept the answer back, and the failure when the connection
    failed, unless it was by authentication, which is raised."""
    try:
        connection = await nodes.broker(broker, patience)
        where = (log.loser.topic_partition, log.next_offset, most)
        return await fetch_records(connection, *where, patience)
    except ConnectionFailed as error:
        if error.is_authentication:
            raise
        return error


def _take(fetched: Fetched, log: FetchedLog) -> None:
    if fetched.error == Errors.TOPIC_AUTHORIZATION_FAILED:
        raise TailLost(f"{error_name(fetched.error)}: grant Topic:READ")
    if fetched.error != Errors.NONE:
        raise TailLost(f"{error_name(fetched.error)} at offset {log.next_offset}")
    if not fetched.records:
        end = log.loser.end_offset
        raise TailLost(f"its log ends at {log.next_offset}, it was seen to reach {end}")
    try:
        log.add(fetched.records)
    except BadFormat as error:
        raise TailLost(str(error)) from None


def _stuck(answer: Fetched | ConnectionFailed | None, log: FetchedLog) -> Exception:
    if isinstance(answer, ConnectionFailed):
        return answer.again()
    why = "a quota" if answer is None else error_name(answer.error)
    return TailLost(f"it was held up at offset {log.next_offset} by {why}")
