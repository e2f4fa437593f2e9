"""Whole starts of real brokers on random disks: `before-start` is asked, the broker is started, and
each thing that was said is held against what then happened, on all brokers.

`python -m tests.real.whole_starts --version 4.4.0 --rounds 40` does it for longer. A round has one
history, and starts each broker that is down after it; `--rounds 1 --seed N` is the round N.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.real.at_rest import METADATA
from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.foretelling import said_since
from tests.real.held_records import held_records
from tests.real.metadata import QUIETLY, SILENT
from tests.real.releases import NEWEST
from tests.real.waiting import wait_until
from tests.real.whole_starts_asking import Asking
from tests.real.whole_starts_damage import META, Disk, damage
from tests.real.whole_starts_history import BROKERS, History
from tests.real.whole_starts_judge import Judgement, Start, judge
from tests.real.whole_starts_seen import put_aside, seen, settled, stuck, written_log_starts

TIMEOUT = 60.0
DELETED = 8.0
_FALLS = b"existed in isrMembers, but not in the topics map"
# Of so many rounds one may be lost to that bug.
_FALLS_A_ROUND = 10
PROPERTIES = {
    # Each time that something is written there is a segment of its own.
    "log.roll.ms": "300",
    "log.index.size.max.bytes": "65536",
    "log.segment.delete.delay.ms": "1000",
    "log.initial.task.delay.ms": "500",
    "log.flush.offset.checkpoint.interval.ms": "1500",
    "replica.high.watermark.checkpoint.interval.ms": "1000",
}


@dataclass(slots=True)
class Tally:
    """What was seen so far. starts: of brokers. told: documents that were judged, by whom was
    asked. rows: by what was foretold, and `came`: by what came of starts. wrong: promises that
    proved false. fell: rounds that Kafka's own controller did not survive."""

    rounds: int = 0
    fell: int = 0
    starts: int = 0
    told: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    came: Counter[str] = field(default_factory=Counter)
    damages: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class WholeStarts:
    """A cluster of one controller and three brokers of two log directories each."""

    def __init__(
        self,
        cluster: KafkaCluster,
        home: Path,
        seed: int,
        keep: Path | None = None,
        tally: Tally | None = None,
    ) -> None:
        self._cluster = cluster
        self._home = home
        self._cli = Cli(home)
        self._asking = Asking(cluster, self._cli, home)
        self._seed = seed
        self._keep = keep
        self._metas = {
            root: (root / META).read_bytes() for b in BROKERS for root in cluster.log_dirs(b)
        }
        self.tally = tally or Tally()

    def round(self) -> None:
        """Play one history, and the starts of all that are down after it; then some once more."""
        number = self._seed + self.tally.rounds
        chance = random.Random(number)
        history = History(self._cluster, chance, f"r{number}", self._home)
        history.happen()
        down = [b for b in BROKERS if b not in self._cluster.live_brokers]
        chance.shuffle(down)
        sick = {broker for broker in down if self._start(broker, history, number)}
        sound = [b for b in self._cluster.live_brokers if b not in sick]
        again = chance.sample(sound, min(len(sound), chance.choice((0, 1, 2))))
        history.kill(again)
        sick |= {broker for broker in again if self._start(broker, history, number)}
        self.tally.wrong += self._scans_that_differ(history, {*down, *again})
        self._heal(sick, history)
        self.tally.rounds += 1

    def controller_fell(self) -> bool:
        """Return whether a bug of Kafka's controller has it resign at each heartbeat that tells of
        an offline directory: an index of its brokers still has a topic that was deleted."""
        controllers = self._cluster.spec.controller_ids
        return any(_FALLS in self._cluster.output(each).read_bytes() for each in controllers)

    def _start(self, broker: int, history: History, number: int) -> bool:
        """Start the broker, and return whether it is to be made anew afterwards."""
        roots = self._cluster.log_dirs(broker)
        for root in roots:
            _tidy(root, history.topics)
        disk = Disk(roots, history.topics, history.snapshots.get(broker), history.chance)
        done = damage(disk)
        self.tally.damages.update(each.split(":")[0] for each in done)
        where = f"round {number}: {'; '.join(history.told)}; then broker {broker}: {done}"
        documents = self._asking.documents(broker, disks=history.chance.random() < 0.3)
        given = self._asking.given(broker) == list(roots)
        before = seen(self._cluster, history.topics)
        own = {str(path): held_records(path) for root in roots for path in _replicas(root)}
        log_starts = written_log_starts(self._cluster, broker, history.deleted)
        kept = self._kept_aside(broker, number)
        since = {b: self._cluster.output(b).stat().st_size for b in BROKERS}
        lives = self._start_it(broker)
        after = settled(self._cluster, history.topics)
        _wait_until_deleted(documents.values() if lives else ())
        lives = lives and self._cluster.alive(broker)
        said = {b: said_since(self._cluster, b, since[b]) for b in BROKERS}
        start = Start(
            broker,
            lives,
            before,
            after,
            own,
            {path: held_records(Path(path)) for path in own},
            put_aside(self._cluster, broker),
            given,
            log_starts,
            stuck(said, history.topics),
            history.deleted,
        )
        self._count(start, history)
        wrong = []
        for asked, told in documents.items():
            if told is None:
                self.tally.told["no log directory is left"] += 1
                continue
            found = judge(told, start)
            wrong += [f"{where}: asked {asked}: {each}" for each in found.wrong]
            self._tell(asked, told, found)
        self.tally.wrong += wrong
        if wrong and kept is not None:
            (kept / "said").write_text(said[broker][-20_000:])
            (kept / "wrong").write_text("\n".join(wrong))
            (kept / "told.json").write_text(json.dumps(documents, indent=1))
        elif kept is not None:
            shutil.rmtree(kept)
        errors = {o.error for (b, _), o in after.offsets.items() if b == broker}
        whole = all((root / META).is_file() for root in roots)
        return not lives or errors != {None} or not whole

    def _start_it(self, broker: int) -> bool:
        """Start the broker, and return whether it lives."""
        cluster = self._cluster
        cluster.start_node(broker, wait=False)

        def noticed() -> bool:
            """Return True once each live broker lists just the live ones."""
            live = cluster.live_brokers
            return all(cluster.view(each).brokers == set(live) for each in live)

        wait_until(
            lambda: not cluster.alive(broker) or noticed(),
            TIMEOUT,
            lambda: f"broker {broker} starts or ends: {said_since(cluster, broker, 0)[-3000:]}",
        )
        return cluster.alive(broker)

    def _count(self, start: Start, history: History) -> None:
        self.tally.starts += 1
        came = self.tally.came
        came["lives" if start.lives else "ended"] += 1
        came["settled" if start.after.at_rest() else "not settled"] += 1
        for topic in history.topics:
            came["records lost here"] += len(start.lost(start.broker, topic))
            others = start.before.live - {start.broker}
            came["records lost by others"] += sum(len(start.lost(b, topic)) for b in others)

    def _tell(self, asked: str, told: Any, found: Judgement) -> None:
        self.tally.told[f"by {asked}"] += 1
        self.tally.told["destroys"] += told["destroys"]
        self.tally.rows.update(row["effect"] for row in told["partitions"])
        self.tally.rows["elected"] += sum(r["elected"] is not None for r in told["partitions"])
        self.tally.rows["cuts"] += sum(len(r["cuts"]) for r in told["partitions"])
        self.tally.rows["rests on a dead leader"] += len(found.premise)

    def _kept_aside(self, broker: int, number: int) -> Path | None:
        if self._keep is None:
            return None
        kept = self._keep / f"{self._cluster.spec.version}-{number}-{broker}"
        shutil.rmtree(kept, ignore_errors=True)
        for root in self._cluster.log_dirs(broker):
            (shutil.copytree if root.is_dir() else shutil.copy)(root, kept / root.name)
        return kept

    def _scans_that_differ(self, history: History, damaged: set[int]) -> Iterator[str]:
        """Yield where our scanner lets the logs of brokers end whose disks nobody damaged."""
        sound = [b for b in self._cluster.live_brokers if b not in damaged]
        if not sound:
            return
        roots = [str(root) for b in sound for root in self._cluster.log_dirs(b)]
        told = self._cli.offline("scan-log-dirs", *roots, "--format", "json").json
        now = seen(self._cluster, history.topics)
        for part in told["partitions"]:
            for log in part["replica_logs"]:
                offsets = now.offsets.get((log["broker"], part["topic"]))
                if offsets is not None and offsets.error is None:
                    self.tally.came["scanned"] += 1
                    if offsets.end != log["log_end_offset"]:
                        yield f"{history.name}: Kafka has {offsets}, and the scan {log}"

    def _heal(self, sick: set[int], history: History) -> None:
        """Give empty disks to those that did not start wholly, and leave no topic."""
        cluster = self._cluster
        for broker in sick:
            cluster.kill(broker)
            for root in cluster.log_dirs(broker):
                _emptied(root, self._metas[root])
        cluster.start(sick)
        left = [t for t in history.topics if t in cluster.view(1).topics]
        client = AdminClient({**cluster.connection(), **QUIETLY}, logger=SILENT)
        for done in client.delete_topics(left, operation_timeout=TIMEOUT).values():
            done.result(TIMEOUT)
        wait_until(
            lambda: not any(cluster.view(broker).topics for broker in BROKERS),
            TIMEOUT,
            lambda: f"{left} deleted",
        )


