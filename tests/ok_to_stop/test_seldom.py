"""What seldom changes is asked for again after a while. On the emulator."""

from __future__ import annotations

import asyncio

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.configs import number
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS
from kafka_unclean_recovery.ok_to_stop.seldom import ask_seldom
from kafka_unclean_recovery.survey.reading import Reader

MINUTE = 60.0


def test_a_config_is_known_for_five_minutes_at_most() -> None:
    now = [0.0]

    async def told(cluster: Cluster) -> list[int | None]:
        nodes = Nodes(parse_bootstrap(cluster.bootstrap_servers), ClientConfig())
        reader, kept, found = Reader(nodes, lambda: now[0]), None, []
        try:
            live = list((await reader.cluster())[0].brokers.values())
            for minutes in (0.0, 4.9, 0.2):
                now[0] += minutes * MINUTE
                (topic,) = await reader.topics(["orders"])
                topics = {topic.name: topic.topic_id}
                names = frozenset(topics)
                kept = await ask_seldom(
                    nodes, reader, live, topics, names, kept, clock=lambda: now[0]
                )
                found.append(number(kept.min_isrs["orders"]))
                cluster.alter_configs("orders", {MIN_INSYNC_REPLICAS: "1"})
        finally:
            await nodes.close()
        return found

    with Cluster(Options(brokers=3)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2, 3)], configs={MIN_INSYNC_REPLICAS: "2"})
        assert asyncio.run(told(cluster)) == [2, 2, 1]
