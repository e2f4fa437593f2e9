"""The scripts of Kafka 4.3.1 on the emulator: what they say there is what they say of a real
cluster, but for numbers, names and times.

Each step is run on both at the same time.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kafka.protocol.admin.configs import DescribeConfigsRequest
from kafka.protocol.admin.topics import CreateTopicsRequest
from kafka.protocol.consumer.offsets import ListOffsetsRequest

from kafka_unclean_recovery.emulator import Cluster
from tests.emulator.test_scenarios import OUTAGE
from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.records import consume_all, numbered
from tests.real.releases import ONE
from tests.real.sharing import SharedClusters
from tests.real.tools import tool_command
from tests.real.waiting import wait_until

VERSION = ONE
# The emulator knows the configs of 4.3.
NEW_CONFIGS = {
    "4.4.0": {
        *("errors.deadletterqueue.group.enable", "max.decompressed.message.bytes"),
        *("remote.copy.lag.bytes", "remote.copy.lag.ms"),
    }
}
TIMEOUT = 60.0
TOPIC = "on-both"
READ_RATE = "log.cleaner.io.max.bytes.per.second"
# What differs from cluster to cluster, and what the real one has in its server.properties.
VARYING = (
    (re.compile(r"127\.0\.0\.1:\d+( +\(\d\))?"), "ADDRESS"),
    (re.compile(r"/[\w./-]+/[\w-]+"), "PATH"),
    (re.compile(r"TopicId: \S+"), "TopicId: ID"),
    (re.compile(r"STATIC_BROKER_CONFIG:[^,}]*(, )?"), ""),
    (re.compile(r",retention\.ms=-1,unclean\.leader\.election\.enable=false"), ""),
)


class Said(NamedTuple):
    """`caused`: the exceptions that stderr names."""

    code: int
    lines: list[str]
    caused: list[str]


class Both(NamedTuple):
    """bootstrap.servers of a real cluster and of an emulated one, both healthy."""

    real: str
    emulated: str


@pytest.fixture(scope="module")
def both(shared_clusters: SharedClusters) -> Iterator[Both]:
    with Cluster() as emulated:
        yield Both(shared_clusters.plain(VERSION).bootstrap_servers, emulated.bootstrap_servers)


def _run(servers: str, name: str, *arguments: str, stdin: str = "") -> Said:
    done = subprocess.run(
        tool_command(VERSION, name, "--bootstrap-server", servers, *arguments),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    caused = [line for line in done.stderr.splitlines() if line.startswith("Caused by:")]
    return Said(done.returncode, done.stdout.splitlines(), caused)


def _alike(both: Both, name: str, *arguments: str, stdin: str = "") -> Said:
    """Return what the emulated one said, which is what the real one said."""
    with ThreadPoolExecutor() as pool:
        real, emulated = pool.map(
            lambda servers: _general(_run(servers, name, *arguments, stdin=stdin)), both
        )
    assert emulated == real
    return emulated


def _all_alike(both: Both, *steps: Sequence[str]) -> list[Said]:
    """Run steps that don't depend on each other, and return what was said."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda step: _alike(both, *step), steps))


def _general(said: Said) -> Said:
    lines = said.lines
    for pattern, text in VARYING:
        lines = [pattern.sub(text, line) for line in lines]
    # Who reads a column looks at words, not at how wide it is.
    return said._replace(lines=[" ".join(line.split()) for line in lines])


def _topics(*arguments: str) -> tuple[str, ...]:
    return ("kafka-topics", *arguments)


def _configs(kind: str, name: str | None, *arguments: str) -> tuple[str, ...]:
    entity = ("--entity-default",) if name is None else ("--entity-name", name)
    return ("kafka-configs", "--entity-type", kind, *entity, *arguments)


