"""Clusters of three controllers and four brokers in containers, used as those of tests.real."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from confluent_kafka.admin import AdminClient

from tests.containers.image_files import VERSION
from tests.containers.listeners import host_name
from tests.containers.nodes import NodeContainers, OwnNetwork
from tests.real import security
from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY
from tests.real.outages import Outage
from tests.real.properties import ClusterSpec, new_uuid
from tests.real.recipes import TOPIC
from tests.real.waiting import wait_until

CONTROLLERS = 3
# Seven nodes share two cores: one that starts must not have others taken for dead.
PATIENCE = {"broker.session.timeout.ms": "6000"}
TIMEOUT = 60.0


@contextmanager
def running(
    image: str, network: OwnNetwork, directory: Path, *, secured: bool = False
) -> Iterator[KafkaCluster]:
    """Yield a new cluster, of which nothing is left afterwards but the directory."""
    spec = ClusterSpec(
        VERSION,
        new_uuid(),
        controllers=CONTROLLERS,
        secured=secured,
        properties=PATIENCE,
    )
    directory.mkdir(parents=True, exist_ok=True)
    spec.save(directory)
    if secured:
        nodes = (*spec.controller_ids, *spec.broker_ids)
        security.write_certificates(directory, [*map(host_name, nodes)])
    with KafkaCluster(directory, partial(NodeContainers.on, network, image)) as cluster:
        cluster.start()
        yield cluster


def emptied(cluster: KafkaCluster) -> KafkaCluster:
    """Return the cluster with all nodes running and no topics, whatever was done to it."""
    for node in filter(cluster.alive, cluster.node_ids):
        cluster.resume(node)
    cluster.start()
    cluster.wait_until_unfenced(cluster.spec.broker_ids)
    client = AdminClient({**cluster.connection(), **QUIETLY})

    def topics() -> set[str]:
        return {topic for id_ in cluster.live_brokers for topic in cluster.view(id_).topics}

    if found := topics():
        for deleted in client.delete_topics(list(found)).values():
            deleted.result(TIMEOUT)
        wait_until(lambda: not topics(), TIMEOUT, lambda: f"no topics; seen: {topics()}")
    return cluster


def in_outage(cluster: KafkaCluster, outage: Outage) -> KafkaCluster:
    """Return the cluster as tests.real.outages.restore gives it."""
    outage.recipe(emptied(cluster))
    cluster.start(outage.survivors)
    cluster.wait_until_partitions(TOPIC, lambda seen: seen.offline, TIMEOUT)
    return cluster
