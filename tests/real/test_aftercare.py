"""What an election left behind on a real cluster is found and ended, and nothing else is."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

import kafka_unclean_recovery
from tests.real.aftercare_outage import (
    ABORTED,
    COMMITTED,
    COORDINATOR,
    DEAD,
    GROUP,
    HELD,
    MORE,
    OPEN,
    PLAIN,
    RESUMED,
    SURVIVOR,
    TIMEOUT,
    TOPIC,
    begin_anew,
    new_cluster,
    outage,
    read_committed,
)
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.records import numbered, produce
from tests.real.releases import TESTED

SCHEMA = Path(kafka_unclean_recovery.__file__).parent / "schemas" / "aftercare-1.schema.json"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recovered:
    """The survivor leads everything by our tool; the tests change it one after the other."""

    home: Path
    cluster: KafkaCluster
    early: Producer
    late: Producer
    before: Finished
    recovery: Finished

    @property
    def journal(self) -> Path:
        return self.home / "journal.jsonl"

    def aftercare(self, *flags: str) -> Finished:
        servers = ("--bootstrap-server", self.cluster.bootstrap_servers)
        return Cli(self.home).offline("aftercare", *servers, *flags)

    def document(self, *flags: str) -> Row:
        done = self.aftercare(*flags, "--format", "json")
        document: Row = done.json
        jsonschema.validate(document, json.loads(SCHEMA.read_text()))
        assert done.code == (0 if document["over"] else 1), done
        return document

    def rows(self, *flags: str) -> Mapping[int, Row]:
        document = self.document("--journal", str(self.journal), *flags)
        assert document["unknown"] == []
        return {row["partition"]: row for row in document["partitions"]}


@pytest.fixture(scope="module", params=TESTED)
def recovered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Recovered]:
    home = tmp_path_factory.mktemp("aftercare")
    with new_cluster(home / "cluster", request.param) as cluster:
        early, late = outage(cluster)
        look = ("aftercare", "--bootstrap-server", cluster.bootstrap_servers, "--topics", TOPIC)
        before = Cli(home).offline(*look, "--format", "json", "--end-transactions")
        journal = ("--journal", str(home / "journal.jsonl"))
        elect = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
        done = Cli(home).recover(cluster, *elect, *journal)
        assert done.code == 0, done
        yield Recovered(home, cluster, early, late, before, done)


def test_the_recovery_told_what_is_lost_at_least_by_what_a_group_had_read(
    recovered: Recovered,
) -> None:
    assert recovered.recovery.report["unknown"] == []
    rows = recovered.recovery.partitions(TOPIC)
    told = {number: [g["group"] for g in row["groups_beyond"]] for number, row in rows.items()}
    assert told == {COMMITTED: [], ABORTED: [], OPEN: [], PLAIN: [GROUP]}
    losses = {number: row["loss"] for number, row in rows.items()}
    assert losses[PLAIN] == {"certain": 0, "possible": None, "at_least": MORE}
    assert {losses[number]["at_least"] for number in (COMMITTED, ABORTED, OPEN)} == {None}
    (finding,) = (f for f in rows[PLAIN]["findings"] if f["code"] == "commits_beyond_the_best_log")
    assert finding["severity"] == "unknown"
    assert f"group {GROUP} committed offset {HELD + MORE} (leader epoch 0)" in finding["message"]


def test_what_will_hang_is_known_before_the_election_and_left_alone(recovered: Recovered) -> None:
    before = recovered.before
    assert before.code == 1
    jsonschema.validate(before.json, json.loads(SCHEMA.read_text()))
    rows = {row["partition"]: row for row in before.json["partitions"]}
    assert {row["leader"] for row in rows.values()} == {None}
    assert {
        number: [(t["replica"], t["ending"]) for t in row["transactions"]]
        for number, row in rows.items()
    } == {
        COMMITTED: [(SURVIVOR, "commit")],
        ABORTED: [(SURVIVOR, "abort")],
        OPEN: [(SURVIVOR, "open")],
        PLAIN: [],
    }
    assert [row["problems"] for row in rows.values()] == [[]] * 4
    assert [row["producers"] for row in rows.values()] == [None] * 4
    assert "hang once their replica leads" in before.stderr
    assert "this ends those" not in before.stderr


def test_what_the_election_left_is_found(recovered: Recovered) -> None:
    rows = recovered.rows("--log-dirs", str(recovered.cluster.log_dir(DEAD)))
    assert rows.keys() == {COMMITTED, ABORTED, OPEN, PLAIN}
    # What 1 wrote alone: a marker each, nothing, and plain records.
    assert {
        number: [(r["broker"], r["back"], r["offset"], r["records"]) for r in row["returning"]]
        for number, row in rows.items()
    } == {
        COMMITTED: [(DEAD, False, HELD, 1)],
        ABORTED: [(DEAD, False, HELD, 1)],
        OPEN: [],
        PLAIN: [(DEAD, False, HELD, MORE)],
    }
    for row in rows.values():
        assert (row["leader"], row["log_end_offset"]) == (SURVIVOR, HELD)
        assert row["out_of_sync"] == row["offline_replicas"] == [DEAD]
        assert row["problems"] == []
    transactions = {number: row["transactions"] for number, row in rows.items()}
    assert transactions.pop(PLAIN) == []
    assert {
        number: [(t["transactional_id"], t["ending"], t["start_offset"]) for t in found]
        for number, found in transactions.items()
    } == {
        COMMITTED: [(f"of {COMMITTED}", "commit", 0)],
        ABORTED: [(f"of {ABORTED}", "abort", 0)],
        OPEN: [(f"of {OPEN}", "open", 0)],
    }
    # Of each their leader knows what it holds.
    transactional = {COMMITTED: True, ABORTED: True, OPEN: True, PLAIN: False}
    assert {
        number: [(p["last_sequence"], p["transactional"]) for p in row["producers"]]
        for number, row in rows.items()
    } == {number: [(HELD - 1, kind)] for number, kind in transactional.items()}
    groups = {number: row["groups"] for number, row in rows.items()}
    assert groups.pop(PLAIN) == [
        {
            "group": GROUP,
            "committed_offset": HELD + MORE,
            "committed_leader_epoch": 0,
            "resume_offset": HELD,
            "refilled": False,
            "share_done_to": None,
        }
    ]
    assert not any(groups.values())
    # The journal has it now, and the report who is affected.
    told = Cli(recovered.home).offline("report", str(recovered.journal), "--json").json
    found = told["aftercare"]
    assert [g["group"] for g in found["groups"]] == [GROUP]
    assert (found["hanging_transactions"], found["endable_transactions"]) == (2, 2)
    assert not found["over"]
    commands = [command for step in told["next_steps"] for command in step["commands"]]
    assert any(f"--group {shlex.quote(GROUP)} " in command for command in commands)


def test_idempotent_producers_of_librdkafka_fail_or_go_on_as_told(recovered: Recovered) -> None:
    told = recovered.aftercare("--topics", TOPIC).stderr
    assert "1 idempotent producer of 1 partition" in told
    assert "fails with OUT_OF_ORDER_SEQUENCE_NUMBER, fatally" in told
    recovered.early.produce(TOPIC, b"more", partition=PLAIN)
    with pytest.raises(KafkaException) as caught:
        recovered.early.flush(TIMEOUT)
    error = caught.value.args[0]
    assert (error.name(), error.fatal()) == ("OUT_OF_ORDER_SEQUENCE_NUMBER", True)
    # The leader does not know the other one, so nothing is out of order to it.
    failures: list[KafkaError | None] = []
    recovered.late.produce(
        TOPIC, b"more", partition=PLAIN, on_delivery=lambda error, _: failures.append(error)
    )
    assert recovered.late.flush(TIMEOUT) == 0
    assert failures == [None]


def test_a_group_that_the_refill_hides_is_found_by_its_leader_epoch(recovered: Recovered) -> None:
    produce(recovered.cluster.connection(), TOPIC, PLAIN, 2 * MORE, first=100)
    row = recovered.rows()[PLAIN]
    assert row["log_end_offset"] == HELD + 1 + 2 * MORE
    (group,) = row["groups"]
    assert (group["group"], group["resume_offset"], group["refilled"]) == (GROUP, HELD, True)


def test_the_command_printed_sets_the_group_back(recovered: Recovered) -> None:
    done = recovered.aftercare("--topics", TOPIC)
    recovered.cluster.script("kafka-consumer-groups", *printed(done, "kafka-consumer-groups.sh"))
    assert recovered.rows()[PLAIN]["groups"] == []


def printed(done: Finished, command: str) -> list[str]:
    """Return the arguments of the one command of this name that was told to run."""
    (line,) = (line for line in done.stderr.splitlines() if f"{command} " in line)
    return shlex.split(line.partition(f"{command} ")[2])


def test_the_command_printed_ends_transactions_as_they_ended(recovered: Recovered) -> None:
    cluster = recovered.cluster
    partitions = (COMMITTED, ABORTED, OPEN)
    for number in partitions:
        produce(cluster.connection(), TOPIC, number, 1, first=100)
    assert read_committed(cluster, partitions) == {COMMITTED: [], ABORTED: [], OPEN: []}
    told = recovered.aftercare("--journal", str(recovered.journal))
    command = printed(
        told, "this command ends the transactions whose ending is known: kafka-unclean-recovery"
    )
    done = Cli(recovered.home).offline(*command)
    assert "producer id" in done.stderr
    assert done.stderr.count(": done\n") == 2, done

    after = numbered(100)
    transaction = [numbered(number) for number in range(HELD)]
    assert read_committed(cluster, partitions) == {
        COMMITTED: [*transaction, after],
        ABORTED: [after],
        OPEN: [],
    }
    lines = [json.loads(line) for line in recovered.journal.read_text().splitlines()]
    markers = next(line["partitions"] for line in lines if line["event"] == "markers")
    assert [(p["partition"], p["transactional_id"], p["ending"]) for p in markers] == [
        (COMMITTED, f"of {COMMITTED}", "commit"),
        (ABORTED, f"of {ABORTED}", "abort"),
    ]
    (marked,) = (line["partitions"] for line in lines if line["event"] == "marked")
    assert [p["problem"] for p in marked] == [None, None]
    # Again there is nothing to end: the one that goes on is its producer's.
    rows = recovered.rows("--end-transactions")
    endings = {n: [t["ending"] for t in row["transactions"]] for n, row in rows.items()}
    assert endings == {COMMITTED: [], ABORTED: [], OPEN: ["open"], PLAIN: []}
    again = [json.loads(line) for line in recovered.journal.read_text().splitlines()]
    assert [line["event"] for line in again[len(lines) :]] == ["aftercare"]
    assert [row["partition"] for row in again[-1]["partitions"]] == [
        n for n, row in rows.items() if not row["over"]
    ]


def test_what_a_producer_began_since_is_left_to_it(recovered: Recovered) -> None:
    # Its records carry times of long before, as those of Streams may.
    producer = begin_anew(recovered.cluster, PLAIN)
    (transaction,) = recovered.rows()[PLAIN]["transactions"]
    assert (transaction["transactional_id"], transaction["ending"]) == (RESUMED, "open")
    producer.abort_transaction(TIMEOUT)
    assert recovered.rows()[PLAIN]["transactions"] == []


def test_it_is_watched_until_the_dead_replica_is_back(recovered: Recovered) -> None:
    soon = ("--journal", str(recovered.journal), "--watch", "--watch-duration-ms", "1")
    done = recovered.aftercare(*soon)
    assert done.code == 1
    assert "the aftercare was not over 3 times in a row within 1 ms" in done.stderr
    scan = str(recovered.home / "disks.json")
    disk = str(recovered.cluster.log_dir(DEAD))
    assert Cli(recovered.home).offline("scan-log-dirs", disk, "--output", scan).code == 0
    recovered.cluster.start_node(DEAD, wait=False)
    watch = ("--journal", str(recovered.journal), "--watch", "--replica-info-file", scan)
    document = recovered.document(*watch)
    assert document["over"]
    (lost,) = next(r["returning"] for r in document["partitions"] if r["partition"] == PLAIN)
    assert (lost["back"], lost["offset"], lost["records"]) == (True, HELD, MORE)
    assert {tuple(sorted(row["isr"])) for row in document["partitions"]} == {(DEAD, SURVIVOR)}


def test_what_a_dead_coordinator_hides_is_unknown(recovered: Recovered) -> None:
    recovered.cluster.kill(COORDINATOR)
    recovered.cluster.wait_until_fenced({COORDINATOR}, TIMEOUT)
    document = recovered.document("--journal", str(recovered.journal))
    hidden = [sentence for sentence in document["unknown"] if "have no leader" in sentence]
    assert [sentence.split(":")[0] for sentence in hidden] == [
        "4 of 4 partitions of __consumer_offsets have no leader",
        "4 of 4 partitions of __transaction_state have no leader",
    ]
    endings = [t["ending"] for row in document["partitions"] for t in row["transactions"]]
    assert endings == ["unknown"]