def test_topics_configs_and_reassignments(both: Both, tmp_path: Path) -> None:
    assignment = ("--replica-assignment", "1:2:3,2:3:4")
    made = _alike(both, *_topics("--create", "--topic", TOPIC, *assignment))
    assert made == Said(0, [f"Created topic {TOPIC}."], [])
    again, listed, described, more, absent = _all_alike(
        both,
        _topics("--create", "--topic", TOPIC, *assignment),
        _topics("--list", "--topic", TOPIC),
        _topics("--describe", "--topic", TOPIC),
        _topics("--create", "--topic", "wrong", *assignment, "--config", "no.such=1"),
        _topics("--describe", "--topic", "absent"),
    )
    assert (again.code, listed.lines, more.code, absent.code) == (1, [TOPIC], 1, 1)
    assert "Leader: 1 Replicas: 1,2,3 Isr: 1,2,3 Elr: LastKnownElr:" in described.lines[1]

    assert _alike(both, *_topics("--alter", "--topic", TOPIC, "--partitions", "3")).code == 0
    set_min_isr = ("--alter", "--add-config", "min.insync.replicas=2")
    fewer, *done = _all_alike(
        both,
        _topics("--alter", "--topic", TOPIC, "--partitions", "2"),
        _configs("topics", TOPIC, *set_min_isr),
        _configs("brokers", "3", "--alter", "--add-config", f"{READ_RATE}=9"),
        _configs("brokers", None, "--describe"),
    )
    assert fewer.lines[0].endswith("has 3 partition(s); 2 would not be an increase.")
    assert [said.code for said in done] == [0, 0, 0]
    wrong, of_topic, of_broker, one = _all_alike(
        both,
        _configs("topics", TOPIC, "--alter", "--add-config", "min.insync.replicas=none"),
        _configs("topics", TOPIC, "--describe"),
        _configs("brokers", "3", "--alter", "--delete-config", READ_RATE),
        _configs("brokers", "3", *set_min_isr),
    )
    assert "Not a number of type INT" in wrong.caused[0]
    assert of_topic.lines[1].startswith("min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_")
    assert (of_broker.code, one.code) == (0, 1)

    plan = tmp_path / "reassignment.json"
    partitions = [{"topic": TOPIC, "partition": 0, "replicas": [1, 2, 4]}]
    plan.write_text(json.dumps({"version": 1, "partitions": partitions}))
    reassign = ("kafka-reassign-partitions", "--reassignment-json-file", str(plan))
    assert _alike(both, *reassign, "--execute").code == 0
    _verified(both.real, reassign)
    listing = ("kafka-reassign-partitions", "--list")
    _all_alike(both, (*reassign, "--verify"), (*reassign, "--cancel"), listing)

    elections = tmp_path / "elections.json"
    elections.write_text(json.dumps({"partitions": [{"topic": TOPIC, "partition": 0}]}))
    elect = ("kafka-leader-election", "--election-type")
    preferred, unclean, _ = _all_alike(
        both,
        (*elect, "preferred", "--path-to-json-file", str(elections)),
        (*elect, "unclean", "--topic", TOPIC, "--partition", "0"),
        (*elect, "preferred", "--topic", "absent", "--partition", "0"),
    )
    valid = [f"Valid replica already elected for partitions {TOPIC}-0"]
    assert (preferred.lines, unclean.lines) == (valid, valid)
    assert _alike(both, *_topics("--delete", "--topic", TOPIC)) == Said(0, [], [])


def _verified(servers: str, reassign: Sequence[str]) -> None:
    """Wait until it is verified: a real cluster needs a moment."""

    def done() -> bool:
        name, *arguments = reassign
        lines = _run(servers, name, *arguments, "--verify").lines
        return any("is completed" in line for line in lines)

    wait_until(done, TIMEOUT, lambda: "the reassignment done")


