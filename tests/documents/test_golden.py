"""What version 1 wrote is written byte for byte still, and read."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.aftercare.report import note_aftercare
from kafka_unclean_recovery.documents.approval import parse_approval
from kafka_unclean_recovery.documents.plan import read_plan
from kafka_unclean_recovery.documents.replica_info import parse_replica_info
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.mechanisms import Dialect, Wishes
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.post_mortem.document import render_json
from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from kafka_unclean_recovery.recovery.group_offsets import Witnesses
from kafka_unclean_recovery.recovery.journal_evidence import note_decisions, note_verified
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.terms import differences
from kafka_unclean_recovery.recovery.views import Wanted
from kafka_unclean_recovery.salvage.designated import (
    designated_json,
    designated_leaders,
    parse_designated,
)
from kafka_unclean_recovery.salvage.replay.saved import read_saved
from tests.golden import (
    AFTERCARE,
    APPROVAL,
    CLUSTER,
    FORMATS,
    INFO,
    LIVE,
    PLAN,
    REFUSED,
    REPORT,
    STATE,
    UNSEEN,
    WRITTEN,
)
from tests.schemas import validated

SEEN = Observation(
    CLUSTER,
    {STATE.topic_partition: STATE},
    {TopicPartition("gone", 1): "no such topic"},
    {},
    {2: "refused"},
    ("odd",),
    Witnesses({}, ("groups of broker 2",)),
)


def stored(name: str) -> str:
    return (FORMATS / name).read_text()


@pytest.mark.parametrize("name", WRITTEN)
def test_every_byte_is_written_as_version_1_wrote_it(name: str) -> None:
    text = stored(f"{name}.json")
    assert WRITTEN[name]() == text
    validated(text)


@pytest.mark.parametrize("name", ["plan", "approval"])
def test_digests_agree(name: str) -> None:
    document = json.loads(stored(f"{name}.json"))
    assert plan_digest(document) == document["digest"]


def test_a_plan_is_read() -> None:
    read = read_plan(stored("plan.json"), "plan.json")
    for planned, now in zip(read.partitions.values(), (REFUSED, PLAN), strict=True):
        assert planned.findings == now.findings
        assert differences(planned, now) == []


def test_a_scan_is_read() -> None:
    assert parse_replica_info(stored("replica-info.json"), "f") == INFO


def test_an_approval_is_read() -> None:
    assert parse_approval(stored("approval.json"), "f") == APPROVAL


def test_the_designated_leaders_of_a_plan_are_read_and_sent_on() -> None:
    found = designated_leaders(stored("plan.json"), "f").partitions.values()
    lines = [designated_json(each) for each in found]
    assert "".join(f"{line}\n" for line in lines) == stored("designated.jsonl")
    assert [parse_designated(line) for line in lines] == list(found)


def test_a_salvage_is_read(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(stored("salvage.json"))
    saved = read_saved(tmp_path, lambda _: True)
    (partition,) = saved.partitions
    assert [(f.broker, f.log_end_offset, f.suspect) for f in partition.files] == [(1, 1500, True)]
    assert saved.problems == ("/data3: Input/output error", "orders-0 of broker 1: a gap")


def _journal(path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(time, "time_ns", lambda: 1_767_323_045_678_000_000)
    with Journal.open(path) as journal:
        journal.note("begin", version="1", cluster_id="cluster-1", command="kafka-unclean-recovery")
        wishes = Wishes(dialect=Dialect.KIP_966)
        note_decisions(journal, Wanted(None, ask_groups=True), wishes, SEEN, [PLAN, REFUSED])
        where: dict[str, Any] = {"topic": "orders", "partition": 0}
        journal.note("elect", partitions=[where | {"designated_leader": 3}])
        note_verified(journal, REPORT)
        note_aftercare(journal, AFTERCARE)
        journal.note("end", exit_code=0)
    return path.read_text()


def test_a_journal_is_written_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = stored("journal.jsonl")
    assert _journal(tmp_path / "j", monkeypatch) == text
    told = read_post_mortem(text, "j")
    plans = {e.topic_partition: e.plan for e in told.elections if e.plan is not None}
    read = plans[STATE.topic_partition]
    assert (read.replica_logs, read.waiting) == (PLAN.replica_logs, PLAN.waiting)
    assert (read.findings, read.order, read.state) == (PLAN.findings, PLAN.order, PLAN.state)
    assert read.ranking[0].log == LIVE
    assert plans[REFUSED.state.topic_partition].replica_logs == (UNSEEN,)
    document = render_json(told)
    assert document == stored("post-mortem.json")
    validated(document)
