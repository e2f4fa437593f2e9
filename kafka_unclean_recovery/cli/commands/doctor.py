"""kafka-unclean-recovery doctor checks what would prevent a recovery, now or in an incident."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli import metrics_file
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    CommandConfig,
    Format,
    HowElected,
    HowSeen,
    MetricsFile,
    OutputFormat,
    ReplicaLogInfoDialect,
    wishes_of,
)
from kafka_unclean_recovery.cli.session import Session, run
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import give, window_above
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.doctor.diagnosis import (
    Diagnosis,
    diagnose,
    doctor_metrics,
    render_json,
    render_text,
)
from kafka_unclean_recovery.doctor.examine import Patient, examine
from kafka_unclean_recovery.doctor.facts import Room, Space
from kafka_unclean_recovery.doctor.screen import screen
from kafka_unclean_recovery.errors import usage
from kafka_unclean_recovery.files.state_directory import (
    state_directory,
    unfinished_journals,
    why_not_to_use,
)
from kafka_unclean_recovery.mechanisms import ElectionMethod, Transport, Wishes


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Check that a recovery would work, and change nothing.

    The checks cover every broker and the controller quorum, releases and their known bugs, the
    mechanism that would be used, each right that it needs (by trying), elections that the
    controller may make by itself, reassignments, clocks and free space. Each line says what was
    found, why it matters and what to do. The exit code is 1 when a warning or a failure tells what
    is not well, and 4 when each tells only that something could not be found out.
    """

    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    format: OutputFormat = Format.TABLE
    timeout_ms: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="MS",
            help="How long each question to the cluster may take, in milliseconds.",
        ),
    ] = 10_000
    salvage_dir: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Directory where a salvage would be written; its free space is checked.",
        ),
    ] = Path()
    transport: HowSeen = Transport.AUTO
    election_method: HowElected = ElectionMethod.AUTO
    replica_log_info_dialect: ReplicaLogInfoDialect = None
    metrics_file: MetricsFile = None
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


def diagnose_cluster(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit(2)."""
    wishes = _checked(options)
    return run(
        console,
        options.bootstrap_server,
        options.command_config,
        lambda session: _doctor(session, options),
        wishes,
    )


def _checked(options: Options) -> Wishes:
    """Check the flags and return the wished mechanisms. Raises Exit(2)."""
    if not (options.salvage_dir.is_dir() or options.salvage_dir.absolute().parent.is_dir()):
        raise usage(
            f"--salvage-dir {options.salvage_dir}: lies in no directory; name one that exists, or a"
            " new one in one that does"
        )
    return wishes_of(options.transport, options.election_method, options.replica_log_info_dialect)


async def _doctor(session: Session, options: Options) -> int:
    patient = Patient(
        parse_bootstrap(options.bootstrap_server),
        session.nodes.config,
        session.wishes,
        options.timeout_ms / 1000,
    )
    session.console.progress("asking the cluster")
    asking = examine(
        patient, lambda id_: room_here(id_, options.salvage_dir), lambda: time.time_ns() // 10**6
    )
    facts = await metrics_file.timed("examine", session.stop.unless(asking))
    found = diagnose(facts, datetime.now(UTC).isoformat(timespec="seconds"))
    metrics_file.found(doctor_metrics(found))
    give(session.console, _text(session.console, found, options.format), options.format)
    return found.exit_code


def _text(console: Console, found: Diagnosis, how: Format) -> str:
    if how.is_json:
        return render_json(found)
    window = window_above(console, how, ())
    return render_text(found) if window is None else "\n".join(screen(found, window)) + "\n"


def room_here(cluster_id: str, salvage: Path) -> Room:
    """Return the room on this machine, and the journals that were left there."""
    state = state_directory(os.environ, cluster_id)
    if (why := why_not_to_use(os.environ, state)) is not None:
        return Room(_space(state), _space(salvage), (), (f"{why}: set XDG_STATE_HOME",))
    journals, complaints = unfinished_journals(state)
    return Room(
        _space(state), _space(salvage), tuple(map(str, journals)), tuple(complaints.values())
    )


def _space(directory: Path) -> Space:
    """Return the free space of the directory, or of its nearest parent that exists, where the
    directory would be created."""
    there = directory.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    writable = there.is_dir() and os.access(there, os.W_OK | os.X_OK)
    try:
        volume = os.statvfs(there)
    except OSError:
        return Space(str(there), None, writable)
    return Space(str(there), volume.f_bavail * volume.f_frsize, writable)


COMMAND = Command(Options, diagnose_cluster, "kafka-unclean-recovery doctor")
