"""Power cuts of real brokers: all die at once, their logs are torn at different ends, and what
`start-order` foretells is held against what then happens.

`python -m tests.real.power_cuts --version 4.4.0 --rounds 40` does it for longer; `--rounds 1 --seed
N` is the round N. A round is played from copies of the same disks: in the order that was named,
with its elections, and with none in the order that loses most, or in one at random.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from typing import Any

from msgspec import structs

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.planning.started_replica import empty_log
from kafka_unclean_recovery.start_order.ordering import Groups, play
from kafka_unclean_recovery.start_order.situation import Situation, from_disks
from kafka_unclean_recovery.start_order.weighing import Scales
from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.held_records import held_records
from tests.real.properties import new_uuid
from tests.real.records import create_topic, produce_many
from tests.real.releases import NEWEST, OLDEST
from tests.real.waiting import wait_until

TIMEOUT = 60.0
SETTLED = 15.0
WRITES, AT_ONCE = 5, 40
BROKERS = (1, 2, 3)
# Controllers of 3.9.1 fence nobody before some broker sends a heartbeat: this one has no replica.
SPECTATOR = 4
Partition = tuple[str, int]


@dataclass(slots=True)
class Tally:
    """What was seen so far. wrong: what was foretold, and did not come true."""

    rounds: int = 0
    came: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class PowerCuts:
    """A cluster of one controller and three brokers, whose power is cut in each round."""

    def __init__(self, cluster: KafkaCluster, home: Path, seed: int) -> None:
        self._cluster = cluster
        self._controller = cluster.spec.controller_ids[0]
        self._home = home
        self._cli = Cli(home)
        self._seed = seed
        self.tally = Tally()

    def round(self, *, blind: bool = True) -> None:
        """Cut the power once, and play what follows. blind: also in an order at random."""
        number = self._seed + self.tally.rounds
        chance = random.Random(number)
        self._cluster.start([self._controller, *BROKERS])
        topics = self._write(chance, f"r{number}")
        stopped = [chance.choice(BROKERS)] if chance.random() < 0.25 else []
        for broker in stopped:
            self._cluster.stop(broker)
        self._cluster.kill_all()
        ends = self._tear(chance, topics, stopped)
        gone = (chance.choice(BROKERS),) if chance.random() < 0.5 else ()
        before = self._ask(gone)
        self._fence(gone)
        after = self._ask(gone)
        self._compare(before, after)
        asked = self._ask_controller(gone)
        if asked != after | {"rests_on": None}:
            self.tally.wrong.append(f"by its disk {after}, by the controller {asked}")
        if blind:
            saved = self._home / f"saved-{number}"
            self._cluster.kill_all()
            self._copy(self._cluster.directory, saved)
            self._play_blind(chance, ends, gone)
            self._restore(saved)
            shutil.rmtree(saved)
        self._play_named(self._ask(gone), ends, gone)
        # The next round begins without the topics of this one.
        self._restore(self._home / "empty")
        self.tally.rounds += 1

    def _write(self, chance: random.Random, name: str) -> dict[str, int]:
        """Make topics of different replica sets, and return their partitions."""
        topics: dict[str, int] = {}
        connection = self._cluster.connection()
        for number in range(3):
            of = chance.choice((2, 3, 3))
            assignment = [chance.sample(BROKERS, of) for _ in range(3)]
            topic = f"{name}-{number}"
            config = {"min.insync.replicas": str(chance.randint(1, of))}
            create_topic(connection, topic, assignment, config)
            topics[topic] = len(assignment)
        for write in range(WRITES):
            chosen = range(write * AT_ONCE, (write + 1) * AT_ONCE)
            for topic, partitions in topics.items():
                produce_many(connection, topic, dict.fromkeys(range(partitions), chosen))
        return topics

    def _tear(
        self, chance: random.Random, topics: dict[str, int], stopped: Sequence[int]
    ) -> dict[tuple[int, Partition], int]:
        """Tear the logs at random bytes, and return how far each goes by broker and partition. What
        a broker that stopped before had written was synced."""
        ends: dict[tuple[int, Partition], int] = {}
        for broker in BROKERS:
            for topic, partitions in topics.items():
                for number in range(partitions):
                    replica = self._cluster.log_dir(broker) / f"{topic}-{number}"
                    log = replica / f"{0:020}.log"
                    if not log.exists():
                        continue
                    if broker not in stopped and chance.random() < 0.7:
                        with log.open("r+b") as file:
                            file.truncate(chance.randint(0, log.stat().st_size))
                    ends[broker, (topic, number)] = _end(replica)
        return ends

    def _fence(self, gone: Sequence[int]) -> None:
        """Start the controller until nobody leads, by what the product says of its log."""
        self._cluster.start([self._controller])
        if self._cluster.spec.version == OLDEST:
            self._cluster.start([SPECTATOR])
        told: dict[str, Any] = {}

        def fenced() -> bool:
            told.update({"foretold": False} | self._ask(gone))
            return not told["foretold"]

        wait_until(fenced, TIMEOUT, lambda: f"nobody leads: {told}")

    def _compare(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Compare what was foretold before the controllers ran with what they made of it."""
        self.tally.came["foretold"] += "foretold" in before
        differ = {key for key in before if before[key] != after.get(key)}
        if differ - {"foretold", "rests_on"} or before["unknown"] or "foretold" in after:
            told = {key: (before.get(key), after.get(key)) for key in sorted(differ)}
            self.tally.wrong.append(f"before the fencing, and after: {told}")

    def _disks(self, nodes: Sequence[int]) -> list[str]:
        of_each = (("--log-dirs", str(self._cluster.log_dir(node))) for node in nodes)
        return [word for words in of_each for word in words]

    def _ask(self, gone: Sequence[int]) -> dict[str, Any]:
        return self._told(gone, *self._disks([self._controller]))

    def _ask_controller(self, gone: Sequence[int]) -> dict[str, Any]:
        address = self._cluster.controller_address(self._controller)
        return self._told(gone, "--bootstrap-controller", address)

    def _told(self, gone: Sequence[int], *by: str) -> dict[str, Any]:
        flags = [*by, *(["--gone", ",".join(map(str, gone))] if gone else [])]
        there = [broker for broker in BROKERS if broker not in gone]
        done = self._cli.offline("start-order", *self._disks(there), *flags, "--format", "json")
        assert done.code in (0, 1, 4), done
        found: dict[str, Any] = done.json
        return found

    def _situation(self, gone: Sequence[int]) -> Situation:
        nodes = [broker for broker in BROKERS if broker not in gone] + [self._controller]
        roots = [LocalLocation(self._cluster.log_dir(node)) for node in nodes]
        return from_disks(scan_log_directories(roots, ScanMode.RECOVER, workers=1), gone)

    def _play_named(
        self,
        told: dict[str, Any],
        ends: dict[tuple[int, Partition], int],
        gone: Sequence[int],
    ) -> None:
        """Start in the order that was named, and elect where it says so."""
        if told["unknown"]:
            self.tally.wrong.append(f"round {self.tally.rounds}: unknown: {told['unknown']}")
        self._cluster.start([self._controller])
        rows = {(row["topic"], row["partition"]): row for row in told["partitions"]}
        steps = max((start["step"] for start in told["starts"]), default=0)
        for step in range(1, steps + 1):
            group = [start["broker"] for start in told["starts"] if start["step"] == step]
            self._cluster.start(group)
            elect = [tp for tp, row in rows.items() if row["elected"] and row["step"] == step]
            if elect:
                self._elect(elect, gone)
            self.tally.came["elected"] += len(elect)
        found = self._leaders(rows)
        for tp, row in rows.items():
            foretold = -1 if row["leader"] is None else row["leader"]
            # An election takes one of several that cost the same; what it cost is looked at below.
            if found[tp] != foretold and not (row["elected"] and found[tp] >= 0):
                self.tally.wrong.append(f"{tp}: led by {found[tp]}, foretold {row}")
        lost = sum(self._lost(tp, found[tp], ends, gone) for tp in rows if found[tp] >= 0)
        if lost != told["costs"]:
            self.tally.wrong.append(f"{lost} records lost, {told['costs']} foretold: {told}")
        self.tally.came["several steps"] += steps > 1
        self.tally.came["by itself"] += sum(not row["elected"] for row in rows.values())
        self.tally.came["some order loses"] += bool(told["worst"])
        self.tally.came["this order loses"] += lost > 0
        self._cluster.kill_all()

    def _play_blind(
        self,
        chance: random.Random,
        ends: dict[tuple[int, Partition], int],
        gone: Sequence[int],
    ) -> None:
        """Start one broker after the other with no election, in a bad order. A broker whose
        disk is gone comes back with an empty one."""
        situation = self._situation(gone)
        for broker in gone:
            self._empty(broker)
            situation = _with_empty(situation, broker)
            ends = ends | {key: 0 for key in ends if key[0] == broker}
        scales = Scales()
        order = self._blind_order(chance, situation, scales)
        groups = _one_each(order)
        foretold = {
            (part.state.topic, part.state.partition): play(
                part, groups, situation.clean, scales, elections=False
            )
            for part in situation.parts
        }
        self._cluster.start([self._controller])
        for broker in order:
            self._cluster.start([broker])
        leaders = {
            tp: -1 if played.elected or played.leader is None else played.leader
            for tp, played in foretold.items()
        }
        # A broker with an empty disk leads only once the controller has its new log directory.
        with suppress(TimeoutError):
            wait_until(lambda: self._leaders(leaders) == leaders, SETTLED, lambda: "")
        found = self._leaders(leaders)
        for tp, played in foretold.items():
            leader = leaders[tp]
            if leader in gone and found[tp] < 0:
                # The controller heard of the new log directory after it had unfenced the broker.
                self.tally.came["empty, and not led"] += 1
            elif found[tp] != leader:
                self.tally.wrong.append(f"{tp}: {order} led by {found[tp]}, foretold {played}")
            elif leader >= 0 and self._lost(tp, leader, ends, gone) != played.price.records:
                self.tally.wrong.append(f"{tp}: {order} lost otherwise than {played}")
        self.tally.came["blind"] += 1
        self.tally.came["led empty"] += any(leader in gone for leader in leaders.values())
        self.tally.came["blind and lost"] += any(
            played.price.records and not played.elected for played in foretold.values()
        )

    def _blind_order(
        self, chance: random.Random, situation: Situation, scales: Scales
    ) -> tuple[int, ...]:
        """Return the order that loses most, or one at random in every other round."""
        orders = list(permutations(BROKERS))
        if self.tally.rounds % 2:
            return chance.choice(orders)

        def lost(order: tuple[int, ...]) -> int:
            ends = (
                play(part, _one_each(order), situation.clean, scales, elections=False)
                for part in situation.parts
            )
            return sum(end.price.records for end in ends if not end.elected)

        return max(orders, key=lost)

    def _empty(self, broker: int) -> None:
        """Give the broker a new disk. On 3.9.1 only one that has the old disk's id ever leads."""
        root = self._cluster.log_dir(broker)
        old = (root / "meta.properties").read_text()
        shutil.rmtree(root)
        new = self._home / "empty" / root.relative_to(self._cluster.directory)
        self._copy(new, root)
        if self._cluster.spec.version != OLDEST:
            old = re.sub(r"(?m)^directory\.id=.*$", f"directory.id={new_uuid()}", old)
        (root / "meta.properties").write_text(old)

    def _elect(self, partitions: Sequence[Partition], gone: Sequence[int]) -> None:
        """Elect as the command line says that start-order prints."""
        chosen = self._home / "elections.json"
        by_topic: dict[str, list[int]] = {}
        for topic, number in partitions:
            by_topic.setdefault(topic, []).append(number)
        wanted = [{"topic": topic, "partitions": of} for topic, of in by_topic.items()]
        chosen.write_text(json.dumps({"partitions": wanted}))
        down = [b for b in BROKERS if b not in (*self._cluster.live_brokers, *gone)]
        flags = ["--path-to-json-file", str(chosen), "--automated-recovery", "--yes"]
        flags += ["--gone", ",".join(map(str, gone))] if gone else []
        disks = self._disks([*down, self._controller]) if down else []
        done = self._cli.recover(self._cluster, *flags, *disks, "--format", "json")
        if done.code:
            self.tally.wrong.append(f"the election ended with {done.code}: {done.stderr}")

    def _leaders(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        live = self._cluster.live_brokers[0]
        seen = self._cluster.view(live).topics
        return {tp: seen[tp[0]][tp[1]].leader for tp in partitions}

    def _lost(
        self,
        tp: Partition,
        leader: int,
        ends: dict[tuple[int, Partition], int],
        gone: Sequence[int],
    ) -> int:
        """Return how many records of disks that are there the leader does not have."""
        best = max(end for (broker, of), end in ends.items() if of == tp and broker not in gone)
        return max(0, best - _end(self._cluster.log_dir(leader) / f"{tp[0]}-{tp[1]}"))

    def keep_empty(self) -> None:
        """Keep the disks as they are, for the rounds to begin with."""
        self._copy(self._cluster.directory, self._home / "empty")

    def _restore(self, saved: Path) -> None:
        self._cluster.kill_all()
        shutil.rmtree(self._cluster.directory)
        self._copy(saved, self._cluster.directory)

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        shutil.copytree(source, target, symlinks=True)


def _one_each(order: Iterable[int]) -> Groups:
    return tuple((broker,) for broker in order)


def _with_empty(situation: Situation, broker: int) -> Situation:
    """Return the situation with an empty disk of a broker."""
    parts = tuple(
        replace(part, logs={**part.logs, broker: structs.replace(empty_log(broker), live=True)})
        if broker in part.state.replicas
        else part
        for part in situation.parts
    )
    clean = {**situation.clean, broker: False}
    return replace(situation, parts=parts, clean=clean, gone=())


def _end(replica: Path) -> int:
    """Return the end of the whole batches of a log, exclusive."""
    return max((record.offset + 1 for record in held_records(replica)), default=0)


@contextmanager
def power_cuts(home: Path, version: str, seed: int) -> Iterator[PowerCuts]:
    """Yield the rounds on a new cluster of this release."""
    with KafkaCluster.create(home / "cluster", version, brokers=SPECTATOR) as cluster:
        found = PowerCuts(cluster, home, seed)
        found.keep_empty()
        yield found


def main() -> None:
    parser = argparse.ArgumentParser("tests.real.power_cuts")
    parser.add_argument("--version", default=NEWEST)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="power-cuts-"))
    with power_cuts(home, given.version, given.seed) as found:
        for _ in range(given.rounds):
            found.round()
            print(found.tally.rounds, found.tally.came, flush=True)
            if found.tally.wrong:
                sys.exit("\n".join(found.tally.wrong))
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
