"""Ask brokers whether they answer at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.api_versions import applied_offset
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker


async def silent_brokers(
    nodes: Nodes, brokers: Iterable[Broker], deadline: Deadline
) -> dict[int, str]:
    """Return why a broker did not answer, by broker id. The question is the smallest that there is,
    and over the connection of a broker that is proven to be it: what a broker does with any other
    question, or how long a quota holds its answer back, does not tell whether it lives."""

    async def why(broker: Broker) -> str | None:
        try:
            await applied_offset(await nodes.broker(broker, deadline), deadline)
        except ConnectionFailed as error:
            return str(error)
        return None

    asked = list(brokers)
    found = await asyncio.gather(*map(why, asked))
    return {b.id: told for b, told in zip(asked, found, strict=True) if told is not None}
