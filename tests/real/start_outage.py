"""An outage in which the start of broker 1 does to each topic something else.

Broker 1 is dead, 2 lives, 3 died before 1, and 4 after. Values say who led when they were written.
"""

from __future__ import annotations

import json
from pathlib import Path

from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient

from tests.fidelity.disk.faults import starts_of
from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY, SILENT
from tests.real.records import Value, create_topic, produce_many, wait_until_replicated
from tests.real.waiting import wait_until

TIMEOUT = 60.0
OWN, LIVE, EARLY, LATE = 1, 2, 3, 4
FIRST, SHARED, ALONE = 100, 30, 20
OLD_END = FIRST + SHARED + ALONE
# Given up by an unclean election, and written on a little, or beyond the old end.
TAIL, REFILLED = ("tails", 0), ("tails", 1)
NEW = {TAIL: 10, REFILLED: 200}
AGAIN, GONE, MOVED, ONLY, LAST, WAITS = "again", "gone", "moved", "only", "last", "waits"
EMPTIED, EXPIRED = "emptied", "expired"
# Given up, and written on in batches; their log now starts within one.
WITHIN = "within"
TOPICS: dict[str, list[tuple[int, ...]]] = {
    "tails": [(OWN, LIVE, EARLY)] * 2,
    AGAIN: [(OWN, LATE)],
    GONE: [(OWN, LATE)],
    MOVED: [(OWN, LATE)],
    ONLY: [(OWN,)],
    LAST: [(OWN, EARLY)],
    WAITS: [(OWN, LATE)],
    EMPTIED: [(OWN, LATE, LIVE)],
    EXPIRED: [(OWN, LATE, LIVE)],
    WITHIN: [(OWN, LIVE)],
}


def led_by(leader: int) -> Value:
    return lambda number: f"{number} led by {leader}".encode()


def begin(cluster: KafkaCluster) -> None:
    """Make an outage whose broker 1 is dead; `finish` makes what happens while it is."""
    for topic, assignment in TOPICS.items():
        create_topic(cluster.connection(), topic, assignment, {"min.insync.replicas": "1"})
    for topic, assignment in TOPICS.items():
        _wait_for_isr(cluster, topic, *(set(of) for of in assignment))
        write(cluster, topic, range(len(assignment)), range(FIRST), OWN)
    lose_broker(cluster, LIVE)
    _wait_for_isr(cluster, "tails", *[{OWN, EARLY}] * 2)
    for topic in ("tails", LAST):
        write(cluster, topic, range(len(TOPICS[topic])), range(FIRST, FIRST + SHARED), OWN)
    _wait_for_isr(cluster, WITHIN, {OWN})
    write(cluster, WITHIN, [0], range(FIRST, OLD_END), OWN)
    lose_broker(cluster, EARLY)
    _wait_for_isr(cluster, "tails", *[{OWN}] * 2)
    _wait_for_isr(cluster, LAST, {OWN})
    for topic in ("tails", LAST):
        write(cluster, topic, range(len(TOPICS[topic])), range(FIRST + SHARED, OLD_END), OWN)
    lose_broker(cluster, OWN)


