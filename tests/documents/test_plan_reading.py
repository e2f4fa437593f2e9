"""A plan read back, and held against what is planned now."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.documents.plan import plan_json, read_plan
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import Cluster, EpochSpan, Loss, PartitionPlan, TopicPartition
from kafka_unclean_recovery.recovery.consent import render_consent
from kafka_unclean_recovery.recovery.terms import differences
from tests.reports import plan

REFUSED = plan(1, designated=None, refusal="reassigning")
TEXT = plan_json(Cluster("cluster-1", {}), [plan(), REFUSED], "2026-01-02T03:04:05+00:00")


PRECONDITIONS = json.loads(TEXT)["partitions"][0]["preconditions"]


def test_a_plan_is_read_as_it_was_planned() -> None:
    read = read_plan(TEXT, "plan.json")
    assert (read.cluster_id, read.created_at) == ("cluster-1", "2026-01-02T03:04:05+00:00")
    assert read.digest == json.loads(TEXT)["digest"]
    assert list(read.partitions) == [TopicPartition("orders", 0), TopicPartition("orders", 1)]
    for planned, now in zip(read.partitions.values(), [plan(), REFUSED], strict=True):
        assert differences(planned, now) == []
    # Whoever approves is shown what whoever elects is.
    assert render_consent(list(read.partitions.values())) == render_consent([plan(), REFUSED])


def _with_log(**fields: Any) -> PartitionPlan:
    given = plan()
    dead, other, best = given.replica_logs
    return replace(given, replica_logs=(dead, replace(other, **fields), best))


OTHER = "log of broker 4: (live, last written leader epoch 0, log end offset 1000)"


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (replace(plan(), state=replace(plan().state, topic_id="t-2")), ["topic id t-1, now t-2"]),
        (replace(plan(), state=replace(plan().state, leader_epoch=8)), ["leader epoch 7, now 8"]),
        (
            replace(plan(), state=replace(plan().state, replicas=(1, 3, 4))),
            ["replicas [1, 4, 3], now [1, 3, 4]"],
        ),
        (replace(plan(), state=replace(plan().state, isr=(1,))), ["ISR [], now [1]"]),
        (replace(plan(), state=replace(plan().state, elr=())), ["ELR [1], now []"]),
        (
            replace(plan(), state=replace(plan().state, last_known_elr=(1,))),
            ["last known ELR [], now [1]"],
        ),
        (
            replace(plan(), state=replace(plan().state, unregistered_replicas=(1,))),
            ["unregistered brokers [], now [1]"],
        ),
        (
            plan(designated=4),
            ["designated leader 3, now 4", "certain loss 0, now 500"],
        ),
        (plan(loss=Loss(0, 7)), ["possible loss unknown, now 7"]),
        (
            _with_log(log_end_offset=1001),
            [f"{OTHER}, now (live, last written leader epoch 0, log end offset 1001)"],
        ),
        (
            _with_log(last_written_leader_epoch=1),
            [f"{OTHER}, now (live, last written leader epoch 1, log end offset 1000)"],
        ),
        (_with_log(live=False), [f"{OTHER}, now {OTHER[17:].replace('live', 'not live')}"]),
        (_with_log(problem="silent"), [f"{OTHER}, now {OTHER[17:-1]}, unusable)"]),
        (_with_log(unproven="a proxy"), [f"{OTHER}, now {OTHER[17:-1]}, unproven)"]),
        (_with_log(epochs=None), [f"{OTHER}, now {OTHER[17:-1]}, without leader epochs)"]),
        (
            _with_log(epochs=(EpochSpan(-1, 0, 400), EpochSpan(0, 400, 1000))),
            ["log of broker 4: other leader epochs from offset 0 on"],
        ),
        (
            _with_log(epochs=(EpochSpan(0, 0, 400), EpochSpan(1, 400, 1000))),
            ["log of broker 4: other leader epochs from offset 400 on"],
        ),
        # Old records were deleted since.
        (_with_log(log_start_offset=500, epochs=(EpochSpan(0, 500, 1000),)), []),
        (_with_log(suspect="bad CRC"), [f"{OTHER}, now {OTHER[17:-1]}, suspect)"]),
        (
            replace(plan(), replica_logs=plan().replica_logs[::2]),
            [f"{OTHER}, now none"],
        ),
    ],
)
def test_whatever_an_election_rests_on_is_named_when_it_changed(
    now: PartitionPlan, says: list[str]
) -> None:
    planned = read_plan(TEXT, "plan.json").partitions[TopicPartition("orders", 0)]
    assert differences(planned, now) == says


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"partitions": [{}]}, 'partitions\\[0\\]: has no "preconditions"'),
        ({"partitions": "x"}, "partitions: must be a list"),
        ({"cluster_id": 5}, "cluster_id: must be a text"),
        ({"partitions": [{"topic": "\x1b[31m"}]}, "not a legal topic name"),
        ({"partitions": [{"topic": "."}]}, "not a legal topic name"),
        ({"partitions": [{"designated_leader": -1}]}, "designated_leader: must be a number"),
        ({"partitions": [{"order": [3, 4, 3]}]}, "order"),
        *(
            ({"partitions": [{"preconditions": PRECONDITIONS | {key: [3, 4, 3]}}]}, key)
            for key in ("replicas", "isr", "elr", "last_known_elr", "unregistered_replicas")
        ),
        ({"partitions": [{}, {}]}, "orders-0 was already there"),
    ],
)
def test_a_plan_whose_digest_agrees_is_read_strictly_all_the_same(
    change: dict[str, Any], says: str
) -> None:
    document = json.loads(TEXT)
    rows = change.get("partitions")
    if isinstance(rows, list):
        whole = [document["partitions"][0] | row for row in rows]
        if says.startswith("partitions") and "preconditions" in says:
            del whole[0]["preconditions"]
        change = {"partitions": whole}
    document |= change
    document["digest"] = plan_digest(document)
    with pytest.raises(InputError, match=f"plan.json: .*{says}"):
        read_plan(json.dumps(document), "plan.json")


def test_a_plan_that_was_edited_is_none() -> None:
    with pytest.raises(InputError, match=r"plan.json: digest: does not agree"):
        read_plan(TEXT.replace('"designated_leader": 3', '"designated_leader": 4'), "plan.json")
