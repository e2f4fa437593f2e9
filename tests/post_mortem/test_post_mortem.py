"""What a journal tells afterwards, and that names from outside stay names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from kafka_unclean_recovery.documents.journal_lines import parse
from kafka_unclean_recovery.documents.reading.codec import to_json
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.mechanisms import Wishes
from kafka_unclean_recovery.model import Commit, PartitionPlan, ReplicaInfo, TopicPartition
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.post_mortem.document import render_json
from kafka_unclean_recovery.post_mortem.markdown import render_markdown
from kafka_unclean_recovery.post_mortem.page import render_page
from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from kafka_unclean_recovery.post_mortem.story import PostMortem, lossless
from kafka_unclean_recovery.recovery.journal_evidence import note_decisions
from kafka_unclean_recovery.report.document import render_json as report_json
from tests.infos import any_infos
from tests.post_mortem.journals import WANTED, harmless, planned, seen, write_journal
from tests.report.test_loss_page import Page

SCHEMA = Draft202012Validator(
    json.loads(
        (files("kafka_unclean_recovery") / "schemas" / "post-mortem-1.schema.json").read_text()
    )
)
EVIDENCE = {"observed", "decision", "verified"}


@pytest.fixture
def lines(tmp_path: Path) -> list[dict[str, Any]]:
    """Return the journal of a run that elected two partitions."""
    write_journal(tmp_path / "j", [planned(0), planned(1)])
    return parse((tmp_path / "j").read_text(), "j")


def text_of(lines: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def told_by(lines: list[dict[str, Any]]) -> PostMortem:
    return read_post_mortem(text_of(lines), "j.jsonl")


def document(told: PostMortem) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render_json(told))
    SCHEMA.validate(found)
    return found


def test_its_numbers_are_those_of_the_run(tmp_path: Path) -> None:
    report = write_journal(tmp_path / "j", [planned(0), planned(1), planned(0, "payments")])
    told = document(read_post_mortem((tmp_path / "j").read_text(), "j"))
    summary: Any = json.loads(report_json(report))["summary"]
    total = told["losses"]["total"]
    assert (total["elected"], total["certain"]["records"]) == (3, summary["certain_loss"])
    assert total["possible"]["records"] is summary["possible_loss"] is None
    assert [row["topic"] for row in told["losses"]["topics"]] == ["orders", "payments"]
    # The most lost first; what it rested on is there whole.
    first = told["partitions"][0]
    assert (first["topic"], first["partition"]) == ("orders", 1)
    assert {p["outcome"] for p in told["partitions"]} == {"elected"}
    assert told["ended"]
    assert told["unfinished"] == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(any_infos())
def test_a_plan_is_read_as_it_was_noted(tmp_path: Path, info: ReplicaInfo) -> None:
    plans = [row.plan for row in plan_from_disks(info, ()) if row.plan is not None]
    path = tmp_path / "j"
    path.unlink(missing_ok=True)
    with Journal.open(path) as journal:
        note_decisions(journal, WANTED, Wishes(), seen(plans), plans)
    told = read_post_mortem(path.read_text(), "j")
    # Of remote storage a finding of the plan tells.
    noted = [replace(plan, state=replace(plan.state, tiered=None)) for plan in plans]
    assert {e.topic_partition: e.plan for e in told.elections} == {
        plan.state.topic_partition: plan for plan in noted
    }
    assert Page(render_page(told)).open == []
    assert render_markdown(told)
    document(told)


def test_what_is_left_undone_comes_first_and_loud(lines: list[dict[str, Any]]) -> None:
    killed = [line for line in lines if line["event"] in {"begin", "reorder", "elect", *EVIDENCE}]
    killed = [line for line in killed if line["event"] != "verified"]
    told = told_by(killed)
    found = document(told)
    assert found["unfinished"] == [{"topic": "orders", "partition": n} for n in (0, 1)]
    assert not found["ended"]
    (first, *_) = found["next_steps"]
    assert first["commands"] == [
        "kafka-unclean-recovery --bootstrap-server b3:9092,b4:9092 --resume j.jsonl"
    ]
    # Begun, and nothing tells what came of it: that is unknown, and no loss of 0.
    assert found["losses"]["total"]["certain"]["records"] is None
    assert found["losses"]["total"]["not_elected"] == {"not_known": 2}
    for text in (render_markdown(told), Page(render_page(told)).text):
        assert "2 replica orders may not be as before: orders-" in text
        assert "not known: the run ended before" in text


@pytest.mark.parametrize("whole", [1, 2])
def test_a_run_that_was_killed_before_it_decided_leaves_something_to_do(
    lines: list[dict[str, Any]], whole: int
) -> None:
    killed = told_by(lines[:whole])
    assert [line["event"] for line in lines[:2]] == ["begin", "observed"]
    (step,) = document(killed)["next_steps"]
    assert "the last run noted no end, and partitions may have no leader still" in step["text"]
    assert "--all-offline-partitions --show-replica-info" in step["commands"][0]


def test_nothing_is_said_to_be_all_that_a_journal_does_not_tell(
    lines: list[dict[str, Any]],
) -> None:
    """A run that ended before it saw anything, as where no broker could be asked."""
    told = told_by([lines[0], lines[-1]])
    assert (told.ended, document(told)["next_steps"]) == (True, [])
    for text in (render_markdown(told), Page(render_page(told)).text):
        assert "The journal tells of none." in text
        assert "is left" not in text


def test_what_was_waited_for_is_said_no_more_surely_than_it_is_known(
    lines: list[dict[str, Any]],
) -> None:
    """Of a broker that can't be reached nothing bounds what it may still do."""
    head = {key: lines[0][key] for key in ("v", "at", "at_ms")}
    told = told_by([*lines, {**head, "event": "settled"}])
    assert told.moments[-1].text.endswith(", but by a broker that was not reached")


