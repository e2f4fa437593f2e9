"""The main job on an emulated cluster, told step by step: `make demo`.

Makes the outage of the README, shows the replicas, plans, recovers, and reads the records back.
Exits 1 as soon as something is not as it should be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from kafka_unclean_recovery.emulator import Cluster
from tests.real.metadata import cluster_view
from tests.real.records import consume_all, create_topic, numbered, produce

TOPIC = "orders"
REPLICAS = (1, 2, 4, 3)
BEST = 3
# What each write adds, and who dies after it. Broker 4 is left with 1000 records, 3 with 1500.
WRITES_AND_DEATHS = ((1000, 4), (500, 3), (500, 2), (500, 1))
ON_THE_BEST = 1500
OFFLINE = ("--all-offline-partitions",)


class NotAsItShouldBe(Exception):
    """The demonstration failed."""


def main() -> int:
    try:
        with tempfile.TemporaryDirectory() as scratch, Cluster() as cluster:
            _show(cluster, Path(scratch))
    except NotAsItShouldBe as problem:
        print(f"The demo failed: {problem}", file=sys.stderr)
        return 1
    return 0


def _show(cluster: Cluster, scratch: Path) -> None:
    _say(
        "1. An outage",
        "An emulated Kafka cluster of four brokers. Everything below speaks Kafka's protocol",
        "with it, as with a real one.",
    )
    _make_the_outage(cluster)
    _say(
        "2. What each replica still holds",
        "This only looks, past the high watermark too. `*` marks the designated leader.",
        "Certain loss is what electing that replica would make live brokers truncate: an",
        "ordinary unclean election takes the first live one in the order, broker 4.",
    )
    _run(cluster, scratch, *OFFLINE, "--show-replica-info")
    _say("3. The plan, as a file to read and edit")
    _plan(cluster, scratch)
    _say(
        "4. Recovery",
        "The same choice, carried out, verified and reported. (--yes: nobody is asked here.)",
    )
    _run(cluster, scratch, *OFFLINE, "--automated-recovery", "--yes")
    _say("5. The records, read back by another client")
    _read_back(cluster)


def _make_the_outage(cluster: Cluster) -> None:
    create_topic(cluster.bootstrap_servers, TOPIC, [REPLICAS], {"min.insync.replicas": "1"})
    print(f"{TOPIC}-0 is on brokers {_words(REPLICAS)}.")
    end = 0
    for count, victim in WRITES_AND_DEATHS:
        produce(cluster.bootstrap_servers, TOPIC, 0, count, first=end)
        end += count
        cluster.kill(victim)
        # At once, where a real controller waits for the session to end.
        cluster.fence(victim)
        print(f"  {count:>4} records are written; broker {victim} dies, holding {end}.")
    cluster.start(3)
    cluster.start(4)
    _expect(_seen(cluster)[0] == -1, f"{TOPIC}-0 has a leader: {_seen(cluster)}")
    print(
        "Brokers 3 and 4 come back, 1 and 2 do not. 3 and 4 are not in sync, so Kafka elects\n"
        f"neither: {TOPIC}-0 has no leader, and nobody can read or write it."
    )


def _plan(cluster: Cluster, scratch: Path) -> None:
    leaders = scratch / "leaders.json"
    _run(cluster, scratch, *OFFLINE, "--manual-recovery-output-file", str(leaders))
    text = leaders.read_text()
    print(text)
    entry = {"topic": TOPIC, "partition": 0, "designatedLeader": BEST}
    _expect(json.loads(text) == {"partitions": [entry]}, f"broker {BEST} is not designated")


def _read_back(cluster: Cluster) -> None:
    records = consume_all(cluster.bootstrap_servers, TOPIC, 0)
    kept = list(map(numbered, range(ON_THE_BEST)))
    _expect(records == kept, f"{len(records)} records were read, not the {len(kept)} of broker 3")
    _expect(_seen(cluster) == (BEST, REPLICAS), f"leader and replicas are {_seen(cluster)}")
    print(
        f"{len(records)} records: all that a live broker held. Broker {BEST} leads, and the order "
        f"of the\nreplicas is {_words(REPLICAS)} as before. What only the dead brokers 1 and 2 "
        "hold is still on\ntheir disks; see docs/after-the-election.md before they return."
    )


def _run(cluster: Cluster, scratch: Path, *flags: str) -> None:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    command = ["kafka-unclean-recovery", *servers, *flags]
    print("$", *command, flush=True)
    program = Path(sys.executable).with_name(command[0])
    state = {**os.environ, "XDG_STATE_HOME": str(scratch / "state")}
    done = subprocess.run([program, *command[1:]], env=state, check=False)
    print(flush=True)
    _expect(done.returncode == 0, f"the command above exited with {done.returncode}, not 0")


def _seen(cluster: Cluster) -> tuple[int, tuple[int, ...]]:
    """Return the leader (-1: none) and the replica order, as another client sees them."""
    view = cluster_view({"bootstrap.servers": cluster.bootstrap_servers})
    partition = view.topics[TOPIC][0]
    return partition.leader, partition.replicas


def _say(title: str, *lines: str) -> None:
    print(f"\n{title}", *lines, sep="\n", end="\n\n", flush=True)


def _words(brokers: tuple[int, ...]) -> str:
    return ", ".join(map(str, brokers))


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise NotAsItShouldBe(otherwise)


if __name__ == "__main__":
    raise SystemExit(main())
