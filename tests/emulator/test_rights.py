"""Rights: what is answered to who lacks one, and what our tool makes of it.

Everybody is ANONYMOUS here, so that rights can be given without a login.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.admin.cluster import (
    DescribeClusterRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
)
from kafka.protocol.admin.configs import DescribeConfigsRequest, IncrementalAlterConfigsRequest
from kafka.protocol.admin.topics import (
    AlterPartitionReassignmentsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeTopicPartitionsRequest,
    ListPartitionReassignmentsRequest,
)
from kafka.protocol.consumer.fetch import FetchRequest
from kafka.protocol.consumer.offsets import ListOffsetsRequest
from kafka.protocol.metadata import FindCoordinatorRequest, MetadataRequest
from kafka.protocol.producer.produce import ProduceRequest
from kafka.protocol.producer.transaction import InitProducerIdRequest

from kafka_unclean_recovery.emulator import Cluster, Security
from kafka_unclean_recovery.emulator.apis.supported import apis
from kafka_unclean_recovery.emulator.security.authorizing import RULES
from kafka_unclean_recovery.emulator.security.rights import Operation, Resource, Rights, parse_right
from kafka_unclean_recovery.kraft_rules.releases import KIP_966
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.messages.elect_leaders import ElectLeadersRequest
from kafka_unclean_recovery.messages.get_replica_log_info import REQUESTS
from tests.emulator.secured import (
    NUMBERS,
    TOPIC,
    WAYS,
    Papers,
    Way,
    cluster,
    lose,
    make_outage,
    tool,
)
from tests.fidelity.wire import Wire
from tests.least_rights import only_not_known_electable
from tests.log_dir.segments import v2
from tests.messages.building import build
from tests.real.records import consume_all, create_topic, numbered

HIDDEN = "hidden"
LOOK = ("--all-offline-partitions", "--show-replica-info", "--format", "json")
RECOVER = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the outage with a topic more, made by who may do everything; each test gets rights of
    its own by starting it again."""
    directory = tmp_path_factory.mktemp("cluster")
    with cluster(Security(), data_dir=directory) as running:
        create_topic(running.bootstrap_servers, HIDDEN, [[2]])
        make_outage(running, running.bootstrap_servers)
        lose(running, 2)
    return directory


@contextmanager
def _granted(directory: Path, *rights: str, **more: Any) -> Iterator[Cluster]:
    security = Security(rights={"ANONYMOUS": rights})
    with cluster(security, data_dir=directory, running=(2,), **more) as running:
        yield running


def _ask(running: Cluster, request: Any, version: int, values: Mapping[str, Any]) -> Any:
    with _wire(running) as wire:
        return wire.ask(build(request, values), version)


def _wire(running: Cluster) -> Wire:
    host, _, port = running.bootstrap_servers.split(",")[1].rpartition(":")
    return Wire(host, int(port))


# What our tool says.


def test_without_any_right_nothing_seen_is_not_nothing_offline(disk: Path) -> None:
    with _granted(disk) as running:
        done = tool(running.bootstrap_servers, None, *LOOK)
    assert done.code == 1
    assert done.report["partitions"] == []
    (hidden,) = [text for text in done.report["problems"] if "hidden from this user" in text]
    assert "whether topics are hidden from this user is not known" in hidden
    assert "grant Cluster:DESCRIBE" in hidden
    assert hidden in done.stderr
    assert "reassignments in progress are not known: ListPartitionReassignments" in done.stderr
    assert "CLUSTER_AUTHORIZATION_FAILED" in done.stderr
    assert "needs DESCRIBE permission." in done.stderr


@pytest.mark.parametrize("flags", [LOOK, RECOVER], ids=["looking", "electing"])
def test_topics_that_may_not_be_described_are_named(disk: Path, flags: tuple[str, ...]) -> None:
    with _granted(disk, "Cluster:ALTER") as running:
        done = tool(running.bootstrap_servers, None, *flags)
    assert done.code == 1
    assert done.report["partitions"] == []
    assert f"may not describe topics {HIDDEN}, {TOPIC}" in done.stderr


