"""kafka-unclean-recovery emulator runs an emulated cluster for rehearsals, and ctl controls it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import Format, OutputFormat
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import Dialect

NAME = "emulator"
CTL_NAME = "ctl"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class Release(StrEnum):
    """The names in emulator.controller.releases.RELEASES."""

    KAFKA_4_3_1 = "4.3.1"
    KAFKA_3_9_1 = "3.9.1"
    KIP_966 = "kip-966"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Run an emulated Kafka cluster on the loopback until SIGINT or SIGTERM.

    The first line on stdout is bootstrap.servers=HOST:PORT,... and the second control.socket=PATH,
    for ctl --socket PATH. Both come when everything is up, and the scenario is over.
    """

    brokers: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="How many.")] = 4
    log_directories: Annotated[
        int, typer.Option(min=1, max=100, metavar="N", help="How many disks a broker has.")
    ] = 1
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Commands to carry out first, one a line, as for ctl."),
    ] = None
    data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where the cluster is kept. One that is there goes on; by default it is gone"
            " in the end.",
        ),
    ] = None
    release: Annotated[Release, typer.Option(help="Whose controller it has.")] = Release.KAFKA_4_3_1
    dialect: Annotated[
        Dialect | None,
        typer.Option(help="The dialect of GetReplicaLogInfo that brokers speak; by default none."),
    ] = None
    broker_session_timeout_ms: Annotated[
        int, typer.Option(min=10, metavar="MS", help="After which a silent broker is fenced.")
    ] = 500
    replica_lag_time_max_ms: Annotated[
        int,
        typer.Option(min=1, metavar="MS", help="After which a lagging replica leaves the ISR."),
    ] = 30_000
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class CtlOptions:
    """Carry out one command of a scenario in a running emulator.

    Kill, start or fence brokers, drop links, intercept requests, write records, and status.
    The COMMAND help lists all.
    """

    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND", help="Its name and what goes with it, as in: kill 4, or: status."
        ),
    ]
    data_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The --data-dir of the emulator.")
    ] = None
    socket: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The control.socket that it printed.")
    ] = None
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT


app.callback(
    invoke_without_command=True,
    subcommand_metavar="[COMMAND [ARGS]...]",
    short_help="Run an emulated cluster, to rehearse on.",
)(command(Options, "emulator:emulate", "kafka-unclean-recovery emulator"))
app.command(CTL_NAME, short_help="Do something to a running emulator.")(
    command(CtlOptions, "emulator_ctl:control", "kafka-unclean-recovery emulator ctl")
)
