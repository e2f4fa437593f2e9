"""Hanging transactions are ended with their coordinators' verdict, each through its leader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.transactions import describe_producers, write_marker
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Broker, TopicPartition


@dataclass(frozen=True, slots=True)
class Ended:
    """The result for one transaction. problem: why no marker is known to have been written, None
    when one was."""

    hanging: Hanging
    problem: str | None


async def end_transactions(
    nodes: Nodes,
    leaders: Mapping[TopicPartition, Broker],
    chosen: Iterable[Hanging],
    timeout: float,
    going_on: Callable[[], bool],
) -> list[Ended]:
    """Write a marker for each of `chosen`, one after the other; each has a sure verdict.

    leaders: those that are live. timeout: seconds for each transaction. `going_on` is asked before
    each transaction, and ends the work when it is false.
    """
    done = []
    for each in chosen:
        if not going_on():
            break
        assert each.verdict.sure
        leader = leaders.get(each.transaction.topic_partition)
        if leader is None:
            done.append(Ended(each, "its leader is not live"))
        else:
            problem = await _end(nodes, leader, each, Deadline.after(timeout))
            done.append(Ended(each, problem))
    return done


async def _end(nodes: Nodes, leader: Broker, hanging: Hanging, deadline: Deadline) -> str | None:
    """Write one marker. Return why no marker is known to be there, or None."""
    here = hanging.transaction
    where = here.topic_partition
    try:
        connection = await nodes.broker(leader, deadline)
        if (unproven := nodes.unproven(leader.id)) is not None:
            return unproven
        # A marker ends any open transaction of this producer, so this check comes right before the
        # marker.
        found = (await describe_producers(connection, [where], deadline)).get(where)
        if found is None or found.error != Errors.NONE or here not in found.open:
            return "the transaction changed before its marker was sent: run aftercare again"
        commit = hanging.verdict.ending is Ending.COMMIT
        code = await write_marker(connection, here, commit, deadline)
    except ConnectionFailed as error:
        return f"{error}; look again to see whether its marker was written"
    return (
        None
        if code == Errors.NONE
        else f"broker {leader.id} refused the marker: {error_name(code)}"
    )