def test_one_hidden_topic_is_a_problem_and_the_others_are_shown(disk: Path, tmp_path: Path) -> None:
    wanted = tmp_path / "wanted.json"
    wanted.write_text(json.dumps({"partitions": [{"topic": HIDDEN, "partition": 0}]}))
    by_name = ("--path-to-json-file", str(wanted), "--automated-recovery", "--yes")
    with _granted(disk, "Cluster:ALTER", f"Topic({TOPIC}):READ") as running:
        done = tool(running.bootstrap_servers, None, *LOOK)
        named = tool(running.bootstrap_servers, None, *by_name, "--format", "json")
    assert done.code == 1
    assert f"may not describe topics {HIDDEN}:" in done.stderr
    (row,) = done.report["partitions"]
    assert (row["topic"], row["designated_leader"]) == (TOPIC, 2)
    assert named.code == 1
    (row,) = named.report["partitions"]
    not_found = f"topic {HIDDEN} does not exist, or this user may not describe it"
    assert (row["outcome"], row["reason"]) == ("failed", not_found)


def test_a_topic_that_may_not_be_read_is_a_problem(disk: Path) -> None:
    with _granted(disk, "Cluster:ALTER", "Topic(*):DESCRIBE") as running:
        done = tool(running.bootstrap_servers, None, *LOOK)
    assert done.code == 1
    assert "this user lacks READ on topics" in done.stderr
    assert {row["designated_leader"] for row in done.report["partitions"]} == {None}


def test_without_alter_on_the_cluster_nothing_is_sent(disk: Path, tmp_path: Path) -> None:
    with _granted(disk, "Cluster:DESCRIBE", "Topic(*):READ") as running:
        done = tool(running.bootstrap_servers, None, *RECOVER)
    assert done.code == 1
    assert "lacks ALTER on the cluster" in done.stderr
    assert "grant Cluster:ALTER and Topic(*):READ" in done.stderr
    journals = list((tmp_path / "state").rglob("*.jsonl"))
    lines = [json.loads(line) for path in journals for line in path.read_text().splitlines()]
    assert not {line["event"] for line in lines} & {"reorder", "elect"}


def test_looking_needs_less(disk: Path) -> None:
    with _granted(disk, "Cluster:DESCRIBE", "Topic(*):READ") as running:
        done = tool(running.bootstrap_servers, None, *LOOK)
    assert done.code == 0
    assert done.stderr.startswith("kafka-unclean-recovery: next: ")
    assert [row["designated_leader"] for row in done.report["partitions"]] == [2]


MUTUAL = Way("SSL", mutual=True)
PLAIN = Way("SASL_PLAINTEXT", "PLAIN")


@pytest.mark.parametrize("way", [MUTUAL, PLAIN], ids=str)
def test_alter_and_read_are_enough_for_the_whole_job(tmp_path: Path, way: Way) -> None:
    assert way in WAYS
    papers = Papers.made(tmp_path)
    principal = "CN=sre" if way is MUTUAL else "sre"
    data = {"data_dir": tmp_path / "cluster"}
    with cluster(Security(), **data) as everybody:
        make_outage(everybody, everybody.bootstrap_servers)
        lose(everybody, 2)
    # A consumer that is assigned a partition asks for the coordinator of its group too.
    rights = {principal: ("Cluster:ALTER", "Topic(*):READ", "Group(tests):DESCRIBE")}
    with cluster(way.security(papers, rights=rights), **data, running=(2,)) as running:
        config = papers.client_file(tmp_path, way.java(papers))
        done = tool(running.bootstrap_servers, config, *RECOVER)
        assert done.code == 0, done.stderr
        said = done.stderr.splitlines(keepends=True)
        warned = [line for line in said if "shows the password" in line]
        assert len(warned) == (way is PLAIN), done.stderr
        assert only_not_known_electable("".join(s for s in said if s not in warned)), done.stderr
        assert [row["outcome"] for row in done.report["partitions"]] == ["elected"]
        again = tool(running.bootstrap_servers, config, *RECOVER)
        assert (again.code, again.report["partitions"]) == (0, [])
        connection = {
            "bootstrap.servers": running.bootstrap_servers,
            **way.librdkafka(papers),
        }
        assert consume_all(connection, TOPIC, 0) == list(map(numbered, NUMBERS))


