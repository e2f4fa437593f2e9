"""What `make rebuild` says of two builds that differ."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.dist_scripts import dist_script

NAME = f"kafka-unclean-recovery-0.1.0-linux-{os.uname().machine}"
BUILD, REBUILD = dist_script("build"), dist_script("rebuild")
PARTS = {"kafka-unclean-recovery": b"program", "libc.so.6": b"library"}


def _dist(
    directory: Path,
    parts: Mapping[str, bytes] = PARTS,
    launcher: bytes = b"launcher",
    msgspec: str = "0.19.0",
    more: Mapping[str, str] = {},
) -> Path:
    """Write files as build.py leaves them; the one file is no program."""
    program, packed = directory / "program", directory / "packed"
    program.mkdir(parents=True)
    for name, content in parts.items():
        (program / name).write_bytes(content)
    (program / "kafka-elect-leaders").symlink_to("kafka-unclean-recovery")
    BUILD._pack(program, packed)
    content = launcher + packed.read_bytes() + b"rest of the launcher"
    digest = hashlib.sha256(content).hexdigest()
    bill = {"components": [{"name": "msgspec", "version": msgspec}], **more}
    (directory / NAME).write_bytes(content)
    (directory / f"{NAME}.sha256").write_text(f"{digest}  {NAME}\n")
    (directory / f"{NAME}.cdx.json").write_text(json.dumps(bill))
    return directory


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return _dist(tmp_path / "one")


def test_two_builds_that_are_the_same_differ_in_nothing(one: Path, tmp_path: Path) -> None:
    assert list(REBUILD.differences(one, _dist(tmp_path / "other"))) == []


def test_each_part_that_differs_is_named_and_nothing_is_run(one: Path, tmp_path: Path) -> None:
    """None of these files could be run."""
    parts = {"kafka-unclean-recovery": b"program", "libc.so.6": b"newer", "more.so": b""}
    assert list(REBUILD.differences(one, _dist(tmp_path / "other", parts))) == [
        "part libc.so.6",
        "part more.so",
        f"file {NAME}.sha256",
    ]


def test_a_launcher_that_differs_is_told_apart_from_what_it_unpacks(
    one: Path, tmp_path: Path
) -> None:
    found = list(REBUILD.differences(one, _dist(tmp_path / "other", launcher=b"newer")))
    assert found == ["part that unpacks the others", f"file {NAME}.sha256"]


def test_packages_of_another_version_are_named_first(one: Path, tmp_path: Path) -> None:
    other = _dist(tmp_path / "other", msgspec="0.20.0")
    assert list(REBUILD.differences(one, other)) == [
        "package msgspec: 0.19.0 and 0.20.0",
        f"file {NAME}.cdx.json",
    ]


def test_a_list_that_differs_in_anything_else_is_named(one: Path, tmp_path: Path) -> None:
    other = _dist(tmp_path / "other", more={"serialNumber": "another"})
    assert list(REBUILD.differences(one, other)) == [f"file {NAME}.cdx.json"]


def test_the_list_does_not_tell_where_it_was_built() -> None:
    public = {"type": "website", "url": "https://example.org"}
    local = {"type": "distribution", "url": "file:///home/me/checkout"}
    bill = {"components": [{"externalReferences": [public, local]}, {"name": "plain"}]}
    wanted = {"components": [{"externalReferences": [public]}, {"name": "plain"}]}
    assert BUILD._without_places(bill) == wanted
