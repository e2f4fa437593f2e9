"""Losses by topic and the ladders of partitions: tables, JSON, page."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec import structs

from kafka_unclean_recovery.model import PartitionPlan, ReplicaInfo
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.report.ladder import Ladder, ladder_of
from kafka_unclean_recovery.report.loss_by_topic import (
    RecordCount,
    TopicLoss,
    render_loss_json,
    render_loss_table,
    total,
)
from kafka_unclean_recovery.report.loss_page import render_loss_page
from tests.infos import any_infos
from tests.planning.test_merged_scans import disk
from tests.planning.test_offline_plan import DISKS, plan_of, row_of, scan

SCHEMA = Draft202012Validator(
    json.loads(
        (files("kafka_unclean_recovery") / "schemas" / "loss-by-topic-1.schema.json").read_text()
    )
)
ORDERS = TopicLoss("orders", 3, 2, {"only_suspects": 1}, RecordCount(500), RecordCount(7, 1))
QUIET = TopicLoss("quiet", 4, 4)
HEAD = structs.replace(scan(), partitions=())

_counts = st.builds(RecordCount, st.integers(0, 2**63), st.integers(0, 9))
_losses = st.builds(
    TopicLoss,
    st.text(max_size=9),
    st.integers(0, 9),
    st.integers(0, 9),
    st.dictionaries(st.sampled_from(["no_candidate", "reassignment"]), st.integers(1, 9)),
    _counts,
    _counts,
)


class Page(HTMLParser):
    """What is on it: tags in order, their attributes, and the texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def test_a_line_for_each_topic_and_what_is_known_of_all() -> None:
    lines = render_loss_table([ORDERS, QUIET]).splitlines()
    assert " ".join(lines[2].split()) == (
        "orders 3 2 1 500 records 7 records, and unknown for 1 partition 1 only_suspects"
    )
    assert lines[3].split() == ["quiet", "4", "4", "0", "0", "records", "0", "records"]
    assert lines[5] == (
        "2 topics, 7 partitions: 6 with a designated leader, 1 without; certain loss 500 records,"
        " possible loss 7 records, and unknown for 1 partition"
    )


def test_json_has_null_where_a_sum_is_not_known() -> None:
    document = json.loads(render_loss_json([ORDERS, QUIET], "cluster-1", ["a disk"]))
    SCHEMA.validate(document)
    assert document["topics"][0] == {
        "topic": "orders",
        "partitions": 3,
        "designated": 2,
        "without": {"only_suspects": 1},
        "certain": {"records": 500, "known_records": 500, "unknown_partitions": 0},
        "possible": {"records": None, "known_records": 7, "unknown_partitions": 1},
    }
    assert document["total"]["certain"]["records"] == 500
    assert document["problems"] == ["a disk"]


@given(st.lists(_losses, max_size=3), st.none() | st.text(max_size=5))
def test_any_losses_are_rendered(losses: list[TopicLoss], cluster_id: str | None) -> None:
    SCHEMA.validate(json.loads(render_loss_json(losses, cluster_id)))
    assert render_loss_table(losses)
    assert total(losses).partitions == sum(loss.partitions for loss in losses)


def parted() -> PartitionPlan:
    """Return a plan: 1 leads from 100 on; 2 has 50 records that it lacks; 3 is excluded."""
    logs = (
        disk(1, (0, 0, 1_000_000), (2, 1_000_000, 1_000_100)),
        disk(2, (0, 0, 1_000_050)),
        disk(3, (0, 0, 1_000_000), (2, 1_000_000, 1_000_200)),
    )
    return plan_of(
        scan(*(structs.replace(log, high_watermark=1_000_010) for log in logs)), excluded=(3,)
    )


def test_the_ladder_begins_where_replicas_part() -> None:
    ladder = ladder_of(parted())
    assert (ladder.low, ladder.high) == (1_000_000 - 101, 1_000_200)
    assert ladder.epochs == (2, 0)
    first, second, third, *_ = ladder.rungs
    assert [rung.log.broker for rung in (first, second, third)] == [1, 2, 4]
    by_broker = {rung.log.broker: rung for rung in ladder.rungs}
    assert first.first
    assert (second.kept, second.lost) == (1_000_000, 50)
    assert (by_broker[3].kept, by_broker[3].lost) == (1_000_100, 100)
    assert second.spans == ((0, ladder.low, 1_000_050),)


def page_of(*plans: PartitionPlan) -> Page:
    rows = [structs.replace(row_of(scan(*DISKS)), plan=plan) for plan in plans]
    return Page(render_loss_page([ORDERS, QUIET], rows, HEAD))


def test_the_page_says_what_the_picture_shows() -> None:
    page = page_of(parted())
    assert "loses 50 records from offset 1000000 on" in page.text
    assert "what it loses is unknown" not in page.text.split("broker 1")[1].split("broker 2")[0]
    lines = [value for tag, name, value in page.attributes if (tag, name) == ("line", "class")]
    assert lines.count("cut") == 2
    assert lines.count("hw") == 3
    fills = [value for tag, name, value in page.attributes if (tag, name) == ("rect", "fill")]
    assert fills.count("url(#lost)") == 2


def test_nothing_on_the_page_is_fetched_or_run() -> None:
    page = page_of(parted())
    tags = {tag for tag, _, _ in page.attributes}
    assert not tags & {"script", "link", "img", "iframe", "object"}
    assert not any(
        name in ("src", "href") or name.startswith("on") for _, name, _ in page.attributes
    )


def test_outside_names_are_texts_and_nothing_else() -> None:
    bad = "<script>alert('1')</script>\"&\x1b[31m"
    plan = parted()
    plan = structs.replace(
        plan,
        state=structs.replace(plan.state, topic=bad),
        replica_logs=(*(structs.replace(log, problem=bad) for log in plan.replica_logs),),
    )
    head = structs.replace(HEAD, cluster_id=bad, problems=(bad,))
    row = structs.replace(row_of(scan(*DISKS)), plan=plan)
    html = render_loss_page([replace(ORDERS, topic=bad)], [row], head)
    assert "<script" not in html
    assert "\x1b" not in html
    assert Page(html).text.count("alert('1')") >= 5


@given(any_infos())
def test_any_plan_has_a_picture(info: ReplicaInfo) -> None:
    rows = plan_from_disks(info, ())
    page = Page(render_loss_page([], rows, info))
    assert page.open == []
    for row in rows:
        if row.plan is not None:
            _check(ladder_of(row.plan))


def _check(ladder: Ladder) -> None:
    assert ladder.low < ladder.high
    for rung in ladder.rungs:
        for _, start, end in rung.spans:
            assert ladder.low <= start
            assert end <= ladder.high


@pytest.mark.parametrize("width", [1, 10**9])
def test_one_lost_record_is_seen_beside_any_number(width: int) -> None:
    plan = plan_of(scan(disk(1, (0, 0, 5), (1, 5, 5 + width)), disk(2, (0, 0, 6))))
    page = page_of(plan)
    widths = [
        float(v.rstrip("%")) for tag, name, v in page.attributes if (tag, name) == ("rect", "width")
    ]
    # The first two are the pattern's own.
    assert min(widths[2:]) >= 0.4
