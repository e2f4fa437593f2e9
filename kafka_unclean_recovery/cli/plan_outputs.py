"""A plan is written to two files: one for kafka-elect-leaders, and one with all that the plan rests
on."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from kafka_unclean_recovery.cli.terminal.console import Console, check_output, read_input
from kafka_unclean_recovery.cli.terminal.output_files import NewFile, write_new_files
from kafka_unclean_recovery.errors import usage
from kafka_unclean_recovery.model import Cluster, PartitionPlan
from kafka_unclean_recovery.shown import shell_join

MANUAL = "--manual-recovery-output-file"
PLAN = "--plan-output-file"


@dataclass(frozen=True, slots=True)
class PlanOutputs:
    """The files to write a plan to; None for a file that is not wanted."""

    manual: Path | None
    plan: Path | None

    def check(self) -> None:
        """Check the file names before anything is done. Raises Exit(2)."""
        check_output(self.manual, MANUAL)
        check_output(self.plan, PLAN)
        if self.manual is not None and self.manual == self.plan:
            raise usage(f"{MANUAL} and {PLAN} name the same file")

    def write(self, console: Console, cluster: Cluster, plans: Collection[PartitionPlan]) -> None:
        """Write the wanted files. Raises Exit(2)."""
        from kafka_unclean_recovery.documents.manual_recovery import (
            STOCK_SCRIPT_WARNING,
            manual_recovery_json,
        )
        from kafka_unclean_recovery.documents.plan import plan_json

        files = []
        if self.plan is not None:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            files.append(NewFile(self.plan, PLAN, [plan_json(cluster, list(plans), now)]))
        if self.manual is not None:
            files.append(NewFile(self.manual, MANUAL, [manual_recovery_json(plans)]))
        write_new_files(files)
        if self.manual is not None:
            console.say(f"{self.manual}: {STOCK_SCRIPT_WARNING}")


def next_command(manual: Path) -> str:
    """Return the command line that elects the leaders of this file."""
    designated = ["--election-type", "designated", "--path-to-json-file"]
    command = ["kafka-elect-leaders", "--bootstrap-server", "HOST:PORT", *designated]
    return shell_join([*command, str(manual)])


def check_again(path: Path | None, flag: str, begins: str) -> None:
    """Check as check_output does, but let a file be there that begins as what is written. Raises
    Exit(2)."""
    if path is None or not path.is_file() or path.is_symlink():
        check_output(path, flag)
    elif not read_input(path, flag).startswith(begins):
        raise usage(
            f"{flag} {path}: the file exists, was not written by this command, and is never"
            " overwritten; name a new one"
        )
    elif not os.access(path.parent, os.W_OK):
        raise usage(f"{flag} {path}: {path.parent} can't be written to; name another")


def put_aside(console: Console, path: Path, flag: str) -> None:
    """Keep what a command wrote before that is run again and again, as the situation changes: give
    the file that is there, if any, the first free name that is its own and a number.
    Raises Exit(2)."""
    if not path.exists():
        return
    for number in count(1):
        aside = path.with_name(f"{path.name}.{number}")
        try:
            # Unlike a rename, a link never replaces what is there.
            aside.hardlink_to(path)
            path.unlink()
        except FileExistsError:
            continue
        except OSError as error:
            raise usage(f"{flag} {path}: {error.strerror}") from None
        console.say(f"{flag} {path}: the earlier one is {aside} now")
        return
