"""An emulated cluster of many brokers that loses a rack, as a process of its own; see rack_outage.

    python benchmarks/rack_process.py DATA_DIR BROKERS PARTITIONS

It prints a JSON object once all topics are there, and one once the rack is lost, and then waits to
be killed. The emulator knows no racks (broker.rack stays empty): a rack is what the replicas are
spread over, one in each of three.
"""

import gc
import json
import resource
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.emulation import Emulation

RACKS = 3
TOPIC_PARTITIONS = 1_000
SETTINGS = Settings(session_timeout=600.0)


def racks(brokers: int) -> list[range]:
    """Return racks as equal as can be, the first one the largest."""
    ends = [-(-brokers * number // RACKS) for number in range(RACKS + 1)]
    return [range(first + 1, last + 1) for first, last in pairwise(ends)]


def assignment(brokers: int, partitions: int) -> list[tuple[int, ...]]:
    return [
        tuple(rack[number % len(rack)] for rack in racks(brokers)) for number in range(partitions)
    ]


def lose_rack(cluster: Cluster, brokers: int, replicas: Sequence[Sequence[int]]) -> None:
    """Lose the first rack while a third of the other racks' brokers is down, which is back after
    it. Partitions that had only the first rack in the ISR are offline, one record short."""
    lost, *others = racks(brokers)
    down = {broker for rack in others for broker in rack[: len(rack) // 3]}
    hit = [number for number, (_, *rest) in enumerate(replicas) if down.issuperset(rest)]
    for victims in (down, lost):
        for number in hit:
            topic, partition = divmod(number, TOPIC_PARTITIONS)
            cluster.produce(_topic(topic), partition, 1)
        for victim in victims:
            cluster.kill(victim)
            cluster.fence(victim)
    for broker in down:
        cluster.start(broker)
    cluster.wait_until(lambda emulation: all(map(emulation.state.active, down)))


def main(data_dir: Path, brokers: int, partitions: int) -> None:
    begun = time.perf_counter()
    with Cluster(Options(brokers=brokers, data_dir=data_dir, settings=SETTINGS)) as cluster:
        up = time.perf_counter()
        replicas = assignment(brokers, partitions)
        for first in range(0, partitions, TOPIC_PARTITIONS):
            there = replicas[first : first + TOPIC_PARTITIONS]
            cluster.create_topic(_topic(first // TOPIC_PARTITIONS), assignment=there)
        _tell(brokers_up_s=up - begun, topics_s=time.perf_counter() - up)
        begun = time.perf_counter()
        lose_rack(cluster, brokers, replicas)
        _tell(lost_s=time.perf_counter() - begun, offline=cluster.look(_offline))
        live = cluster.bootstrap_servers.split(",")[racks(brokers)[1].start - 1 :]
        print(",".join(live), flush=True)
        sys.stdin.read()


def _offline(emulation: Emulation) -> int:
    topics = emulation.state.topics.values()
    return sum(p.leader == -1 for topic in topics for p in topic.partitions.values())


def _topic(number: int) -> str:
    return f"topic-{number:03}"


def _tell(**figures: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**figures, "peak_mib": peak}), flush=True)


if __name__ == "__main__":
    gc.set_threshold(100_000)  # As the command has it.
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
