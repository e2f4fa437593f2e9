"""What `quorum seed` and `approve` ask on a terminal, and what comes of the answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.metadata_quorum.disks import dynamic_log, write_node
from tests.metadata_quorum.planning import ALL_LOST, plan
from tests.real.watching import Watched

EPOCH = "1001"
PROMPT = "type its epoch"
Start = Callable[..., Watched]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Yield what runs a command on the plan of a quorum, which is tmp_path/plan.json."""
    for broker in (1, 2):
        write_node(tmp_path / "disks", broker, dynamic_log())
    assert plan(tmp_path / "disks", *ALL_LOST).code == 0
    with ExitStack() as running:

        def begin(*words: str | Path) -> Watched:
            program = (sys.executable, "-m", "kafka_unclean_recovery", *map(str, words))
            watched = Watched(program, tmp_path, "asked", terminal=True, heard=True)
            return running.enter_context(closing(watched))

        yield begin


@pytest.mark.parametrize(
    ("typed", "code"), [(f"{EPOCH}\n", 0), ("y\n", 1), ("\n", 1), ("\x03", 130)]
)
def test_a_seed_is_written_once_the_epoch_is_typed(
    start: Start, tmp_path: Path, typed: str, code: int
) -> None:
    where = ("--plan", tmp_path / "plan.json", "--output-dir", tmp_path / "new")
    asked = start("quorum", "seed", *where)
    asked.wait_for(PROMPT)
    # What the plan may lose is shown before.
    assert "metadata_gap_not_known" in asked.stderr
    asked.type(typed)
    assert asked.finish().code == code
    assert (tmp_path / "new").exists() == (code == 0)


@pytest.mark.parametrize(("typed", "code"), [(f"{EPOCH}\n", 0), ("1\n", 1)])
def test_a_second_person_approves_by_typing_the_epoch(
    start: Start, tmp_path: Path, typed: str, code: int
) -> None:
    asked = start("approve", tmp_path / "plan.json", "--output", tmp_path / "approval")
    asked.wait_for(PROMPT)
    asked.type(typed)
    assert asked.finish().code == code
    assert (tmp_path / "approval").exists() == (code == 0)
