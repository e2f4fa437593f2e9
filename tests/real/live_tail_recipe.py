"""A live replica with a tail that an election gives up: broker 1 wrote on alone, in every codec and
in transactions, before broker 2 was elected without it; a ledger of all that was acknowledged.

Brokers 1 and 3 come back: 3 has what 2 wrote as leader, so it must win, and 1 would truncate.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.real.archive import pack, unpack
from tests.real.cache import quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.recipes import elect_unclean
from tests.real.records import create_topic, wait_until_replicated
from tests.real.salvage_recipe import CODECS, Acknowledged, Writer, load_ledger, save_ledger
from tests.real.saved import Saved, digest_of

LOSER, DEAD, WINNER = 1, 2, 3
# A partition for each codec: 40 records while all live, 60 more by the loser, 20 by the next.
CODED = "coded"
SHARED, LONGER, NEWER = 40, 100, 60
# Of the loser's tail: a transaction that had begun before it and is committed there, one that began
# and was aborted there, and one that nobody ended.
PAID = "pay.ments"
CROSSING, ABORTED, OPEN = range(3)
TIMEOUT = 60.0
_SOURCES = (
    *("live_tail_recipe.py", "salvage_recipe.py"),
    *("properties.py", "records.py", "recipes.py"),
)


def live_tail(version: str, directory: Path) -> tuple[KafkaCluster, list[Acknowledged]]:
    """(the outage, running; what was acknowledged). Close it when done."""
    unpack(saved(version).archive(), directory)
    ledger = load_ledger(directory)
    cluster = KafkaCluster(directory)
    try:
        cluster.start((*cluster.spec.controller_ids, LOSER, WINNER))
        for topic in (CODED, PAID):
            cluster.wait_until_partitions(topic, lambda seen: seen.offline, TIMEOUT)
    except BaseException:
        cluster.close()
        raise
    return cluster, ledger


def saved(version: str) -> Saved:
    return Saved(f"live-tail-{version}", digest_of(_SOURCES), lambda made: _make(version, made))


def _make(version: str, archive: Path) -> None:
    with (
        quick_scratch(archive.parent) as scratch,
        KafkaCluster.create(scratch, version, brokers=3) as cluster,
    ):
        cluster.start()
        ledger = _days(cluster)
        cluster.kill_all()
        save_ledger(scratch, ledger)
        pack(scratch, archive)


def _days(cluster: KafkaCluster) -> list[Acknowledged]:
    # What the loser writes alone stays above its high watermark but for transactions, which would
    # not end. Records carry times of long before: retention is not to take them.
    for topic, count, min_isr in ((CODED, len(CODECS), "2"), (PAID, 3, "1")):
        config = {"retention.ms": "-1", "min.insync.replicas": min_isr}
        create_topic(cluster.connection(), topic, [[1, 2, 3]] * count, config)
    _agree(cluster, {1, 2, 3})
    ledger = _write(cluster, range(SHARED))
    _replicated(cluster, CODED, dict.fromkeys(range(len(CODECS)), SHARED))
    crossing = _transaction(cluster, "crossing")
    ledger += _produce(crossing, CROSSING, range(5), "committed")
    _replicated(cluster, PAID, {CROSSING: 5})
    _lose(cluster, 2)
    _lose(cluster, 3)
    ledger += _write(cluster, range(SHARED, LONGER))
    ledger += _end_alone(cluster, crossing)
    cluster.kill(1)
    cluster.wait_until_fenced({1})
    cluster.start_node(2)
    elect_unclean(cluster)
    cluster.start_node(3)
    _agree(cluster, {2, 3})
    # Other records than those that broker 1 has at the same offsets.
    ledger += _write(cluster, range(1000, 1000 + NEWER - SHARED))
    plain = Writer(cluster, PAID)
    for partition in range(3):
        ledger += _produce(plain, partition, range(1000, 1004), None)
    _replicated(cluster, CODED, dict.fromkeys(range(len(CODECS)), NEWER))
    _replicated(cluster, PAID, {CROSSING: 5 + 4, ABORTED: 4, OPEN: 4})
    _lose(cluster, 3)
    cluster.kill(2)
    cluster.wait_until_fenced({2})
    return ledger


def _write(cluster: KafkaCluster, numbers: range) -> list[Acknowledged]:
    ledger = []
    for partition, codec in enumerate(CODECS):
        settings = {"compression.codec": codec, "batch.num.messages": "7", "acks": "1"}
        writer = Writer(cluster, CODED, settings)
        ledger += _produce(writer, partition, numbers, None)
    return ledger


def _produce(
    writer: Writer, partition: int, numbers: range, ending: str | None
) -> list[Acknowledged]:
    for number in numbers:
        writer.produce(partition, number)
    return writer.acknowledged(ending)


def _transaction(cluster: KafkaCluster, name: str) -> Writer:
    settings: dict[str, str | int] = {"transactional.id": name, "transaction.timeout.ms": 900_000}
    writer = Writer(cluster, PAID, settings)
    writer.producer.init_transactions(TIMEOUT)
    writer.producer.begin_transaction()
    return writer


def _end_alone(cluster: KafkaCluster, crossing: Writer) -> list[Acknowledged]:
    ledger = _produce(crossing, CROSSING, range(5, 8), "committed")
    crossing.producer.commit_transaction(TIMEOUT)
    aborted = _transaction(cluster, "aborted")
    ledger += _produce(aborted, ABORTED, range(10), "aborted")
    aborted.producer.abort_transaction(TIMEOUT)
    return ledger + _produce(_transaction(cluster, "open"), OPEN, range(10), "open")


def _replicated(cluster: KafkaCluster, topic: str, ends: Mapping[int, int]) -> None:
    wait_until_replicated(cluster.connection(), topic, ends, TIMEOUT)


def _lose(cluster: KafkaCluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.wait_until_fenced({broker})
    _agree(cluster, set(cluster.live_brokers))


def _agree(cluster: KafkaCluster, isr: set[int]) -> None:
    for topic in (CODED, PAID):
        cluster.wait_until_partitions(
            topic, lambda seen: not seen.offline and set(seen.isr) == isr, TIMEOUT
        )
