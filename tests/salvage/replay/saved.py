"""Salvages to be replayed, made by salvage itself out of small disks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_unclean_recovery.cli.command import carry_out
from kafka_unclean_recovery.cli.commands import salvage_work
from kafka_unclean_recovery.cli.commands.salvage import Options
from tests.salvage.disks import disk, plan_text

EPOCHS = ((0, 0),)


def salvaged(directory: Path, logs: Mapping[int, bytes], name: str = "saved") -> Path:
    """Salvage from the logs of orders-0 on these dead brokers what lies beyond offset 10."""
    plan = directory / f"{name}.plan.json"
    plan.write_text(plan_text())
    disks = directory / f"{name}.disks"
    for broker, log in logs.items():
        disk(disks, {0: log}, EPOCHS, broker=broker)
    saved = directory / name
    options = Options(log_dirs=[disks], plan=plan, output=saved)
    carry_out(salvage_work.save, options)
    assert (saved / "manifest.json").exists()
    return saved
