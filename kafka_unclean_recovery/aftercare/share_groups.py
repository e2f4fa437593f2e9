"""Share groups (KIP-932) are asked for how far they have come, and set back where they have come
further than the leader's log goes.

Their positions are with the coordinators of the groups, their state with those of
__share_group_state; each broker is asked for both, and tells what it coordinates.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.share_groups import (
    Reached,
    SharePosition,
    commits_of,
    set_share_group,
    share_reached,
)
from kafka_unclean_recovery.cluster.wire.error_codes import NONE, NOT_COORDINATOR, error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker, Commit, GroupBeyond


async def share_commits(
    nodes: Nodes, brokers: Iterable[Broker], positions: Sequence[SharePosition], timeout: float
) -> tuple[list[Commit], list[str]]:
    """Return (how far each group has come, sentences on what is unknown). A group that is at least
    at its position is told of that, where nobody tells more."""
    if not positions:
        return [], []
    answers = await asyncio.gather(*(_reached(nodes, b, positions, timeout) for b in brokers))
    return commits_of(positions, answers)


async def _reached(
    nodes: Nodes, broker: Broker, positions: Sequence[SharePosition], timeout: float
) -> Reached | str:
    deadline = Deadline.after(timeout)
    try:
        connection = await nodes.broker(broker, deadline)
        return await share_reached(connection, positions, deadline)
    except ConnectionFailed as error:
        return str(error)


@dataclass(frozen=True, slots=True)
class SetBack:
    """The result for one share group on one partition. problem: why it is not known to be set back,
    None when it was."""

    found: GroupBeyond
    problem: str | None


async def set_back(
    nodes: Nodes,
    brokers: Mapping[int, Broker],
    chosen: Iterable[GroupBeyond],
    timeout: float,
    going_on: Callable[[], bool],
) -> list[SetBack]:
    """Set the share groups back, one after the other. timeout: seconds for each. `going_on` is
    asked before each, and ends the work when it is false."""
    done = []
    for each in chosen:
        if not going_on():
            break
        problem = await _set_back(nodes, brokers, each, Deadline.after(timeout))
        done.append(SetBack(each, problem))
    return done


async def _set_back(
    nodes: Nodes, brokers: Mapping[int, Broker], found: GroupBeyond, deadline: Deadline
) -> str | None:
    """Ask one broker after the other until the group's coordinator has answered. Return why the
    group is not known to be set back, or None."""
    commit, why = found.commit, "no live broker coordinates it"
    for broker in brokers.values():
        try:
            connection = await nodes.broker(broker, deadline)
            code = await set_share_group(
                connection, commit.group, commit.topic_partition, found.reset_to, deadline
            )
        except ConnectionFailed as error:
            why = f"{error}; look again to see whether it was set"
            continue
        if code != NOT_COORDINATOR:
            return None if code == NONE else f"broker {broker.id} refused: {error_name(code)}"
    return why
