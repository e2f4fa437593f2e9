"""One seed: an outage, a run of the tool with faults, everything healed, a run without, judged."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from kafka_unclean_recovery.documents.journal_lines import JournalError, parse, unfinished
from kafka_unclean_recovery.emulator.core import Core
from kafka_unclean_recovery.emulator.emulation import Settings
from kafka_unclean_recovery.emulator.options import Options
from tests.cli.in_process import RECOVERY, invoke
from tests.simulation import outage, tool
from tests.simulation.answers import Answers
from tests.simulation.clock import CLOCK, Loop
from tests.simulation.faults import KINDS, USUAL, Disk, Stage
from tests.simulation.oracle import Cluster, Line, Run, Story, violations
from tests.simulation.outage import Partition
from tests.simulation.scenario import (
    BeforeRuns,
    BetweenRuns,
    Fault,
    Moment,
    Scenario,
    scenario,
)
from tests.simulation.somebody_else import Others
from tests.simulation.tool import Output, Process
from tests.simulation.witness import Witness, held_by_all

# Offsets are checkpointed when it matters: at the end.
_SESSION = Settings(session_timeout=9.0, checkpoint_interval=3600.0)
# Longer than anything that was sent can still be carried out.
_PEACE = 300.0
# Longer than the oracle gives a tool to notice.
_NOTICED = 5.0
_LINE = b'{"v":'
_ELECT = ("--automated-recovery", "--format", "json")


@dataclass(frozen=True, slots=True)
class Result:
    """codes: how the runs ended. happened: faults that did, with seconds since boot. cpu_seconds:
    of the process that played it."""

    scenario: Scenario
    violations: tuple[str, ...]
    codes: tuple[int, ...]
    happened: tuple[str, ...]
    elections: int
    virtual_seconds: float
    cpu_seconds: float

    def __str__(self) -> str:
        lines = [f"{self.scenario}: exits {self.codes}, {self.elections} elections"]
        lines += [f"    {each}" for each in self.happened]
        return "\n".join([*lines, *(f"  ! {each}" for each in self.violations)])


def play(seed: int, home: Path, kinds: Mapping[str, int] = KINDS) -> Result:
    """Play a seed. `home`: a new directory, for the cluster and what the tool writes. kinds: of the
    faults, with how often each is taken."""
    CLOCK.reset()
    told = scenario(seed, kinds, USUAL)
    stage = _Play(told, home)
    story = stage.story()
    runs = (story.first, story.second)
    return Result(
        told,
        tuple(violations(story)),
        tuple(run.code for run in runs),
        tuple(stage.happened),
        sum(len(run.elections) for run in runs),
        CLOCK.boot,
        time.process_time(),
    )


class _Journals:
    """What is written to journals, with the time of each line, on a disk that may fail, whose
    directory is `state`."""

    def __init__(self, disk: Disk, state: Path) -> None:
        self._disk = disk
        self._state = state
        self._descriptors: set[int] = set()
        self._write, self._sync = os.write, os.fsync
        self.lines: list[dict[str, Any]] = []
        self.process: Process | None = None

    def write(self, descriptor: int, data: Any) -> int:
        if bytes(data[: len(_LINE)]) == _LINE:
            self._descriptors.add(descriptor)
            for line in bytes(data).splitlines():
                self.lines.append({**json.loads(line), "at_boot": CLOCK.boot})
                for hear in list(self._disk.on_line):
                    hear(len(self.lines))
            if self.process is not None and self.process.dead:
                raise tool.Died
        elif descriptor not in self._descriptors:
            return self._write(descriptor, data)
        return self._disk.write(self._write, descriptor, data)

    def sync(self, descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().is_relative_to(self._state):
            self._disk.sync(self._sync, descriptor)
        else:
            self._sync(descriptor)


class _Play:
    def __init__(self, told: Scenario, home: Path) -> None:
        self._told = told
        self._home = home
        home.mkdir(parents=True)
        self._loop = Loop()
        self._loop.set_task_factory(tool.make_task)
        asyncio.set_event_loop(self._loop)
        self._answers = Answers(Random(told.seed))
        self._disk = Disk()
        self._journals = _Journals(self._disk, home / "state")
        self._processes: list[Process] = []
        self.happened: list[str] = []

    def story(self) -> Story:
        with (
            self._answers.change(),
            patch("os.write", self._journals.write),
            patch("os.fsync", self._journals.sync),
            # Identifiers are of the seed, too.
            patch("os.urandom", Random(self._told.seed).randbytes),
        ):
            return self._play()

    def _play(self) -> Story:
        self._loop.run_until_complete(self._prepare())
        told = self._told
        wanted = outage.offline(self._core.emulation)
        before = self._cluster()
        others = Others()
        which = self._which(wanted)
        args = (*which, *_ELECT, *self._flags(), *self._waits())
        first = self._run("first", args, told.faults, before, others)
        self._make(self._stage, BetweenRuns())
        self._loop.run_until_complete(self._heal())
        if told.resume and first.unfinished:
            for journal in self._paths():
                self._run("resume", ("--resume", str(journal)), (), before, others)
        second = self._run("second", (*which, *_ELECT), (), before, others)
        self._loop.run_until_complete(asyncio.sleep(_PEACE))
        second = replace(second, after=self._cluster())
        unheard = tuple(self._loop.unheard)
        return Story(told, wanted, others.deleted, first, second, unheard)

    async def _prepare(self) -> None:
        told = self._told
        options = Options(brokers=told.brokers, release=told.release, settings=_SESSION)
        data = self._home / "cluster"
        data.mkdir()
        self._core = await Core.open(options, data)
        await self._core.start_all(None)
        await outage.age(self._core, Random(told.seed))
        self._witness = Witness(self._core.emulation)
        self._witness.look()
        self._answers.unchanged.append(self._witness.answered)

    async def _heal(self) -> None:
        """Heal all; brokers that died stay dead, as long as one lives."""
        await self._stage.heal()
        brokers = self._core.emulation.brokers.values()
        if not any(broker.running for broker in brokers):
            await self._core.start(Random(self._told.seed).choice(list(brokers)).id)
        await asyncio.sleep(_PEACE)

    def _which(self, wanted: Sequence[Partition]) -> tuple[str, ...]:
        if not self._told.by_file:
            return ("--all-offline-partitions",)
        rows = [{"topic": topic, "partition": number} for topic, number in wanted]
        path = self._home / "partitions.json"
        path.write_text(json.dumps({"partitions": rows}))
        return ("--path-to-json-file", str(path))

    def _flags(self) -> tuple[str, ...]:
        told = self._told
        flags = ["--recovery-duration-ms", str(told.duration_ms)]
        flags += ["--recovery-election-attempts", str(told.attempts)]
        flags += [part for each in told.accept for part in ("--accept-loss", each)]
        return (*flags, *(("--canary", "1", "--wave-size", "2") if told.careful else ()))

    def _waits(self) -> tuple[str, ...]:
        brokers = self._core.emulation.brokers.values()
        dead = [str(broker.id) for broker in brokers if not broker.running]
        return ("--wait-for-brokers", ",".join(dead)) if self._told.waits and dead else ()

    def _run(
        self,
        name: str,
        args: Sequence[str],
        faults: Sequence[Fault],
        before: Cluster,
        others: Others,
    ) -> Run:
        out, err = (Output(self._home / f"{name}.{stream}") for stream in ("out", "err"))
        process = Process(self._loop, self._home / "state")
        self._processes.append(process)
        self._journals.process = process
        stage = Stage(self._loop, self._core, self._answers, self._disk, process, out, err, others)
        self._stage = stage
        if name == "first":
            self._make(stage, BeforeRuns())
        for fault in faults:
            stage.set(fault)
        journals = self._paths()
        begun, told_before = CLOCK.boot, len(self._journals.lines)
        elections, changed = self._witness.elections, self._witness.changed
        counts = len(elections), len(changed), len(self._witness.ordered), len(self._witness.blind)
        tool.run(process, RECOVERY, (*self._servers(), *args), out, err)
        self.happened += stage.happened
        mine = [path for path in self._paths() if path not in journals]
        told = [invoke(RECOVERY, "report", str(path), "--format", "json") for path in mine]
        assert process.code is not None
        return Run(
            (*self._servers(), *args),
            process.code,
            begun,
            CLOCK.boot,
            stage.stopped,
            _report(process.stdout),
            process.stderr,
            stage.readable,
            self._journals.lines[told_before:],
            self._unfinished(),
            elections[counts[0] :],
            self._witness.blind[counts[3] :],
            list(self._witness.told),
            changed[counts[1] :],
            self._witness.ordered[counts[2] :],
            dict(self._witness.left),
            dict(self._witness.balanced),
            self._cluster(),
            others.orders(before.orders, self._witness.ordered),
            dict(others.reassigned),
            [_report(done.stdout) or done.stderr for done in told],
        )

    def _make(self, stage: Stage, moment: Moment) -> None:
        """Make the faults of a moment at which no tool runs."""
        faults = [fault for fault in self._told.faults if fault.moment == moment]
        if faults:
            told = len(stage.happened)
            self._loop.run_until_complete(stage.make(faults))
            self._loop.run_until_complete(asyncio.sleep(_NOTICED))
            if stage.process.ended:
                self.happened += stage.happened[told:]

    def _servers(self) -> tuple[str, ...]:
        addresses = list(self._core.addresses.values())
        if self._told.first_only:
            live = [id_ for id_, broker in self._core.emulation.brokers.items() if broker.running]
            addresses = [self._core.addresses[id_] for id_ in live[:1]] or addresses
        return ("--bootstrap-server", ",".join(f"{host}:{port}" for host, port in addresses))

    def _cluster(self) -> Cluster:
        emulation = self._core.emulation
        leaders = dict(outage.leaders(emulation))
        return Cluster(leaders, outage.orders(emulation), held_by_all(emulation))

    def _paths(self) -> list[Path]:
        return sorted(path for path in (self._home / "state").rglob("*.jsonl"))

    def _unfinished(self) -> frozenset[Partition]:
        found: set[Partition] = set()
        for path in self._paths():
            found |= {(s.topic_partition.topic, s.topic_partition.partition) for s in _open(path)}
        return frozenset(found)


def _open(path: Path) -> Any:
    text = path.read_text(errors="replace")
    try:
        lines: list[Line] = list(parse(text[: text.rfind("\n") + 1], str(path)))
    except JournalError:
        return ()
    return unfinished(lines)


def _report(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
