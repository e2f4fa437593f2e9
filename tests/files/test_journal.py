"""The journal survives what happens to processes and disks, and says what is left to do."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.journal_lines import (
    JournalError,
    lost_unasked,
    parse,
    unfinished,
)
from kafka_unclean_recovery.files.journal import Journal, JournalBusy
from kafka_unclean_recovery.files.state_directory import (
    link_to,
    state_directory,
    unfinished_journals,
)
from kafka_unclean_recovery.model import TopicPartition


def _reorder(partition: int, original: list[int], written: list[int]) -> Mapping[str, Any]:
    return {
        "topic": "orders",
        "topic_id": "id",
        "partition": partition,
        "original": original,
        "written": written,
    }


def test_lines_are_on_the_disk_when_write_returns(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "deep" / "j.jsonl") as journal:
        journal.write("begin", cluster_id="c")
        line = json.loads((tmp_path / "deep" / "j.jsonl").read_text())
    assert (line["v"], line["event"], line["cluster_id"]) == (1, "begin", "c")
    assert line["at"].endswith("+00:00")
    assert (tmp_path / "deep" / "j.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_is_only_told_is_on_the_disk_and_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.tell("decision", ({"partition": number} for number in range(1201)))
        assert journal.lines == []
    told = parse(path.read_text(), "j")
    assert [line["partition"] for line in told] == list(range(1201))
    assert {line["event"] for line in told} == {"decision"}


def test_a_line_tells_when_it_was_written(tmp_path: Path) -> None:
    before = time.time() * 1000 - 1
    with Journal.open(tmp_path / "j.jsonl") as journal:
        journal.note("begin")
        (line,) = journal.lines
    assert before <= line["at_ms"] <= time.time() * 1000
    assert datetime.fromisoformat(line["at"]).timestamp() * 1000 == pytest.approx(line["at_ms"])


def test_a_reorder_is_unfinished_until_it_is_restored(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "j.jsonl") as journal:
        steps = [_reorder(0, [1, 2], [2, 1]), _reorder(1, [1, 2], [2, 1])]
        journal.write("reorder", partitions=steps)
        journal.write("restored", partitions=[{"topic": "orders", "partition": 0}])
    with Journal.open(tmp_path / "j.jsonl") as journal:
        left = unfinished(journal.lines)
    assert [(s.topic_partition, s.original, s.written) for s in left] == [
        (TopicPartition("orders", 1), (1, 2), (2, 1))
    ]


def test_the_first_original_counts_when_a_retry_saw_our_own_order() -> None:
    lines = [
        {"event": "reorder", "at_ms": 1, "partitions": [_reorder(0, [1, 2], [2, 1])]},
        {"event": "reorder", "at_ms": 2, "partitions": [_reorder(0, [2, 1], [2, 1])]},
    ]
    (left,) = unfinished(lines)
    assert left.original == (1, 2)
    assert left.at_ms == 2


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("begin")
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"v":1,"event":"reor')
    with Journal.open(path) as journal:
        assert [line["event"] for line in journal.lines] == ["begin"]
        journal.write("end")
    assert path.read_bytes().startswith(whole)
    assert b"reor" not in path.read_bytes()
    assert [line["event"] for line in parse(path.read_text(), "j")] == ["begin", "end"]


@pytest.mark.parametrize(
    "line", ["nonsense", "[1]", '{"v":1}', '{"v":2,"event":"begin"}', '{"v":1,"event":5}']
)
def test_a_line_that_is_none_is_named(line: str) -> None:
    good = '{"v":1,"event":"begin"}'
    with pytest.raises(JournalError, match="j, line 2"):
        parse(f"{good}\n{line}\n", "j")


@pytest.mark.parametrize(("partition", "read"), [(2**31 - 1, True), (2**31, False), (-1, False)])
def test_an_order_of_a_partition_that_no_topic_has_is_not_put_back(
    partition: int, read: bool
) -> None:
    order = _reorder(partition, [1, 2], [2, 1])
    line = json.dumps({"v": 1, "event": "reorder", "at_ms": 1, "partitions": [order]})
    if read:
        assert unfinished(parse(line, "j"))
        return
    with pytest.raises(JournalError, match="j, line 1: not as it was written"):
        parse(line, "j")


def test_what_was_lost_unasked_is_told_by_the_end_of_the_run_alone() -> None:
    def row(partition: int, outcome: str, **more: object) -> Mapping[str, object]:
        return {"topic": "orders", "partition": partition, "outcome": outcome, **more}

    rows = [
        row(0, "failed", reason="broker 2 leads", lost=True),
        row(1, "failed", reason="refused"),
        row(2, "elected", reason=None),
    ]
    lines = [{"event": event, "partitions": rows} for event in ("outcome", "verified")]
    told = {TopicPartition("orders", 0): "broker 2 leads"}
    assert lost_unasked(lines) == told
    assert lost_unasked(lines[:1]) == {}


def test_two_runs_never_write_one_journal(tmp_path: Path) -> None:
    with (
        Journal.open(tmp_path / "j.jsonl"),
        pytest.raises(JournalError, match="another run"),
    ):
        Journal.open(tmp_path / "j.jsonl")


def test_a_journal_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="file"):
        Journal.open(tmp_path / "file" / "j.jsonl")


def test_the_replicas_of_a_topic_that_was_deleted_are_not_given_to_the_one_made_anew() -> None:
    def line(topic_id: str, original: list[int], written: list[int]) -> dict[str, Any]:
        row = {"topic": "orders", "topic_id": topic_id, "partition": 0}
        orders = {"original": original, "written": written}
        return {"event": "reorder", "at_ms": 1, "partitions": [row | orders]}

    (left,) = unfinished([line("old", [1, 2], [2, 1]), line("new", [4, 3], [3, 4])])
    assert (left.topic_id, left.original, left.written) == ("new", (4, 3), (3, 4))


def test_unfinished_journals_are_found_and_unreadable_ones_are_named(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "1.jsonl") as journal:
        journal.write("begin")
    with Journal.open(tmp_path / "2.jsonl") as journal:
        journal.write("reorder", partitions=[_reorder(0, [1, 2], [2, 1])])
    (tmp_path / "3.jsonl").write_text("nonsense\n")
    found, complaints = unfinished_journals(tmp_path)
    assert found == [tmp_path / "2.jsonl"]
    assert list(complaints) == [tmp_path / "3.jsonl"]
    assert f"{tmp_path / '3.jsonl'}, line 1" in complaints[tmp_path / "3.jsonl"]


def test_what_was_decided_is_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "1.jsonl"
    with Journal.open(path) as journal:
        for number in range(2):
            journal.note("decision", topic="a\nb", partition=number, ranking=[{}])
        journal.write("reorder", partitions=[_reorder(0, [1, 2], [2, 1])])
    assert unfinished_journals(tmp_path) == ([path], {})
    path.write_text(path.read_text() + "nonsense\n")
    assert "1.jsonl, line 4" in unfinished_journals(tmp_path)[1][path]


ORDER = {"partitions": [_reorder(0, [1, 2], [2, 1])]}


def _ended(path: Path) -> Path:
    """Return the journal of a run that left nothing, whose middle can't be read any more."""
    with Journal.open(path) as journal:
        journal.write("begin")
        journal.write("reorder", **ORDER)
        journal.write("restored", partitions=[{"topic": "orders", "partition": 0}])
        journal.end(0)
    begin, *middle, end = path.read_text().splitlines(keepends=True)
    path.write_text(begin + "x" * len("".join(middle)) + "\n" + end)
    return path


