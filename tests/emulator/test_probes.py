"""What can be seen of a partition without a leader, and which brokers live: what was tried on real
brokers, tried on emulated ones. What test_apis shows already is not shown again: the log end
offset past the high watermark, who reads how far, where an epoch ends."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.admin.cluster import (
    DescribeClusterRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
)
from kafka.protocol.admin.topics import AlterPartitionReassignmentsRequest, DeleteTopicsRequest
from kafka.protocol.consumer.offsets import OffsetForLeaderEpochRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from kafka_unclean_recovery.cluster.wire.frames import encode_request
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.apis import describe_quorum
from kafka_unclean_recovery.emulator.apis.api import Context
from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import CONTROLLER, Drop, link
from kafka_unclean_recovery.emulator.listener.intercepts import Interceptions
from kafka_unclean_recovery.log_dir.segments.batches import parse_header
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.messages.elect_leaders import ElectLeadersRequest
from kafka_unclean_recovery.messages.get_replica_log_info import REQUESTS
from tests.emulator.asking import address, ask
from tests.emulator.probing import TOPIC, create, described, fetch, lose, offset, produce
from tests.emulator.steps import create as create_one
from tests.emulator.steps import opened
from tests.messages.building import build
from tests.real.waiting import wait_until

UNCLEAN = {"election_type": 1, "topic_partitions": None}
# No session ends by itself meanwhile.
LONG = Settings(session_timeout=600.0)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(Options(settings=LONG)) as running:
        yield running


@pytest.fixture
def leaderless(cluster: Cluster) -> Cluster:
    """Return a cluster with replicas 1, 2, 3: ten records everywhere, and five more on 1 and 2
    under epoch 1. Of the three only 2 lives, which is not in the ELR."""
    create(cluster, [[1, 2, 3]], min_isr=2)
    produce(cluster, 1, 10)
    lose(cluster, 1)
    cluster.start(1)
    assert described(cluster, 4).leader_epoch == 1
    lose(cluster, 3)
    produce(cluster, 2, 5)
    for broker in (1, 2):
        lose(cluster, broker)
    cluster.start(2)
    assert described(cluster, 4).leader_id == -1
    return cluster


def test_log_end_and_log_start_are_told_by_any_live_replica(leaderless: Cluster) -> None:
    assert offset(leaderless, 2) == (0, 15, described(leaderless, 4).leader_epoch)
    assert [offset(leaderless, 2, timestamp)[:2] for timestamp in (-2, -4)] == [(0, 0), (0, 0)]
    assert offset(leaderless, 4)[0] == 3


def test_a_fetch_answer_s_header_tells_the_high_watermark_and_more(leaderless: Cluster) -> None:
    found = fetch(leaderless, 2, 0)
    known = leaderless.look(lambda e: next(iter(e.brokers[2].replicas.values())).high_watermark)
    assert known < 15
    header = (found.high_watermark, found.last_stable_offset, found.log_start_offset)
    assert (found.error_code, *header) == (0, known, known, 0)


def test_the_last_written_epoch_is_in_the_header_of_the_last_batch(leaderless: Cluster) -> None:
    records = fetch(leaderless, 2, 14, max_bytes=1).records
    header = parse_header(records)
    assert (header.leader_epoch, header.base_offset, header.last_offset) == (1, 10, 14)
    # While the current epoch, which ListOffsets tells, is another.
    assert offset(leaderless, 2)[2] > 1


def test_sizes_are_told_by_describe_log_dirs(leaderless: Cluster) -> None:
    answer = ask(leaderless, 2, DescribeLogDirsRequest, 4, {"topics": None})
    (found,) = answer.results
    assert (found.error_code, found.log_dir) == (0, str(leaderless.log_directory(2)))
    (size,) = [p.partition_size for topic in found.topics for p in topic.partitions]
    segment = leaderless.log_directory(2) / f"{TOPIC}-0" / f"{0:020}.log"
    assert size == segment.stat().st_size > 0


def test_isr_elr_and_the_rest_are_told_by_describe_topic_partitions(leaderless: Cluster) -> None:
    found = described(leaderless, 4)
    known = leaderless.look(
        lambda e: next(iter(e.state.topics.values())).partitions[0],
    )
    assert (list(found.replica_nodes), list(found.isr_nodes)) == ([1, 2, 3], [])
    assert tuple(found.eligible_leader_replicas) == known.elr != ()
    assert tuple(found.last_known_elr) == known.last_known_elr != ()
    assert (found.leader_epoch, found.error_code) == (known.leader_epoch, 5)


# Liveness.


def _listed(cluster: Cluster, broker: int = 4) -> set[int]:
    answer = ask(cluster, broker, MetadataRequest, 9, {"topics": [{"name": TOPIC}]})
    return {node.node_id for node in answer.brokers}


def _offline(cluster: Cluster) -> set[int]:
    return set(described(cluster, 4).offline_replicas)


def test_fenced_and_dead_look_alike_and_a_dead_one_seems_live_until_its_session_ends(
    cluster: Cluster,
) -> None:
    create(cluster, [[1, 2, 3]])
    cluster.kill(1)
    assert (_listed(cluster), _offline(cluster)) == ({1, 2, 3, 4}, set())
    cluster.fence(1)
    cluster.fence(2)
    assert (_listed(cluster), _offline(cluster)) == ({3, 4}, {1, 2})
    # The fenced one still answers.
    assert offset(cluster, 2)[0] == 0


def test_a_session_ends_by_itself() -> None:
    with Cluster() as cluster:
        create(cluster, [[1, 2]])
        cluster.kill(1)
        wait_until(lambda: 1 not in _listed(cluster), 10, lambda: "still listed")


def test_describe_cluster_tells_who_is_fenced(cluster: Cluster) -> None:
    lose(cluster, 1)
    values = {"endpoint_type": 1, "include_fenced_brokers": True}
    found = ask(cluster, 4, DescribeClusterRequest, 2, values).brokers
    assert {node.broker_id: node.is_fenced for node in found} == {
        1: True,
        2: False,
        3: False,
        4: False,
    }


def _cut_off(emulation: Emulation, broker: Broker) -> None:
    emulation.faults.drop(link(CONTROLLER, broker.id), Drop.SILENCE)
    emulation.lose_sight(broker)


@pytest.mark.parametrize("end", [Emulation.kill, Emulation.pause, _cut_off])
def test_describe_quorum_shows_a_death_before_the_session_ends(
    end: Callable[[Emulation, Broker], None], tmp_path: Path
) -> None:
    emulation = opened(tmp_path)
    emulation.tick(100.0)
    end(emulation, emulation.brokers[1])
    create_one(emulation, (2, 3))
    emulation.tick(100.4)
    context = Context(emulation.brokers[4], emulation, {}, {}, _never, Interceptions())
    asked = {"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}
    answer: Any = asyncio.run(
        describe_quorum.answer(context, build(DescribeQuorumRequest, {"topics": [asked]}))
    )
    dead, *others = answer["topics"][0]["partitions"][0]["observers"]
    assert dead["replica_id"] == 1
    assert all(o["last_fetch_timestamp"] - dead["last_fetch_timestamp"] >= 399 for o in others)
    assert {o["log_end_offset"] for o in others} == {emulation.state.end_offset}
    assert dead["log_end_offset"] < emulation.state.end_offset
    assert not emulation.state.brokers[1].fenced


async def _never(_: float) -> None: ...


def test_a_broker_that_is_down_refuses_and_one_that_is_started_is_unfenced(
    cluster: Cluster,
) -> None:
    lose(cluster, 1)
    with pytest.raises(ConnectionRefusedError), socket.create_connection(address(cluster, 1)):
        pass
    cluster.start(1)
    assert 1 in _listed(cluster, 1)


def test_a_paused_broker_accepts_and_hangs_and_answers_when_it_goes_on(cluster: Cluster) -> None:
    cluster.pause(1)
    with socket.create_connection(address(cluster, 1), timeout=0.2) as connection:
        connection.sendall(encode_request(build(ApiVersionsRequest, {}), 0, 7, "test"))
        with pytest.raises(TimeoutError):
            connection.recv(1)
        assert 1 in _listed(cluster)
        cluster.fence(1)
        assert 1 not in _listed(cluster)
        cluster.resume(1)
        connection.settimeout(60.0)
        assert connection.recv(1)


def test_one_failed_disk_of_several_is_an_error_of_its_replicas_alone() -> None:
    options = Options(log_directories=2, settings=LONG, dialect=Dialect.REVERTED)
    with Cluster(options) as cluster:
        topic_id = create(cluster, [[1, 2], [1, 2]]).topic_id
        for partition in (0, 1):
            produce(cluster, 1, 10, partition)
        directories = cluster.log_directories(1)
        lost = 0 if (directories[1] / f"{TOPIC}-0").exists() else 1
        cluster.lose_disk(1, 1)
        assert [offset(cluster, 1, partition=n)[0] for n in (lost, 1 - lost)] == [56, 0]
        assert [fetch(cluster, 1, 0, n).error_code for n in (lost, 1 - lost)] == [56, 0]
        assert produce(cluster, 1, 1, lost) == 56
        asked = [{"topic_id": topic_id, "partitions": [0, 1]}]
        key = REQUESTS[Dialect.REVERTED]
        info = ask(cluster, 1, key, 0, {"topic_partitions": asked})
        found = info.topic_partition_log_info_list[0].partition_log_info
        assert {each.partition: each.error_code for each in found} == {lost: 56, 1 - lost: 0}
        results = ask(cluster, 1, DescribeLogDirsRequest, 4, {"topics": None}).results
        assert [(each.log_dir, each.error_code) for each in results] == [
            (str(directories[0]), 0),
            (str(directories[1]), 56),
        ]
        # It stays live; the controller knows of the disk, and an unclean election skips it.
        assert 1 in _listed(cluster)
        assert [list(described(cluster, 4, n).offline_replicas) for n in (lost, 1 - lost)] == [
            [1],
            [],
        ]
        lose(cluster, 2)
        ask(cluster, 1, ElectLeadersRequest, 2, UNCLEAN)
        assert [described(cluster, 4, n).leader_id for n in (lost, 1 - lost)] == [-1, 1]


def test_a_broker_whose_only_disk_fails_is_gone(cluster: Cluster) -> None:
    create(cluster, [[1, 2]])
    cluster.lose_disk(1)
    with pytest.raises(ConnectionRefusedError), socket.create_connection(address(cluster, 1)):
        pass
    cluster.fence(1)
    assert _offline(cluster) == {1}


def test_an_adding_replica_answers_like_an_empty_one_and_is_electable(cluster: Cluster) -> None:
    """Which destroys everything: see "Reassignment pending on an offline partition"."""
    create(cluster, [[1]])
    produce(cluster, 1, 10)
    lose(cluster, 1)
    wanted = {"partition_index": 0, "replicas": [1, 2]}
    topics = [{"name": TOPIC, "partitions": [wanted]}]
    answer = ask(cluster, 4, AlterPartitionReassignmentsRequest, 0, {"topics": topics})
    assert answer.responses[0].partitions[0].error_code == 0
    assert offset(cluster, 2)[:2] == (0, 0)
    assert list(described(cluster, 4).replica_nodes) == [1, 2]
    ask(cluster, 4, ElectLeadersRequest, 2, UNCLEAN)
    assert described(cluster, 4).leader_id == 2


def test_a_deleted_topic_is_unknown_everywhere(cluster: Cluster) -> None:
    create(cluster, [[1, 2, 3]])
    values = {"topics": [{"name": TOPIC, "topic_id": None}], "timeout_ms": 1000}
    ask(cluster, 1, DeleteTopicsRequest, 6, values)
    assert [offset(cluster, broker)[0] for broker in (1, 2, 3, 4)] == [3] * 4
    assert [fetch(cluster, broker, 0).error_code for broker in (1, 2, 3, 4)] == [3] * 4


# OffsetForLeaderEpoch.


def _end_of(
    cluster: Cluster,
    broker: int,
    epoch: int,
    *,
    now: int = -1,
    topic: str = TOPIC,
    partition: int = 0,
) -> tuple[int, int, int]:
    """Return (error, leader epoch, end offset)."""
    wanted = {"partition": partition, "current_leader_epoch": now, "leader_epoch": epoch}
    topics = [{"topic": topic, "partitions": [wanted]}]
    answer = ask(
        cluster, broker, OffsetForLeaderEpochRequest, 4, {"replica_id": -1, "topics": topics}
    )
    found = answer.topics[0].partitions[0]
    return found.error_code, found.leader_epoch, found.end_offset


def test_a_leader_tells_where_its_epochs_end(cluster: Cluster) -> None:
    create(cluster, [[1, 2, 3]])
    produce(cluster, 1, 10)
    lose(cluster, 1)
    produce(cluster, 2, 5)
    assert described(cluster, 4).leader_epoch == 1
    assert [_end_of(cluster, 2, epoch) for epoch in (0, 1)] == [(0, 0, 10), (0, 1, 15)]
    # Nothing is known of a newer one.
    assert _end_of(cluster, 2, 2) == (0, -1, -1)
    assert [_end_of(cluster, 2, 1, now=epoch)[0] for epoch in (0, 1, 2)] == [74, 0, 76]


def test_who_does_not_lead_says_so(cluster: Cluster) -> None:
    create(cluster, [[1, 2, 3]])
    # A follower; a broker without a replica.
    assert [_end_of(cluster, broker, 0) for broker in (2, 4)] == [(6, -1, -1)] * 2
    # Which epoch the asker goes by is looked at first.
    assert _end_of(cluster, 2, 0, now=1)[0] == 76
    assert _end_of(cluster, 1, 0, partition=1)[0] == 3
    assert _end_of(cluster, 1, 0, topic="unknown")[0] == 3


def test_a_leader_that_has_lost_the_disk_says_so() -> None:
    with Cluster(Options(log_directories=2, settings=LONG)) as cluster:
        create(cluster, [[1], [1]])
        lost = 0 if (cluster.log_directories(1)[1] / f"{TOPIC}-0").exists() else 1
        cluster.lose_disk(1, 1)
        assert [_end_of(cluster, 1, 0, partition=n)[0] for n in (lost, 1 - lost)] == [56, 0]
