"""The file that says what has been produced."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.replay.checkpoint import (
    Progress,
    open_checkpoint,
    read_checkpoint,
)
from kafka_unclean_recovery.salvage.replay.records import Fate

KEY = (TopicPartition("orders", 3), "rescued")
_BEGUN = b'{"kind": "salvage-replay", "salvage": "a digest"}\n'
_WITHOUT_DONE = (
    b'{"topic": "t", "partition": 0, "target": "u", "target_topic_id": "id", "next_offset": 1'
)
PROGRESS = Progress("id", 12, {Fate.SETTLED: (2, 9, -1), Fate.OPEN: (-1, 4, 1)})


def test_what_was_noted_is_read_and_the_last_counts(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    for progress in (Progress("id", 5), PROGRESS):
        with open_checkpoint(path, "a digest") as checkpoint:
            checkpoint.note(KEY, progress)
    assert read_checkpoint(path, "a digest") == {KEY: PROGRESS}


def test_cut_off_anywhere_it_is_what_was_noted_before_and_can_be_written_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "checkpoint"
    with open_checkpoint(path, "a digest") as checkpoint:
        checkpoint.note(KEY, PROGRESS)
    whole = path.read_bytes()
    for length in (*range(0, len(whole), 9), len(whole) - 1):
        path.write_bytes(whole[:length])
        assert read_checkpoint(path, "a digest") == {}
        with open_checkpoint(path, "a digest") as checkpoint:
            checkpoint.note(KEY, PROGRESS)
        assert path.read_bytes() == whole


def test_two_runs_do_not_go_by_one_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    with (
        open_checkpoint(path, "a digest"),
        pytest.raises(InputError, match="another run goes by it"),
        open_checkpoint(path, "a digest"),
    ):
        pass


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"not JSON", "not a checkpoint of salvage replay"),
        (b"not JSON\n", "line 1"),
        (b'{"format_version": 1, "kind": "plan"}\n', 'kind: must be one of "salvage-replay"'),
        (b"\xff\n", "not UTF-8"),
        (b'{"kind": "salvage-replay", "salvage": "another"}\n', "of another salvage"),
        (b'{"kind": "salvage-replay", "salvage": "a digest"}\n{}\n', 'line 2: has no "topic"'),
        (_BEGUN + _WITHOUT_DONE + b"}\n", 'line 2: has no "done"'),
        (
            _BEGUN + _WITHOUT_DONE + b', "done": {"settled": [1, 2]}}\n',
            r"line 2: done\.settled: must be three numbers",
        ),
    ],
)
def test_what_is_no_checkpoint_of_this_salvage_is_left_as_it_is(
    tmp_path: Path, content: bytes, why: str
) -> None:
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    with pytest.raises(InputError, match=why):
        read_checkpoint(path, "a digest")
    with pytest.raises(InputError, match=why), open_checkpoint(path, "a digest"):
        pass
    assert path.read_bytes() == content