def test_of_a_run_that_left_nothing_only_the_end_is_read(tmp_path: Path) -> None:
    _ended(tmp_path / "1.jsonl")
    assert unfinished_journals(tmp_path) == ([], {})


@pytest.mark.parametrize(
    "behind",
    [
        '{"v":1,"at":"',
        json.dumps({"v": 1, "at_ms": 1, "event": "reorder", **ORDER}) + "\n",
        '{"v":1,"event":"end","exit_code":0}\n',
        '{"v":1,"event":"end","exit_code":0,"half_done":true}\n',
        '{"v":2,"event":"end","exit_code":0,"half_done":false}\n',
        '{"v":1,"event":"note","half_done":false}\n',
        "\0" * 2048,
        "\n",
    ],
)
def test_what_comes_behind_the_end_has_it_all_read(tmp_path: Path, behind: str) -> None:
    path = _ended(tmp_path / "1.jsonl")
    path.write_text(path.read_text() + behind)
    assert list(unfinished_journals(tmp_path)[1]) == [path]


def test_the_end_of_a_run_does_not_hide_what_it_left(tmp_path: Path) -> None:
    path = tmp_path / "1.jsonl"
    with Journal.open(path) as journal:
        journal.write("reorder", **ORDER)
        journal.end(1)
    assert unfinished_journals(tmp_path) == ([path], {})


def test_the_end_of_a_later_run_does_not_hide_what_an_earlier_one_left(tmp_path: Path) -> None:
    path = tmp_path / "1.jsonl"
    with Journal.open(path) as journal:
        journal.write("reorder", **ORDER)
    with Journal.open(path) as journal:
        journal.write("begin")
        journal.end(0)
    assert unfinished_journals(tmp_path) == ([path], {})


