"""What a target would refuse or alter."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.salvage.replay.records import SavedRecord
from kafka_unclean_recovery.salvage.replay.target import (
    Target,
    TargetCounts,
    alterations,
    most_bytes,
    obstacles,
    target_name,
)
from tests.salvage.batches import batch

NOW = 1_800_000_000_000
KEPT = {
    "cleanup.policy": "delete",
    "max.message.bytes": "1000",
    "message.timestamp.after.max.ms": "3600000",
    "message.timestamp.before.max.ms": str(2**63 - 1),
    "message.timestamp.type": "CreateTime",
    "retention.bytes": "-1",
    "retention.ms": "-1",
}


def told(
    timestamp: int | None = NOW,
    value: bytes = b"",
    topic: str = "orders",
    key: bytes | None = b"",
    **configs: str,
) -> list[str]:
    """Return what is told of one record."""
    changed = {key.replace("_", "."): text for key, text in configs.items()}
    target = Target("target", "id", 1, {**KEPT, **changed})
    counts = TargetCounts()
    counts.produce(SavedRecord(1, 5, 0, timestamp, key, value, ()), (), target, NOW)
    return [*obstacles(counts, 0, target), *alterations(counts, topic, target)]


def test_a_topic_that_keeps_everything_gives_nothing_to_say() -> None:
    for time in (1, NOW, NOW + 3_600_000, None):
        assert told(time) == []


@pytest.mark.parametrize(
    ("found", "start"),
    [
        (told(value=b"x" * 1000), "1 record may be larger than its max.message.bytes: raise"),
        (told(NOW + 3_600_001), "1 record too far in the future for it: raise"),
        (told(NOW - 11, message_timestamp_before_max_ms="10"), "1 record too old for it: raise"),
        (told(NOW - 11, retention_ms="10"), "1 record older than its retention.ms"),
        (told(retention_bytes="10"), "retention.bytes=10: what goes beyond it is deleted"),
        (told(0), "1 record of time 0 become"),
        (told(message_timestamp_type="LogAppendTime"), "message.timestamp.type=LogAppendTime"),
        (told(cleanup_policy="compact"), "cleanup.policy=compact: an old value"),
        (told(topic="target"), "it is the topic itself"),
    ],
)
def test_what_a_target_does_to_records_is_told_once(found: list[str], start: str) -> None:
    (sentence,) = found
    assert sentence.startswith(start)


def test_retention_does_not_count_where_nothing_is_deleted_by_age() -> None:
    (sentence,) = told(NOW - 11, retention_ms="10", cleanup_policy="compact")
    assert sentence.startswith("cleanup.policy=compact")


def test_times_that_are_overwritten_are_not_held_against_a_record() -> None:
    (sentence,) = told(NOW + 10**10, message_timestamp_type="LogAppendTime")
    assert sentence.startswith("message.timestamp.type=LogAppendTime")


def test_a_compacted_topic_takes_no_record_without_a_key() -> None:
    refused, altered = told(key=None, cleanup_policy="compact,delete")
    assert refused.startswith("1 record without a key: it is compacted")
    assert altered.startswith("cleanup.policy=compact")


def test_the_older_bound_on_times_holds_where_the_newer_is_not_set() -> None:
    unset = str(2**63 - 1)
    for time in (NOW - 11, NOW + 11):
        (sentence,) = told(
            time, message_timestamp_after_max_ms=unset, message_timestamp_difference_max_ms="10"
        )
        assert sentence.startswith("1 record too")
    assert told(NOW + 11, message_timestamp_difference_max_ms="10") == []
    assert told(NOW + 11, message_timestamp_after_max_ms=unset) == []


def test_a_partition_that_the_target_lacks_is_an_obstacle() -> None:
    target = Target("target", "id", 2, KEPT)
    assert list(obstacles(TargetCounts(), 1, target)) == []
    assert list(obstacles(TargetCounts(), 2, target)) == ["it has 2 partitions: add more, up to 3"]


def test_the_bound_on_a_batch_s_size_is_one() -> None:
    headers = [("ä" * 40, b"v" * 300), ("n", None)]
    for key, value in ((None, None), (b"k" * 200, b"v" * 70_000)):
        built = batch(0, [(NOW, key, value, headers)])
        most = most_bytes(SavedRecord(1, 0, 0, NOW, key, value, headers), headers)
        assert len(built) <= most <= len(built) + 60


@pytest.mark.parametrize("template", ["", ".", "{topic}/x", "x" * 250, "{other}"])
def test_a_template_that_makes_no_topic_name_is_refused(template: str) -> None:
    with pytest.raises(InputError, match="can't name a topic"):
        target_name(template, "orders")


def test_the_template_s_placeholder_is_the_topic() -> None:
    assert target_name("{topic}.salvaged", "orders") == "orders.salvaged"
    assert target_name("rescued", "orders") == "rescued"
