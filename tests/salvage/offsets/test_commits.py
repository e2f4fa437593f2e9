"""Salvaged records of __consumer_offsets, and which of their commits are brought back."""

from __future__ import annotations

import struct

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.offsets.commits import SavedCommit, newest_commits
from kafka_unclean_recovery.salvage.offsets.resets import Allowed, Decision, Now, resets
from kafka_unclean_recovery.salvage.replay.records import SavedRecord
from kafka_unclean_recovery.salvage.transactions import Ending

ORDERS = TopicPartition("orders", 3)
SOURCE = "__consumer_offsets-7"
# The bytes 0 to 15, as Kafka writes ids.
TOPIC_ID = "AAECAwQFBgcICQoLDA0ODw"
AT = 1_700_000_000_000


def text(value: str) -> bytes:
    return struct.pack(">h", len(value.encode())) + value.encode()


def key(group: str = "readers", version: int = 1) -> bytes:
    return struct.pack(">h", version) + text(group) + text("orders") + struct.pack(">i", 3)


def value(offset: int, version: int = 3, epoch: int = 5) -> bytes:
    """Return an OffsetCommitValue of one of these versions; 4 is the first flexible one."""
    begun = struct.pack(">hq", version, offset)
    if version >= 3:
        begun += struct.pack(">i", epoch)
    if version == 4:
        return begun + b"\x03me" + struct.pack(">q", AT) + b"\x01\x00\x10" + bytes(range(16))
    expires = struct.pack(">q", AT + 1) if version == 1 else b""
    return begun + text("me") + struct.pack(">q", AT) + expires


def record(
    offset: int, key: bytes | None, value: bytes | None, ending: Ending | None = None
) -> SavedRecord:
    return SavedRecord(1, offset, 0, AT, key, value, (), ending)


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_a_commit_reads_the_same_in_every_version(version: int) -> None:
    (found,) = newest_commits([record(9, key(), value(500, version))], SOURCE)
    epoch, topic_id = 5 if version >= 3 else None, TOPIC_ID if version == 4 else None
    assert found == SavedCommit("readers", ORDERS, 500, epoch, "me", AT, 9, topic_id)


def test_the_newest_record_of_a_group_and_partition_counts() -> None:
    records = [
        record(1, key(), value(100)),
        record(2, key("others"), value(7)),
        record(3, key(), value(500)),
    ]
    found = {commit.group: commit.offset for commit in newest_commits(records, SOURCE)}
    assert found == {"others": 7, "readers": 500}


def test_a_commit_that_was_deleted_later_is_none() -> None:
    (found,) = newest_commits([record(1, key(), value(100)), record(2, key(), None)], SOURCE)
    assert found.offset is None


@pytest.mark.parametrize("ending", [Ending.OPEN, Ending.ABORTED])
def test_only_what_is_settled_counts(ending: Ending) -> None:
    records = [record(1, key(), value(100)), record(2, key(), value(500), ending)]
    (found,) = newest_commits(records, SOURCE)
    assert found.offset == 100


def test_records_on_groups_themselves_are_passed_over() -> None:
    assert newest_commits([record(1, struct.pack(">h", 2) + text("readers"), b"")], SOURCE) == []


@pytest.mark.parametrize(
    ("of_key", "of_value"),
    [
        (None, value(1)),
        (b"\x00", value(1)),
        (key() + b"\x00", value(1)),
        (key()[:-1], value(1)),
        (key(), value(1)[:-1]),
        (key(), value(1) + b"\x00"),
        (key(), struct.pack(">h", 5)),
        (key(), b""),
    ],
)
def test_a_record_of_another_topic_is_refused_with_its_place(
    of_key: bytes | None, of_value: bytes
) -> None:
    with pytest.raises(InputError, match=r"__consumer_offsets-7: offset 8 is no record of"):
        newest_commits([record(8, of_key, of_value)], SOURCE)


def saved(offset: int | None, topic_id: str | None = None, epoch: int | None = 5) -> SavedCommit:
    return SavedCommit("readers", ORDERS, offset, epoch, "", AT, 1, topic_id)