# The table, request by request.

ALL_TOPICS = {"topics": None}
HIDDEN_ONE = [{"partition_index": 0}]
ONE_OF_HIDDEN = {"name": HIDDEN, "partitions": [{"partition_index": 0, "timestamp": -1}]}
FETCH = {
    "replica_id": -3,
    "max_wait_ms": 60_000,
    "min_bytes": 1,
    "max_bytes": 1 << 20,
    "isolation_level": 0,
    "topics": [{"topic": HIDDEN, "partitions": [{"partition": 0, "partition_max_bytes": 1 << 20}]}],
    "rack_id": "",
}


@pytest.fixture(scope="module")
def nobody(disk: Path) -> Iterator[Cluster]:
    """Yield the cluster as it shows itself to who has no right."""
    with _granted(disk, dialect=Dialect.KIP_966, release="4.3.1") as running:
        yield running


def test_every_api_has_a_rule() -> None:
    for dialect in Dialect:
        names = {api.request.name for api in apis(KIP_966, dialect).values()}
        assert names <= set(RULES)


def test_of_all_topics_those_that_are_hidden_are_left_out_without_an_error(
    nobody: Cluster,
) -> None:
    for version in (0, 9, 12):
        values: Any = {"topics": [] if version == 0 else None}
        assert _ask(nobody, MetadataRequest, version, values).topics == []
    paged = {"topics": [], "response_partition_limit": 1, "cursor": None}
    found = _ask(nobody, DescribeTopicPartitionsRequest, 0, paged)
    assert (found.topics, found.next_cursor) == ([], None)


@pytest.mark.parametrize("name", [HIDDEN, "never-made"])
def test_a_topic_that_is_named_is_refused_whether_it_exists_or_not(
    nobody: Cluster, name: str
) -> None:
    (found,) = _ask(nobody, MetadataRequest, 9, {"topics": [{"name": name}]}).topics
    assert (found.error_code, found.name, found.partitions) == (29, name, [])
    values = {"topics": [{"name": name}], "response_partition_limit": 9, "cursor": None}
    (found,) = _ask(nobody, DescribeTopicPartitionsRequest, 0, values).topics
    assert (found.error_code, found.name, found.partitions) == (29, name, [])
    values = {"topics": [ONE_OF_HIDDEN | {"name": name}], "replica_id": -2, "isolation_level": 0}
    (topic,) = _ask(nobody, ListOffsetsRequest, 7, values).topics
    assert [each.error_code for each in topic.partitions] == [29]


def test_a_topic_that_is_asked_for_by_id_is_refused_without_its_name(nobody: Cluster) -> None:
    topic_id = nobody.look(lambda e: e.state.topic_ids[HIDDEN])
    values: Any = {"topics": [{"topic_id": topic_id, "name": None}]}
    (found,) = _ask(nobody, MetadataRequest, 12, values).topics
    assert (found.error_code, found.name, found.topic_id) == (29, None, topic_id)
    values = {"topics": values["topics"], "timeout_ms": 1000}
    (deleted,) = _ask(nobody, DeleteTopicsRequest, 6, values).responses
    assert (deleted.error_code, deleted.name, deleted.topic_id) == (29, None, topic_id)
    wanted = {"topic_id": topic_id, "partitions": FETCH["topics"][0]["partitions"]}  # type: ignore[index]
    answer = _ask(nobody, FetchRequest, 13, FETCH | {"topics": [wanted]})
    assert answer.responses[0].topic_id == topic_id
    assert answer.responses[0].partitions[0].error_code == 29


def test_a_fetch_is_refused_by_partition_at_once(nobody: Cluster) -> None:
    answer = _ask(nobody, FetchRequest, 12, FETCH)
    assert answer.error_code == 0
    assert answer.responses[0].partitions[0].error_code == 29


