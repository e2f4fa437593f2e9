"""Commands against an emulated cluster whose answers are changed in one field."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Rewrite
from tests.cli.in_process import RECOVERY, invoke
from tests.hostile.fields import At, apis, changed, fields
from tests.hostile.odd import EXTREMES, TEXTS, Said

HOSTILE = 2
"""A broker that holds no replica of what is offline."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "look": ("--all-offline-partitions", "--show-replica-info", "--recovery-duration-ms", "400"),
    "json": (
        # Only a broker that lies may not be waited for.
        *("--all-offline-partitions", "--show-replica-info", "--recovery-duration-ms", "30000"),
        *("--format", "json"),
    ),
    "doctor": ("doctor",),
    "aftercare": ("aftercare",),
    "ok-to-stop": ("ok-to-stop", "--brokers", "3"),
}
# What each broker says of what it holds itself: that of one changes nothing that others say.
NOT_HERE = frozenset({"GetReplicaLogInfo", "WriteTxnMarkers", "FetchSnapshot"})
"""No released broker speaks the first, and no emulated broker answers the others."""
OF_ONE = ("DescribeLogDirs", "ListGroups", "OffsetFetch")
_SHORT_TEXTS = 30_000
_ALWAYS = 10**6


@dataclass(slots=True)
class Outage:
    """A cluster with a partition without leader, of which broker 3 has the longest living log."""

    cluster: Cluster
    state: Path
    baseline: dict[str, set[str]] = field(default_factory=dict)

    def run(self, command: str) -> Said:
        words = COMMANDS[command]
        where = ("--bootstrap-server", self.cluster.bootstrap_servers)
        words = (*words, *where)
        begun = time.monotonic()
        try:
            done = invoke(RECOVERY, *words, env={"XDG_STATE_HOME": str(self.state)})
        except Exception:  # noqa: BLE001 - whatever a command raises is what is looked for
            return Said(1, "", traceback.format_exc(), time.monotonic() - begun)
        return Said(done.code, done.stdout, done.stderr, time.monotonic() - begun)

    def asked_by(self, command: str) -> set[str]:
        """Return the APIs that a command asks."""
        if command not in self.baseline:
            seen: set[str] = set()
            self.cluster.clear_intercepts()
            for name in {api.name for api in apis()} - NOT_HERE:
                self.cluster.intercept(name, _noting(name, seen), times=_ALWAYS)
            self.run(command)
            self.cluster.clear_intercepts()
            self.baseline[command] = seen
        return self.baseline[command]

    def lie(self, at: At, value: object, broker: int | None = None) -> None:
        """Put this value there in each answer from now on, or in those of one broker."""

        def change(answer: dict[str, Any]) -> dict[str, Any]:
            changed(answer, at, value)
            return answer

        self.cluster.clear_intercepts()
        self.cluster.intercept(at.api, Rewrite(change), broker=broker, times=_ALWAYS)


def _noting(name: str, seen: set[str]) -> Any:
    def note(_: Any) -> None:
        seen.add(name)

    return note


@contextmanager
def outage(state: Path) -> Iterator[Outage]:
    with Cluster(Options(brokers=4)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 3, 4)])
        cluster.create_topic("other", assignment=[(2,)])
        cluster.produce("orders", 0, 10)
        for victim in (4, 3, 1):
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(3)
        yield Outage(cluster, state)


@dataclass(frozen=True, slots=True)
class Trial:
    """One field with one value, and what it is called in the table."""

    at: At
    what: str
    value: object


def trials(of: set[str], texts: Sequence[str] = tuple(TEXTS)) -> Iterator[Trial]:
    """Yield each field of these APIs with each text, or each of its extremes."""
    seen = set()
    for api in apis():
        for at in fields(api) if api.name in of else ():
            if at in seen:
                continue
            seen.add(at)
            if at.is_text:
                yield from (Trial(at, what, TEXTS[what][:_SHORT_TEXTS]) for what in texts)
            else:
                for value in EXTREMES[at.kind]:
                    yield Trial(at, "least" if value <= 0 else "most", value)


def replica_logs(said: Said) -> Any:
    """Return what the report says of the replicas of what is offline."""
    return [row["replica_logs"] for row in json.loads(said.stdout)["partitions"]]
