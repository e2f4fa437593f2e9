"""Kafka's own controller loads what we call sound, and dies of what we refuse: the records of
tests/metadata_quorum/contradictions.py, and the seeds of damaged copies.

QUORUM_SEEDS in the environment is how many sets of damaged copies are tried.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.commands import quorum_plan
from kafka_unclean_recovery.cluster.wire.knocking import Knocked
from kafka_unclean_recovery.metadata_quorum.led import Led
from tests.log_dir.cluster_metadata_encoder import Written, batch
from tests.metadata_quorum.contradictions import BEFORE, FATAL, SINCE_4_4, TAKEN
from tests.metadata_quorum.damage import Damage, copies_of, damaged
from tests.metadata_quorum.disks import METADATA
from tests.metadata_quorum.planning import codes, quorum
from tests.real.cluster_metadata_recipe import metadata_at_rest
from tests.real.releases import NEWEST, ONE
from tests.real.seed_judge import SeedJudge, seed_judge

SEEDS = int(os.environ.get("QUORUM_SEEDS", "40"))
# The records are those of 4.3 and later.
RELEASE = ONE if ONE != "3.9.1" else NEWEST
EPOCH = 1


@pytest.fixture(scope="module")
def judge() -> Iterator[SeedJudge]:
    with seed_judge(RELEASE) as judge:
        yield judge


def _log(home: Path, *behind: Written) -> Path:
    parts, base = [], 0
    for written in (*BEFORE, behind):
        parts.append(batch(base, *written, epoch=EPOCH, time_ms=1_700_000_000_000 + base))
        base += len(written)
    metadata = home / METADATA
    metadata.mkdir()
    (metadata / f"{0:020}.log").write_bytes(b"".join(parts))
    return metadata


@pytest.mark.parametrize(
    "written", [*FATAL.values(), *SINCE_4_4.values()], ids=[*FATAL.keys(), *SINCE_4_4.keys()]
)
def test_kafkas_controller_dies_of_it(
    judge: SeedJudge, tmp_path: Path, written: tuple[Written, ...]
) -> None:
    assert judge.why_it_dies(_log(tmp_path, *written)) is not None


@pytest.mark.parametrize("written", TAKEN.values(), ids=TAKEN.keys())
def test_kafkas_controller_takes_it(
    judge: SeedJudge, tmp_path: Path, written: tuple[Written, ...]
) -> None:
    assert judge.why_it_dies(_log(tmp_path, *written)) is None


@pytest.fixture
def _nobody_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no port answer: at those of a cluster at rest anything may listen by now."""

    async def dead(*_: object) -> Knocked:
        return Knocked.DEAD

    async def silent(*_: object) -> Led:
        return Led()

    monkeypatch.setattr(quorum_plan, "knock", dead)
    monkeypatch.setattr(quorum_plan, "whether_led", silent)


@pytest.mark.usefixtures("_nobody_runs")
def test_damaged_copies_are_refused_or_become_a_seed_that_kafkas_controller_loads(
    judge: SeedJudge, tmp_path: Path
) -> None:
    """All are tried before one is told: which kind of damage fails says more than the first."""
    whole = copies_of(metadata_at_rest(RELEASE, tmp_path / "at-rest").logs(), tmp_path / "whole")
    died: list[str] = []
    planned: Counter[Damage] = Counter()
    for seed in _seeds(planned):
        home = tmp_path / f"{seed}"
        kinds, left_out = damaged(whole, home / "copies", random.Random(seed))
        file = home / "plan.json"
        flags = ("--new-controller", "101@127.0.0.1:1", "--lost-controllers", "101")
        without = ("--without-copies-of", ",".join(map(str, left_out))) if left_out else ()
        done = quorum("plan", home / "copies", *flags, *without, "--plan-output-file", file)
        assert done.code in (0, 1), done.stderr
        if done.code == 1:
            assert codes(done), done.stderr
            continue
        planned.update(kinds)
        where = ("--plan", file, "--output-dir", home / "seed")
        assert quorum("seed", *where, "--yes").code == 0
        why = judge.why_it_dies(home / "seed" / METADATA)
        if why is not None:
            died.append(f"seed {seed}, {kinds}: {why}")
    assert not died, "\n".join(died)
    # What refuses all would pass, too.
    assert not _missing(planned) or SEEDS < 40, f"never planned: {_missing(planned)}"


def _seeds(planned: Counter[Damage]) -> Iterator[int]:
    """Yield SEEDS numbers, and up to five times as many until each kind that is forgiven was
    planned: how often one is depends on the log that was damaged."""
    for seed in range(5 * SEEDS):
        if seed >= SEEDS and not _missing(planned):
            return
        yield seed


def _missing(planned: Counter[Damage]) -> set[Damage]:
    return {kind for kind in Damage if kind.forgiven} - planned.keys()