def finish(cluster: KafkaCluster, scratch: Path) -> None:
    cluster.start_node(LIVE)
    for topic, number in (TAIL, REFILLED):
        _elect(cluster, topic, number)
        more = range(FIRST, FIRST + NEW[topic, number])
        write(cluster, topic, [number], more, LIVE)
    _elect(cluster, WITHIN, 0)
    write(cluster, WITHIN, [0], range(FIRST, OLD_END), LIVE)
    _delete_records(cluster, WITHIN, within_a_batch(cluster))
    write(cluster, WAITS, [0], range(FIRST, FIRST + 10), LATE)
    _delete(cluster, AGAIN, GONE)
    create_topic(cluster.connection(), AGAIN, [(OWN, LATE)])
    _move(cluster, MOVED, [LATE, LIVE], scratch)
    for topic, end in ((EMPTIED, FIRST + 50), (EXPIRED, FIRST // 2)):
        _wait_for_isr(cluster, topic, {LATE, LIVE})
        write(cluster, topic, [0], range(FIRST, FIRST + 50), LATE)
        _delete_records(cluster, topic, end)
    lose_broker(cluster, LATE)
    for topic in (EMPTIED, EXPIRED, MOVED):
        wait_until(
            lambda topic=topic: cluster.view(LIVE).topics[topic][0].leader == LIVE,  # type: ignore[misc]
            TIMEOUT,
            lambda topic=topic: f"{topic} led by {LIVE}",  # type: ignore[misc]
        )


def write(
    cluster: KafkaCluster, topic: str, partitions: range | list[int], numbers: range, leader: int
) -> None:
    wanted = dict.fromkeys(partitions, numbers)
    connection = cluster.connection()
    produce_many(connection, topic, wanted, acks="1", value=led_by(leader), timeout=TIMEOUT)
    wait_until_replicated(connection, topic, dict.fromkeys(wanted, numbers.stop), TIMEOUT)


def within_a_batch(cluster: KafkaCluster) -> int:
    """Return an offset of WITHIN that the live leader wrote after the election, and at which none
    of its batches begins."""
    (segment,) = (cluster.log_dir(LIVE) / f"{WITHIN}-0").glob("*.log")
    data = segment.read_bytes()
    bases = [int.from_bytes(data[at : at + 8]) for at in starts_of(data)[:-1]]
    return next(offset for offset in range(FIRST + 1, OLD_END) if offset not in bases)


def lose_broker(cluster: KafkaCluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.wait_until_fenced([broker], TIMEOUT)


def _wait_for_isr(cluster: KafkaCluster, topic: str, *isrs: set[int]) -> None:
    def agreed() -> bool:
        views = [cluster.view(broker).topics.get(topic, {}) for broker in cluster.live_brokers]
        return all(
            len(view) == len(isrs) and all(set(view[n].isr) == isr for n, isr in enumerate(isrs))
            for view in views
        )

    wait_until(agreed, TIMEOUT, lambda: f"the ISRs of {topic} {isrs}")


def _elect(cluster: KafkaCluster, topic: str, number: int) -> None:
    servers = ",".join(map(cluster.address, cluster.live_brokers))
    which = ("--topic", topic, "--partition", str(number))
    how = ("--bootstrap-server", servers, "--election-type", "unclean")
    cluster.script("kafka-leader-election", *how, *which)
    wait_until(
        lambda: cluster.view(LIVE).topics[topic][number].leader == LIVE,
        TIMEOUT,
        lambda: f"{topic}-{number} elected",
    )


def _admin(cluster: KafkaCluster) -> AdminClient:
    return AdminClient({**cluster.connection(), **QUIETLY}, logger=SILENT)


def _delete(cluster: KafkaCluster, *topics: str) -> None:
    client = _admin(cluster)  # It must live until its futures are done.
    for done in client.delete_topics(list(topics), operation_timeout=TIMEOUT).values():
        done.result(TIMEOUT)
    wait_until(
        lambda: all(
            not set(topics) & cluster.view(broker).topics.keys() for broker in cluster.live_brokers
        ),
        TIMEOUT,
        lambda: f"{topics} deleted",
    )


def _delete_records(cluster: KafkaCluster, topic: str, end: int) -> None:
    client = _admin(cluster)
    for each in client.delete_records([Position(topic, 0, end)]).values():
        each.result(TIMEOUT)


def _move(cluster: KafkaCluster, topic: str, replicas: list[int], scratch: Path) -> None:
    servers = ",".join(map(cluster.address, cluster.live_brokers))
    row = {"topic": topic, "partition": 0, "replicas": replicas}
    file = scratch / "moves.json"
    file.write_text(json.dumps({"version": 1, "partitions": [row]}))
    flags = ("--reassignment-json-file", str(file), "--execute")
    cluster.script("kafka-reassign-partitions", "--bootstrap-server", servers, *flags)
    _wait_for_isr(cluster, topic, set(replicas))