def test_records_and_groups(both: Both) -> None:
    topic = f"{TOPIC}-records"
    _alike(both, *_topics("--create", "--topic", topic, "--replica-assignment", "1:2:3"))
    _alike(both, "kafka-console-producer", "--topic", topic, stdin="a\nb\nc\n")
    group = ("--group", f"{topic}-group")
    consume = ("kafka-console-consumer", "--topic", topic, "--max-messages", "3")
    limit = ("--timeout-ms", "30000")
    read, by_partition, ends = _all_alike(
        both,
        (*consume, *group, "--from-beginning", *limit),
        (*consume, "--partition", "0", "--offset", "earliest", *limit),
        ("kafka-get-offsets", "--topic", topic),
    )
    assert read.lines == by_partition.lines == ["a", "b", "c"]
    assert ends.lines == [f"{topic}:0:3"]
    listed, described, empty, _ = _all_alike(
        both,
        ("kafka-consumer-groups", "--list"),
        ("kafka-consumer-groups", "--describe", *group),
        ("kafka-consumer-groups", "--describe", *group, "--state"),
        ("kafka-consumer-groups", "--describe", "--group", "nobody"),
    )
    assert f"{topic}-group" in listed.lines
    assert described.lines[-1] == f"{topic}-group {topic} 0 3 3 0 - - -"
    assert empty.lines[-1] == f"{topic}-group ADDRESS - Empty 0"
    _all_alike(
        both,
        ("kafka-consumer-groups", "--delete", *group),
        _topics("--delete", "--topic", topic),
    )


def test_brokers_log_directories_and_the_quorum(both: Both) -> None:
    status, replication, log_dirs = (
        [_run(servers, *command) for servers in both]
        for command in (
            ("kafka-metadata-quorum", "describe", "--status"),
            ("kafka-metadata-quorum", "describe", "--replication"),
            ("kafka-log-dirs", "--describe", "--broker-list", "1,2", "--topic-list", "none"),
        )
    )
    real, emulated = ([line.partition(":")[0] for line in said.lines] for said in status)
    assert emulated == real
    assert "LeaderId" in emulated
    real_rows, rows = ([line.split() for line in said.lines] for said in replication)
    assert rows[0] == real_rows[0]
    assert [row[-1] for row in rows] == [row[-1] for row in real_rows]
    assert [len(row) for row in rows] == [len(row) for row in real_rows]
    real_dirs, dirs = (json.loads(said.lines[-1]) for said in log_dirs)
    assert [each["broker"] for each in dirs["brokers"]] == [1, 2]
    assert _shape(dirs) == _shape(real_dirs)


def _shape(value: object) -> object:
    """Return keys alone."""
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in value.items()}
    return [_shape(each) for each in value] if isinstance(value, list) else None


@pytest.mark.kafka_cluster(scenario=OUTAGE)
def test_an_unclean_election_takes_4_whatever_is_designated_and_loses_500_records(
    kafka_cluster: Cluster, tmp_path: Path
) -> None:
    """As on a real cluster: see test_recovers_the_best_replica.py and test_harness.py."""
    servers = kafka_cluster.bootstrap_servers
    plan = tmp_path / "plan.json"
    wanted = [
        {"topic": "orders", "partition": number, "designatedLeader": 3, "desiredLeader": 3}
        for number in (0, 1, 2)
    ]
    plan.write_text(json.dumps({"partitions": wanted}))
    before = _run(servers, "kafka-topics", "--describe", "--unavailable-partitions")
    assert [line.split()[5] for line in before.lines] == ["none"] * 3
    elect = ("kafka-leader-election", "--election-type", "unclean")
    done = _run(servers, *elect, "--path-to-json-file", str(plan))
    assert done.code == 0
    assert "Successfully completed leader election (UNCLEAN) for partitions" in done.lines[0]
    assert [kafka_cluster.partition("orders", n).leader for n in (0, 1, 2)] == [4, 4, 3]
    # The two brokers that live agree, and 500 records that 3 held are gone.
    values = consume_all(servers, "orders", 0)
    assert len(values) == len(set(map(numbered, range(1000))))
    assert _run(servers, "kafka-get-offsets", "--topic", "orders").lines == [
        "orders:0:1000",
        "orders:1:1000",
        "orders:2:1500",
    ]


@pytest.mark.kafka_cluster(scenario=OUTAGE)
def test_scripts_show_and_move_nothing_of_partitions_without_a_leader(
    kafka_cluster: Cluster, tmp_path: Path
) -> None:
    servers = kafka_cluster.bootstrap_servers
    plan = tmp_path / "reassignment.json"
    partitions = [{"topic": "orders", "partition": 0, "replicas": [1, 3]}]
    plan.write_text(json.dumps({"version": 1, "partitions": partitions}))
    reassign = ("kafka-reassign-partitions", "--reassignment-json-file", str(plan), "--execute")
    refused = _run(servers, *reassign)
    assert (refused.code, refused.lines[0]) == (1, "Error: Unknown broker id 1")
    # It would ask for a minute.
    brief = tmp_path / "brief.properties"
    brief.write_text("default.api.timeout.ms=3000\nrequest.timeout.ms=2000\n")
    offsets = ("kafka-get-offsets", "--topic", "orders", "--command-config", str(brief))
    assert _run(servers, *offsets).lines == []


