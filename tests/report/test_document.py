"""The JSON of a report against its schema, and the summary in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import given
from msgspec.structs import replace

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Loss,
    Outcome,
    OutcomeKind,
    PartitionReport,
    ReplicaLog,
    Report,
    Scanned,
)
from kafka_unclean_recovery.report import document as report_module
from kafka_unclean_recovery.report.document import render_json
from tests.reports import any_reports, elected, log, plan, report, row, state

SCHEMAS = Path(report_module.__file__).parents[1] / "schemas"
REPORT_SCHEMA = jsonschema.Draft202012Validator(
    json.loads((SCHEMAS / "report-1.schema.json").read_text())
)


def document_of(given: Report) -> Any:
    document = json.loads(render_json(given))
    REPORT_SCHEMA.validate(document)
    return document


def test_the_schemas_are_schemas_and_agree_on_what_they_share() -> None:
    found = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.schema.json")}
    assert {"report-1.schema.json", "plan-1.schema.json"} <= found.keys()
    for one in found.values():
        jsonschema.Draft202012Validator.check_schema(one)
    report_defs = found["report-1.schema.json"]["$defs"]
    for other, least in [
        ("plan-1", {"replica_log", "scanned", "loss", "finding", "divergence"}),
        ("replica-info-1", {"replica_log", "scanned", "epoch_span", "finding"}),
    ]:
        defs = found[f"{other}.schema.json"]["$defs"]
        shared = (report_defs.keys() & defs.keys()) - {"partition"}
        assert shared >= least
        assert {name: report_defs[name] for name in shared} == {n: defs[n] for n in shared}


def test_an_elected_partition_in_json() -> None:
    (found,) = document_of(report(elected()))["partitions"]
    after = {
        "topic": "orders",
        "topic_id": "t-1",
        "partition": 0,
        "leader": 3,
        "leader_epoch": 8,
        "replicas": [1, 4, 3],
        "isr": [3],
        "elr": [],
        "last_known_elr": [],
        "designated_leader": 3,
        "outcome": "elected",
        "reason": None,
        "loss": {"certain": 0, "possible": None, "at_least": None},
    }
    assert after.items() <= found.items()
    assert found["planned_on"] == {"leader_epoch": 7, "isr": [], "elr": [1], "last_known_elr": []}
    assert found["findings"] == [
        {
            "code": "dead_replica_may_hold_more",
            "severity": "unknown",
            "message": "wait for\nbroker 1",
        }
    ]
    assert found["candidates"][1] == {
        "broker": 4,
        "loss": {"certain": 500, "possible": None, "at_least": None},
        "divergences": [{"broker": 3, "offset": 1000, "records": 500}],
    }
    assert found["replica_logs"][2] == {
        "broker": 3,
        "live": True,
        "last_written_leader_epoch": 0,
        "log_start_offset": 0,
        "high_watermark": 1499,
        "log_end_offset": 1500,
        "epochs": [{"epoch": 0, "start_offset": 0, "end_offset": 1500}],
        "source": "list-offsets",
        "problem": None,
        "suspect": None,
        "certain_end_offset": None,
        "scanned": None,
        "broker_epoch": None,
        "unproven": None,
    }


def test_what_was_not_seen_of_a_replica_is_null_and_not_zero() -> None:
    (found,) = document_of(report(elected()))["partitions"]
    dead = found["replica_logs"][0]
    assert [key for key, value in dead.items() if value is None] == [
        "last_written_leader_epoch",
        "log_start_offset",
        "high_watermark",
        "log_end_offset",
        "epochs",
        "suspect",
        "certain_end_offset",
        "scanned",
        "broker_epoch",
        "unproven",
    ]


def test_the_epoch_of_the_brokers_process_is_in_json_where_it_is_told() -> None:
    logs = (replace(log(3, 1500), broker_epoch=17), log(4, 1000))
    given = row(plan=replace(plan(), replica_logs=logs))
    (found,) = document_of(report(given))["partitions"]
    epochs = {found["broker"]: found["broker_epoch"] for found in found["replica_logs"]}
    assert epochs == {3: 17, 4: None}


def test_a_report_that_was_written_before_broker_epochs_is_still_one() -> None:
    document = document_of(report(elected()))
    for found in document["partitions"][0]["replica_logs"]:
        del found["broker_epoch"]
    REPORT_SCHEMA.validate(document)


def test_what_a_disk_says_of_a_replica_is_in_json() -> None:
    scanned = Scanned(ScanMode.DEEP, "/data/orders-0", "t-1", "d-1", 40, 4096, 50, "bad CRC")
    log = ReplicaLog(1, False, suspect="gap", certain_end_offset=3, scanned=scanned)
    given = row(plan=replace(plan(), replica_logs=(log,)))
    (found,) = document_of(report(given))["partitions"]
    (found,) = found["replica_logs"]
    assert (found["suspect"], found["certain_end_offset"]) == ("gap", 3)
    assert found["scanned"] == {
        "mode": "deep",
        "directory": "/data/orders-0",
        "topic_id": "t-1",
        "directory_id": "d-1",
        "recovery_point": 40,
        "size": 4096,
        "record_count": 50,
        "damage": "bad CRC",
        "stopped_clean": None,
    }


def test_a_missing_partition_still_has_its_row() -> None:
    outcome = Outcome(OutcomeKind.FAILED, "no such partition")
    document = document_of(report(row(9, None, None, outcome)))
    (found,) = document["partitions"]
    assert (found["topic"], found["partition"], found["reason"]) == ("orders", 9, outcome.reason)
    assert (
        found["leader"] is found["leader_epoch"] is found["replicas"] is found["topic_id"] is None
    )
    assert found["loss"] == {"certain": None, "possible": None, "at_least": None}
    assert found["findings"] == found["replica_logs"] == found["candidates"] == []
    assert document["summary"]["missing"] == 1


def test_an_online_partition_has_no_replica_logs_and_no_loss() -> None:
    (found,) = document_of(report(row(state=state(leader=4, isr=(4,)))))["partitions"]
    assert (found["leader"], found["replica_logs"], found["planned_on"]) == (4, [], None)
    assert found["loss"] == {"certain": None, "possible": None, "at_least": None}


def test_a_refused_plan_says_so_and_loses_nothing_yet() -> None:
    refused = plan(designated=None, refusal="a reassignment is in progress")
    document = document_of(report(row(plan=refused)))
    (found,) = document["partitions"]
    assert found["refusal"] == "a reassignment is in progress"
    assert found["loss"] == {"certain": None, "possible": None, "at_least": None}
    assert found["candidates"][0]["loss"] == {"certain": 0, "possible": None, "at_least": None}
    assert document["summary"]["certain_loss"] == 0


def test_the_summary_counts_outcomes_and_states() -> None:
    kinds = [OutcomeKind.REFUSED, OutcomeKind.FAILED, OutcomeKind.NO_CANDIDATE]
    rows = [row(2 + n, outcome=Outcome(kind, "why")) for n, kind in enumerate(kinds)]
    back = row(1, state(1, leader=1), outcome=Outcome(OutcomeKind.ALREADY_ONLINE))
    given = report(elected(loss=Loss(5, 7)), back, *rows, row(9, None), interrupted=True)
    assert document_of(given)["summary"] == {
        "partitions": 6,
        "online": 2,
        "offline": 3,
        "missing": 1,
        "outcomes": {
            "elected": 1,
            "already_online": 1,
            "no_candidate": 1,
            "refused": 1,
            "failed": 1,
        },
        "certain_loss": 5,
        "possible_loss": 7,
        "waiting": [],
        "interrupted": True,
    }


def totals(*rows: PartitionReport) -> tuple[int | None, int | None]:
    summary = document_of(report(*rows))["summary"]
    return summary["certain_loss"], summary["possible_loss"]


def test_a_total_is_unknown_when_any_part_of_it_is() -> None:
    assert totals(elected(0, Loss(5, 1)), elected(1, Loss(3, 2))) == (8, 3)
    assert totals(elected(0, Loss(5, 1)), elected(1, Loss(3, None))) == (8, None)
    assert totals(elected(0, Loss(None, 1)), elected(1, Loss(3, 2))) == (None, 3)
    assert totals(row(plan=plan(loss=Loss(4, 2)))) == (4, 2)


def test_a_total_counts_only_what_was_elected_once_anything_was_tried() -> None:
    skipped = row(1, state(1), plan(1, loss=Loss(100, 100)))
    for kind in (OutcomeKind.REFUSED, OutcomeKind.ALREADY_ONLINE, OutcomeKind.FAILED):
        untouched = replace(skipped, outcome=Outcome(kind, "why"))
        assert totals(elected(0, Loss(5, 1)), untouched) == (5, 1)
    assert totals(elected(0, Loss(5, 1)), skipped) == (5, 1)


def test_a_failure_that_ended_with_another_leader_counts_as_that_leader() -> None:
    outcome = Outcome(OutcomeKind.FAILED, "4 leads")
    assert totals(row(0, state(leader=4), plan(loss=Loss(0, 0)), outcome)) == (500, None)
    assert totals(row(0, state(leader=1), plan(loss=Loss(0, 0)), outcome)) == (None, None)


def test_a_failure_that_leaves_the_election_in_doubt_makes_the_total_unknown() -> None:
    in_doubt = Outcome(OutcomeKind.FAILED, "who leads could not be read back", in_doubt=True)
    offline = row(1, state(1), plan(1, loss=Loss(0, 0)), in_doubt)
    assert totals(elected(0, Loss(5, 1)), offline) == (None, None)
    led = row(1, state(1, leader=3), plan(1, loss=Loss(0, 0)), in_doubt)
    assert totals(elected(0, Loss(5, 1)), led) == (None, None)


def test_silent_brokers_and_problems_are_told() -> None:
    document = document_of(
        report(problems=("no right to describe x",), silent_brokers={10: "timed out", 4: "refused"})
    )
    assert list(document["silent_brokers"].items()) == [("4", "refused"), ("10", "timed out")]
    assert document["problems"] == ["no right to describe x"]


def test_json_has_one_line_a_partition() -> None:
    lines = render_json(report(elected(0), elected(1))).splitlines()
    assert [line[:40] for line in lines if line.startswith('{"topic"')] == [
        '{"topic": "orders", "topic_id": "t-1", "'
    ] * 2


@given(any_reports)
def test_any_report_is_valid_json(given: Report) -> None:
    document_of(given)
    assert render_json(given).isascii()


def test_8000_partitions_go_through_json() -> None:
    given = report(*(elected(n) for n in range(8000)))
    assert len(json.loads(render_json(given))["partitions"]) == 8000
