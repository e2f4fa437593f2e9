"""What a user without the rights is told: never an empty list taken for "nothing is offline"."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka import TopicPartition as Position

from kafka_unclean_recovery.cluster.config.security import load_client_config
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.requests.replica_fetch import Fetched, fetch_records
from kafka_unclean_recovery.cluster.requests.transactions import (
    OpenTransaction,
    open_transactions,
    write_marker,
)
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import TopicPartition
from tests.least_rights import CARING, ENDING, REAL, Row, only_not_known_electable, prove
from tests.real.cli import Finished
from tests.real.cluster import KafkaCluster
from tests.real.commits import commit
from tests.real.faults import TIMEOUT, Trouble
from tests.real.grants import (
    CLUSTER_ALTER,
    CLUSTER_DESCRIBE,
    DESCRIBE_ALL,
    READ_ALL,
    READ_ONE,
    USER,
    Right,
    granted,
    proving,
    right,
)
from tests.real.metadata import QUIETLY, SILENT
from tests.real.recipes import TOPIC
from tests.real.records import consume_all, create_topic, numbered
from tests.real.security import PASSWORDS, Login
from tests.real.watching import Commands, journal_lines, outcomes

HIDDEN = "hidden"


@pytest.fixture
def guarded(guarded: Trouble) -> Trouble:
    """Return the outage with an online topic that nobody was given rights on."""
    if HIDDEN not in guarded.cluster.view(3).topics:
        create_topic(guarded.cluster.connection(), HIDDEN, [[3, 4]])
    return guarded


def _server(cluster: KafkaCluster, login: Login = "SCRAM-SHA-512") -> tuple[str, ...]:
    address = cluster.mtls_address(3) if login == "MTLS" else cluster.address(3)
    config = cluster.client_properties(USER, login)
    return ("--bootstrap-server", address, "--command-config", str(config))


LOOK_AT_ALL = ("--all-offline-partitions", "--show-replica-info", "--format", "json")


def test_without_any_right_nothing_seen_is_not_nothing_offline(
    guarded: Trouble, commands: Commands
) -> None:
    with granted(guarded.cluster):
        done = commands.run(*_server(guarded.cluster), *LOOK_AT_ALL)
    assert done.code == 1
    assert done.report["partitions"] == []
    (hidden,) = [text for text in done.report["problems"] if "hidden from this user" in text]
    assert "whether topics are hidden from this user is not known" in hidden
    assert "grant Cluster:DESCRIBE" in hidden
    assert hidden in done.stderr
    refused = (
        "ListPartitionReassignments: CLUSTER_AUTHORIZATION_FAILED (needs DESCRIBE permission.)"
    )
    assert f"reassignments in progress are not known: {refused}" in done.stderr


@pytest.mark.parametrize("recover", [False, True], ids=["looking", "electing"])
def test_topics_that_may_not_be_described_are_named(
    guarded: Trouble, commands: Commands, recover: bool
) -> None:
    action = ("--automated-recovery", "--yes") if recover else ("--show-replica-info",)
    which = ("--all-offline-partitions", "--format", "json", *action)
    with granted(guarded.cluster, CLUSTER_ALTER):
        done = commands.run(*_server(guarded.cluster), *which)
    assert done.code == 1
    assert done.report["partitions"] == []
    assert f"may not describe topics {HIDDEN}, {TOPIC}" in done.stderr


def test_one_hidden_topic_is_a_problem_and_the_others_are_shown(
    guarded: Trouble, commands: Commands
) -> None:
    with granted(guarded.cluster, CLUSTER_ALTER, READ_ONE):
        done = commands.run(*_server(guarded.cluster), *LOOK_AT_ALL)
        named = str(commands.partitions_file({HIDDEN: [0]}))
        which = ("--path-to-json-file", named, "--automated-recovery", "--yes", "--format", "json")
        by_name = commands.run(*_server(guarded.cluster), *which)
    assert done.code == 1
    assert f"may not describe topics {HIDDEN}:" in done.stderr
    rows = done.partitions(TOPIC)
    assert rows
    assert {row["designated_leader"] for row in rows.values()} == {3}
    assert by_name.code == 1
    not_found = f"topic {HIDDEN} does not exist, or this user may not describe it"
    assert outcomes(by_name, HIDDEN) == {0: ("failed", not_found)}


def test_a_topic_that_may_not_be_read_is_a_problem(guarded: Trouble, commands: Commands) -> None:
    with granted(guarded.cluster, CLUSTER_ALTER, DESCRIBE_ALL):
        done = commands.run(*_server(guarded.cluster), *LOOK_AT_ALL)
    assert done.code == 1
    assert "this user lacks READ on topics" in done.stderr
    rows = done.partitions(TOPIC)
    assert rows
    assert {row["designated_leader"] for row in rows.values()} == {None}


def test_without_alter_on_the_cluster_nothing_is_sent(guarded: Trouble, commands: Commands) -> None:
    partitions = guarded.take(2)
    before = guarded.orders(partitions)
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    which = ("--path-to-json-file", wanted, "--automated-recovery", "--yes")
    with granted(guarded.cluster, READ_ALL):
        done = commands.run(*_server(guarded.cluster), *which)
    assert done.code == 1
    assert "lacks ALTER on the cluster" in done.stderr
    assert "grant Cluster:ALTER and Topic(*):READ" in done.stderr
    sent = {line["event"] for journal in commands.journals() for line in journal_lines(journal)}
    assert not sent & {"reorder", "elect"}
    assert guarded.leaders(partitions) == {-1}
    guarded.wait_for_orders(before)


@pytest.mark.parametrize(
    ("rights", "missing"),
    [
        ((CLUSTER_ALTER, READ_ALL), set()),
        ((CLUSTER_DESCRIBE, READ_ALL), {"right_cluster_alter"}),
        ((CLUSTER_ALTER, DESCRIBE_ALL), {"right_topic_read"}),
        ((CLUSTER_ALTER, READ_ONE), {"hidden_topics"}),
        ((READ_ALL,), {"right_cluster_describe", "right_cluster_alter", "quorum"}),
    ],
    ids=["nothing", "alter", "read", "one-topic", "cluster"],
)
def test_the_doctor_names_each_missing_right_and_changes_nothing(
    guarded: Trouble, commands: Commands, rights: tuple[Right, ...], missing: set[str]
) -> None:
    before = guarded.partitions()
    server = _server(guarded.cluster)
    with granted(guarded.cluster, *rights):
        done = commands.run("doctor", *server, "--format", "json")
    checks = json.loads(done.stdout)["checks"]
    # Brokers 1 and 2 are down: that is a warning whoever asks.
    assert done.code == 1
    assert {check["code"] for check in checks if check["status"] == "failure"} == missing
    statuses = {check["code"]: check["status"] for check in checks}
    assert statuses["right_topic_describe"] == "ok"
    assert (statuses["releases"], statuses["elr"]) == ("ok", "ok")
    clock = "unknown" if "quorum" in missing else "ok"
    assert statuses["clock_controller"] == clock
    assert statuses["unclean_elections"] == "unknown"
    assert guarded.partitions() == before


@pytest.mark.parametrize("login", ["SCRAM-SHA-512", "PLAIN", "MTLS"])
def test_alter_and_read_are_enough_for_the_whole_job(
    guarded: Trouble, commands: Commands, tmp_path: Path, login: Login
) -> None:
    partitions = guarded.take(2)
    before = guarded.orders(partitions)
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    plan = ("--plan-output-file", str(tmp_path / "plan.json"))
    which = ("--path-to-json-file", wanted, "--automated-recovery", "--yes", "--format", "json")
    with granted(guarded.cluster, CLUSTER_ALTER, READ_ALL):
        done = commands.run(*_server(guarded.cluster, login), *which, *plan)
    assert done.code == 0, done.stderr
    assert only_not_known_electable(done.stderr), done.stderr
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("elected", None))
    guarded.wait_for_orders(before)
    connection = guarded.cluster.connection(brokers=[3, 4])
    assert consume_all(connection, TOPIC, partitions[0]) == [numbered(n) for n in range(30)]
    written = [path.read_text() for path in (*commands.journals(), tmp_path / "plan.json")]
    for password in PASSWORDS.values():
        assert not [text for text in (done.stdout, *written) if password in text]


@pytest.mark.parametrize("row", REAL, ids=lambda row: row.what)
def test_the_least_rights_of_the_table(guarded: Trouble, commands: Commands, row: Row) -> None:
    (partition,) = guarded.take(1)
    named = {"topic": TOPIC, "partition": partition}
    wanted, leaders = commands.directory / "wanted.json", commands.directory / "leaders.json"
    wanted.write_text(json.dumps({"partitions": [named]}))
    leaders.write_text(json.dumps({"partitions": [named | {"designatedLeader": 3}]}))
    _prove(guarded, commands, row, {"{wanted}": str(wanted), "{leaders}": str(leaders)})


def _prove(guarded: Trouble, commands: Commands, row: Row, places: Mapping[str, str]) -> None:
    arguments = [places.get(each, each) for each in row.arguments]

    def run(rights: Sequence[str]) -> Finished:
        with granted(guarded.cluster, *map(right, rights)):
            words = (*row.words, *_server(guarded.cluster), *arguments)
            return commands.run(*words, command=row.command)

    prove(row, run)


def test_all_offline_partitions_of_a_secured_cluster_are_recovered(
    guarded: Trouble, commands: Commands
) -> None:
    with granted(guarded.cluster, CLUSTER_ALTER, READ_ALL):
        server = _server(guarded.cluster)
        which = ("--all-offline-partitions", "--automated-recovery", "--format", "json")
        first, second = (commands.run(*server, *which) for _ in range(2))
    assert first.code == 0, first.stderr
    assert only_not_known_electable(first.stderr), first.stderr
    assert {outcome for outcome, _ in outcomes(first, TOPIC).values()} <= {"elected"}
    assert (second.code, second.report["partitions"]) == (0, [])
    guarded.wait_for_leader(range(24), 3)


def test_saving_a_tail_takes_read_on_the_topic_and_no_right_of_a_follower(
    guarded: Trouble,
) -> None:
    """What --salvage-dir asks for besides."""
    partition = TopicPartition(TOPIC, 0)
    with granted(guarded.cluster, READ_ALL):
        fetched, error = asyncio.run(_asked_of_4(guarded.cluster, partition))
    assert fetched is not None
    assert (fetched.error, bool(fetched.records), error) == (Errors.NONE, True, Errors.NONE)
    with granted(guarded.cluster, DESCRIBE_ALL):
        fetched, error = asyncio.run(_asked_of_4(guarded.cluster, partition))
    refused = Errors.TOPIC_AUTHORIZATION_FAILED
    assert (fetched, error) == (Fetched(refused, b""), refused)


async def _asked_of_4(
    cluster: KafkaCluster, partition: TopicPartition
) -> tuple[Fetched | None, int]:
    """Return (records, the error to the question for transactions)."""
    host, _, port = cluster.address(4).rpartition(":")
    config = load_client_config(str(cluster.client_properties(USER)))
    deadline = Deadline.after(20)
    async with await Connection.open(host, int(port), config, deadline) as connection:
        fetched = await fetch_records(connection, partition, 0, 1 << 20, deadline)
        try:
            await open_transactions(connection, partition, deadline)
        except RequestFailed as error:
            return fetched, error.code
        return fetched, Errors.NONE


def test_aftercare_without_rights_is_not_over(guarded: Trouble, commands: Commands) -> None:
    look = ("aftercare", *_server(guarded.cluster), "--format", "json")
    with granted(guarded.cluster):
        done = commands.run(*look)
    assert (done.code, done.json["partitions"]) == (1, [])
    unknown = "; ".join(done.json["unknown"])
    assert "groups may be left out: listing all needs DESCRIBE on the cluster" in unknown
    assert "whether all of __transaction_state has leaders is unknown" in unknown
    assert "whether topics are hidden is unknown (DescribeLogDirs: CLUSTER_AUTH" in unknown
    with granted(guarded.cluster, CLUSTER_ALTER, READ_ONE):
        done = commands.run(*look, "--topics", f"{HIDDEN}|{TOPIC}")
    assert done.code == 1
    assert {row["topic"] for row in done.json["partitions"]} == {TOPIC}
    (hidden,) = [text for text in done.json["unknown"] if "may not be described" in text]
    assert hidden.startswith(f"1 topic may not be described, the first: {HIDDEN};")
    assert not any("groups" in text for text in done.json["unknown"])


def test_writing_a_marker_takes_alter_on_the_cluster(guarded: Trouble) -> None:
    with granted(guarded.cluster, CLUSTER_ALTER):
        assert asyncio.run(_marked(guarded.cluster)) == Errors.NONE
    with granted(guarded.cluster, READ_ALL):
        refused = asyncio.run(_marked(guarded.cluster))
    assert error_name(refused) == ENDING.needs["Cluster:ALTER"]


async def _marked(cluster: KafkaCluster) -> int:
    """Return what its leader answers to the end of a transaction that never was."""
    leader = cluster.view(3).topics[HIDDEN][0].leader
    host, _, port = cluster.address(leader).rpartition(":")
    config = load_client_config(str(cluster.client_properties(USER)))
    deadline = Deadline.after(20)
    nobody = OpenTransaction(TopicPartition(HIDDEN, 0), 99, 0, -1, 0, None)
    async with await Connection.open(host, int(port), config, deadline) as connection:
        return await write_marker(connection, nobody, False, deadline)


def test_the_least_rights_of_aftercare(guarded: Trouble, commands: Commands) -> None:
    """With a transaction that its coordinator knows, and a group with commits."""
    cluster = guarded.cluster
    there = cluster.view(3).topics
    for topic in {"__consumer_offsets", "__transaction_state"} - there.keys():
        create_topic(cluster.connection(), topic, [[3]] * 4, {"cleanup.policy": "compact"})
    settings = {**cluster.connection(), **QUIETLY}
    producer = Producer({**settings, "transactional.id": "open"}, logger=SILENT)
    producer.init_transactions(TIMEOUT)
    producer.begin_transaction()
    producer.produce(HIDDEN, b"not ended", partition=0)
    assert producer.flush(TIMEOUT) == 0
    commit(cluster.connection(), "payments", Position(HIDDEN, 0, 0))
    try:
        proof = {"Cluster:DESCRIBE_CONFIGS": "nothing proves that broker"}
        more = proof if proving(cluster.spec.version) else {}
        row = replace(CARING, needs={**CARING.needs, **more})
        _prove(guarded, commands, row, {"{topic}": HIDDEN})
    finally:
        producer.abort_transaction(TIMEOUT)
