"""A cluster that died one broker after the other, and a ledger of all that it had acknowledged.

Brokers 3, 2 and 1 were killed in this order with writes between: in every codec, with headers,
nulls and times of their own, and in transactions that end in every way.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from confluent_kafka import KafkaError, Message, Producer

from tests.real.archive import pack, unpack
from tests.real.cache import quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY, SILENT
from tests.real.records import create_topic, wait_until_replicated
from tests.real.saved import Saved, digest_of

BROKERS = (1, 2, 3)
SURVIVOR = 3
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TIMEOUT = 60.0

# A partition for each codec: 40 records while three live, 30 more while two do, 10 by the last.
CODED = "coded"
ENDS = (40, 70, 80)
# What is beyond the survivor's log of each partition: transactions that began and ended there, that
# nobody ended, that had begun before, and one of each with records outside of any between.
TRANSACTIONS = "pay.ments"
COMMITTED, ABORTED, OPEN, CROSSING_COMMITTED, CROSSING_ABORTED, MIXED = range(6)
TRANSACTION_PARTITIONS = 6

_SOURCES = ("salvage_recipe.py", "properties.py", "records.py")
_LEDGER = "ledger.json"
# Records carry times of long before: retention is not to take them.
_CONFIG = {"retention.ms": "-1"}


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A record as it was produced, and the offset that its broker gave it. ending: of its
    transaction, None outside of one. timestamp: ms."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp: int
    ending: str | None


@dataclass(frozen=True, slots=True)
class Outage:
    directory: Path
    ledger: frozenset[Acknowledged]


def salvage_outage(version: str, directory: Path) -> Outage:
    """At rest, unpacked; nothing runs."""
    unpack(saved(version).archive(), directory)
    return Outage(directory, frozenset(load_ledger(directory)))


def saved(version: str) -> Saved:
    return Saved(f"salvage-{version}", digest_of(_SOURCES), lambda made: _make(version, made))


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
    everywhere = [[1, 2, 3], [2, 1, 3]]
    for topic, count in ((CODED, len(CODECS)), (TRANSACTIONS, TRANSACTION_PARTITIONS)):
        assignment = [everywhere[number % 2] for number in range(count)]
        create_topic(cluster.connection(), topic, assignment, _CONFIG)
    _agree(cluster, {1, 2, 3})
    ledger = _write(cluster, range(ENDS[0]))
    crossing = _transactions_that_go_on(cluster)
    _replicated(cluster, TRANSACTIONS, {CROSSING_COMMITTED: 5, CROSSING_ABORTED: 5, MIXED: 5})
    _lose(cluster, 3)
    ledger += _write(cluster, range(ENDS[0], ENDS[1]))
    ledger += _end_transactions(cluster, crossing)
    _lose(cluster, 2)
    return ledger + _write(cluster, range(ENDS[1], ENDS[2]))


def _write(cluster: KafkaCluster, numbers: range) -> list[Acknowledged]:
    ledger = []
    for partition, codec in enumerate(CODECS):
        settings = {"compression.codec": codec, "batch.num.messages": "7", "acks": "1"}
        writer = Writer(cluster, CODED, settings)
        for number in numbers:
            writer.produce(partition, number)
        ledger += writer.acknowledged(None)
    _replicated(cluster, CODED, dict.fromkeys(range(len(CODECS)), numbers.stop))
    return ledger


class Writer:
    """A producer whose acknowledgements are collected; one transaction at a time if any."""

    def __init__(
        self, cluster: KafkaCluster, topic: str, settings: Mapping[str, str | int] = {}
    ) -> None:
        given = {**cluster.connection(), **QUIETLY, "linger.ms": 5, **settings}
        self.producer = Producer(given, logger=SILENT)
        self.topic = topic
        self._delivered: list[Acknowledged] = []
        self._failed: list[str] = []

    def produce(self, partition: int, number: int) -> None:
        key, value, headers = _content(number)
        timestamp = 1_700_000_000_000 + number

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self._failed.append(str(error))
                return
            offset = message.offset()
            assert offset is not None
            at = (self.topic, partition, offset)
            self._delivered.append(Acknowledged(*at, key, value, headers, timestamp, None))

        self.producer.produce(
            self.topic,
            value,
            key,
            partition=partition,
            timestamp=timestamp,
            headers=list(headers),
            on_delivery=delivered,
        )

    def acknowledged(self, ending: str | None) -> list[Acknowledged]:
        """Those since the last call, all of them; `ending` of their transaction."""
        assert self.producer.flush(TIMEOUT) == 0
        assert self._failed == []
        found, self._delivered = self._delivered, []
        return [replace(entry, ending=ending) for entry in found]


def _content(
    number: int,
) -> tuple[bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]:
    """Everything that a record may be, in turn."""
    keys = (None, b"", b"key %d" % (number % 4), bytes(range(256)))
    values = (None, b"", b"value %d" % number, b"\x00\xff" * (50 + number), b"x" * 3000)
    headers: tuple[tuple[tuple[str, bytes | None], ...], ...] = (
        (),
        (("twice", b"1"), ("twice", b"2")),
        (("null", None), ("empty", b""), ("", b"no name")),
        (("binary", bytes(range(256))), ("\u00e9\u4e2d", b"unicode")),
    )
    return keys[number % 4], values[number % 5], headers[number // 2 % 4]


def _transactions_that_go_on(cluster: KafkaCluster) -> dict[int, Writer]:
    """Five records each, by the partition that they are on."""
    writers = {}
    for partition in (CROSSING_COMMITTED, CROSSING_ABORTED, MIXED):
        writers[partition] = _transactional(cluster, f"crossing {partition}")
        writers[partition].producer.begin_transaction()
        for number in range(5):
            writers[partition].produce(partition, number)
        assert writers[partition].producer.flush(TIMEOUT) == 0
    return writers


def _transactional(cluster: KafkaCluster, name: str) -> Writer:
    settings: dict[str, str | int] = {"transactional.id": name, "transaction.timeout.ms": 900_000}
    writer = Writer(cluster, TRANSACTIONS, settings)
    writer.producer.init_transactions(TIMEOUT)
    return writer


def _end_transactions(cluster: KafkaCluster, crossing: Mapping[int, Writer]) -> list[Acknowledged]:
    """Three records more of each that had begun, which end but for the mixed partition's first."""
    ledger = []
    for partition, commit in ((CROSSING_COMMITTED, True), (CROSSING_ABORTED, False)):
        ledger += _go_on(crossing[partition], partition, range(5, 8), commit, begin=False)
    ledger += _go_on(_transactional(cluster, "committed"), COMMITTED, range(10), True)
    ledger += _go_on(_transactional(cluster, "aborted"), ABORTED, range(10), False)
    ledger += _go_on(_transactional(cluster, "open"), OPEN, range(10), None)
    mixed = _transactional(cluster, "mixed")
    ledger += _go_on(mixed, MIXED, range(10, 14), True)
    ledger += _go_on(crossing[MIXED], MIXED, range(5, 8), None, begin=False)
    ledger += _go_on(mixed, MIXED, range(14, 18), False)
    plain = Writer(cluster, TRANSACTIONS)
    for number in range(18, 22):
        plain.produce(MIXED, number)
    ledger += plain.acknowledged(None)
    ledger += _go_on(mixed, MIXED, range(22, 25), None)
    ends = {COMMITTED: 11, ABORTED: 11, OPEN: 10, MIXED: 5 + 5 + 3 + 5 + 4 + 3}
    _replicated(cluster, TRANSACTIONS, {**ends, CROSSING_COMMITTED: 9, CROSSING_ABORTED: 9})
    return ledger


