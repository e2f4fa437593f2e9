"""Leaders are asked whether their logs still have what groups had read (KIP-320).

A commit names the leader epoch of the last record that was read. Where that epoch, and all before
it, end below the commit, an election put other records in the place of those, and a group that goes
on at the commit would pass over them.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.leader_epochs import Epoch, epoch_end_offsets
from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker
from kafka_unclean_recovery.salvage.offsets.commits import SavedCommit
from kafka_unclean_recovery.survey.reading import Reader


async def epoch_ends(
    bootstrap: Sequence[Address],
    config: ClientConfig,
    commits: Iterable[SavedCommit],
    timeout: float,
) -> Mapping[Epoch, int]:
    """Return where the leader epochs of these commits, or the largest before them, end: offsets,
    exclusive. An epoch that no leader told of is left out, and so is what a broker told that may be
    another one. timeout: seconds for each answer. Raises
    NoBrokerReachable, ConnectionFailed, RequestFailed."""
    wanted = {(c.topic_partition, c.leader_epoch) for c in commits if c.leader_epoch is not None}
    if not wanted:
        return {}
    nodes = Nodes(bootstrap, config)
    try:
        reader = Reader(nodes, time.monotonic, timeout)
        cluster, _ = await reader.cluster()
        states = await reader.partitions(sorted({tp for tp, _ in wanted}))
        by_leader: dict[int, set[Epoch]] = defaultdict(set)
        for tp, epoch in wanted:
            if tp in states and states[tp].leader in cluster.brokers:
                by_leader[states[tp].leader].add((tp, epoch))
        asking = (_ask(nodes, cluster.brokers[id_], of, timeout) for id_, of in by_leader.items())
        return {epoch: end for told in await asyncio.gather(*asking) for epoch, end in told.items()}
    finally:
        await nodes.close()


async def _ask(
    nodes: Nodes, broker: Broker, wanted: Iterable[Epoch], timeout: float
) -> Mapping[Epoch, int]:
    deadline = Deadline.after(timeout)
    with contextlib.suppress(ConnectionFailed):
        connection = await nodes.broker(broker, deadline)
        if nodes.unproven(broker.id) is not None:
            return {}
        return (await epoch_end_offsets(connection, wanted, deadline)).found
    return {}
