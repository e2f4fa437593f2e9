"""The flags of both programs in groups, as --help shows them: some thirty in one list are not read
in an incident."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from typer.core import TyperGroup


@dataclass(frozen=True, slots=True)
class Group:
    """example: flags of kafka-unclean-recovery, behind the connection and the partitions."""

    title: str
    flags: tuple[str, ...]
    example: str


GROUPS = (
    Group(
        "The KIP's own",
        (
            "--bootstrap-server",
            "--command-config",
            "--election-type",
            "--all-offline-partitions",
            "--all-topic-partitions",
            "--path-to-json-file",
            "--topics",
            "--topic",
            "--partition",
            "--show-replica-info",
            "--manual-recovery-output-file",
            "--automated-recovery",
            "--recovery-duration-ms",
            "--recovery-election-attempts",
        ),
        "--show-replica-info",
    ),
    Group(
        "Waiting, and plans",
        ("--wait-for-brokers", "--gone", "--plan-output-file", "--plan"),
        "--show-replica-info --wait-for-brokers 1,2",
    ),
    Group(
        "The cluster by its name",
        ("--cluster",),
        "--cluster prod --all-offline-partitions --show-replica-info",
    ),
    Group(
        "Consent",
        (
            *("--yes", "--accept-loss", "--canary", "--wave-size", "--require-approval"),
            *("--give-up-log", "--end-reassignment"),
        ),
        "--automated-recovery --accept-loss '*:0' --canary 1",
    ),
    Group(
        "Disks of the dead, and tails of the living",
        ("--log-dirs", "--replica-info-file", "--salvage-dir", "--raw-only", "--allow-loss"),
        "--show-replica-info --log-dirs /mnt/broker1",
    ),
    Group(
        "Which requests are sent",
        ("--transport", "--election-method", "--replica-log-info-dialect"),
        "--show-replica-info --transport list-offsets",
    ),
    Group(
        "Journal and output",
        (
            "--journal",
            "--resume",
            "--keep-order",
            "--ignore-journal",
            "--format",
            "--metrics-file",
            "--log-format",
            "--color",
            "--version",
            "--help",
        ),
        "--show-replica-info --format json",
    ),
)


def group_flags(command: Any) -> None:
    """Let --help of the command show its flags in groups. A flag without a group comes last."""

    def format_options(context: Any, formatter: Any) -> None:
        records = _records(command, context)
        for group in GROUPS:
            found = [records.pop(flag) for flag in group.flags if flag in records]
            if found:
                with formatter.section(group.title):
                    formatter.write_dl(found)
                    if isinstance(command, TyperGroup):
                        formatter.write(f"\n  Example: ... {group.example}\n")
        if records:
            with formatter.section("Options"):
                formatter.write_dl(list(records.values()))
        if isinstance(command, TyperGroup):
            command.format_commands(context, formatter)

    command.format_options = format_options


def _records(command: Any, context: Any) -> dict[str, tuple[str, str]]:
    """Return what help says of each flag, by its first name."""
    told = (
        (param.opts[0], param.get_help_record(context)) for param in command.get_params(context)
    )
    return {name: record for name, record in told if record is not None}
