"""The configs of a target topic tell which records it would alter, drop or refuse. This module does
no I/O.

Source: the topic configs of Kafka, org.apache.kafka.common.config.TopicConfig.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.kafka_names import INTERNAL_TOPICS
from kafka_unclean_recovery.salvage.replay.origin import Headers
from kafka_unclean_recovery.salvage.replay.records import Fate, SavedRecord
from kafka_unclean_recovery.wording import count_text

PLACEHOLDER = "{topic}"
_NUMBER = re.compile(r"[0-9]{1,19}")
_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")

_DIFFERENCE = "message.timestamp.difference.max.ms"
_ANY_TIME = 2**63 - 1

# These are the bytes of a batch's header, and the most that the lengths and deltas of a record and
# of its headers take as varints.
_BATCH_OVERHEAD = 61
_RECORD_OVERHEAD = 36
_HEADER_OVERHEAD = 10


@dataclass(frozen=True, slots=True)
class Target:
    """A target topic. configs: by name, as the cluster describes them."""

    topic: str
    topic_id: str
    partitions: int
    configs: Mapping[str, str]

    def number(self, name: str) -> int | None:
        """Return the config as a number, None if it is -1 or not there."""
        text = self.configs.get(name, "")
        return int(text) if _NUMBER.fullmatch(text) else None

    def time_bound(self, name: str) -> int | None:
        """Return how far a record's time may lie from the broker's, in ms. Up to 3.9 an older
        config holds where this one has its default
        (org.apache.kafka.storage.internals.log.LogConfig)."""
        bound = self.number(name)
        return self.number(_DIFFERENCE) if bound in (None, _ANY_TIME) else bound


def target_name(template: str, topic: str) -> str:
    """Return the name of the target of `topic`. Raises InputError when it can't name a topic or is
    Kafka's own."""
    name = template.replace(PLACEHOLDER, topic)
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise InputError(
            f"--target {template}: {name!r} can't name a topic; use letters, digits, '.', '_' and"
            f" '-', at most 249, and {PLACEHOLDER} for the topic that was salvaged"
        )
    if name in INTERNAL_TOPICS:
        raise InputError(f"--target {template}: {name} is Kafka's own; name another topic")
    return name


def most_bytes(record: SavedRecord, headers: Headers) -> int:
    """Return an upper bound of the bytes that an uncompressed batch with only this record takes."""
    tagged = sum(_HEADER_OVERHEAD + len(k.encode()) + len(v or b"") for k, v in headers)
    payload = len(record.key or b"") + len(record.value or b"")
    return _BATCH_OVERHEAD + _RECORD_OVERHEAD + payload + tagged


@dataclass(slots=True)
class TargetCounts:
    """The counts of one partition's records. done: produced already, by the checkpoint. copies:
    beyond the first.

    The last six count records that are to be produced: keyless where the target wants keys,
    too_large for it, too_new and too_old for its time stamps, expired by its retention.ms, at_zero:
    with time 0, which librdkafka takes for "now".
    """

    to_produce: int = 0
    done: int = 0
    copies: int = 0
    open: int = 0
    aborted: int = 0
    control: int = 0
    keyless: int = 0
    too_large: int = 0
    too_new: int = 0
    too_old: int = 0
    expired: int = 0
    at_zero: int = 0

    def leave_out(self, record: SavedRecord, why: Fate | None) -> None:
        """Count a record that is left out. why: None when it has been produced already."""
        self.copies += record.copies - 1
        self.open += why is Fate.OPEN
        self.aborted += why is Fate.ABORTED
        self.control += why is Fate.CONTROL
        self.done += why is None

    def produce(
        self, record: SavedRecord, headers: Headers, target: Target | None, now: int
    ) -> None:
        """Count a record to be produced. now: ms since 1970. target: None if there is none."""
        self.copies += record.copies - 1
        self.to_produce += 1
        self.at_zero += record.timestamp == 0
        if target is None:
            return
        self.keyless += record.key is None and _compacts(target)
        largest = target.number("max.message.bytes")
        self.too_large += largest is not None and most_bytes(record, headers) > largest
        if record.timestamp is None or _stamps(target):
            return
        ahead = target.time_bound("message.timestamp.after.max.ms")
        behind = target.time_bound("message.timestamp.before.max.ms")
        kept = target.number("retention.ms")
        self.too_new += ahead is not None and record.timestamp > now + ahead
        self.too_old += behind is not None and record.timestamp < now - behind
        self.expired += kept is not None and _deletes(target) and record.timestamp < now - kept


def _stamps(target: Target) -> bool:
    return target.configs.get("message.timestamp.type") == "LogAppendTime"


def _policy(target: Target) -> list[str]:
    return [each.strip() for each in target.configs.get("cleanup.policy", "").split(",")]


def _deletes(target: Target) -> bool:
    return "delete" in _policy(target)


def _compacts(target: Target) -> bool:
    return "compact" in _policy(target)


def obstacles(counts: TargetCounts, partition: int, target: Target) -> Iterator[str]:
    """Yield why the brokers would refuse some records; each reason says what to set."""
    if partition >= target.partitions:
        there = count_text(target.partitions, "partition")
        yield f"it has {there}: add more, up to {partition + 1}"
    for number, what, fix in (
        (counts.keyless, "without a key", "it is compacted: take that out of its cleanup.policy"),
        (counts.too_large, "may be larger than its max.message.bytes", "raise that"),
        (
            counts.too_new,
            "too far in the future for it",
            "raise message.timestamp.after.max.ms",
        ),
        (counts.too_old, "too old for it", "raise message.timestamp.before.max.ms"),
    ):
        if number:
            yield f"{count_text(number, 'record')} {what}: {fix}"


def alterations(counts: TargetCounts, topic: str, target: Target) -> Iterator[str]:
    """Yield what would not stay as it was in the target."""
    if not counts.to_produce:
        return
    if _stamps(target):
        yield "message.timestamp.type=LogAppendTime: times are overwritten; a header keeps them"
    if counts.at_zero and not _stamps(target):
        yield f"{count_text(counts.at_zero, 'record')} of time 0 become time 1 ms"
    if counts.expired:
        found = count_text(counts.expired, "record")
        yield f"{found} older than its retention.ms: deleted soon after; raise it first"
    if _deletes(target) and (kept := target.number("retention.bytes")) is not None:
        yield f"retention.bytes={kept}: what goes beyond it is deleted"
    if _compacts(target):
        yield "cleanup.policy=compact: an old value produced later wins over the newer one"
    if target.topic == topic:
        yield "it is the topic itself: its consumers read these records again"
