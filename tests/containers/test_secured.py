"""The secured cluster: SASL_SSL, SCRAM and an authoriser, between containers too."""

from __future__ import annotations

import pytest

from tests.containers import tool_image
from tests.containers.build_image import KafkaImage
from tests.containers.listeners import INTERNAL_PORT, host_name
from tests.containers.nodes import OwnNetwork
from tests.containers.running import run
from tests.real.cluster import KafkaCluster
from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.records import create_topic
from tests.real.security import SUPER_USER
from tests.real.test_faults_rights import (  # noqa: F401
    HIDDEN,
    test_alter_and_read_are_enough_for_the_whole_job,
    test_without_alter_on_the_cluster_nothing_is_sent,
)
from tests.real.watching import Commands, outcomes


@pytest.fixture
def guarded(secured_cluster: KafkaCluster) -> Trouble:
    """Return the outage behind an authoriser, and an online topic nobody was given rights on."""
    found = Trouble(secured_cluster)
    found.heal()
    if HIDDEN not in found.cluster.view(3).topics:
        create_topic(found.cluster.connection(), HIDDEN, [[3, 4]])
    return found


def test_our_own_image_recovers_partitions_from_inside_the_network(
    docker_host: str,
    image: KafkaImage,
    network: OwnNetwork,
    guarded: Trouble,
    commands: Commands,
) -> None:
    tool = tool_image.build(docker_host, image)
    assert tool_image.user(docker_host, tool) == "10001:10001"
    cluster, partitions = guarded.cluster, guarded.take(2)
    before = guarded.orders(partitions)
    config = cluster.client_properties(SUPER_USER)
    wanted = commands.partitions_file({TOPIC: partitions})
    words = [
        *("--bootstrap-server", f"{host_name(3)}:{INTERNAL_PORT}"),
        *("--command-config", str(config), "--path-to-json-file", str(wanted)),
        *("--automated-recovery", "--yes", "--format", "json"),
    ]
    files = (config, cluster.directory / "ca.pem", wanted)
    done = run(
        docker_host,
        tool,
        words,
        network=network.name,
        extra_hosts=network.addresses(cluster.node_ids),
        volumes=[f"{path}:{path}:ro" for path in files],
    )
    assert (done.code, done.stderr) == (0, "")
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("elected", None))
    guarded.wait_for_leader(partitions, 3)
    guarded.wait_for_orders(before)