def _asked(servers: str, request: Any, version: int, values: dict[str, Any]) -> Any:
    host, _, port = servers.split(",")[0].rpartition(":")
    with Wire(host, int(port)) as wire:
        return wire.ask(build(request, values), version)


def test_topics_have_the_configs_and_the_types_of_configs_that_they_have_on_kafka(
    both: Both,
) -> None:
    named = {"name": "typed", "num_partitions": 1, "replication_factor": 1}
    describe = {"resources": [{"resource_type": 2, "resource_name": "typed"}]}
    told = []
    for servers in both:
        created = _asked(servers, CreateTopicsRequest, 7, {"topics": [named], "timeout_ms": 10_000})
        assert created.topics[0].error_code == 0

        def described(servers: str = servers) -> Any:
            return _asked(servers, DescribeConfigsRequest, 4, describe).results[0]

        wait_until(partial(_is_known, described), TIMEOUT, lambda: "configs of the topic")
        types = {config.name: config.config_type for config in described().configs}
        told.append(({config.name for config in created.topics[0].configs}, types))
    (names, types), (ours, our_types) = told
    new = NEW_CONFIGS.get(VERSION, set())
    assert (names - ours, ours - names) == (new, set())
    assert {name: of for name, of in types.items() if name not in new} == our_types


def _is_known(asking: Callable[[], Any]) -> bool:
    return bool(asking().error_code == 0)


@pytest.mark.parametrize("version", [5, 7, 8, 9, 11])
def test_negative_times_are_looked_up_as_on_kafka(both: Both, version: int) -> None:
    topic = f"looked-up-{version}"
    found = []
    for servers in both:
        named = {"name": topic, "num_partitions": 1, "replication_factor": 1}
        created = _asked(servers, CreateTopicsRequest, 7, {"topics": [named], "timeout_ms": 10_000})
        assert created.topics[0].error_code == 0
        asking = partial(_by_time, servers, topic, version)
        wait_until(partial(_found, asking), TIMEOUT, lambda: "a leader")
        found.append([asking(timestamp) for timestamp in range(-7, 0)])
    assert found[0] == found[1]


def _found(asking: Callable[[int], tuple[int, int]]) -> bool:
    return asking(-2)[0] == 0


def _by_time(servers: str, topic: str, version: int, timestamp: int) -> tuple[int, int]:
    """Return (error, offset) as the leader has them: others say that they host none."""
    partition = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": timestamp}
    topics = [{"name": topic, "partitions": [partition]}]
    values = {"replica_id": -1, "isolation_level": 0, "topics": topics}
    rows = [
        _asked(server, ListOffsetsRequest, version, values).topics[0].partitions[0]
        for server in servers.split(",")
    ]
    told = [(row.error_code, row.offset) for row in rows]
    return min(told, key=lambda each: each[0] in (3, 6))


NAMES = {
    *("kafka-topics", "kafka-configs", "kafka-log-dirs", "kafka-get-offsets"),
    *("kafka-metadata-quorum", "kafka-leader-election", "kafka-reassign-partitions"),
    *("kafka-consumer-groups", "kafka-console-producer", "kafka-console-consumer"),
}


def test_the_page_names_the_scripts_that_are_run_here() -> None:
    here = set(re.findall(r'"(kafka-[a-z-]+)"', Path(__file__).read_text()))
    assert here == NAMES
    page = (Path(__file__).parents[2] / "docs" / "rehearse.md").read_text()
    sentence = re.search(r"of the scripts of Kafka 4\.3\.1 (kafka-topics,.*?)\.", page, re.DOTALL)
    assert sentence is not None
    named = re.findall(r"(?:kafka)?(-[a-z-]+)", sentence[1])
    assert {f"kafka{name}" for name in named} == NAMES