def test_nothing_is_written_without_the_right_to(nobody: Cluster) -> None:
    ends = nobody.look(_ends)
    data = {"name": HIDDEN, "partition_data": [{"index": 0, "records": v2(count=3)}]}
    values = {"acks": -1, "timeout_ms": 1000, "topic_data": [data]}
    (topic,) = _ask(nobody, ProduceRequest, 9, values).responses
    assert [each.error_code for each in topic.partition_responses] == [29]
    new = {"name": "new", "num_partitions": 1, "replication_factor": 1}
    created = _ask(nobody, CreateTopicsRequest, 7, {"topics": [new], "timeout_ms": 1000})
    assert [each.error_code for each in created.topics] == [29]
    for version in (5, 6):
        key = "topics" if version == 6 else "topic_names"
        value = [{"name": HIDDEN, "topic_id": None}] if version == 6 else [HIDDEN]
        deleted = _ask(nobody, DeleteTopicsRequest, version, {key: value, "timeout_ms": 1000})
        assert [(each.name, each.error_code) for each in deleted.responses] == [(HIDDEN, 29)]
    assert nobody.look(_ends) == ends


def _ends(emulation: Any) -> dict[tuple[str, int], int]:
    replicas = emulation.brokers[2].replicas.values()
    return {replica.topic_partition: replica.log.end_offset for replica in replicas}


def test_configs_are_refused_by_resource(nobody: Cluster) -> None:
    wanted = [(2, HIDDEN, 29), (4, "", 31)]
    configs = [{"name": "min.insync.replicas", "config_operation": 0, "value": "2"}]
    for request, version, key, more in (
        (DescribeConfigsRequest, 4, "results", {"configuration_keys": None}),
        (IncrementalAlterConfigsRequest, 1, "responses", {"configs": configs}),
    ):
        resources = [{"resource_type": t, "resource_name": n} | more for t, n, _ in wanted]
        answer = _ask(nobody, request, version, {"resources": resources})
        found = [(r.resource_type, r.resource_name, r.error_code) for r in getattr(answer, key)]
        assert found == wanted


@pytest.mark.parametrize(
    ("request_class", "version", "values", "rows"),
    [
        (AlterPartitionReassignmentsRequest, 0, {"topics": []}, "responses"),
        (ListPartitionReassignmentsRequest, 0, ALL_TOPICS, "topics"),
        (DescribeLogDirsRequest, 4, ALL_TOPICS, "results"),
        (DescribeQuorumRequest, 2, {"topics": []}, "topics"),
    ],
)
def test_what_needs_the_cluster_is_refused_as_a_whole(
    nobody: Cluster, request_class: Any, version: int, values: Any, rows: str
) -> None:
    answer = _ask(nobody, request_class, version, values)
    assert (answer.error_code, getattr(answer, rows)) == (31, [])


def test_an_election_is_refused_at_the_top_and_by_partition(nobody: Cluster) -> None:
    partitions = [{"topic": TOPIC, "partitions": [0]}]
    values = {"election_type": 1, "topic_partitions": partitions, "timeout_ms": 1000}
    answer = _ask(nobody, ElectLeadersRequest, 2, values)
    (topic,) = answer.replica_election_results
    assert (answer.error_code, topic.partition_result[0].error_code) == (31, 31)
    assert nobody.look(lambda e: e.state.topic(TOPIC).partitions[0].leader) == -1  # type: ignore[union-attr]


def test_replica_log_info_is_refused_by_partition(nobody: Cluster) -> None:
    topic_id = nobody.look(lambda e: e.state.topic_ids[TOPIC])
    values = {"topic_partitions": [{"topic_id": topic_id, "partitions": [0]}]}
    answer = _ask(nobody, REQUESTS[Dialect.KIP_966], 0, values)
    (topic,) = answer.topic_partition_log_info_list
    (found,) = topic.partition_log_info
    assert found.error_code == 31


@pytest.mark.parametrize(("kind", "error"), [(0, 30), (1, 53)])
def test_coordinators_are_refused_by_key(nobody: Cluster, kind: int, error: int) -> None:
    old = _ask(nobody, FindCoordinatorRequest, 3, {"key": "mine", "key_type": kind})
    assert old.error_code == error
    values = {"coordinator_keys": ["mine"], "key_type": kind}
    (found,) = _ask(nobody, FindCoordinatorRequest, 4, values).coordinators
    assert (found.key, found.error_code) == ("mine", error)