def test_an_order_left_to_somebody_else_is_not_as_before(lines: list[dict[str, Any]]) -> None:
    why = "orders-1: somebody else gave it the replicas [3, 4]; left alone (they were [1, 4, 3])"
    for line in lines:
        if line["event"] == "restored":
            line["left_alone"] = [why]
        elif line["event"] in ("outcome", "verified"):
            line["partitions"][1] |= {"outcome": "failed", "reason": why}
    told = told_by(lines)
    orders = {p["partition"]: p["order"] for p in document(told)["partitions"]}
    assert (orders[1]["left_alone"], orders[1]["restored_at_ms"]) == (why, None)
    assert (orders[0]["left_alone"], orders[0]["restored_at_ms"] is None) == (None, False)
    for text in (render_markdown(told), Page(render_page(told)).text):
        assert "Every other replica order that was written is as before." in text
        assert "Left alone, for somebody else changed them: 1 replica order: orders-1" in text
        assert "1 replica order as before" in text
        assert "Every replica order" not in text
    for line in lines:
        if line["event"] == "restored":
            line["left_alone"].append(why.replace("orders-1", "orders-0"))
    alone = render_markdown(told_by(lines))
    assert "is as before" not in alone
    assert "2 replica orders: orders-" in alone


def test_an_order_whose_topic_is_gone_is_not_said_to_be_as_before(
    lines: list[dict[str, Any]],
) -> None:
    assert "Every replica order that was written is as before." in render_markdown(told_by(lines))
    for line in lines:
        if line["event"] in ("outcome", "verified"):
            line["partitions"][1] |= {"outcome": "refused", "reason": "the topic is gone"}
    text = render_markdown(told_by(lines))
    assert "Every replica order that was written is as before, or gone with its topic." in text


def test_a_journal_without_what_was_known_gives_a_poorer_report(
    lines: list[dict[str, Any]],
) -> None:
    old = [line for line in lines if line["event"] not in EVIDENCE]
    told = told_by(old)
    found = document(told)
    assert [p["outcome"] for p in found["partitions"]] == ["elected", "elected"]
    assert {p["plan"] for p in found["partitions"]} == {None}
    assert found["losses"]["total"]["certain"]["records"] is None
    assert "--bootstrap-server HOST:PORT" in found["next_steps"][0]["commands"][0]
    assert "does not tell what this was decided on" in render_markdown(told)
    assert "does not tell that groups were asked" in render_markdown(told)


def test_a_later_election_of_a_partition_does_not_hide_the_first(
    lines: list[dict[str, Any]],
) -> None:
    found = document(told_by(lines + lines))
    assert found["losses"]["total"]["elections"] == 4
    asked_only = [line for line in lines if line["event"] in ("begin", "observed", "decision")]
    assert document(told_by(asked_only + lines))["losses"]["total"]["elections"] == 2


def test_only_what_was_read_back_and_cost_nothing_lost_nothing(tmp_path: Path) -> None:
    write_journal(tmp_path / "j", [planned(0), harmless(1)])
    lines = parse((tmp_path / "j").read_text(), "j")
    intact = {TopicPartition("orders", 1)}
    assert lossless(told_by(lines).elections) == intact
    for event in ("decision", "outcome verified"):
        less = [line for line in lines if line["event"] not in event.split()]
        assert lossless(told_by(less).elections) == set()
    # Of several elections one is enough, by whomever.
    write_journal(tmp_path / "k", [planned(1)])
    again = lines + parse((tmp_path / "k").read_text(), "k")
    assert lossless(told_by(again).elections) == set()
    text = text_of(lines).replace('"outcome": "elected"', '"outcome": "already_online"')
    assert lossless(read_post_mortem(text, "j").elections) == set()


