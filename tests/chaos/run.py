"""One run: the tool is held at a moment, a fault happens and is healed, the tool is run again, and
what has become of the cluster is judged."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException

from kafka_unclean_recovery.deadline import Deadline
from tests.chaos.faults import heal_quota, inject, mislead
from tests.chaos.holding import PATIENCE, Held, Operator
from tests.chaos.look import by_topic, fencings, look, offline, partitions_of
from tests.chaos.oracle import Partition, Run, Story, best, violations
from tests.chaos.recipe import NEWER, OLDER, ONLINE, SPARES, SURVIVORS
from tests.chaos.scenario import (
    MISLEADING,
    OF_THE_TOOL,
    OF_TOPICS,
    RETURNS,
    Fault,
    Scenario,
    Way,
    scenario,
)
from tests.chaos.tapped import TappedCluster
from tests.real.cli import Finished
from tests.real.metadata import PartitionView
from tests.real.tap import (
    ALTER_PARTITION_REASSIGNMENTS,
    Gate,
)
from tests.real.watching import (
    Commands,
    Watched,
    journal_lines,
    make_older,
    open_orders,
)

# What the machinery of a run ends with when it can't go on.
BROKEN = (AssertionError, KafkaException, OSError, RuntimeError)
SETTLING = 30.0
LONG_AGO = 3600
# Partitions of each topic in a run.
EACH = 3


@dataclass(frozen=True, slots=True)
class Result:
    """reached: the fault met its moment. codes: how the two runs ended; none when something else
    broke. elected: by the first and the second. used_up: the cluster is not what the recipe made
    any more."""

    scenario: Scenario
    violations: tuple[str, ...]
    seconds: float
    reached: bool = False
    codes: tuple[int, ...] = ()
    elected: tuple[int, ...] = ()
    used_up: bool = True

    def __str__(self) -> str:
        late = "" if self.reached else " (not reached)"
        return (
            f"seed {self.scenario.seed}: {self.scenario}{late}: exits {_and(self.codes)}; elected"
            f" {_and(self.elected)}; {self.seconds:.1f} s: {'; '.join(self.violations) or 'ok'}"
        )


def _and(numbers: Iterable[int]) -> str:
    return " and ".join(map(str, numbers))


def run_seed(tapped: TappedCluster, seed: int, home: Path) -> Result:
    """Run one seed. `home` gets what the tool writes and says."""
    begun = time.monotonic()
    told = scenario(seed)
    home.mkdir(parents=True)
    commands = Commands(home)
    try:
        story = _play(tapped, told, commands)
    except BROKEN as error:
        wrong = f"it broke: {type(error).__name__}: {error}"
        return Result(told, (wrong,), time.monotonic() - begun)
    finally:
        commands.close()
        tapped.watch()
    found = tuple(violations(story))
    runs = (story.first, story.second)
    return Result(
        told,
        found,
        time.monotonic() - begun,
        story.reached,
        tuple(run.code for run in runs),
        tuple(list(run.outcomes.values()).count("elected") for run in runs),
        used_up=bool(found) or told.way is Way.ALL or told.fault in (*RETURNS, Fault.REASSIGN),
    )


def can_play(tapped: TappedCluster) -> bool:
    """Return True while there are partitions left that nobody recovered."""
    left = Counter(topic for topic, _ in offline(partitions_of(tapped.cluster)))
    return min(left[OLDER], left[NEWER]) >= EACH and any(left[spare] for spare in SPARES)


def _play(tapped: TappedCluster, told: Scenario, commands: Commands) -> Story:
    _rise(tapped)
    mislead(tapped, told)
    seen = partitions_of(tapped.cluster)
    spare = min(p for p in offline(seen) if p[0] in SPARES)
    of_topic = bool(told.faults & OF_TOPICS)
    taken = _choose(seen) + ([spare] if of_topic else [])
    taken = offline(seen) if told.way is Way.ALL else taken
    before = look(tapped.cluster, ())
    fenced_before = fencings(tapped.cluster)

    asked = ("--automated-recovery", *_which(told.way, commands, taken))
    first, reached = _first_run(tapped, told, commands, asked, spare[0])
    if told.fault in OF_THE_TOOL:
        _age(commands)
    if told.crashes_again:
        _crash(tapped, commands, asked)
        _age(commands)
    already = commands.journals()
    second = _start(tapped, commands, *asked).finish(PATIENCE)

    def story() -> Story:
        journals = commands.journals()
        after = look(tapped.cluster, [*taken, *((topic, 0) for topic in ONLINE)])
        # Later than what it explains: a broker that was killed last is fenced only now.
        fenced = {int(broker) for broker in fencings(tapped.cluster) - fenced_before}
        if told.fault is Fault.KILL_BROKER and reached:
            # Started again within its session, it is fenced by its registration, and none is told.
            fenced.add(told.broker)
        if told.fault is Fault.UNLIST:
            # It was stopped, and so was what it led.
            fenced.add(told.broker)
        return Story(
            told,
            frozenset(taken),
            spare if of_topic else None,
            reached,
            frozenset(fenced),
            frozenset(tapped.cluster.live_brokers),
            _run(first, already),
            _run(second, [path for path in journals if path not in already]),
            sum(len(open_orders(path)) for path in journals),
            before,
            after,
        )

    return _settled(story)


def _age(commands: Commands) -> None:
    """Make the journals old: nothing that a dead tool sent is under way any more."""
    for journal in commands.journals():
        make_older(journal, LONG_AGO)


def _crash(tapped: TappedCluster, commands: Commands, asked: tuple[str, ...]) -> None:
    """Kill a run as soon as it has changed a replica order, if it has to."""
    gate = Gate(ALTER_PARTITION_REASSIGNMENTS, answer=True)
    tapped.watch(gate)
    run = _start(tapped, commands, *asked)
    Operator(run).at(gate)
    run.kill()
    gate.open()


def _start(
    tapped: TappedCluster,
    commands: Commands,
    *flags: str,
    terminal: bool = False,
    heard: bool = True,
) -> Watched:
    servers = ("--bootstrap-server", tapped.bootstrap_servers)
    return commands.start(*servers, *flags, "--format", "json", terminal=terminal, heard=heard)


def _settled(story: Callable[[], Story]) -> Story:
    """Return the story once nothing is wrong in it, or the time is up: brokers may be behind."""
    last = story()
    deadline = Deadline.after(SETTLING)
    while violations(last) and not deadline.expired:
        last = story()
    return last


def _rise(tapped: TappedCluster) -> None:
    tapped.heal()
    tapped.cluster.start(SURVIVORS)
    tapped.cluster.wait_until_unfenced(SURVIVORS)


def _choose(seen: Mapping[Partition, PartitionView]) -> list[Partition]:
    """Choose some of either topic; today's script would elect the wrong replica of most of them."""
    chosen: list[Partition] = []
    for topic in (OLDER, NEWER):
        right = best(topic, SURVIVORS)
        left = sorted(p for p in offline(seen) if p[0] == topic)
        wrong = [p for p in left if _first_live(seen[p]) != right][: EACH - 1]
        rest = [p for p in left if p not in wrong]
        chosen += [*wrong, *rest][:EACH]
    return chosen