@pytest.mark.parametrize(("transactional_id", "error"), [("mine", 53), (None, 31)])
def test_producer_ids_are_refused(
    nobody: Cluster, transactional_id: str | None, error: int
) -> None:
    values = {"transactional_id": transactional_id, "transaction_timeout_ms": 1000}
    assert _ask(nobody, InitProducerIdRequest, 4, values).error_code == error


def test_the_cluster_is_described_to_anyone_but_without_operations(nobody: Cluster) -> None:
    values: Any = {"include_cluster_authorized_operations": True, "include_fenced_brokers": True}
    answer = _ask(nobody, DescribeClusterRequest, 2, values | {"endpoint_type": 1})
    assert [each.broker_id for each in answer.brokers] == [1, 2]
    assert (answer.error_code, answer.authorized_operations) == (0, set())
    values = {"include_cluster_authorized_operations": True, "topics": []}
    assert _ask(nobody, MetadataRequest, 9, values).authorized_operations == set()


def test_authorized_operations_are_those_that_were_granted(disk: Path) -> None:
    rights = ("Cluster:ALTER", "Topic(*):DESCRIBE", f"Topic({HIDDEN}):ALL")
    with _granted(disk, *rights) as running:
        values: Any = {"include_cluster_authorized_operations": True, "endpoint_type": 1}
        answer = _ask(running, DescribeClusterRequest, 1, values)
        assert answer.authorized_operations == {7, 8}
        values = {"include_topic_authorized_operations": True, "topics": None}
        answer = _ask(running, MetadataRequest, 9, values)
        found = {each.name: each.authorized_operations for each in answer.topics}
        assert found == {TOPIC: {8}, HIDDEN: set(range(3, 9)) | {10, 11}}
        values = {"topics": [], "response_partition_limit": 9, "cursor": None}
        paged = _ask(running, DescribeTopicPartitionsRequest, 0, values)
        assert {each.name: each.topic_authorized_operations for each in paged.topics} == {
            TOPIC: 1 << 8,
            HIDDEN: sum(1 << code for code in (*range(3, 9), 10, 11)),
        }


@pytest.mark.parametrize("first", [None, HIDDEN, TOPIC])
def test_pages_hold_only_what_may_be_described(disk: Path, first: str | None) -> None:
    request = build(DescribeTopicPartitionsRequest, {"topics": [], "response_partition_limit": 1})
    if first is not None:
        request.cursor = type(request).Cursor(topic_name=first, partition_index=0)
    with _granted(disk, f"Topic({TOPIC}):DESCRIBE") as running, _wire(running) as wire:
        answer = wire.ask(request, 0)
    assert [each.name for each in answer.topics] == [TOPIC]
    assert answer.next_cursor is None


def test_who_may_do_something_may_do_what_it_implies() -> None:
    granted = ("Topic(*):READ", "Topic(mine):ALTER_CONFIGS", "Group(g):DESCRIBE", "Cluster:ALL")
    rights = Rights(frozenset(map(parse_right, granted)))
    topic, group = Resource.TOPIC, Resource.GROUP
    allowed = [
        rights.may(Operation.DESCRIBE, topic, "any"),
        rights.may(Operation.DESCRIBE_CONFIGS, topic, "mine"),
        rights.may(Operation.DESCRIBE, group, "g"),
        rights.may(Operation.ALTER, Resource.CLUSTER),
        rights.may_anywhere(Operation.READ, topic),
    ]
    refused = [
        rights.may(Operation.WRITE, topic, "any"),
        rights.may(Operation.DESCRIBE_CONFIGS, topic, "any"),
        rights.may(Operation.DESCRIBE, group, "other"),
        rights.may(Operation.READ, group, "g"),
        rights.may_anywhere(Operation.WRITE, topic),
    ]
    assert (set(allowed), set(refused)) == ({True}, {False})


def test_super_users_may_do_everything_and_others_nothing() -> None:
    security = Security(rights={}, super_users=frozenset({"admin"}))
    assert security.rights_of("admin").everything
    assert not security.rights_of("sre").operations(Resource.CLUSTER)
    assert Security().rights_of("sre").everything
