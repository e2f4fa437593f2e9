"""Share groups (KIP-932) are asked for how far they have come.

Their positions are with the coordinators of the groups, their state with those of
__share_group_state; each broker is asked for both, and tells what it coordinates.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.share_groups import (
    Reached,
    SharePosition,
    commits_of,
    share_reached,
)
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker, Commit


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