def _first_live(view: PartitionView) -> int:
    return next(broker for broker in view.replicas if broker in SURVIVORS)


def _which(way: Way, commands: Commands, taken: Iterable[Partition]) -> tuple[str, ...]:
    if way is Way.ALL:
        return ("--all-offline-partitions",)
    return ("--path-to-json-file", str(commands.partitions_file(by_topic(taken))))


def _first_run(
    tapped: TappedCluster, told: Scenario, commands: Commands, asked: tuple[str, ...], spare: str
) -> tuple[Finished, bool]:
    """Return how the first run ended, and whether the fault met its moment."""
    held = Held(tapped, told.moment)
    _inject_extras(tapped, told, spare, early=True)
    run = _start(
        tapped,
        commands,
        *asked,
        *("--recovery-duration-ms", str(told.patience_ms)),
        *_flags(told, commands.directory),
        terminal=told.way is Way.TERMINAL,
        heard=Fault.NO_READER not in told.faults,
    )
    operator = Operator(run)
    reached = held.wait(operator)
    inject(tapped, run, told, spare)
    _inject_extras(tapped, told, spare, early=False)
    held.let_go()
    operator.until_ended(told.seconds)
    _heal(tapped, told)
    operator.until_ended(PATIENCE)
    return run.finish(1.0), reached


def _inject_extras(tapped: TappedCluster, told: Scenario, spare: str, *, early: bool) -> None:
    for extra in told.extras:
        if extra.early is early:
            alone = replace(told, fault=extra.fault, broker=extra.broker)
            inject(tapped, None, alone, spare)


def _flags(told: Scenario, directory: Path) -> tuple[str, ...]:
    flags = ("--accept-loss", "*:0") if told.fault in MISLEADING else ()
    if told.way is Way.WAIT:
        return (*flags, "--wait-for-brokers", "1")
    return (*flags, "--salvage-dir", str(directory / "saved")) if told.way is Way.SALVAGE else flags


def _heal(tapped: TappedCluster, told: Scenario) -> None:
    """Heal all; a killed broker may stay dead until the next run."""
    # Controllers first: without most of them no broker is fenced, and none can register.
    tapped.heal()
    if told.fault is Fault.KILL_BROKER and told.stays_dead:
        tapped.cluster.wait_until_fenced({told.broker})
    elif told.fault is Fault.KILL_BROKER:
        tapped.cluster.start({told.broker})
    elif told.fault is Fault.UNLIST:
        tapped.list_again(told.broker)
    if Fault.QUOTA in told.faults:
        heal_quota(tapped)


def _run(finished: Finished, journals: Iterable[Path]) -> Run:
    lines = [line for path in journals for line in journal_lines(path)]

    def told(event: str, field: str) -> dict[Partition, Any]:
        rows = (row for line in lines if line["event"] == event for row in line["partitions"])
        return {(row["topic"], row["partition"]): row[field] for row in rows}

    rows = finished.report["partitions"] if finished.stdout.strip() else []
    claims = {
        (line["topic"], line["partition"]): {
            ranked["broker"]: ranked["loss"]["certain"] for ranked in line["ranking"]
        }
        for line in lines
        if line["event"] == "decision"
    }
    return Run(
        finished.code,
        finished.stderr,
        {(row["topic"], row["partition"]): row for row in rows},
        told("elect", "designated_leader"),
        told("outcome", "outcome"),
        claims,
        frozenset(int(b) for x in lines if x["event"] == "observed" for b in x["silent_brokers"]),
    )
