"""Random states of a real cluster: `ok-to-stop` is asked, the brokers are then stopped or killed,
and each thing that it said is held against what became so.

`python -m tests.real.stopped_states --version 4.4.0 --rounds 40` does it for longer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType

from kafka_unclean_recovery.model import TopicPartition
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.faults import reassign, states_of
from tests.real.metadata import NO_LEADER, QUIETLY, SILENT, PartitionView
from tests.real.records import create_topic
from tests.real.releases import NEWEST
from tests.real.waiting import wait_until

BROKERS = (1, 2, 3, 4)
TOPICS = 24
MIN_ISR, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
# A record that a leader takes is acknowledged within milliseconds; others are refused until then.
PRODUCE_SECONDS = 4.0
BACK_MS = "60000"


@dataclass(slots=True)
class Tally:
    """What was seen so far. wrong: what came otherwise than it was said."""

    rounds: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class States:
    """A cluster of four brokers with a topic for each kind of partition."""

    def __init__(self, cluster: KafkaCluster, cli: Cli, seed: int) -> None:
        self._cluster = cluster
        self._cli = cli
        self._chance = Random(seed)
        self._min_isr: dict[str, int] = {}
        self.tally = Tally()

    def create_topics(self) -> None:
        for number in range(TOPICS):
            factor = 1 + number % len(BROKERS)
            replicas = self._chance.sample(BROKERS, factor)
            least = self._any_min_isr(factor)
            unclean = str(number % 5 == 4).lower()
            name = f"t{number}"
            config = {MIN_ISR: str(least), UNCLEAN: unclean}
            create_topic(self._cluster.connection(), name, [replicas], config)
            self._min_isr[name] = least

    def _any_min_isr(self, factor: int) -> int:
        """Return mostly one that a stop of one broker leaves: else no answer were ever a yes."""
        if self._chance.random() < 0.02:
            return self._chance.randint(factor, 4)
        return self._chance.randint(1, max(1, factor - 1))

    def round(self) -> None:
        """Play one state, one question, and what came of it; then all brokers are back."""
        before = self._disturb()
        live = self._cluster.live_brokers
        most = 1 if self._chance.random() < 0.6 else len(live) - 1
        asked = tuple(self._chance.sample(live, self._chance.randint(1, most)))
        done = self._ask(asked)
        told = done.json
        assert done.code == {"yes": 0, "no": 1, "unknown": 4}[told["verdict"]], done
        way = self._chance.choice(("stop", "kill"))
        for broker in asked:
            (self._cluster.stop if way == "stop" else self._cluster.kill)(broker)
        self._cluster.wait_until_fenced(asked)
        where = f"round {self.tally.rounds}, {before}, {way} {asked}"
        self._judge(told, told[way], asked, where)
        self.tally.rounds += 1
        self.tally.verdicts[told["verdict"]] += 1
        self.tally.classes.update(told[way]["counts"])
        self._all_back()

    def _ask(self, brokers: Iterable[int], *flags: str) -> Finished:
        where = ("--bootstrap-server", self._cluster.bootstrap_servers)
        whom = ("--brokers", ",".join(map(str, brokers)))
        return self._cli.offline("ok-to-stop", *where, *whom, "--format", "json", *flags)

    def switch_elr_off(self) -> None:
        """Switch ELR off, as it is in a cluster that comes from before 4.1."""
        where = ("--bootstrap-server", self._cluster.bootstrap_servers)
        feature = "eligible.leader.replicas.version=0"
        self._cluster.script("kafka-features", *where, "downgrade", "--feature", feature)

    def _disturb(self) -> str:
        """Do something that may be so before anybody asks."""
        chance = self._chance
        often = ("nothing", "nothing", "min ISR")
        seldom = ("killed", "stopped", "fenced", "killed and min ISR", "moved to a killed one")
        what = chance.choice((*often, *seldom))
        if "min ISR" in what:
            for name in chance.sample(sorted(self._min_isr), 4):
                self._alter(name, self._any_min_isr(int(name[1:]) % len(BROKERS) + 1))
        return f"{what}: {self._one_down(what)}" if what in seldom else what

    def _one_down(self, what: str) -> int:
        """Return a broker that is fenced now: dead, stopped, or alive and silent."""
        broker, cluster = self._chance.choice(BROKERS), self._cluster
        way = {"stopped": cluster.stop, "fenced": cluster.pause}.get(what, cluster.kill)
        way(broker)
        cluster.wait_until_fenced([broker])
        if "moved" in what:
            self._move_to(broker)
        return broker

    def _move_to(self, broker: int) -> None:
        """Begin reassignments that can't complete, as the replica that they add is down."""
        partitions = self._partitions()
        two = [
            t for t, p in partitions.items() if len(p.replicas) == 2 and broker not in p.replicas
        ]
        for topic in two[:2]:
            reassign(self._cluster, topic, [partitions[topic].replicas[0], broker])

    def _alter(self, topic: str, least: int) -> None:
        entry = ConfigEntry(MIN_ISR, str(least), incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        client = AdminClient({**self._cluster.connection(), **QUIETLY}, logger=SILENT)
        client.incremental_alter_configs([resource])[resource].result(30)
        self._min_isr[topic] = least

    def _judge(self, told: Any, scenario: Any, asked: tuple[int, ...], where: str) -> None:
        rows = {row["topic"]: row for row in scenario["partitions"]}
        unknown = {row["topic"] for row in told["not_known"]}
        already = {row["topic"] for row in told["already"]}
        acknowledged = self._acknowledged()
        controllers = states_of(
            self._cluster, [TopicPartition(topic, 0) for topic in self._min_isr]
        )
        for topic, now in self._partitions().items():
            if topic in unknown or not set(asked) & set(now.replicas):
                continue
            row = rows.get(topic)
            wrong = list(_wrong(row, now, len(asked)))
            takes = now.leader != NO_LEADER and len(now.isr) >= self._effective(topic, now)
            if takes != (topic in acknowledged):
                wrong.append(f"takes records with acks=all: {topic in acknowledged}")
            if row is not None and len(asked) == 1 and "unclean_election" not in row["classes"]:
                # Of several, the order in which the controller notices them decides.
                elr = controllers[TopicPartition(topic, 0)].elr
                wrong += [f"ELR {elr}"] if set(elr) != set(row["after"]["elr"]) else []
            if row is None and topic not in already and topic not in acknowledged:
                wrong.append("nothing was said of it, and it takes no records")
            self.tally.wrong += [f"{where}: {topic} {now}: {each}; said {row}" for each in wrong]

    def _effective(self, topic: str, now: PartitionView) -> int:
        return min(self._min_isr[topic], len(now.replicas))

    def _partitions(self) -> dict[str, PartitionView]:
        view = self._cluster.view(self._cluster.live_brokers[0])
        return {name: found[0] for name, found in view.topics.items() if name in self._min_isr}

    def _acknowledged(self) -> set[str]:
        """Return the topics that take a record with acks=all now."""
        acknowledged: set[str] = set()

        def answered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                acknowledged.add(message.topic() or "")

        timeout = int(PRODUCE_SECONDS * 1000)
        settings: dict[str, str | int | float | bool] = {
            **self._cluster.connection(),
            **QUIETLY,
            "acks": "all",
            "message.timeout.ms": timeout,
            "topic.metadata.propagation.max.ms": 0,
        }
        producer = Producer(settings, logger=SILENT)
        for topic in self._min_isr:
            producer.produce(topic, b"", partition=0, on_delivery=answered)
        producer.flush(PRODUCE_SECONDS * 3)
        return acknowledged

    def _all_back(self) -> None:
        """Start what is down, and let `--after` say when all of it is back."""
        down = [broker for broker in BROKERS if broker not in self._cluster.live_brokers]
        if not down:
            return
        for paused in filter(self._cluster.alive, down):
            self._cluster.resume(paused)
        self._cluster.start(down)
        self._cluster.wait_until_unfenced(down)
        done = self._ask(down, "--after", "--wait-ms", BACK_MS)
        assert done.code == 0, done
        wait_until(
            lambda: all(
                set(found.isr) == set(found.replicas) for found in self._partitions().values()
            ),
            # A reassignment that could not go on completes, and is no matter of the answer.
            30.0,
            lambda: f"all back, as --after said; {self._partitions()}",
        )


def _wrong(row: Mapping[str, Any] | None, now: PartitionView, asked: int) -> Iterator[str]:
    """Yield what was said of leader and ISR and is not so. Without a row nothing was to change for
    the worse: it has a leader, or had none."""
    if row is None:
        return
    after = row["after"]
    unclean = "unclean_election" in row["classes"]
    if unclean and asked > 1:
        # Which of them leads for a while hangs on who is noticed first.
        return
    if after["leader"] != now.leader:
        yield f"said leader {after['leader']}"
    if now.leader != NO_LEADER and set(after["isr"]) != set(now.isr):
        yield f"said ISR {after['isr']}"


@contextmanager
def states(directory: Path, version: str, seed: int) -> Iterator[States]:
    with KafkaCluster.create(directory / "cluster", version, brokers=len(BROKERS)) as cluster:
        cluster.start()
        found = States(cluster, Cli(directory), seed)
        found.create_topics()
        yield found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real.stopped_states")
    parser.add_argument("--version", default=NEWEST)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--elr-off", action="store_true")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as scratch,
        states(Path(scratch), arguments.version, arguments.seed) as found,
    ):
        if arguments.elr_off:
            found.switch_elr_off()
        while found.tally.rounds < arguments.rounds and not found.tally.wrong:
            found.round()
        tally = found.tally
        print(tally.rounds, dict(tally.verdicts), dict(tally.classes), *tally.wrong, sep="\n")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
