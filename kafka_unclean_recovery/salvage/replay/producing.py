"""librdkafka (confluent-kafka) describes a target, reads its records back, and produces records."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import confluent_kafka
import confluent_kafka.admin

from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.replay.client_settings import Settings
from kafka_unclean_recovery.salvage.replay.origin import Headers, Origin, parse_origin
from kafka_unclean_recovery.salvage.replay.records import SavedRecord
from kafka_unclean_recovery.salvage.replay.target import Target

TIMEOUT = 60.0
"""The seconds without any progress after which a wait is given up."""

_POLL = 0.2
_READ_AT_ONCE = 500
_GROUP = "kafka-unclean-recovery"
_NO_TIME = -1
_SMALLEST_MESSAGE = 1000
_LARGEST_MESSAGE = 1_000_000_000
_LARGEST_BATCH = 1_000_000

# confluent-kafka's annotations are not correct.
_confluent: Any = confluent_kafka

# librdkafka looks for the coordinator of the group although no group is joined.
_GROUP_REFUSED = _confluent.KafkaError.GROUP_AUTHORIZATION_FAILED

# librdkafka's own log would go to stderr in a format of its own.
_SILENT = logging.getLogger("kafka_unclean_recovery.librdkafka")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False


class ProducingFailed(Exception):
    """The cluster failed a replay; the message is a sentence on what it did not do."""


class NotReached(Exception):
    """No broker could be reached, or none let us in."""


@dataclass(slots=True)
class Client:
    """A client of one cluster, for one thread. settings: used for every connection."""

    settings: Settings
    _error: str = ""

    def describe(self, topics: Iterable[str]) -> dict[str, Target]:
        """Return those of the topics that exist, by name. Raises NotReached, ProducingFailed."""
        admin = self.admin()
        there = self._topics(admin)
        names = sorted(set(topics) & there.keys())
        if not names:
            return {}
        kind = _confluent.admin.ConfigResource.Type.TOPIC
        resources = [_confluent.admin.ConfigResource(kind, name) for name in names]
        described = admin.describe_topics(_confluent.TopicCollection(names))
        configs = admin.describe_configs(resources)
        return {
            name: _target(name, _answer(described[name], name), _answer(configs[resource], name))
            for name, resource in zip(names, resources, strict=True)
        }

    def admin(self) -> Any:
        """Return an AdminClient of confluent-kafka. Raises ProducingFailed."""
        return self._made(_confluent.admin.AdminClient, {})

    def partitions(self, topics: Iterable[str]) -> set[TopicPartition]:
        """Return the partitions of those topics that exist. Raises NotReached, ProducingFailed."""
        there = self._topics(self.admin())
        names = set(topics) & there.keys()
        return {TopicPartition(name, number) for name in names for number in there[name].partitions}

    def _topics(self, admin: Any) -> Any:
        try:
            # A request by name would ask for a missing topic to be created.
            return admin.list_topics(timeout=TIMEOUT).topics
        except _confluent.KafkaException as error:
            why = self._error or _why(error)
            raise NotReached(f"no broker could be reached: {why}") from None

    def read_back(
        self, topic: str, partition: int, start: int | None, going_on: Callable[[], None]
    ) -> tuple[int, list[Origin]]:
        """Return the partition's log end offset as consumers see it, and the origins of replayed
        records from `start` on, or of all when it is None. Raises ProducingFailed, and what
        `going_on` raises."""
        consumer = self._made(
            _confluent.Consumer,
            {
                "group.id": _GROUP,
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_uncommitted",
                "auto.offset.reset": "error",
            },
        )
        with closing(consumer):
            try:
                place = _confluent.TopicPartition(topic, partition)
                bounds = consumer.get_watermark_offsets(place, timeout=TIMEOUT)
                if bounds is None:
                    raise ProducingFailed(f"{topic}-{partition}: no answer within {TIMEOUT:.0f} s")
                low, end = bounds
                if start is not None and end < start:
                    raise ProducingFailed(
                        f"{topic}-{partition} ends at {end}, and had {start} before: it lost"
                        " records, so the checkpoint does not hold; name a new --checkpoint"
                    )
                first = low if start is None else max(start, low)
                if first >= end:
                    return end, []
                consumer.assign([_confluent.TopicPartition(topic, partition, first)])
                messages = _until(consumer, end, going_on)
                headers = (message.headers() or () for message in messages)
                return end, [each for each in map(parse_origin, headers) if each is not None]
            except _confluent.KafkaException as error:
                raise ProducingFailed(f"{topic}-{partition}: {_why(error)}") from None

    def producer(self, targets: Iterable[Target]) -> Producer:
        """Return one producer for all of these targets. Raises ProducingFailed."""
        limits = [target.number("max.message.bytes") or _LARGEST_BATCH for target in targets]
        most = min(max(limits, default=_LARGEST_BATCH), _LARGEST_MESSAGE)
        settings: Settings = {
            "enable.idempotence": True,
            # A batch that a broker refuses ends the run, so that no later batch is written before
            # it.
            "enable.gapless.guarantee": True,
            "acks": "all",
            "allow.auto.create.topics": False,
            "compression.type": "none",
            "linger.ms": 5,
            "message.timeout.ms": int(TIMEOUT * 1000),
            "message.max.bytes": max(most, _SMALLEST_MESSAGE),
            # No target refuses a batch of this size; a record that is larger goes alone.
            "batch.size": max(min([*limits, _LARGEST_BATCH]), 1),
        }
        return Producer(self._made(_confluent.Producer, settings))

    def _made(self, kind: Any, more: Settings) -> Any:
        settings = {**self.settings, **more, "error_cb": self._heard}
        try:
            return kind(settings, logger=_SILENT)
        except _confluent.KafkaException as error:
            # The text of the error may quote a setting.
            code = error.args[0].name()
            raise ProducingFailed(f"librdkafka can't use these client settings ({code})") from None

    def _heard(self, error: Any) -> None:
        if error.code() != _confluent.KafkaError._ALL_BROKERS_DOWN:
            self._error = error.str()


@dataclass(slots=True)
class Producer:
    _producer: Any

    def send(
        self, topic: str, partition: int, records: Sequence[tuple[SavedRecord, Headers]]
    ) -> int:
        """Send the records and wait until all in-sync replicas acknowledge every one. Return the
        offset after the last of them in the target. Raises ProducingFailed: then some of them may
        be there."""
        last = -1
        problems: list[str] = []

        def delivered(error: Any, message: Any) -> None:
            nonlocal last
            if error is None:
                last = message.offset()
            else:
                problems.append(error.str())

        try:
            for record, headers in records:
                self._producer.produce(
                    topic,
                    value=record.value,
                    key=record.key,
                    partition=partition,
                    headers=list(headers),
                    timestamp=_timestamp(record),
                    on_delivery=delivered,
                )
            waiting = self._flush()
        except (_confluent.KafkaException, BufferError) as error:
            raise ProducingFailed(f"{topic}-{partition}: {self._reason(error)}") from None
        if problems or waiting:
            why = problems[0] if problems else f"no answer within {TIMEOUT:.0f} s"
            raise ProducingFailed(f"{topic}-{partition}: {why}")
        return last + 1

    def _reason(self, error: Exception) -> str:
        """Return why producing failed. After a fatal error produce only says that there was one;
        polling tells which."""
        try:
            self._producer.poll(_POLL)
        except _confluent.KafkaException as fatal:
            return _why(fatal)
        return _why(error)

    def _flush(self) -> int:
        """Return how many records are left without an answer. The wait is in small steps, so that a
        signal is heard in between."""
        deadline = time.monotonic() + TIMEOUT + _POLL
        while waiting := int(self._producer.flush(_POLL)):
            if time.monotonic() > deadline:
                break
        return waiting


def _timestamp(record: SavedRecord) -> int:
    """Return the time for librdkafka, which takes 0 for "now". It sends -1 as it is, and this is
    how Kafka says that a record has no time."""
    return _NO_TIME if record.timestamp is None else record.timestamp or 1


def _until(consumer: Any, end: int, going_on: Callable[[], None]) -> Iterator[Any]:
    """Yield messages up to `end`, or the end of the partition: last offsets may hold none."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        going_on()
        # With a timeout, consume would wait for as many messages as it was asked for.
        ready = consumer.consume(_READ_AT_ONCE, timeout=0) or consumer.consume(1, timeout=_POLL)
        for message in ready:
            deadline = time.monotonic() + TIMEOUT
            error = message.error()
            if error is None:
                yield message
            elif error.code() == _GROUP_REFUSED:
                continue
            elif error.code() != _confluent.KafkaError._PARTITION_EOF:
                raise _confluent.KafkaException(error)
            if message.offset() >= (end - 1 if error is None else end):
                return
        if time.monotonic() > deadline:
            raise ProducingFailed(f"it could not be read: no answer within {TIMEOUT:.0f} s")


def _answer(future: Any, topic: str) -> Any:
    try:
        return future.result(TIMEOUT)
    except (_confluent.KafkaException, FutureTimeout) as error:
        raise ProducingFailed(f"{topic} can't be described: {_why(error)}") from None


def _target(name: str, description: Any, configs: Any) -> Target:
    values = {key: entry.value for key, entry in configs.items() if entry.value is not None}
    return Target(name, str(description.topic_id), len(description.partitions), values)


def _why(error: Exception) -> str:
    first = error.args[0] if error.args else None
    return first.str() if isinstance(first, _confluent.KafkaError) else str(error) or "timed out"
