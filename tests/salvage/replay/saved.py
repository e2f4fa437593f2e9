"""Salvages to be replayed, made by salvage itself out of small disks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_unclean_recovery.cli.runs import salvage
from tests.salvage.disks import disk, plan_text

EPOCHS = ((0, 0),)


def salvaged(directory: Path, logs: Mapping[int, bytes], name: str = "saved") -> Path:
    """Of the log of orders-0 on each of these dead brokers, what lies beyond offset 10."""
    plan = directory / f"{name}.plan.json"
    plan.write_text(plan_text())
    disks = directory / f"{name}.disks"
    for broker, log in logs.items():
        disk(disks, {0: log}, EPOCHS, broker=broker)
    saved = directory / name
    options = salvage.Options(
        log_dirs=(disks,),
        replica_info_files=(),
        plan=plan,
        output=saved,
        manual_recovery_file=None,
        raw_only=False,
        as_json=False,
        topics=None,
        path_to_json_file=None,
    )
    salvage.run(options)
    assert (saved / "manifest.json").exists()
    return saved
