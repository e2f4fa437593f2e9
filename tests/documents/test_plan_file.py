"""Plans as files: what a person may edit, and what a digest guards."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_unclean_recovery.documents.manual_recovery import (
    STOCK_SCRIPT_WARNING,
    manual_recovery_json,
    parse_elections,
)
from kafka_unclean_recovery.documents.plan import parse_plan, plan_json
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import (
    Candidate,
    Cluster,
    Divergence,
    EpochSpan,
    Finding,
    Loss,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    Severity,
    TopicPartition,
)
from kafka_unclean_recovery.planning.losses import loss_under
from tests.reports import any_plans
from tests.schemas import SCHEMAS, validated

CLUSTER = Cluster("cluster-1", {})
CREATED_AT = "2026-01-02T03:04:05+00:00"


PLAN_SCHEMA = jsonschema.Draft202012Validator(SCHEMAS["plan-1.schema.json"])


def state(topic: str = "orders", partition: int = 0) -> PartitionState:
    return PartitionState(topic, "t-1", partition, -1, 7, (1, 4, 3), (), (1,), (2,), (1,))


def log(broker: int, end: int) -> ReplicaLog:
    return ReplicaLog(broker, True, 0, 0, end, end, (EpochSpan(0, 0, end),))


def plan(topic: str = "orders", partition: int = 0, designated: int | None = 3) -> PartitionPlan:
    dead = ReplicaLog(1, live=False, problem="broker is down")
    best = Candidate(log(3, 1500), Loss(0, None))
    next_best = Candidate(log(4, 1000), Loss(500, None), (Divergence(3, 1000, 500),))
    return PartitionPlan(
        state=state(topic, partition),
        replica_logs=(dead, log(4, 1000), log(3, 1500)),
        ranking=(best, next_best),
        designated_leader=designated,
        order=(3, 4, 1),
        findings=(Finding("dead_replica_may_hold_more", Severity.UNKNOWN, "wait for 1"),),
        refusal=None if designated is not None else "a reassignment is in progress",
    )


def test_the_manual_file_is_the_kips_with_a_partition_a_line() -> None:
    plans = [plan("foobar", 2, 1), plan("foo", 10, 3), plan("foo", 9, 0), plan("foo", 1, None)]
    assert manual_recovery_json(plans) == (
        '{"partitions": [\n'
        '{"topic": "foo", "partition": 9, "designatedLeader": 0},\n'
        '{"topic": "foo", "partition": 10, "designatedLeader": 3},\n'
        '{"topic": "foobar", "partition": 2, "designatedLeader": 1}\n'
        "]}\n"
    )


def test_the_manual_file_goes_unchanged_into_kafka_elect_leaders() -> None:
    text = manual_recovery_json([plan("foo", 3, 0), plan("foo", 1, 4)])
    validated(text)
    assert parse_elections(text, "f") == (
        (TopicPartition("foo", 1), 4),
        (TopicPartition("foo", 3), 0),
    )


def test_a_manual_file_of_nothing_is_still_json() -> None:
    assert json.loads(manual_recovery_json([plan(designated=None)])) == {"partitions": []}


def test_the_warning_is_one_line_and_names_both_scripts() -> None:
    assert "\n" not in STOCK_SCRIPT_WARNING
    assert "kafka-leader-election.sh" in STOCK_SCRIPT_WARNING
    assert "kafka-elect-leaders --election-type designated" in STOCK_SCRIPT_WARNING


def test_the_plan_holds_preconditions_ranking_and_logs() -> None:
    document = json.loads(plan_json(CLUSTER, [plan()], CREATED_AT))
    PLAN_SCHEMA.validate(document)
    assert document["cluster_id"] == "cluster-1"
    assert document["created_at"] == CREATED_AT
    (row,) = document["partitions"]
    assert row["preconditions"] == {
        "topic_id": "t-1",
        "leader_epoch": 7,
        "replicas": [1, 4, 3],
        "isr": [],
        "elr": [1],
        "last_known_elr": [2],
    }
    assert (row["designated_leader"], row["order"], row["refusal"]) == (3, [3, 4, 1], None)
    assert row["loss"] == {"certain": 0, "possible": None, "at_least": None}
    assert row["ranking"][1] == {
        "broker": 4,
        "loss": {"certain": 500, "possible": None, "at_least": None},
        "divergences": [{"broker": 3, "offset": 1000, "records": 500}],
        "last_written_leader_epoch": 0,
        "log_end_offset": 1000,
    }
    assert [log["broker"] for log in row["replica_logs"]] == [1, 4, 3]


def test_the_plan_holds_the_epoch_of_the_brokers_process_where_it_is_told() -> None:
    given = replace(plan(), replica_logs=(replace(log(3, 1500), broker_epoch=17), log(4, 1000)))
    document = json.loads(plan_json(CLUSTER, [given], CREATED_AT))
    PLAN_SCHEMA.validate(document)
    (row,) = document["partitions"]
    assert {log["broker"]: log["broker_epoch"] for log in row["replica_logs"]} == {3: 17, 4: None}


def test_a_refused_plan_has_no_loss_but_its_candidates_have() -> None:
    document = json.loads(plan_json(CLUSTER, [plan(designated=None)], CREATED_AT))
    PLAN_SCHEMA.validate(document)
    (row,) = document["partitions"]
    assert row["loss"] == {"certain": None, "possible": None, "at_least": None}
    assert row["refusal"] == "a reassignment is in progress"
    assert row["ranking"][0]["loss"] == {"certain": 0, "possible": None, "at_least": None}


def test_the_loss_is_that_of_the_leader_chosen_not_of_the_best() -> None:
    assert loss_under(plan(designated=4), 4) == Loss(500, None)
    assert loss_under(plan(), 9) == loss_under(None, 3) == Loss(None, None)


def test_plans_are_in_order_of_partition_whatever_order_they_come_in() -> None:
    plans = [plan("b", 0), plan("a", 10), plan("a", 9)]
    assert plan_json(CLUSTER, plans, CREATED_AT) == plan_json(CLUSTER, plans[::-1], CREATED_AT)


def test_a_plan_is_read_back_as_it_was_written() -> None:
    text = plan_json(CLUSTER, [plan(), plan("a", 1, None)], CREATED_AT)
    assert parse_plan(text, "plan.json") == json.loads(text)


def test_the_digest_is_of_the_content_not_of_its_layout() -> None:
    document = json.loads(plan_json(CLUSTER, [plan()], CREATED_AT))
    shuffled = dict(reversed(document.items()))
    assert plan_digest(shuffled) == document["digest"]
    assert parse_plan(json.dumps(shuffled, indent=4), "plan.json") == document


def test_the_digest_stays_the_same_from_release_to_release() -> None:
    assert plan_digest({"kind": "plan", "a": ["é", None]}) == (
        "sha256:151e1fc95b610bd2bd0ba61688ca411ca6286117c088536bda8947ad29e186a4"
    )


def edited(**changes: object) -> str:
    return json.dumps(json.loads(plan_json(CLUSTER, [plan()], CREATED_AT)) | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (edited(cluster_id="other"), "plan.json: digest: does not agree with the plan"),
        (edited(digest=None), "plan.json: digest: does not agree with the plan"),
        (edited(partitions=[]), "plan.json: digest: does not agree with the plan"),
        (edited(format_version=2), "plan.json: format_version: only 1 is known here"),
        (edited(format_version=True), "plan.json: format_version: only 1 is known here"),
        (edited(kind="report"), 'plan.json: kind: is not "plan"'),
        ('{"partitions": []}', 'plan.json: kind: is not "plan"'),
        ("{", "plan.json: line 1 column 2: "),
        ("[]", "plan.json: must be an object"),
    ],
)
def test_what_is_not_the_plan_that_was_written_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_plan(text, "plan.json")
    assert message in str(caught.value)


def test_a_deep_plan_is_refused_and_not_a_crash() -> None:
    for depth in range(850, 1000):  # reading gives up at one of these, digesting a little before
        deep = f'{{"kind": "plan", "format_version": 1, "partitions": {"[" * depth}{"]" * depth}}}'
        with pytest.raises(InputError, match=r"nested too deeply|digest"):
            parse_plan(deep, "plan.json")


@given(st.lists(any_plans, max_size=3))
def test_any_plan_is_valid_json(given: list[PartitionPlan]) -> None:
    PLAN_SCHEMA.validate(json.loads(plan_json(CLUSTER, given, CREATED_AT)))