def test_the_loss_of_an_election_whose_end_is_in_doubt_or_not_weighed_is_unknown(
    lines: list[dict[str, Any]],
) -> None:
    assert document(told_by(lines))["losses"]["total"]["certain"]["unknown_partitions"] == 0
    for told in ({"outcome": "failed", "leader": -1, "in_doubt": True}, {"unweighed": [1]}):
        verified = next(line for line in lines if line["event"] == "verified")
        rows = [verified["partitions"][0], verified["partitions"][1] | told]
        changed = [line | {"partitions": rows} if line is verified else line for line in lines]
        found = document(told_by(changed))
        assert found["losses"]["total"]["certain"]["unknown_partitions"] == 1, told


def test_events_of_other_versions_are_told_as_they_are(lines: list[dict[str, Any]]) -> None:
    consent = {
        "how": "typed",
        "partitions": 2,
        "accept_loss": {"orders": 5},
        "approval": {"approved_by": "bob", "approved_at": "noon"},
    }
    other = {"what": [{"deep": 1}], "for": "kicks"}
    head = {key: lines[0][key] for key in ("v", "at", "at_ms")}
    lines.insert(1, {**head, "event": "consent", **consent})
    lines.insert(2, {**head, "event": "juggled", **other})
    told = told_by(lines)
    texts = [moment.text for moment in told.moments]
    assert (
        "consent: how: typed; partitions: 2; accept_loss: orders 5; approved by bob at noon"
        in texts
    )
    assert "juggled: what: 1; for: kicks" in texts
    assert document(told)["consents"] == [{"at_ms": head["at_ms"], **consent}]
    assert "how: typed" in Page(render_page(told)).text


def test_who_is_affected_comes_from_aftercare(lines: list[dict[str, Any]]) -> None:
    group = {
        "group": "bill's",
        "committed_offset": 1500,
        "committed_leader_epoch": 1,
        "resume_offset": 1000,
        "refilled": True,
    }
    row = {
        "topic": "orders",
        "partition": 0,
        "transactions": [{"ending": "commit"}, {"ending": "unknown"}, {"ending": "open"}],
        "groups": [group],
        "out_of_sync": [1],
        "problems": ["broker 4 can't be asked"],
    }
    head = {key: lines[0][key] for key in ("v", "at", "at_ms")}
    care = {"over": False, "unknown": [], "looked_at": 2, "partitions": [row]}
    told = told_by([*lines, {**head, "event": "aftercare", **care}])
    found = document(told)["aftercare"]
    assert (found["hanging_transactions"], found["endable_transactions"]) == (2, 1)
    assert found["groups"][0]["group"] == "bill's"
    assert found["unknown"] == ["orders-0: broker 4 can't be asked"]
    commands = [command for step in document(told)["next_steps"] for command in step["commands"]]
    assert any(
        "--group 'bill'\"'\"'s' --topic orders:0 --reset-offsets --to-offset 1000" in command
        for command in commands
    )
    assert any("--end-transactions" in command for command in commands)


def test_groups_that_were_known_before_are_told_until_aftercare_looks(tmp_path: Path) -> None:
    commit = Commit("bill", TopicPartition("orders", 0), 9000, 5)
    write_journal(tmp_path / "j", [planned(0, "orders", commit)])
    told = read_post_mortem((tmp_path / "j").read_text(), "j")
    (row,) = document(told)["partitions"]
    (group,) = row["groups_beyond"]
    assert (group["group"], group["committed_offset"], group["resume_offset"]) == (
        "bill",
        9000,
        2500,
    )
    assert "Witnesses: at least 6500 records in all." in Page(render_page(told)).text
    markdown = render_markdown(told)
    assert "As known before electing: 1 group beyond the ends of the elected leaders" in markdown
    assert "| bill | orders-0 | 9000 | 2500 |" in markdown
    assert "--group bill --topic orders:0 --reset-offsets --to-offset 2500" in markdown


