"""All files of a command appear, or none does, whatever happens in between."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.terminal.output_files import NewFile, write_new_files
from kafka_unclean_recovery.errors import Exit
from tests.private import open_to_others


def of(path: Path, *chunks: str) -> NewFile:
    return NewFile(path, f"--{path.name}", chunks)


def test_each_is_complete_and_private(tmp_path: Path) -> None:
    write_new_files([of(tmp_path / "a", "one ", "two"), of(tmp_path / "b", "three")])
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {"a": "one two", "b": "three"}
    assert open_to_others(tmp_path) == []


def test_no_name_is_taken_before_all_are_complete(tmp_path: Path) -> None:
    def looking() -> Iterator[str]:
        assert not (tmp_path / "a").exists()
        yield "text"

    write_new_files([of(tmp_path / "a", "1"), NewFile(tmp_path / "b", "--b", looking())])
    assert (tmp_path / "a").read_text() == "1"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_when_the_second_can_not_be_made(
    tmp_path: Path, error: type[BaseException]
) -> None:
    def failing() -> Iterator[str]:
        yield "half"
        raise error

    with pytest.raises(error):
        write_new_files([of(tmp_path / "a", "1"), NewFile(tmp_path / "b", "--b", failing())])
    assert list(tmp_path.iterdir()) == []


def test_what_came_meanwhile_is_kept_and_nothing_else(tmp_path: Path) -> None:
    def coming() -> Iterator[str]:
        (tmp_path / "b").write_text("of somebody else")
        yield "ours"

    with pytest.raises(Exit, match=r"--b .*/b: the file exists and is never overwritten; name a"):
        write_new_files([of(tmp_path / "a", "1"), NewFile(tmp_path / "b", "--b", coming())])
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert (tmp_path / "b").read_text() == "of somebody else"


def in_a_process(where: Path, first: str, chunks: str) -> subprocess.CompletedProcess[str]:
    """Run a line of Python, and have the files a and b written; chunks: those of b, in Python."""
    script = (
        "import os, resource, signal, sys\n"
        "from pathlib import Path\n"
        "from kafka_unclean_recovery.cli.terminal.output_files import NewFile, write_new_files\n"
        "where = Path(sys.argv[1])\n"
        f"{first}\n"
        "a = NewFile(where / 'a', '--a', ['1'])\n"
        f"write_new_files([a, NewFile(where / 'b', '--b', {chunks})])\n"
    )
    words = [sys.executable, "-c", script, str(where)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def test_a_full_disk_is_told_by_the_flag_and_leaves_nothing(tmp_path: Path) -> None:
    little = "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    done = in_a_process(tmp_path, little, "['x' * 10_000]")
    assert f"--b {tmp_path / 'b'}: File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_killed_can_be_run_again(tmp_path: Path) -> None:
    killing = "(os.kill(os.getpid(), signal.SIGKILL) for _ in [0])"
    assert in_a_process(tmp_path, "", killing).returncode == -signal.SIGKILL
    assert not any((tmp_path / name).exists() for name in "ab")
    assert in_a_process(tmp_path, "", "['2']").returncode == 0
    assert (tmp_path / "b").read_text() == "2"
