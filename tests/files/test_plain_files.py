"""Files that somebody else may have prepared: nothing hangs, no link leads away."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path, PurePath

import pytest

from kafka_unclean_recovery.documents.journal_lines import LARGEST_JOURNAL, JournalError
from kafka_unclean_recovery.documents.reading import json_text
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.journal import Journal, only_holder
from kafka_unclean_recovery.files.plain_files import (
    foreign_link,
    open_plain,
    open_plain_within,
    read_plain,
    whole_text,
)
from kafka_unclean_recovery.files.state_directory import unfinished_journals


def test_a_file_of_more_bytes_than_such_files_have_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10)
    assert read_plain(path, 10) == b"x" * 10
    with pytest.raises(OSError, match="more than 9 bytes"):
        read_plain(path, 9)


def test_a_file_without_a_size_is_read_up_to_one(tmp_path: Path) -> None:
    """As those below /proc, some of which have no end that a machine has the memory for."""
    with pytest.raises(OSError, match="more than 100000 bytes"):
        read_plain(Path("/proc/self/pagemap"), 100_000)


def test_only_plain_files_within_are_opened(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "in" / "file")
    os.mkfifo(tmp_path / "in" / "pipe")
    with open_plain_within(tmp_path, PurePath("in/file")) as file:
        assert file.read() == b"x"
    for name in ("link/file", "in/link", "in/pipe", "in", "in/none", ".", "a\0b", "\ud800"):
        with pytest.raises(OSError):
            open_plain_within(tmp_path, PurePath(name)).close()


def test_a_lock_file_is_not_made_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the home of somebody else it would be made wherever he likes."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "lock").symlink_to(tmp_path / "made")
    with pytest.raises(JournalError), only_holder(tmp_path / "state" / "lock"):
        pass
    (tmp_path / "way").symlink_to(tmp_path / "state")
    (tmp_path / "state" / "lock").unlink()
    with only_holder(tmp_path / "way" / "lock"):
        assert foreign_link(tmp_path / "way" / "lock") is None
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    os.chown(tmp_path / "way", 4712, -1, follow_symlinks=False) if os.getuid() == 0 else None
    if os.getuid() == 0:
        with (
            pytest.raises(JournalError, match="a link of another user"),
            only_holder(tmp_path / "way" / "lock"),
        ):
            pass
    assert not (tmp_path / "made").exists()


def test_journals_that_are_none_are_named_and_nothing_hangs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    with (tmp_path / "b.jsonl").open("wb") as file:
        file.truncate(LARGEST_JOURNAL + 1)
    (tmp_path / "c.jsonl").write_text("[" * 100_000 + "\n")
    found, complaints = unfinished_journals(tmp_path)
    assert found == []
    assert [path.name for path in complaints] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    for name in ("a.jsonl", "b.jsonl"):
        with pytest.raises(JournalError):
            Journal.open(tmp_path / name)
    assert (tmp_path / "b.jsonl").stat().st_size == LARGEST_JOURNAL + 1


def test_a_document_with_more_entries_than_any_has_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_text, "_MOST_ENTRIES", 10)
    monkeypatch.setattr(json_text, "_MOST_VALUES", 10)
    for text in ("[" * 11, "[{}" * 6, ",".join("1" * 12)):
        with pytest.raises(InputError, match="it holds more than any such file"):
            json_text.load_object(text, "file")


def _read_text(path: Path, most: int, *, torn: bool = False) -> bytes:
    with open_plain(path) as file:
        return whole_text(file, most, torn=torn)


def test_a_file_that_is_one_hole_is_refused_before_it_is_in_memory(tmp_path: Path) -> None:
    large = tmp_path / "plan.json"
    with large.open("wb") as file:
        file.write(b"{")
        file.truncate(900 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(OSError, match="it has a NUL"):
            _read_text(large, 1 << 30)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [10, 3 << 20])
def test_nuls_at_the_end_of_a_journal_do_not_count_and_others_do(tmp_path: Path, size: int) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"{}\n" + bytes(size))
    assert _read_text(path, 1 << 30, torn=True) == b"{}\n"
    with pytest.raises(OSError, match="it has a NUL"):
        _read_text(path, 1 << 30)
    path.write_bytes(b"{}\n" + bytes(size) + b"{}\n")
    with pytest.raises(OSError, match="it has a NUL"):
        _read_text(path, 1 << 30, torn=True)
    path.write_bytes(b"{}\n" * size)
    assert _read_text(path, 1 << 30) == b"{}\n" * size