def test_a_torn_last_line_is_told_and_harms_nothing(lines: list[dict[str, Any]]) -> None:
    text = text_of(lines)
    told = read_post_mortem(text + '{"v":1,"event":"eng', "j")
    assert told.moments[-1].event == "torn"
    assert told.elections == read_post_mortem(text, "j").elections


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: "", "j: holds no whole line"),
        (lambda lines: "nonsense", "j: holds no whole line"),
        (lambda lines: f"{lines[0]}\nnonsense\n", "j, line 2: not a line of a journal"),
        (lambda lines: lines[0].replace('"v": 1', '"v": 2') + "\n", "line 1: journal version 2"),
        (lambda lines: "[" * 9999 + "\n", "line 1: not a line of a journal"),
        (lambda lines: lines[0].replace("at_ms", "when") + "\n", 'line 1: has no "at_ms"'),
        (
            lambda lines: (
                "\n".join(lines[:3]).replace('"ranking": [{"broker": 3', '"ranking": [{"broker": 9')
                + "\n"
            ),
            "line 3: ranking[0].broker: broker 9 has no replica_log",
        ),
        (
            lambda lines: lines[7].replace('"partition": 0', '"partition": "0"') + "\n",
            'line 1: partitions[0].partition: must be a whole number, not "0"',
        ),
    ],
)
def test_a_corrupt_journal_names_its_line(
    lines: list[dict[str, Any]], change: Callable[[list[str]], str], says: str
) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        read_post_mortem(change(text_of(lines).splitlines()), "j")


def _named(name: str) -> PostMortem:
    """Return a post-mortem in which every name from outside is `name`."""
    head = {"v": 1, "at_ms": 1, "at": ""}
    at = {"topic": name, "partition": 0}
    group = {"group": name, "committed_offset": 2, "resume_offset": 1, "refilled": False}
    row = {
        **at,
        "transactions": [],
        "groups": [group],
        "out_of_sync": [],
        "problems": [name],
    }
    broker = {"id": 1, "host": name, "port": 1}
    observed = {
        "brokers": [broker],
        "fenced": [],
        "silent_brokers": {"2": name},
        "problems": [name],
        "groups_asked": True,
        "unknown": [name],
        "partitions": 1,
        "missing": [],
    }
    saved = {**at, "broker": 1, "start_offset": 1, "end_offset": 2, "saved": False, "reason": name}
    outcome = {**at, "outcome": "failed", "reason": name}
    care = {"over": False, "unknown": [name], "looked_at": 1, "partitions": [row]}
    decided = json.loads(json.dumps(_decision(planned(0))))
    decided["topic"] = name
    decided["replica_logs"][0]["problem"] = name
    decided["findings"][0]["message"] = name
    lines: list[dict[str, Any]] = [
        {"event": "begin", "cluster_id": name, "command": name, "version": name},
        {"event": "observed", **observed},
        decided,
        {"event": "consent", "how": name, name: name},
        {"event": "salvage", "directory": name, "partitions": [saved]},
        {
            "event": "reorder",
            "partitions": [{**at, "topic_id": name, "original": [1], "written": [1]}],
        },
        {"event": "elect", "partitions": [{**at, "designated_leader": 3}]},
        {"event": "outcome", "partitions": [outcome]},
        {"event": "aftercare", **care},
        {"event": "another", "name": name},
    ]
    return read_post_mortem(text_of([{**line, **head} for line in lines]), name)


def _decision(plan: PartitionPlan) -> dict[str, Any]:
    noted: list[dict[str, Any]] = []

    class Heard:
        def tell(self, event: str, rows: Iterable[dict[str, Any]]) -> None:
            noted.extend(to_json({"event": event, **row}) for row in rows)

    heard: Any = Heard()
    note_decisions(heard, WANTED, Wishes(), seen([plan]), [plan])
    return noted[-1]


SAFE = "orders"


@settings(max_examples=40)
@given(st.text("<>&\"'`|*_[]()#\\\n\r\t!-$=/ \x1b\u2028ab", min_size=1, max_size=12))
def test_names_from_outside_are_texts_and_nothing_else(name: str) -> None:
    told, safe = _named(name), _named(SAFE)
    page, expected = render_page(told), render_page(safe)
    assert _shape(page) == _shape(expected)
    assert "\x1b" not in page
    markdown, expected = render_markdown(told), render_markdown(safe)
    assert len(markdown.splitlines()) == len(expected.splitlines())
    outside_of_code = [line for line in markdown.splitlines() if not line.startswith("        ")]
    # What is left without its escapes has no more markup than the harmless one.
    bare = re.sub(r"\\[^\w\s]", "", "\n".join(outside_of_code))
    plain = re.sub(r"\\[^\w\s]", "", expected)
    for mark in "<|`[#":
        assert bare.count(mark) == plain.count(mark), mark
    assert json.loads(render_json(told))["cluster_id"] == name


def _shape(html: str) -> list[tuple[str, str]]:
    """Return the tags of a page and their attributes' names."""
    return [(tag, name) for tag, name, _ in Page(html).attributes]
