"""A directory that is whole or clearly not, whatever ended the run that wrote it."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.salvage.output_directory import (
    IN_PROGRESS,
    new_directory,
    write_manifest,
)


class Killed(BaseException):
    """As abrupt as a process that ends."""


def _half(path: Path) -> None:
    def run() -> None:
        with new_directory(path) as building:
            (building / "half").write_text("half")
            raise Killed

    with pytest.raises(Killed):
        run()


def _begin(path: Path) -> None:
    with new_directory(path):
        pass


def test_it_takes_its_name_once_it_is_whole(tmp_path: Path) -> None:
    with new_directory(tmp_path / "new") as building:
        (building / "a").write_text("a")
        write_manifest(building, "{}")
        assert not (tmp_path / "new").exists()
    found = {path.name for path in (tmp_path / "new").iterdir()}
    assert found == {"a", "manifest.json"}
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_what_a_killed_run_left_is_not_whole_and_is_begun_anew(tmp_path: Path) -> None:
    _half(tmp_path / "new")
    left = tmp_path / "new.partial"
    assert "without manifest.json" in (left / IN_PROGRESS).read_text()
    assert not (tmp_path / "new").exists()
    with new_directory(tmp_path / "new") as building:
        assert [path.name for path in building.iterdir()] == [IN_PROGRESS]
    assert not left.exists()
    assert list((tmp_path / "new").iterdir()) == []


def test_a_run_that_died_before_its_first_file_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "new.partial").mkdir()
    with new_directory(tmp_path / "new"):
        pass
    assert (tmp_path / "new").is_dir()


def test_nothing_that_exists_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    (tmp_path / "directory").mkdir()
    for name in ("dangling", "file", "directory"):
        with pytest.raises(InputError, match="nothing is ever overwritten"):
            _begin(tmp_path / name)
    assert (tmp_path / "file").read_text() == "x"


def test_a_name_that_was_taken_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="nothing is ever overwritten"),
        new_directory(tmp_path / "new"),
    ):
        (tmp_path / "new").mkdir()
    assert (tmp_path / "new.partial").is_dir()


@pytest.mark.parametrize("what", ["file", "link", "directory"])
def test_what_is_not_ours_is_left_alone(tmp_path: Path, what: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").write_text("x")
    (other / IN_PROGRESS).write_text("")
    in_the_way = tmp_path / "new.partial"
    if what == "file":
        in_the_way.write_text("x")
    elif what == "link":
        in_the_way.symlink_to(other)
    else:
        in_the_way.mkdir()
        (in_the_way / "precious").write_text("x")
    with pytest.raises(InputError, match="not what a salvage left"):
        _begin(tmp_path / "new")
    assert (other / "precious").exists()
    assert what != "directory" or (in_the_way / "precious").exists()


def test_a_run_that_is_under_way_is_not_disturbed(tmp_path: Path) -> None:
    _half(tmp_path / "new")
    with (tmp_path / "new.partial" / IN_PROGRESS).open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another salvage is writing there"):
            _begin(tmp_path / "new")
    assert (tmp_path / "new.partial" / "half").exists()