def _replicas(root: Path) -> list[Path]:
    return [path for path in root.glob("*-*") if path.is_dir() and path.name != METADATA]


def _wait_until_deleted(documents: Iterable[Any]) -> None:
    """Wait until what was to be deleted is gone; the judge tells of what is left."""
    rows = [row for told in documents if told for row in told["partitions"]]
    paths = [Path(row["directory"]) for row in rows if row["effect"] == "deleted"]
    with suppress(TimeoutError):
        wait_until(lambda: not any(map(Path.exists, paths)), DELETED, lambda: "deleted")


def _tidy(root: Path, topics: list[str]) -> None:
    """Take out what earlier rounds left."""
    names = {f"{topic}-0" for topic in topics}
    for path in root.glob("r*x*-*"):
        if path.name.split(".")[0] not in names:
            shutil.rmtree(path)


def _emptied(root: Path, meta: bytes) -> None:
    if root.is_dir():
        shutil.rmtree(root)
    else:
        root.unlink(missing_ok=True)
    root.mkdir()
    (root / META).write_bytes(meta)


@contextmanager
def whole_starts(
    directory: Path,
    version: str,
    seed: int,
    keep: Path | None = None,
    tally: Tally | None = None,
) -> Iterator[WholeStarts]:
    with KafkaCluster.create(
        directory / "cluster",
        version,
        brokers=len(BROKERS),
        properties=PROPERTIES,
        log_dirs_per_broker=2,
    ) as cluster:
        cluster.start()
        yield WholeStarts(cluster, directory, seed, keep, tally)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real.whole_starts")
    parser.add_argument("--version", default=NEWEST)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="disks of starts that were foretold wrongly")
    arguments = parser.parse_args()
    tally = Tally()
    while tally.rounds < arguments.rounds:
        with tempfile.TemporaryDirectory() as scratch:
            _on_one_cluster(Path(scratch), arguments, tally)
    for counted in (tally.damages, tally.told, tally.rows, tally.came):
        print(dict(counted))
    wrong = f"{len(tally.wrong)} promises proved false"
    print(f"{wrong}; Kafka's own controller fell in {tally.fell} rounds")
    return 1 if tally.wrong or tally.fell * _FALLS_A_ROUND > tally.rounds else 0


def _on_one_cluster(scratch: Path, arguments: argparse.Namespace, tally: Tally) -> None:
    """Go on until all rounds are done, or Kafka's controller has fallen."""
    begun = (scratch, arguments.version, arguments.seed, arguments.keep, tally)
    with whole_starts(*begun) as found:
        while tally.rounds < arguments.rounds:
            wrong = len(tally.wrong)
            try:
                found.round()
            except (TimeoutError, KafkaException):
                if not found.controller_fell():
                    raise
                tally.fell += 1
                tally.rounds += 1
                fell = f"round {arguments.seed + tally.rounds - 1}: the controller fell"
                print(fell, *tally.wrong[wrong:], sep="\n", flush=True)
                return
            print(
                f"{tally.starts} starts in {tally.rounds} rounds",
                *tally.wrong[wrong:],
                sep="\n",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