class Disk:
    """Has room for so many bytes more, and then is full; None is any number."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room: int | None = None
        self.cuts = True
        self.syncs = True
        self._write, self._cut, self._sync = os.write, os.ftruncate, os.fsync
        monkeypatch.setattr("kafka_unclean_recovery.files.journal.os.write", self.write)
        monkeypatch.setattr("kafka_unclean_recovery.files.journal.os.ftruncate", self.truncate)
        monkeypatch.setattr("kafka_unclean_recovery.files.journal.os.fsync", self.sync)

    def write(self, descriptor: int, data: bytes) -> int:
        if self.room is None:
            return self._write(descriptor, data)
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self._write(descriptor, data[: self.room])
        self.room -= written
        return written

    def truncate(self, descriptor: int, length: int) -> None:
        if not self.cuts:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._cut(descriptor, length)

    def sync(self, descriptor: int) -> None:
        if not self.syncs:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._sync(descriptor)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.mark.parametrize("room", [0, 1, 10, 60])
def test_a_line_that_a_full_disk_cut_off_leaves_nothing_behind(
    tmp_path: Path, disk: Disk, room: int
) -> None:
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("begin", cluster_id="c")
        disk.room = room
        with pytest.raises(JournalError, match="No space left on device"):
            journal.write("reorder", partitions=[_reorder(0, [1, 2], [2, 1])])
        disk.room = None
        assert journal.note("outcome", partitions=[])
    events = [line["event"] for line in parse(path.read_text(), "j")]
    assert events == ["begin", "outcome"]
    assert [line["event"] for line in journal.lines] == events


def test_nothing_more_is_announced_where_what_is_told_fills_the_disk(
    tmp_path: Path, disk: Disk
) -> None:
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("begin", cluster_id="c")
        disk.room = 100
        journal.tell("decision", ({"partition": number} for number in range(1201)))
        disk.room = None
        with pytest.raises(JournalError, match="No space left"):
            journal.write("elect", partitions=[])
    assert [line["event"] for line in parse(path.read_text(), "j")] == ["begin"]


def test_nothing_more_is_announced_in_a_journal_that_lost_a_line(
    tmp_path: Path, disk: Disk
) -> None:
    with Journal.open(tmp_path / "j.jsonl") as journal:
        disk.room = 20
        assert not journal.note("reorder", partitions=[_reorder(0, [1, 2], [2, 1])])
        disk.room = None
        with pytest.raises(JournalError, match="No space left"):
            journal.write("elect", partitions=[])
        journal.end(1)
    assert journal.failure is not None
    assert journal.lines[-1]["half_done"] is True


def test_where_the_part_of_a_line_can_not_be_cut_off_nothing_is_glued_to_it(
    tmp_path: Path, disk: Disk
) -> None:
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("begin", cluster_id="c")
        disk.room, disk.cuts = 30, False
        assert not journal.note("elect", partitions=[])
        disk.room = None
        assert not journal.note("restored", partitions=[])
    disk.cuts = True
    with Journal.open(path) as journal:
        journal.write("end", exit_code=1)
    assert [line["event"] for line in parse(path.read_text(), "j")] == ["begin", "end"]


def test_a_disk_that_failed_to_sync_once_is_not_believed_again(tmp_path: Path, disk: Disk) -> None:
    with Journal.open(tmp_path / "j.jsonl") as journal:
        disk.syncs = False
        with pytest.raises(JournalError, match="Input/output error"):
            journal.write("reorder", partitions=[_reorder(0, [1, 2], [2, 1])])
        disk.syncs = True
        with pytest.raises(JournalError, match="Input/output error"):
            journal.write("elect", partitions=[])


def test_a_line_glued_to_the_part_that_a_full_disk_left_is_read(tmp_path: Path) -> None:
    """As earlier versions left it. What was cut off was never done."""
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("begin", cluster_id="c")
        journal.note("decision", topic="orders")
        journal.write("reorder", partitions=[_reorder(0, [1, 2], [2, 1])])
    first, decision, reorder = path.read_text().splitlines(keepends=True)
    for cut in (1, 8, 30, len(decision) - 2):
        path.write_text(first + decision[:cut] + reorder)
        assert unfinished_journals(tmp_path) == ([path], {})
        assert unfinished(parse(path.read_text(), "j"))


def test_two_whole_lines_in_one_are_no_work_of_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("reorder", partitions=[_reorder(0, [1, 2], [2, 1])])
        journal.write("end", exit_code=0)
    path.write_text(path.read_text().replace("}\n{", "}{"))
    assert "line 1: not a line of a journal" in unfinished_journals(tmp_path)[1][path]


def test_a_journal_that_the_disk_does_not_give_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.mkdir()
    assert unfinished_journals(tmp_path) == ([], {path: f"{path}: Is a directory"})


def test_a_link_to_a_journal_that_is_gone_is_named(tmp_path: Path) -> None:
    link = link_to(tmp_path / "elsewhere.jsonl", tmp_path)
    assert unfinished_journals(tmp_path)[1] == {
        link: f"{link}, a link to {tmp_path / 'elsewhere.jsonl'}: No such file or directory"
    }


@pytest.mark.parametrize(
    ("environment", "base"),
    [
        ({"HOME": "/home/ann"}, "/home/ann/.local/state"),
        ({"HOME": "/home/ann", "XDG_STATE_HOME": "/state"}, "/state"),
        ({"HOME": "", "XDG_STATE_HOME": ""}, "/tmp/.local/state"),
        ({}, "/tmp/.local/state"),
    ],
)
def test_journals_lie_in_the_state_directory_of_whoever_runs_it(
    environment: dict[str, str], base: str
) -> None:
    assert state_directory(environment, "c-1") == Path(base, "kafka-unclean-recovery", "c-1")


@pytest.mark.parametrize("cluster_id", ["../../etc", "a/b", "..", "x" * 30_000])
def test_a_cluster_id_never_leads_out_of_the_state_directory(cluster_id: str) -> None:
    directory = state_directory({"XDG_STATE_HOME": "/state"}, cluster_id)
    assert directory.parent == Path("/state/kafka-unclean-recovery")
    assert directory.name not in (".", "..")
    assert len(directory.name) < 256


def _removed(path: Path) -> None:
    shutil.rmtree(path.parent)


def _replaced(path: Path) -> None:
    path.unlink()
    path.write_text("")


def test_a_journal_that_somebody_removed_is_written_anew_and_nothing_more_is_announced(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state" / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("begin", cluster_id="c")
        journal.write("reorder", partitions=[_reorder(0, [1, 2], [2, 1])])
        _removed(path)
        assert journal.note("sent", number=1)
        with pytest.raises(JournalError, match=r"somebody removed it.* nothing more is begun"):
            journal.write("elect", partitions=[])
        # What puts things back is noted as before, and nobody else may write there.
        assert journal.note("answered", number=1)
        with pytest.raises(JournalBusy):
            Journal.open(path)
    lines = parse(path.read_text(), "j")
    assert [line["event"] for line in lines] == ["begin", "reorder", "sent", "answered"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(unfinished(lines)) == 1


def test_a_journal_that_somebody_emptied_is_filled_again_and_nothing_more_is_announced(
    tmp_path: Path,
) -> None:
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("begin", cluster_id="c")
        journal.write("reorder", partitions=[_reorder(0, [1, 2], [2, 1])])
        path.write_bytes(b"")
        journal.keep()
        assert len(unfinished(parse(path.read_text(), "j"))) == 1
        with pytest.raises(JournalError, match=r"emptied it.* nothing more is begun"):
            journal.write("elect", partitions=[])
        assert journal.note("answered", number=1)
    events = [line["event"] for line in parse(path.read_text(), "j")]
    assert events == ["begin", "reorder", "answered"]


def test_a_journal_whose_directory_is_a_file_by_now_has_nothing_more_announced(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state" / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("begin", cluster_id="c")
        _removed(path)
        path.parent.write_text("")
        with pytest.raises(JournalError, match="can't be written anew"):
            journal.write("elect", partitions=[])


def test_a_journal_whose_name_another_file_has_is_not_written_over_it(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal.open(path) as journal:
        journal.write("begin", cluster_id="c")
        _replaced(path)
        with pytest.raises(JournalError, match="can't be written anew: File exists"):
            journal.write("elect", partitions=[])
    assert path.read_text() == ""


def test_the_entry_of_a_journal_that_lies_elsewhere_is_made_anew(tmp_path: Path) -> None:
    path, link = tmp_path / "mine.jsonl", tmp_path / "state" / "1.jsonl"
    link.parent.mkdir()
    link.symlink_to(path)
    with Journal.open(path) as journal:
        journal.link = link
        journal.write("begin", cluster_id="c")
        _removed(link)
        with pytest.raises(JournalError, match="somebody removed it, or its entry"):
            journal.write("elect", partitions=[])
    assert link.resolve() == path
    assert [line["event"] for line in parse(path.read_text(), "j")] == ["begin", "elect"]
