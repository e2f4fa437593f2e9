"""What happens in one run, all of it decided by its seed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from kafka import errors as kafka_errors

from tests.real.releases import TESTED

READING = {
    "ApiVersions": 4,
    "DescribeCluster": 3,
    "DescribeTopicPartitions": 4,
    "ListOffsets": 3,
    "Fetch": 3,
    "DescribeQuorum": 1,
    "ListPartitionReassignments": 2,
    "DescribeLogDirs": 1,
    "ListGroups": 1,
}
"""How often a plain run sends them, about."""
CHANGING = {"AlterPartitionReassignments": 2, "ElectLeaders": 1}
ERRORS = tuple(
    sorted(
        {
            error.errno
            for error in vars(kafka_errors).values()
            if isinstance(error, type)
            and issubclass(error, kafka_errors.BrokerResponseError)
            and isinstance(getattr(error, "errno", None), int)
            and error.errno not in (0, None)
        }
    )
)
_USUALLY = 0.4
# Made by somebody else while a run waits, these put a leader there that the run has not chosen.
_WHILE_WAITING = frozenset({"somebody else changes configs", "somebody else elects"})
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")


@dataclass(frozen=True, slots=True)
class AtStart:
    def __str__(self) -> str:
        return "from the start"


@dataclass(frozen=True, slots=True)
class AtRequest:
    """When the nth request of an API comes to a broker, or has been carried out there."""

    api: str
    nth: int
    done: bool

    def __str__(self) -> str:
        return f"{'after' if self.done else 'at'} {self.api} {self.nth}"


@dataclass(frozen=True, slots=True)
class AtLine:
    """When the nth line is written to the journal."""

    nth: int

    def __str__(self) -> str:
        return f"at line {self.nth} of the journal"


@dataclass(frozen=True, slots=True)
class AtTime:
    seconds: float

    def __str__(self) -> str:
        return f"after {self.seconds:g} s"


@dataclass(frozen=True, slots=True)
class BeforeRuns:
    """Long enough before the first run that it must have been noticed."""

    def __str__(self) -> str:
        return "before the runs"


@dataclass(frozen=True, slots=True)
class BetweenRuns:
    """When the first run has ended, before anything is healed."""

    def __str__(self) -> str:
        return "between the runs"


Moment = BeforeRuns | AtStart | AtRequest | AtLine | AtTime | BetweenRuns


@dataclass(frozen=True, slots=True)
class Fault:
    """kind: a name of faults.KINDS. broker: counted among the live ones. api, error, seconds,
    times, seed: where the kind wants one."""

    kind: str
    moment: Moment
    broker: int
    api: str
    error: int
    seconds: float
    times: int
    seed: int

    def __str__(self) -> str:
        return (
            f"{self.kind} (broker {self.broker}, {self.api}, error {self.error},"
            f" {self.seconds:g} s, {self.times} times) {self.moment}"
        )


@dataclass(frozen=True, slots=True)
class Scenario:
    """accept: of --accept-loss. by_file: partitions are named, instead of all. resume: before the
    tool is run again, it is run with --resume. waits: the first run waits for those that are dead.
    """

    seed: int
    release: str
    brokers: int
    faults: tuple[Fault, ...]
    accept: tuple[str, ...]
    by_file: bool
    careful: bool
    duration_ms: int
    attempts: int
    resume: bool
    first_only: bool
    waits: bool

    def __str__(self) -> str:
        return f"seed {self.seed}, {self.release}: {'; '.join(map(str, self.faults)) or 'no fault'}"


def scenario(seed: int, kinds: Mapping[str, int], usual: Mapping[str, Moment]) -> Scenario:
    """Return a scenario. kinds: how often each is taken. usual: where some of them often come."""
    random = Random(seed)
    told = Scenario(
        seed,
        release=random.choice(TESTED),
        brokers=random.choice((3, 4, 4, 5)),
        faults=tuple(
            _fault(random, kinds, usual) for _ in range(random.choice((1, 2, 2, 2, 3, 3, 3, 3)))
        ),
        accept=random.choice(((), (), (), ("*:0",), ("*:5",), ("orders:3", "*"))),
        by_file=random.random() < 0.4,
        careful=random.random() < 0.2,
        duration_ms=random.choice((1500, 5000, 30_000)),
        attempts=random.choice((0, 3, 3)),
        resume=random.random() < 0.3,
        first_only=random.random() < 0.3,
        waits=False,
    )
    waits = any(fault.kind in _WHILE_WAITING for fault in told.faults) and random.random() < 0.5
    return replace(told, waits=waits)


def _fault(random: Random, kinds: Mapping[str, int], usual: Mapping[str, Moment]) -> Fault:
    (kind,) = random.choices(list(kinds), list(kinds.values()))
    then = usual.get(kind) if random.random() < _USUALLY else None
    return Fault(
        kind,
        then or _moment(random),
        broker=random.randint(0, 4),
        api=random.choice((*READING, *CHANGING, *CHANGING, *CHANGING)),
        error=random.choice(ERRORS),
        seconds=random.choice((0.3, 2.0, 8.0, 40.0, 90.0)),
        times=random.choice((1, 1, 2, 5, 1000)),
        seed=random.randrange(1 << 30),
    )


def _moment(random: Random) -> Moment:
    """Return a moment: the start of a run, a time in it, a line or a request."""
    kind = random.random()
    if kind < 0.2:
        return AtStart()
    if kind < 0.5:
        return AtTime(round(random.choice((0.05, 0.1, 0.1, 1.0)) * random.random(), 4))
    if kind < 0.65:
        return AtLine(random.randint(1, 14))
    api = random.choice((*READING, *CHANGING, *CHANGING, *CHANGING))
    most = {**READING, **CHANGING}[api]
    return AtRequest(api, random.choice((random.randint(1, most), most + 1)), random.random() < 0.5)
