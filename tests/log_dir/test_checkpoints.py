"""Leader epochs and offsets from checkpoint files."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.checkpoints import (
    HIGH_WATERMARKS,
    parse_leader_epochs,
    parse_offsets,
)
from kafka_unclean_recovery.model import TopicPartition
from tests.log_dir.segments import checkpoint, outcome

TOPICS = st.text("abcXYZ019._-", min_size=1, max_size=30)
OFFSETS = st.integers(0, 2**63 - 1)


def test_leader_epochs() -> None:
    assert parse_leader_epochs(b"0\n2\n0 0\n2 2000\n") == ((0, 0), (2, 2000))


@pytest.mark.parametrize("data", [b"", b"0\n0\n"])
def test_no_entries(data: bytes) -> None:
    assert parse_leader_epochs(data) == ()
    assert parse_offsets(HIGH_WATERMARKS, data) == {}


def test_line_ends_of_windows() -> None:
    assert parse_leader_epochs(b"0\r\n1\r\n4 7\r\n") == ((4, 7),)


@given(st.dictionaries(st.integers(0, 2**31 - 1), OFFSETS, max_size=20))
def test_leader_epochs_round_trip(epochs: dict[int, int]) -> None:
    entries = tuple(zip(sorted(epochs), sorted(set(epochs.values())), strict=False))
    data = checkpoint(*(f"{epoch} {start}" for epoch, start in entries))
    assert parse_leader_epochs(data) == entries


@given(st.dictionaries(st.tuples(TOPICS, st.integers(0, 2**31 - 1)), OFFSETS, max_size=20))
def test_offsets_round_trip(offsets: dict[tuple[str, int], int]) -> None:
    data = checkpoint(*(f"{topic} {number} {at}" for (topic, number), at in offsets.items()))
    expected = {TopicPartition(*key): at for key, at in offsets.items()}
    assert parse_offsets(HIGH_WATERMARKS, data) == expected


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"0", "the last line is cut short"),
        (b"0\n", "no count"),
        (b"0\n1\n0 0", "the last line is cut short"),
        (b"1\n0\n", "version '1' is not known"),
        (b"0\n2147483647\n", "2147483647 entries announced, 0 there"),
        (b"0\n-1\n", "'-1' is not a number from 0 to 2147483647"),
        (checkpoint("0 0", count=2), "2 entries announced, 1 there"),
        (checkpoint("0 0", "1 1", count=1), "1 entries announced, 2 there"),
        (checkpoint("0 0") + b"\n", "1 entries announced, 2 there"),
        (checkpoint("0 0", "0 1"), "0 0 is followed by 0 1"),
        (checkpoint("0 5", "1 5"), "0 5 is followed by 1 5"),
        (checkpoint("1 5", "0 6"), "1 5 is followed by 0 6"),
        (checkpoint("0 5", "1 4"), "0 5 is followed by 1 4"),
        (checkpoint("-1 0"), "not an entry: '-1 0'"),
        (checkpoint("0  0"), "not an entry: '0  0'"),
        (checkpoint("0 0 "), "not an entry: '0 0 '"),
        (checkpoint("0 01"), "'01' is not a number from 0 to 9223372036854775807"),
        (checkpoint("2147483648 0"), "'2147483648' is not a number from 0 to 2147483647"),
        (checkpoint("0 9223372036854775808"),
         "'9223372036854775808' is not a number from 0 to 9223372036854775807"),
        (checkpoint("\u0661 0"), "not an entry: '\\u0661 0'"),
        (b"0\n1\n0 \xff\n", "byte 6 is not UTF-8"),
    ],
)  # fmt: skip
def test_bad_leader_epochs(data: bytes, detail: str) -> None:
    with pytest.raises(BadFormat) as raised:
        parse_leader_epochs(data)
    assert (raised.value.what, raised.value.detail) == ("leader-epoch-checkpoint", detail)


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        ("t 0", "not an entry: 't 0'"),
        ("t u 0 0", "not an entry: 't u 0 0'"),
        ("t\u2028 0 0", "not an entry: 't\\u2028 0 0'"),
        ("t 0 -1", "not an entry: 't 0 -1'"),
        ("t 2147483648 0", "'2147483648' is not a number from 0 to 2147483647"),
        ("x" * 250 + " 0 0", f"not an entry: '{'x' * 59}..."),
    ],
)
def test_bad_offsets(line: str, detail: str) -> None:
    with pytest.raises(BadFormat) as raised:
        parse_offsets(HIGH_WATERMARKS, checkpoint("a 0 0", line))
    assert (raised.value.what, raised.value.detail) == (HIGH_WATERMARKS, detail)


def test_a_partition_named_twice() -> None:
    with pytest.raises(BadFormat, match="'t-1' is there twice"):
        parse_offsets(HIGH_WATERMARKS, checkpoint("t 1 5", "t 1 5"))


@given(st.binary(max_size=200) | st.text("0123456789 -\nt\r").map(str.encode))
def test_any_bytes_give_a_value_or_bad_format(data: bytes) -> None:
    assert len(outcome(lambda: parse_leader_epochs(data))) < 200
    assert len(outcome(lambda: parse_offsets(HIGH_WATERMARKS, data))) < 200


def test_the_exception_travels_between_processes() -> None:
    error = pickle.loads(pickle.dumps(BadFormat("a", "b")))
    assert (error.what, error.detail, str(error)) == ("a", "b", "a: b")
