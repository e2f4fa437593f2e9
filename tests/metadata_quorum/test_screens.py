"""What a person sees of `quorum plan`, `seed` and `verify`: one window, with the next command last,
of however many nodes the copies are."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.documents.quorum import read_quorum_plan
from kafka_unclean_recovery.metadata_quorum.steps import SEED, VERIFY, after_seed, between
from tests.log_dir.cluster_metadata_encoder import NO_OP
from tests.metadata_quorum.disks import dynamic_log, static_log, write_node
from tests.metadata_quorum.planning import ALL_LOST, NEW
from tests.mission.terminal import Screen, Terminal, assert_fits
from tests.mission.test_screens import SIZES

NODES = pytest.mark.parametrize("nodes", [2, 36])


def _disks(home: Path, nodes: int, *, dynamic: bool = False) -> Path:
    """Write copies of which each ends a record later than the one before."""
    log = dynamic_log() if dynamic else static_log()
    for node in range(1, nodes + 1):
        log = log.and_then(1, NO_OP)
        write_node(home / "disks", node, log, quorum_epoch=9)
    return home / "disks"


def _plan(size: tuple[int, int], disks: Path, *flags: str) -> tuple[Screen, Path]:
    path = disks.parent / "plan.json"
    wanted = ("--new-controller", NEW, "--plan-output-file", str(path))
    return Terminal(size, "quorum", "plan", str(disks), *wanted, *flags).finish(), path


@SIZES
@NODES
@pytest.mark.parametrize("dynamic", [False, True])
def test_each_is_one_screen_that_tells_the_steps_to_the_next(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    nodes: int,
    dynamic: bool,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    planned, path = _plan(size, _disks(tmp_path, nodes, dynamic=dynamic), *ALL_LOST)
    assert planned.code == 0, planned.text
    assert_fits(planned, planned.lines)
    assert planned.lines[0].startswith(f"{nodes} copies; the best has 1 topics")
    assert planned.lines[-1].endswith(f"{SEED} --plan {path} --output-dir NEWDIR")
    seed = ("quorum", "seed", "--plan", str(path), "--output-dir", str(tmp_path / "new"), "--yes")
    seeded = Terminal(size, *seed).finish()
    assert seeded.code == 0, seeded.text
    assert_fits(seeded, seeded.lines)
    assert f"log.dirs={tmp_path / 'new'}" in "".join(seeded.text.split())
    assert f"next, once it is started: {VERIFY} --plan {path} " in seeded.lines[-2]
    verify = ("--bootstrap-controller", "127.0.0.1:1", "--timeout-ms", "1")
    proved = Terminal(size, "quorum", "verify", "--plan", str(path), *verify).finish()
    assert (proved.code, proved.lines[-1]) == (1, "not proven")
    assert_fits(proved, proved.lines)
    steps = read_quorum_plan(path.read_text(), str(path)).steps
    told = [between(steps, *of) for of in ((None, SEED), (SEED, VERIFY), (VERIFY, None))]
    assert len(steps) == sum(map(len, told)) + len((SEED, VERIFY))
    assert told[1] + told[2] == [
        f"step {steps.index(step) + 1}: {step}" for step in after_seed(steps) if VERIFY not in step
    ]


@SIZES
@NODES
def test_why_there_is_no_plan_is_one_screen(
    tmp_path: Path, size: tuple[int, int], nodes: int
) -> None:
    refused, path = _plan(size, _disks(tmp_path, nodes))
    assert (refused.code, path.exists()) == (1, False)
    assert_fits(refused, refused.lines)
    assert refused.lines[-1].endswith("no plan was written: see the findings above")
