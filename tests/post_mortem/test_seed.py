"""What is told of a journal that `quorum seed` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.post_mortem.document import render_json
from kafka_unclean_recovery.post_mortem.markdown import render_markdown
from kafka_unclean_recovery.post_mortem.page import render_page
from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from tests.cli.in_process import RECOVERY, invoke
from tests.metadata_quorum.disks import METADATA, SEGMENT, dynamic_log, write_node
from tests.metadata_quorum.planning import ALL_LOST, NEW, plan, quorum
from tests.post_mortem.journals import planned, write_journal
from tests.report.test_loss_page import Page
from tests.schemas import validated

OF_ELECTIONS = ("elected", "What was lost", "Who is affected", "Partitions, the most lost")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a directory with a plan."""
    for broker in (1, 2):
        write_node(tmp_path / "disks", broker, dynamic_log())
    assert plan(tmp_path / "disks", *ALL_LOST).code == 0
    return tmp_path


def _seed(home: Path) -> int:
    where = ("--plan", home / "plan.json", "--output-dir", home / "new")
    return quorum("seed", *where, "--journal", home / "journal", "--yes").code


def _told(home: Path) -> dict[str, Any]:
    done = invoke(RECOVERY, "report", str(home / "journal"), "--json")
    assert done.code == 0, done.stderr
    found: dict[str, Any] = validated(done.stdout)
    return found


def _lines(home: Path, *without: str) -> str:
    lines = (home / "journal").read_text().splitlines()
    return "".join(f"{line}\n" for line in lines if json.loads(line)["event"] not in without)


def test_a_seed_is_told_with_its_plan_and_what_comes_next(home: Path) -> None:
    assert _seed(home) == 0
    told = _told(home)
    (seed,) = told["seeds"]
    written = json.loads((home / "plan.json").read_text())
    assert (seed["directory"], seed["exit_code"], seed["reason"]) == (str(home / "new"), 0, None)
    assert (seed["plan_digest"], seed["epoch"]) == (written["digest"], written["epoch"])
    assert (seed["source"], seed["end_offset"]) == (
        written["seed"]["directory"],
        written["seed"]["end_offset"],
    )
    assert (seed["new_controller"], seed["lost"]) == (NEW, [101, 102, 103])
    steps = [step["text"] for step in told["next_steps"]]
    assert steps == seed["steps_left"] == written["steps"][-len(steps) :]
    assert "node.id=101" in steps[0]
    texts = [moment["text"] for moment in told["timeline"]]
    assert f"writes the log directory of a new controller: {home / 'new'}" in texts


@pytest.mark.parametrize("render", [render_markdown, lambda told: Page(render_page(told)).text])
def test_its_text_is_not_of_elections(home: Path, render: Any) -> None:
    assert _seed(home) == 0
    text = render(read_post_mortem(_lines(home), "j")).replace("\\", "")
    assert f"quorum seed wrote the log directory {home / 'new'} of a new controller" in text
    assert f"controller 101 at 127.0.0.1:1 begins from {home}" in text
    assert "quorum verify --plan PLAN" in text
    assert not [words for words in OF_ELECTIONS if words in text]


def test_a_seed_that_was_refused_says_why(home: Path) -> None:
    segment = home / "disks" / "node-1" / METADATA / SEGMENT
    segment.write_bytes(segment.read_bytes() + b"more")
    assert _seed(home) == 1
    told = _told(home)
    (seed,) = told["seeds"]
    assert seed["exit_code"] == 1
    assert "it was written since the plan was made" in seed["reason"]
    text = render_markdown(read_post_mortem(_lines(home), "j"))
    assert "did not write" in text
    assert "quorum verify" not in text


def test_a_seed_that_was_killed_is_not_known_to_be_written(home: Path) -> None:
    assert _seed(home) == 0
    told = read_post_mortem(_lines(home, "seeded", "end"), "j")
    text = render_markdown(told)
    assert "noted no result: it is there whole, or not at all" in text
    assert "partitions may have no leader" not in text
    assert json.loads(render_json(told))["seeds"][0]["exit_code"] is None


def test_a_journal_of_before_the_plan_was_noted_is_told_poorer(home: Path) -> None:
    assert _seed(home) == 0
    newer = ("end_offset", "new_controller", "lost", "steps_left", "reason")
    lines = [json.loads(line) for line in _lines(home).splitlines()]
    older = [{k: v for k, v in line.items() if k not in newer} for line in lines]
    told = read_post_mortem("".join(json.dumps(line) + "\n" for line in older), "j")
    (seed,) = json.loads(render_json(told))["seeds"]
    assert (seed["end_offset"], seed["new_controller"], seed["exit_code"]) == (None, None, 0)
    assert "quorum seed wrote" in render_markdown(told)


def test_elections_beside_a_seed_are_told(home: Path) -> None:
    assert _seed(home) == 0
    write_journal(home / "elections", [planned(0)])
    both = _lines(home) + (home / "elections").read_text()
    text = render_markdown(read_post_mortem(both, "j"))
    assert "quorum seed wrote" in text
    assert "1 leader elected" in text