def _go_on(
    writer: Writer,
    partition: int,
    numbers: Iterable[int],
    commit: bool | None,
    *,
    begin: bool = True,
) -> list[Acknowledged]:
    """commit: None leaves it open. Those of a transaction that was begun before are told of too."""
    if begin:
        writer.producer.begin_transaction()
    for number in numbers:
        writer.produce(partition, number)
    found = writer.acknowledged({True: "committed", False: "aborted", None: "open"}[commit])
    if commit is True:
        writer.producer.commit_transaction(TIMEOUT)
    elif commit is False:
        writer.producer.abort_transaction(TIMEOUT)
    return found


def _replicated(cluster: KafkaCluster, topic: str, ends: Mapping[int, int]) -> None:
    wait_until_replicated(cluster.connection(), topic, ends, TIMEOUT)


def _lose(cluster: KafkaCluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.wait_until_fenced({broker})
    _agree(cluster, set(cluster.live_brokers))


def _agree(cluster: KafkaCluster, isr: set[int]) -> None:
    for topic in (CODED, TRANSACTIONS):
        cluster.wait_until_partitions(
            topic, lambda seen: not seen.offline and set(seen.isr) == isr, TIMEOUT
        )


def _text(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _row(entry: Acknowledged) -> dict[str, object]:
    content = {"key": _text(entry.key), "value": _text(entry.value)}
    headers = [(name, _text(value)) for name, value in entry.headers]
    return {**asdict(entry), **content, "headers": headers}


def save_ledger(directory: Path, ledger: Iterable[Acknowledged]) -> None:
    (directory / _LEDGER).write_text(json.dumps([_row(entry) for entry in ledger]))


def load_ledger(directory: Path) -> list[Acknowledged]:
    return [
        Acknowledged(
            row["topic"],
            row["partition"],
            row["offset"],
            _bytes(row["key"]),
            _bytes(row["value"]),
            tuple((name, _bytes(value)) for name, value in row["headers"]),
            row["timestamp"],
            row["ending"],
        )
        for row in json.loads((directory / _LEDGER).read_text())
    ]