def now(committed: int | None = None, *active: str, ends: tuple[int, int] = (0, 1000)) -> Now:
    found = {} if committed is None else {("readers", ORDERS): committed}
    told = {(ORDERS, 5): 900, (ORDERS, 4): 450}
    return Now(found, frozenset(active), {ORDERS: ends}, {"orders": TOPIC_ID}, told)


@pytest.mark.parametrize(
    ("commit", "at", "forwards", "backwards"),
    [
        (saved(500), now(), Decision.BRING_BACK, Decision.BRING_BACK),
        (saved(500), now(100), Decision.BRING_BACK, Decision.BRING_BACK),
        (saved(500), now(500), Decision.GONE_ON, Decision.GONE_ON),
        (saved(500), now(501), Decision.GONE_ON, Decision.BRING_BACK),
        (saved(None), now(100), Decision.DELETED, Decision.DELETED),
        (saved(500), now(100, ends=(0, 499)), Decision.BEYOND_LOG_END, Decision.BEYOND_LOG_END),
        (saved(500), now(100, ends=(0, 500)), Decision.BRING_BACK, Decision.BRING_BACK),
        (saved(500), now(ends=(501, 600)), Decision.BELOW_LOG_START, Decision.BELOW_LOG_START),
        (saved(500, "another"), now(100), Decision.ANOTHER_TOPIC, Decision.ANOTHER_TOPIC),
        (saved(500, TOPIC_ID), now(100), Decision.BRING_BACK, Decision.BRING_BACK),
        (saved(500), now(100, "readers"), Decision.IN_USE, Decision.IN_USE),
        (saved(500), now(100, "others"), Decision.BRING_BACK, Decision.BRING_BACK),
        (saved(500, epoch=4), now(100), Decision.OTHER_RECORDS, Decision.OTHER_RECORDS),
        (saved(450, epoch=4), now(100), Decision.BRING_BACK, Decision.BRING_BACK),
        (saved(500, epoch=4), now(100, "readers"), Decision.OTHER_RECORDS, Decision.OTHER_RECORDS),
        (saved(500, epoch=6), now(100), Decision.NOT_SURE, Decision.NOT_SURE),
        (saved(500, epoch=None), now(100), Decision.NOT_SURE, Decision.NOT_SURE),
        (
            saved(500),
            Now({}, frozenset(), {}, {}, {}),
            Decision.NO_PARTITION,
            Decision.NO_PARTITION,
        ),
    ],
)
def test_a_group_goes_forwards_unless_asked_and_never_where_nothing_is(
    commit: SavedCommit, at: Now, forwards: Decision, backwards: Decision
) -> None:
    for asked, expected in ((Allowed(), forwards), (Allowed(backwards=True), backwards)):
        (reset,) = resets([commit], at, asked)
        assert reset.decision is expected
        assert reset.committed == at.committed.get(("readers", ORDERS))


@pytest.mark.parametrize(
    ("epoch", "decision"),
    [(None, Decision.BRING_BACK), (4, Decision.OTHER_RECORDS), (6, Decision.NOT_SURE)],
)
def test_only_a_commit_that_tells_no_epoch_can_be_brought_back_without_one(
    epoch: int | None, decision: Decision
) -> None:
    (reset,) = resets([saved(500, epoch=epoch)], now(100), Allowed(without_epoch=True))
    assert reset.decision is decision


def test_the_newest_commit_of_a_group_comes_first() -> None:
    older = SavedCommit("readers", TopicPartition("a", 0), 1, None, "", AT - 1, 1)
    newer = SavedCommit("readers", TopicPartition("b", 0), 1, None, "", AT, 2)
    first = SavedCommit("another", TopicPartition("b", 0), 1, None, "", AT - 2, 3)
    found = resets([older, newer, first], Now({}, frozenset(), {}, {}, {}), Allowed())
    assert [reset.saved for reset in found] == [first, newer, older]
