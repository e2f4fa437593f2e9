"""Hanging transactions ended with their coordinators' verdict, each through its leader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging
from kafka_unclean_recovery.cluster.error_codes import NONE, error_name
from kafka_unclean_recovery.cluster.errors import ConnectionFailed
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.transactions import OpenTransaction, write_marker
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker


@dataclass(frozen=True, slots=True)
class Ended:
    """problem: why no marker is known to have been written, None when one was."""

    transaction: OpenTransaction
    ending: Ending
    problem: str | None


async def end_transactions(
    nodes: Nodes,
    leaders: Mapping[OpenTransaction, Broker | None],
    chosen: Iterable[Hanging],
    timeout: float,
    going_on: Callable[[], bool],
) -> list[Ended]:
    """A marker for each of `chosen`, one after the other; none is without a sure verdict.

    leaders: of their partitions, None where it is not listed. timeout: seconds for each.
    `going_on` false ends it before the next.
    """
    done = []
    for each in chosen:
        if not going_on():
            break
        assert each.verdict.sure
        leader = leaders[each.transaction]
        problem = await _end(nodes, leader, each, Deadline.after(timeout))
        done.append(Ended(each.transaction, each.verdict.ending, problem))
    return done


async def _end(
    nodes: Nodes, leader: Broker | None, hanging: Hanging, deadline: Deadline
) -> str | None:
    if leader is None:
        return "its leader is not listed"
    commit = hanging.verdict.ending is Ending.COMMIT
    try:
        connection = await nodes.broker(leader, deadline)
        code = await write_marker(connection, hanging.transaction, commit, deadline)
    except ConnectionFailed as error:
        return f"{error}; whether it was written is seen by looking again"
    return None if code == NONE else f"broker {leader.id} refused the marker: {error_name(code)}"
