"""A scan asks of directories what `tree` says and no more, wherever they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_unclean_recovery.documents.replica_info import replica_info_json
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.log_dir.tree import Location
from kafka_unclean_recovery.mechanisms import ScanMode
from tests.log_dir import replica_directories as disks
from tests.log_dir.memory_folder import MemoryLocation, tree_of

LOGS = (disks.plain_log(), disks.compacted_log(), disks.upgraded_log())


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Return two brokers' disks; a segment of the second is cut short, another is none."""
    root = tmp_path / "disks"
    one, two = (
        disks.write_log_directory(root / "site" / f"broker-{broker}", broker, LOGS)
        for broker in (1, 2)
    )
    cut = two / LOGS[0].directory / LOGS[0].segments[2].name
    cut.write_bytes(cut.read_bytes()[:-5])
    none = one / LOGS[1].directory / LOGS[1].segments[2].name
    none.unlink()
    none.mkdir()
    return root


def scanned(root: Location, mode: ScanMode, workers: int) -> str:
    info = json.loads(replica_info_json(scan_log_directories([root], mode, workers=workers)))
    del info["scanned_at"]
    return json.dumps(info)


@pytest.mark.parametrize("mode", ScanMode)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_on_no_disk_is_scanned_as_if_it_were(
    disk: Path, mode: ScanMode, workers: int
) -> None:
    on_disk = scanned(LocalLocation(disk), mode, workers)
    in_memory = scanned(MemoryLocation(tree_of(disk)), mode, workers)
    assert in_memory == on_disk.replace(str(disk), "memory")
    assert on_disk.count('"problem": null') == 5
    assert "the log ends at truncated batch" in on_disk or mode is ScanMode.FAST


def test_log_directories_are_looked_for_four_levels_down(disk: Path) -> None:
    tree = tree_of(disk)
    for depth in range(5):
        root = MemoryLocation(tree)
        if depth < 3:
            assert scan_log_directories([root], ScanMode.FAST).brokers == (1, 2)
        else:
            with pytest.raises(InputError, match="memory: no log directory here"):
                scan_log_directories([root], ScanMode.FAST)
        tree = {"above": tree}
