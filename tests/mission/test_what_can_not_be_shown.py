"""What the tests of real clusters show and the emulator can't, or only by other means."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka.protocol.admin.cluster import DescribeQuorumRequest
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_unclean_recovery.emulator import Cluster
from tests.fidelity.wire import Wire
from tests.messages.building import build

DELETE_RECORDS = 21
CONTROLLER = 3000


@pytest.fixture
def wire() -> Iterator[Wire]:
    """Yield a connection to the only broker that is left of four."""
    with Cluster() as cluster:
        for broker in (1, 2, 3):
            cluster.kill(broker)
            cluster.fence(broker)
        host, _, port = cluster.bootstrap_servers.split(",")[3].rpartition(":")
        with Wire(host, int(port)) as connection:
            yield connection


@pytest.mark.not_emulated("moved log starts")
def test_log_starts_do_not_move(wire: Wire) -> None:
    """test_replica_info_is_the_truth.py has them on real clusters."""
    answer = wire.ask(build(ApiVersionsRequest, {}), 0)
    assert DELETE_RECORDS not in {api.api_key for api in answer.api_keys}


@pytest.mark.not_emulated("standby controllers")
def test_there_is_one_controller(wire: Wire) -> None:
    """On real clusters one of three may be left, and may answer from memory."""
    topic = {"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}
    (told,) = wire.ask(build(DescribeQuorumRequest, {"topics": [topic]}), 0).topics[0].partitions
    voters = [voter.replica_id for voter in told.current_voters]
    assert (told.leader_id, voters) == (CONTROLLER, [CONTROLLER])
