"""What brokers answer, request by request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.admin.cluster import DescribeClusterRequest
from kafka.protocol.admin.configs import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
)
from kafka.protocol.admin.topics import (
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DescribeTopicPartitionsRequest,
    ListPartitionReassignmentsRequest,
)
from kafka.protocol.admin.transactions import (
    DescribeProducersRequest,
    DescribeTransactionsRequest,
    ListTransactionsRequest,
)
from kafka.protocol.consumer.fetch import FetchRequest
from kafka.protocol.consumer.offsets import ListOffsetsRequest
from kafka.protocol.metadata import (
    FindCoordinatorRequest,
    MetadataRequest,
)
from kafka.protocol.producer.produce import ProduceRequest
from kafka.protocol.producer.transaction import InitProducerIdRequest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator import apis as apis_package
from kafka_unclean_recovery.emulator.apis.supported import apis
from kafka_unclean_recovery.kraft_rules.releases import KAFKA_4_3_1, KIP_966
from kafka_unclean_recovery.kraft_rules.topic_configs import TOPIC_CONFIGS
from kafka_unclean_recovery.mechanisms import EMULATOR_FEATURE, Dialect
from kafka_unclean_recovery.messages.api_versions import ApiVersionsRequest
from kafka_unclean_recovery.messages.elect_leaders import DESIGNATED, ElectLeadersRequest
from kafka_unclean_recovery.messages.get_replica_log_info import REQUESTS
from tests.fidelity.wire import Wire
from tests.log_dir.segments import legacy, v2
from tests.messages.building import build

# ReadShareGroupState, DescribeShareGroupOffsets, AlterShareGroupOffsets.
OF_SHARE_GROUPS = {84, 90, 91}
TOPIC = "orders"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


def _address(cluster: Cluster, broker: int) -> tuple[str, int]:
    host, _, port = cluster.bootstrap_servers.split(",")[broker - 1].rpartition(":")
    return host, int(port)


def _ask(cluster: Cluster, broker: int, request: Any, version: int, values: Any) -> Any:
    with Wire(*_address(cluster, broker)) as wire:
        return wire.ask(build(request, values), version)


def _create(cluster: Cluster, replicas: list[int], name: str = TOPIC, **configs: str) -> Any:
    topic = {
        "name": name,
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": [{"partition_index": 0, "broker_ids": replicas}],
        "configs": [
            {"name": key.replace("_", "."), "value": value} for key, value in configs.items()
        ],
    }
    answer = _ask(cluster, 1, CreateTopicsRequest, 7, {"topics": [topic], "validate_only": False})
    return answer.topics[0]


def _produce(
    cluster: Cluster, broker: int, records: bytes, acks: int = -1, timeout_ms: int = 200
) -> Any:
    data = {"name": TOPIC, "partition_data": [{"index": 0, "records": records}]}
    values = {"acks": acks, "timeout_ms": timeout_ms, "topic_data": [data]}
    answer = _ask(cluster, broker, ProduceRequest, 9, values)
    return answer.responses[0].partition_responses[0]


def _fetch(
    cluster: Cluster, broker: int, asker: int, offset: int, epoch: int = -1, max_wait_ms: int = 0
) -> Any:
    partition = {
        "partition": 0,
        "fetch_offset": offset,
        "last_fetched_epoch": epoch,
        "partition_max_bytes": 1 << 20,
    }
    values = {
        "replica_id": asker,
        "max_wait_ms": max_wait_ms,
        "min_bytes": 1,
        "max_bytes": 1 << 20,
        "isolation_level": 0,
        "topics": [{"topic": TOPIC, "partitions": [partition]}],
        "forgotten_topics_data": [],
        "rack_id": "",
    }
    answer = _ask(cluster, broker, FetchRequest, 12, values)
    return answer.responses[0].partitions[0]


def _latest(cluster: Cluster, broker: int, asker: int) -> tuple[int, int, int]:
    """Return (error, offset, leader epoch)."""
    partition = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}
    topics = [{"name": TOPIC, "partitions": [partition]}]
    values = {"replica_id": asker, "isolation_level": 0, "topics": topics}
    found = _ask(cluster, broker, ListOffsetsRequest, 7, values).topics[0].partitions[0]
    return found.error_code, found.offset, found.leader_epoch


def test_the_table_is_the_listing_of_the_files() -> None:
    directory = Path(str(apis_package.__file__)).parent
    listed = {path.stem for path in directory.glob("*.py")} - {"__init__", "api", "supported"}
    named = {api.name for api in apis(KIP_966, Dialect.KIP_966).values()}
    assert {stem.replace("_", "") for stem in listed} == {name.lower() for name in named}


@pytest.mark.not_emulated("transactions")
def test_a_transactional_id_has_a_coordinator_which_refuses_it(cluster: Cluster) -> None:
    values = {"key_type": 1, "coordinator_keys": ["t"]}
    found = _ask(cluster, 1, FindCoordinatorRequest, 4, values).coordinators[0]
    assert (found.error_code, found.node_id in (1, 2, 3, 4)) == (0, True)
    values = {"transactional_id": "t", "transaction_timeout_ms": 1000}
    coordinator = found.node_id
    assert _ask(cluster, coordinator, InitProducerIdRequest, 4, values).error_code == 53
    assert _ask(cluster, coordinator, ListTransactionsRequest, 0, {}).transaction_states == []
    for broker in (1, 2, 3, 4):
        described = _ask(
            cluster, broker, DescribeTransactionsRequest, 0, {"transactional_ids": ["t"]}
        )
        code = 105 if broker == coordinator else 16
        assert described.transaction_states[0].error_code == code


def test_producer_ids_are_told_by_every_replica_and_come_in_turn(cluster: Cluster) -> None:
    _create(cluster, [1, 2])
    for sequence in (0, 2):
        batch = v2(count=2, producer_id=7, producer_epoch=3, sequence=sequence)
        assert _produce(cluster, 1, batch).error_code == 0
    topics = [{"name": TOPIC, "partition_indexes": [0, 9]}]
    for broker, expected in ((1, [0, 3]), (2, [0, 3]), (3, [6, 3])):
        found = _ask(cluster, broker, DescribeProducersRequest, 0, {"topics": topics}).topics[0]
        assert [p.error_code for p in found.partitions] == expected
        told = [
            (p.producer_id, p.producer_epoch, p.last_sequence, p.current_txn_start_offset)
            for p in found.partitions[0].active_producers
        ]
        assert told == ([(7, 3, 3, -1)] if broker != 3 else [])
    plain = [_ask(cluster, 1, InitProducerIdRequest, 4, {"transactional_id": None}) for _ in "ab"]
    assert [found.error_code for found in plain] == [0, 0]
    assert plain[1].producer_id == plain[0].producer_id + 1


def test_a_batch_that_is_sent_twice_is_written_once_and_answered_alike(cluster: Cluster) -> None:
    _create(cluster, [1, 2])
    first, second = (
        v2(count=2, producer_id=7, producer_epoch=0, sequence=sequence) for sequence in (0, 2)
    )
    assert [_produce(cluster, 1, batch).base_offset for batch in (first, second)] == [0, 2]
    cluster.kill(1)
    cluster.fence(1)
    # The next leader has it from the log that it replicated.
    again = [_produce(cluster, 2, batch) for batch in (first, second)]
    assert [(found.error_code, found.base_offset) for found in again] == [(0, 0), (0, 2)]
    assert _latest(cluster, 2, -2)[1] == 4
    gap = v2(count=2, producer_id=7, producer_epoch=0, sequence=5)
    assert _produce(cluster, 2, gap).error_code == 45


def test_producer_ids_are_not_given_out_again_after_a_restart(tmp_path: Path) -> None:
    given = []
    for _ in range(2):
        with Cluster(Options(data_dir=tmp_path)) as running:
            request = {"transactional_id": None}
            given.append(_ask(running, 1, InitProducerIdRequest, 4, request).producer_id)
    assert given[0] < given[1]


@pytest.mark.not_emulated("message formats 0 and 1")
def test_old_message_formats_are_refused(cluster: Cluster) -> None:
    _create(cluster, [1])
    assert _produce(cluster, 1, legacy()).error_code == 2


@pytest.mark.not_emulated("fetch sessions")
def test_no_fetch_session_is_given_out(cluster: Cluster) -> None:
    values = {"max_wait_ms": 0, "session_id": 0, "session_epoch": 0, "topics": []}
    assert _ask(cluster, 1, FetchRequest, 12, values).session_id == 0


@pytest.mark.not_emulated("topics by mention")
def test_asking_for_a_topic_does_not_create_it(cluster: Cluster) -> None:
    values = {"topics": [{"name": TOPIC}], "allow_auto_topic_creation": True}
    assert _ask(cluster, 1, MetadataRequest, 9, values).topics[0].error_code == 3
    assert cluster.look(lambda e: len(e.state.topics)) == 0


TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4


def _alter(
    cluster: Cluster, kind: int, name: str, key: str, value: str | None
) -> tuple[int, str | None]:
    """Return (error, message)."""
    config = {"name": key, "config_operation": 1 if value is None else 0, "value": value}
    resource = {"resource_type": kind, "resource_name": name, "configs": [config]}
    values = {"resources": [resource], "validate_only": False}
    found = _ask(cluster, 1, IncrementalAlterConfigsRequest, 1, values).responses[0]
    return found.error_code, found.error_message


def _described(cluster: Cluster, kind: int, name: str) -> dict[str, tuple[str, list[int]]]:
    """Return value and the sources that have one, by key."""
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": None}
    values = {"resources": [resource], "include_synonyms": True}
    asked = int(name) if kind == BROKER_RESOURCE and name else 1
    found = _ask(cluster, asked, DescribeConfigsRequest, 4, values).results[0]
    assert found.error_code == 0
    return {c.name: (c.value, [s.source for s in c.synonyms]) for c in found.configs}


@pytest.mark.not_emulated("configs of one broker")
def test_configs_of_one_broker_are_kept_and_described(cluster: Cluster) -> None:
    key = "log.retention.ms"
    assert _alter(cluster, BROKER_RESOURCE, "2", key, "5000") == (0, None)
    assert _alter(cluster, BROKER_RESOURCE, "", key, "6000") == (0, None)
    assert _described(cluster, BROKER_RESOURCE, "2")[key] == ("5000", [2, 3])
    assert _described(cluster, BROKER_RESOURCE, "3")[key] == ("6000", [3])
    assert _described(cluster, BROKER_RESOURCE, "")[key] == ("6000", [3])
    assert _alter(cluster, BROKER_RESOURCE, "2", key, None) == (0, None)
    assert _described(cluster, BROKER_RESOURCE, "2")[key] == ("6000", [3])
    assert _alter(cluster, BROKER_RESOURCE, "two", key, "5000")[0] == 42


def test_a_broker_tells_the_configs_of_no_other(cluster: Cluster) -> None:
    resource = {"resource_type": BROKER_RESOURCE, "resource_name": "2"}
    found = _ask(cluster, 1, DescribeConfigsRequest, 4, {"resources": [resource]}).results[0]
    assert (found.error_code, found.configs) == (42, [])
    assert "broker 1" in found.error_message
    assert "'2'" in found.error_message


@pytest.mark.parametrize(
    ("named", "node", "error"),
    [
        (True, 1, 0),
        (None, -1, 0),
        (True, 2, 129),
        (False, 1, 129),
        (None, 1, 42),
        (True, -1, 42),
    ],
)
def test_a_node_of_4_4_answers_who_means_it(named: bool | None, node: int, error: int) -> None:
    with Cluster(Options(brokers=2, release="4.4.0")) as running:
        mine = _ask(running, 1, DescribeClusterRequest, 2, {}).cluster_id
        cluster_id = {True: mine, False: "another", None: None}[named]
        values = {"cluster_id": cluster_id, "node_id": node}
        assert _ask(running, 1, ApiVersionsRequest, 5, values).error_code == error


def test_configs_have_the_types_of_kafka(cluster: Cluster) -> None:
    _create(cluster, [1])
    resource = {"resource_type": TOPIC_RESOURCE, "resource_name": TOPIC}
    found = _ask(cluster, 1, DescribeConfigsRequest, 4, {"resources": [resource]}).results[0]
    types = {each.name: each.config_type for each in found.configs}
    assert set(types) == set(TOPIC_CONFIGS)
    of_each = {
        "unclean.leader.election.enable": 1,
        "compression.type": 2,
        "min.insync.replicas": 3,
        "retention.ms": 5,
        "min.cleanable.dirty.ratio": 6,
        "cleanup.policy": 7,
    }
    assert {name: types[name] for name in of_each} == of_each
    assert set(types.values()) == set(of_each.values())


@pytest.mark.not_emulated("types of brokers' configs")
def test_only_configs_that_topics_have_too_are_of_a_known_type(cluster: Cluster) -> None:
    assert _alter(cluster, BROKER_RESOURCE, "", "log.retention.ms", "5000")[0] == 0
    resource = {"resource_type": BROKER_RESOURCE, "resource_name": ""}
    found = _ask(cluster, 1, DescribeConfigsRequest, 4, {"resources": [resource]}).results[0]
    assert {each.name: each.config_type for each in found.configs} == {
        "log.retention.ms": 0,
        "min.insync.replicas": 3,
    }


@pytest.mark.not_emulated("configs of other things")
@pytest.mark.parametrize("kind", [8, 16, 32])
def test_configs_of_loggers_metrics_and_groups_are_refused(cluster: Cluster, kind: int) -> None:
    resource = {"resource_type": kind, "resource_name": "1"}
    found = _ask(cluster, 1, DescribeConfigsRequest, 4, {"resources": [resource]}).results[0]
    assert (found.error_code, found.configs) == (42, [])


def test_a_new_topic_is_answered_with_its_configs_which_are_those_described(
    cluster: Cluster,
) -> None:
    asked = {"name": TOPIC, "num_partitions": 1, "replication_factor": 1, "assignments": []}
    asked |= {"configs": [{"name": "retention.ms", "value": "1000"}]}
    told = []
    for validate_only in (True, False):
        values = {"topics": [asked], "validate_only": validate_only}
        created = _ask(cluster, 1, CreateTopicsRequest, 7, values).topics[0]
        assert created.error_code == 0
        told.append({c.name: (c.value, c.config_source) for c in created.configs})
    described = _described(cluster, TOPIC_RESOURCE, TOPIC)
    assert told[0] == told[1] == {k: (v, sources[0]) for k, (v, sources) in described.items()}
    assert told[0]["retention.ms"] == ("1000", 1)
    assert told[0]["min.insync.replicas"] == ("1", 3)
    # Before version 5 there was no room for them.
    older = {"topics": [asked | {"name": "older"}], "validate_only": False}
    assert _ask(cluster, 1, CreateTopicsRequest, 4, older).topics[0].error_code == 0


def test_a_batch_above_max_message_bytes_is_not_taken(cluster: Cluster) -> None:
    batch = v2(count=2)
    _create(cluster, [1], max_message_bytes=str(len(batch) - 1))
    assert _produce(cluster, 1, batch).error_code == 10
    assert _latest(cluster, 1, -2)[1] == 0
    assert _alter(cluster, TOPIC_RESOURCE, TOPIC, "max.message.bytes", str(len(batch)))[0] == 0
    assert _produce(cluster, 1, batch).error_code == 0


def test_nothing_is_uploaded_and_negative_times_are_of_their_versions(cluster: Cluster) -> None:
    """-3 to -6: the latest time, what is local, what is tiered, what is to be uploaded."""
    _create(cluster, [1])
    cluster.produce(TOPIC, 0, 2)

    def found(timestamp: int, version: int) -> tuple[int, int]:
        partition = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": timestamp}
        topics = [{"name": TOPIC, "partitions": [partition]}]
        values = {"replica_id": -1, "isolation_level": 0, "topics": topics}
        answer = _ask(cluster, 1, ListOffsetsRequest, version, values)
        return answer.topics[0].partitions[0].error_code, answer.topics[0].partitions[0].offset

    assert [found(timestamp, 11) for timestamp in (-1, -2, -4, -5, -6, -7)] == [
        (0, 2),
        (0, 0),
        (0, 0),
        (0, -1),
        (0, -1),
        (35, -1),
    ]
    for timestamp, since in ((-3, 7), (-4, 8), (-5, 9), (-6, 11)):
        assert found(timestamp, since - 1)[0] == 35
        assert found(timestamp, since)[0] == 0


@pytest.mark.not_emulated("other features")
@pytest.mark.parametrize(
    ("release", "levels"),
    [
        ("4.4.0", {"metadata.version": 33, "eligible.leader.replicas.version": 1}),
        ("4.3.1", {"metadata.version": 30, "eligible.leader.replicas.version": 1}),
        ("3.9.1", {"metadata.version": 21}),
    ],
)
def test_finalized_features_are_those_that_its_metadata_log_begins_with(
    release: str, levels: dict[str, int]
) -> None:
    with Cluster(Options(brokers=1, release=release)) as cluster:
        found = _ask(cluster, 1, ApiVersionsRequest, 3, {})
        assert {f.name: f.max_version_level for f in found.finalized_features} == levels
        assert found.finalized_features_epoch == cluster.look(lambda e: e.state.end_offset) - 1
        supported = {f.name for f in found.supported_features}
        assert levels.keys() <= supported


@pytest.mark.parametrize(("release", "known"), [("4.3.1", OF_SHARE_GROUPS), ("3.9.1", set())])
def test_what_came_with_share_groups_is_announced_since_there_are_some(
    release: str, known: set[int]
) -> None:
    with Cluster(Options(brokers=1, release=release)) as cluster:
        found = _ask(cluster, 1, ApiVersionsRequest, 3, {})
        assert {api.api_key for api in found.api_keys} & OF_SHARE_GROUPS == known


@pytest.mark.not_emulated("lists in configs")
def test_lists_in_configs_are_set_as_a_whole(cluster: Cluster) -> None:
    _create(cluster, [1])
    for append_or_subtract in (2, 3):
        config = {"config_operation": append_or_subtract, "name": "cleanup.policy", "value": "x"}
        resource = {"resource_type": TOPIC_RESOURCE, "resource_name": TOPIC, "configs": [config]}
        values = {"resources": [resource], "validate_only": False}
        answer = _ask(cluster, 1, IncrementalAlterConfigsRequest, 1, values)
        assert answer.responses[0].error_code == 40


def test_altering_all_configs_removes_what_is_not_named(cluster: Cluster) -> None:
    _create(cluster, [1], retention_ms="1000", min_insync_replicas="2")
    config = {"name": "retention.ms", "value": "2000"}
    resource = {"resource_type": TOPIC_RESOURCE, "resource_name": TOPIC, "configs": [config]}
    for validate_only, left in ((True, {"retention.ms", "min.insync.replicas"}), (False, set())):
        values = {"resources": [resource], "validate_only": validate_only}
        assert _ask(cluster, 1, AlterConfigsRequest, 2, values).responses[0].error_code == 0
        found = _described(cluster, TOPIC_RESOURCE, TOPIC)
        own = {key for key, (_, sources) in found.items() if sources[0] == 1}
        assert own == left | {"retention.ms"}
    assert found["retention.ms"][0] == "2000"


@pytest.mark.not_emulated("configs of brokers that were not set")
def test_brokers_configs_that_were_not_set_are_left_out(cluster: Cluster) -> None:
    # 4.3.1 has this one set for all from the start.
    assert set(_described(cluster, BROKER_RESOURCE, "2")) == {"min.insync.replicas"}


def test_configs_are_refused_in_kafka_s_words(cluster: Cluster) -> None:
    _create(cluster, [1])
    wrong = "Invalid value none for configuration min.insync.replicas: Not a number of type INT"
    for kind, name in ((TOPIC_RESOURCE, TOPIC), (BROKER_RESOURCE, "")):
        assert _alter(cluster, kind, name, "min.insync.replicas", "none") == (40, wrong)
    unknown = "Unknown topic config name: no.such"
    assert _alter(cluster, TOPIC_RESOURCE, TOPIC, "no.such", "1") == (40, unknown)
    one = "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
    assert _alter(cluster, BROKER_RESOURCE, "1", "min.insync.replicas", "2") == (40, one)
    every = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
    assert _alter(cluster, BROKER_RESOURCE, "", "min.insync.replicas", None) == (40, every)


@pytest.mark.not_emulated("other topic configs")
def test_other_configs_of_a_topic_are_kept_and_described_whatever_they_say(
    cluster: Cluster,
) -> None:
    _create(cluster, [1])
    assert _alter(cluster, TOPIC_RESOURCE, TOPIC, "retention.ms", "soon") == (0, None)
    assert _described(cluster, TOPIC_RESOURCE, TOPIC)["retention.ms"] == ("soon", [1, 5])


@pytest.mark.not_emulated("LogAppendTime")
def test_records_keep_their_producer_s_time(cluster: Cluster) -> None:
    _create(cluster, [1], message_timestamp_type="LogAppendTime")
    batch = v2(count=2, epoch=0)
    assert _produce(cluster, 1, batch).log_append_time_ms == -1
    # Its times and its attributes, one bit of which says LogAppendTime.
    assert _fetch(cluster, 1, -1, 0).records == batch


def _versions(running: Cluster) -> dict[int, tuple[int, int]]:
    answer = _ask(running, 1, ApiVersionsRequest, 3, {})
    return {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}


@pytest.mark.not_emulated("other releases' versions")
def test_versions_are_the_same_whatever_the_release(cluster: Cluster) -> None:
    with Cluster(Options(brokers=1, release="3.9.1")) as older:
        newer = _versions(cluster)
        assert _versions(older) == {k: v for k, v in newer.items() if k not in OF_SHARE_GROUPS}
        # 3.9.1 itself knows this request up to version 1.
        assert _versions(older)[DescribeClusterRequest.API_KEY][1] == 2


@pytest.mark.not_emulated("what came with 4.4")
def test_what_4_4_means_by_keys_93_and_94_is_announced_and_not_answered(cluster: Cluster) -> None:
    with Cluster(Options(brokers=1, release="4.4.0")) as newer:
        new = {ApiVersionsRequest.API_KEY: (0, 5), 93: (0, 0), 94: (0, 0)}
        assert _versions(newer) == _versions(cluster) | new
        with pytest.raises(ConnectionResetError):
            _ask(newer, 1, REQUESTS[Dialect.REVERTED], 0, {"topic_partitions": []})


def test_a_release_speaks_no_dialect_whose_key_is_another_request_s() -> None:
    said = "dialect reverted: key 93 is StreamsGroupTopologyDescriptionUpdate in Kafka 4.4.0"
    with pytest.raises(ValueError, match=f"^{said}$"):
        Options(release="4.4.0", dialect=Dialect.REVERTED)
    assert Options(release="4.4.0", dialect=Dialect.KIP_966).dialect is Dialect.KIP_966


def test_topics_are_described_with_their_defaults(cluster: Cluster) -> None:
    _create(cluster, [1], retention_ms="1000")
    found = _described(cluster, TOPIC_RESOURCE, TOPIC)
    assert found["retention.ms"] == ("1000", [1, 5])
    assert found["min.insync.replicas"] == ("1", [3, 5])
    assert found["segment.bytes"] == ("1073741824", [5])


def test_partitions_are_added_where_they_are_wanted_or_in_turns(cluster: Cluster) -> None:
    _create(cluster, [1, 2])

    def add(
        count: int, assignments: list[list[int]] | None, **flags: bool
    ) -> tuple[int, str | None]:
        given = None if assignments is None else [{"broker_ids": ids} for ids in assignments]
        topic = {"name": TOPIC, "count": count, "assignments": given}
        values = {"topics": [topic], "timeout_ms": 1000, "validate_only": False} | flags
        found = _ask(cluster, 1, CreatePartitionsRequest, 3, values).results[0]
        return found.error_code, found.error_message

    def replicas() -> list[tuple[int, ...]]:
        topics = cluster.look(lambda e: e.state.topics.values())
        return [p.replicas for topic in topics for p in topic.partitions.values()]

    assert add(2, [[4, 3]], validate_only=True) == (0, None)
    assert replicas() == [(1, 2)]
    assert add(2, [[4, 3]]) == (0, None)
    assert add(4, None) == (0, None)
    assert replicas() == [(1, 2), (4, 3), (3, 4), (4, 1)]
    assert add(4, None) == (37, "Topic already has 4 partition(s).")
    less = "The topic orders currently has 4 partition(s); 3 would not be an increase."
    assert add(3, None) == (37, less)
    assert add(5, [[1]])[0] == 39


EVERY = [
    pytest.param(api, version, id=f"{api.request.name} {version}")
    for api in apis(KIP_966, Dialect.KIP_966).values()
    for version in range(api.lowest, api.highest + 1)
]


@pytest.fixture(scope="module")
def kip_966() -> Iterator[Cluster]:
    with Cluster(Options(release="kip-966", dialect=Dialect.KIP_966)) as running:
        yield running


@pytest.mark.parametrize(("api", "version"), EVERY)
def test_every_version_that_is_advertised_is_answered(
    kip_966: Cluster, api: Any, version: int
) -> None:
    """With a request that asks for nothing."""
    # Zero acks would mean that no answer is wanted.
    values = {"acks": 1} if "acks" in api.request.fields else {}
    assert _ask(kip_966, 1, api.request, version, values).version == version


def test_designated_elections_are_advertised_where_the_release_has_them() -> None:
    key = ElectLeadersRequest.API_KEY
    assert apis(KAFKA_4_3_1, None)[key].highest == 2
    assert apis(KIP_966, None)[key].highest == 3


def test_replica_log_info_is_advertised_under_the_key_of_its_dialect_alone(
    cluster: Cluster, kip_966: Cluster
) -> None:
    keys = {request.API_KEY for request in REQUESTS.values()}
    for running, expected in ((cluster, set()), (kip_966, {1020})):
        answer = _ask(running, 1, ApiVersionsRequest, 3, {})
        assert {api.api_key for api in answer.api_keys} & keys == expected
        # Who asks may go by the key, because an emulated broker says that it is one.
        assert EMULATOR_FEATURE in {feature.name for feature in answer.supported_features}


def test_a_follower_past_its_high_watermark_is_read_to_its_end_by_minus_3_alone(
    cluster: Cluster,
) -> None:
    _create(cluster, [1, 2], min_insync_replicas="2")
    _produce(cluster, 1, v2(count=10))
    cluster.kill(1)
    cluster.fence(1)
    _produce(cluster, 2, v2(count=5), acks=1)
    cluster.kill(2)
    cluster.start(2)
    ends = {}
    for asker in (-1, -2, -3):
        found = _fetch(cluster, 2, asker, 10)
        ends[asker] = (found.error_code, found.high_watermark < 15, len(found.records or b"") > 0)
    assert ends == {-1: (0, True, False), -2: (0, True, False), -3: (0, True, True)}
    assert _latest(cluster, 2, -2)[:2] == (0, 15)


def test_a_fetch_waits_for_records_as_long_as_it_may(cluster: Cluster) -> None:
    _create(cluster, [1])
    begun = time.monotonic()
    assert not _fetch(cluster, 1, -1, 0, max_wait_ms=300).records
    assert time.monotonic() - begun >= 0.3
    with ThreadPoolExecutor() as pool:
        fetched = pool.submit(_fetch, cluster, 1, -1, 0, max_wait_ms=20_000)
        _produce(cluster, 1, v2(count=3))
        assert fetched.result().records


def test_a_fetch_far_past_the_end_says_where_an_epoch_ends(cluster: Cluster) -> None:
    """Without a leader too: see "Seeing replicas of a leaderless partition"."""
    _create(cluster, [1, 2])
    _produce(cluster, 1, v2(count=10))
    cluster.kill(1)
    cluster.fence(1)
    _produce(cluster, 2, v2(count=5))
    cluster.kill(2)
    cluster.fence(2)
    cluster.start(1)

    def asked(epoch: int) -> tuple[int, Any]:
        found = _fetch(cluster, 1, -3, 2**62, epoch)
        ends = found.diverging_epoch
        return found.error_code, None if ends is None else (ends.epoch, ends.end_offset)

    assert asked(0) == (0, (0, 10))
    assert asked(1)[0] == 1
    # The current epoch is newer than the last written one, and that is what LATEST tells.
    assert _latest(cluster, 1, -2) == (0, 10, 2)


def test_only_a_leader_answers_a_consumer_s_list_offsets(cluster: Cluster) -> None:
    _create(cluster, [1, 2])
    _produce(cluster, 1, v2(count=10))
    assert _latest(cluster, 1, -1) == (0, 10, 0)
    assert _latest(cluster, 2, -1)[0] == 6
    assert _latest(cluster, 2, -2)[:2] == (0, 10)
    assert _latest(cluster, 3, -2)[0] == 3


def test_a_new_leader_that_knows_no_high_watermark_yet_has_no_latest_offset(
    cluster: Cluster,
) -> None:
    _create(cluster, [1, 2], min_insync_replicas="2")
    _produce(cluster, 1, v2(count=10))
    for broker in (2, 1):
        cluster.kill(broker)
        cluster.fence(broker)
    cluster.start(1)
    _ask(cluster, 1, ElectLeadersRequest, 2, {"election_type": 1, "topic_partitions": None})
    assert _latest(cluster, 1, -1)[0] == 78
    assert _latest(cluster, 1, -2)[:2] == (0, 10)


@pytest.mark.parametrize(
    ("records", "error"),
    [
        pytest.param(v2()[:-1] + b"x", 2, id="a flipped byte"),
        pytest.param(b"garbage", 2, id="garbage"),
        pytest.param(b"", 87, id="nothing"),
    ],
)
def test_bad_records_are_refused_and_nothing_is_written(
    cluster: Cluster, records: bytes, error: int
) -> None:
    _create(cluster, [1])
    assert _produce(cluster, 1, records).error_code == error
    assert _latest(cluster, 1, -2)[1] == 0


def test_acks_all_waits_for_the_isr_and_is_refused_below_min_isr(cluster: Cluster) -> None:
    _create(cluster, [1, 2], min_insync_replicas="2")
    cluster.pause(2)
    # In the ISR still, and silent.
    assert _produce(cluster, 1, v2()).error_code == 7
    cluster.fence(2)
    assert _produce(cluster, 1, v2()).error_code == 19
    assert _produce(cluster, 1, v2(), acks=1).error_code == 0


def test_acks_all_is_answered_as_soon_as_the_isr_has_the_records(cluster: Cluster) -> None:
    _create(cluster, [1, 2])
    cluster.pause(2)
    with ThreadPoolExecutor() as pool:
        produced = pool.submit(_produce, cluster, 1, v2(count=3), timeout_ms=20_000)
        while _latest(cluster, 1, -2)[1] == 0:
            pass
        assert not produced.done()
        cluster.resume(2)
        assert produced.result().error_code == 0


def test_partitions_are_described_page_by_page(cluster: Cluster) -> None:
    for name in ("a", "b", "c"):
        _create(cluster, [1, 2], name)
    request = DescribeTopicPartitionsRequest
    pages = []
    message = build(request, {"topics": [], "response_partition_limit": 1, "cursor": None})
    while True:
        with Wire(*_address(cluster, 1)) as wire:
            answer = wire.ask(message, 0)
        pages.append([topic.name for topic in answer.topics])
        if answer.next_cursor is None:
            break
        following = answer.next_cursor
        message.cursor = request.Cursor(
            topic_name=following.topic_name, partition_index=following.partition_index
        )
    assert pages == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize("dialect", Dialect)
def test_replica_log_info_tells_what_its_dialect_has(dialect: Dialect) -> None:
    with Cluster(Options(dialect=dialect)) as cluster:
        topic_id = _create(cluster, [1, 2]).topic_id
        _produce(cluster, 1, v2(count=10))
        cluster.kill(1)
        cluster.fence(1)
        wanted = [{"topic_id": topic_id, "partitions": [0, *range(2, 1002)]}]
        answer = _ask(cluster, 2, REQUESTS[dialect], 0, {"topic_partitions": wanted})
        found = {p.partition: p for p in answer.topic_partition_log_info_list[0].partition_log_info}
        assert answer.broker_epoch == cluster.look(lambda e: e.brokers[2].epoch)
    assert (found[0].log_end_offset, found[0].error_code, found[2].error_code) == (10, 0, 3)
    if dialect is Dialect.KIP_1275:
        assert found[0].partition_leader_epoch == 1
    else:
        assert (found[0].last_written_leader_epoch, found[0].current_leader_epoch) == (0, 1)
    if dialect is Dialect.KIP_966:
        assert (len(found), found[1001].error_message) == (1001, "REQUEST_LIMIT_REACHED")
    else:
        assert (len(found), answer.has_more_data) == (1000, True)


def test_a_designated_leader_is_elected_and_one_that_can_t_be_is_an_error() -> None:
    with Cluster(Options(release="kip-966")) as cluster:
        _create(cluster, [1, 2, 3, 4])
        for broker in (4, 3, 2, 1):
            cluster.kill(broker)
            cluster.fence(broker)
        for broker in (2, 3, 4):
            cluster.start(broker)

        def elect(leader: int) -> int:
            topic = {"topic": TOPIC, "partitions": [0], "designated_leaders": [leader]}
            values = {"election_type": DESIGNATED, "topic_partitions": [topic]}
            answer = _ask(cluster, 2, ElectLeadersRequest, 3, values)
            return int(answer.replica_election_results[0].partition_result[0].error_code)

        assert elect(1) == 83
        assert elect(3) == 0
        topics = cluster.look(lambda e: [t.partitions[0] for t in e.state.topics.values()])
        assert (topics[0].leader, topics[0].isr[0]) == (3, 3)


def test_a_reassignment_that_waits_is_listed_and_cancelled(cluster: Cluster) -> None:
    _create(cluster, [1, 2])
    cluster.kill(4)
    wanted = {"partition_index": 0, "replicas": [1, 4]}

    def alter() -> int:
        topics = [{"name": TOPIC, "partitions": [wanted]}]
        answer = _ask(cluster, 1, AlterPartitionReassignmentsRequest, 0, {"topics": topics})
        return int(answer.responses[0].partitions[0].error_code)

    def listed() -> list[tuple[list[int], list[int]]]:
        answer = _ask(cluster, 1, ListPartitionReassignmentsRequest, 0, {"topics": None})
        found = [p for topic in answer.topics for p in topic.partitions]
        return [(p.adding_replicas, p.removing_replicas) for p in found]

    assert (alter(), listed()) == (0, [([4], [2])])
    wanted["replicas"] = None
    assert (alter(), listed()) == (0, [])


def test_configs_are_altered_and_described(cluster: Cluster) -> None:
    _create(cluster, [1, 2])
    config = {"name": "min.insync.replicas", "config_operation": 0, "value": "2"}

    def alter(validate_only: bool) -> int:
        resource = {"resource_type": 2, "resource_name": TOPIC, "configs": [config]}
        values = {"resources": [resource], "validate_only": validate_only}
        answer = _ask(cluster, 1, IncrementalAlterConfigsRequest, 1, values)
        return int(answer.responses[0].error_code)

    def described() -> dict[str, str]:
        resource = {"resource_type": 2, "resource_name": TOPIC, "configuration_keys": None}
        answer = _ask(cluster, 1, DescribeConfigsRequest, 4, {"resources": [resource]})
        return {each.name: each.value for each in answer.results[0].configs}

    assert (alter(True), described()["min.insync.replicas"]) == (0, "1")
    assert (alter(False), described()["min.insync.replicas"]) == (0, "2")
    config["value"] = "none"
    assert alter(False) != 0
    assert described()["min.insync.replicas"] == "2"


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("unclean.recovery.strategy", "Random", "aggressive"),
        ("unclean.recovery.manager.enabled", "maybe", "true"),
        ("unclean.recovery.timeout.ms", "5m", "300000"),
        ("min.insync.replicas", "none", "2"),
    ],
)
def test_what_all_brokers_go_by_is_looked_at_first(
    cluster: Cluster, name: str, wrong: str, right: str
) -> None:
    """The controller would take anything, and fail whenever it reads it."""

    def alter(value: str) -> int:
        config = {"name": name, "config_operation": 0, "value": value}
        resource = {"resource_type": 4, "resource_name": "", "configs": [config]}
        values = {"resources": [resource], "validate_only": False}
        answer = _ask(cluster, 1, IncrementalAlterConfigsRequest, 1, values)
        return int(answer.responses[0].error_code)

    assert (alter(wrong), alter(right)) == (40, 0)
    assert cluster.look(lambda e: e.state.cluster_configs[name]) == right


def test_a_topic_without_assignment_is_spread_over_the_live_brokers(cluster: Cluster) -> None:
    cluster.kill(2)
    cluster.fence(2)
    topic = {"name": TOPIC, "num_partitions": 3, "replication_factor": 2}
    topic |= {"assignments": [], "configs": []}
    values = {"topics": [topic], "validate_only": False}
    assert _ask(cluster, 1, CreateTopicsRequest, 7, values).topics[0].error_code == 0
    partitions = cluster.look(lambda e: next(iter(e.state.topics.values())).partitions)
    assert [p.replicas for p in partitions.values()] == [(1, 3), (3, 4), (4, 1)]
    values["topics"] = [topic | {"name": "more", "replication_factor": 4}]
    assert _ask(cluster, 1, CreateTopicsRequest, 7, values).topics[0].error_code == 38
