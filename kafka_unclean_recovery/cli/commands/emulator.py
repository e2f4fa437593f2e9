"""kafka-unclean-recovery emulator runs an emulated cluster for rehearsals."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import Format, OutputFormat
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import Dialect


class Release(StrEnum):
    """The names in kraft_rules.releases.RELEASES."""

    KAFKA_4_4_0 = "4.4.0"
    KAFKA_4_3_1 = "4.3.1"
    KAFKA_3_9_1 = "3.9.1"
    KIP_966 = "kip-966"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Run an emulated Kafka cluster on the loopback until SIGINT or SIGTERM.

    The first line on stdout is bootstrap.servers=HOST:PORT,... and the second control.socket=PATH,
    for ctl --socket PATH. Both lines are printed when all brokers are up and the scenario is done.
    """

    brokers: Annotated[
        int | None,
        typer.Option(min=1, max=1000, metavar="N", help="Number of brokers; by default 4."),
    ] = None
    log_directories: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            metavar="N",
            help="Number of log directories of each broker; by default 1.",
        ),
    ] = None
    from_bundle: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Archive of bundle: the emulated cluster has the cluster id, the offline"
            " partitions and the logs that its plan tells of, to rehearse that plan.",
        ),
    ] = None
    # No Path: that would make NAME of ./NAME.
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Commands to carry out first: a name that `emulator scenarios` lists, or a file"
            " with one on each line, as for ctl.",
        ),
    ] = None
    data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory where the cluster is kept; a cluster that is already there is"
            " continued. By default the cluster is removed at the end.",
        ),
    ] = None
    release: Annotated[
        Release, typer.Option(help="Kafka release whose controller is emulated.")
    ] = Release.KAFKA_4_3_1
    dialect: Annotated[
        Dialect | None,
        typer.Option(help="Form of GetReplicaLogInfo that the brokers speak; by default none."),
    ] = None
    broker_session_timeout_ms: Annotated[
        int,
        typer.Option(
            min=10, metavar="MS", help="Milliseconds after which a silent broker is fenced."
        ),
    ] = 500
    replica_lag_time_max_ms: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="MS",
            help="Milliseconds after which a lagging replica leaves the ISR.",
        ),
    ] = 30_000
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


COMMAND = Command(Options, "emulator_work:emulate", "kafka-unclean-recovery emulator")
