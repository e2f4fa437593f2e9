"""Log directories with many replicas, damaged and whole, and what scans say of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.documents.replica_info import replica_info_json
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.log_dir.tree import Location
from kafka_unclean_recovery.mechanisms import ScanMode
from tests.log_dir import replica_directories as disks
from tests.log_dir.mutations import seeded
from tests.log_dir.segments import checkpoint

LOGS = (disks.plain_log(), disks.compacted_log(), disks.upgraded_log(), disks.old_log())


def write_damaged(path: Path, node: int, seeds: Iterable[int]) -> Path:
    """Write a log directory with a damaged replica for every seed."""
    disks.write_files(path, disks.log_directory_files(node, LOGS))
    points = []
    for seed in seeds:
        log = LOGS[seed % len(LOGS)]
        intact = disks.replica_files(log)
        files = {**intact, **seeded(log, intact, seed).files}
        disks.write_files(path / f"{log.topic}-{seed}", files)
        if seed % 3:
            points.append(f"{log.topic} {seed} {disks.recovery_point(log)}")
    disks.write_files(path, {"recovery-point-offset-checkpoint": checkpoint(*points)})
    return path


def scanned(root: Location, mode: ScanMode) -> dict[str, Any]:
    """Return all that a scan says, but where it looked and when."""
    text = replica_info_json(scan_log_directories([root], mode))
    info: dict[str, Any] = json.loads(text.replace(str(root), "ROOT"))
    del info["scanned_at"]
    return info


def rows(info: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows of replicas, by the paths of their directories."""
    return {
        log["scanned"]["directory"]: log
        for partition in info["partitions"]
        for log in partition["replica_logs"]
    }
