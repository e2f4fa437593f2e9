"""kafka-unclean-recovery ok-to-stop tells whether brokers may be stopped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import CommandConfig, Format, MetricsFile, OutputFormat
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag

NAME = "ok-to-stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Tell what stopping brokers together would do to their partitions, and change nothing.

    The rules of Kafka's controller are applied to the cluster as it is now, for a controlled stop
    and for a kill. The answer is yes (exit code 0), no (1), or unknown (4) where something that
    decides it can't be read. It is true for the moment of the look only.
    """

    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT[,...]",
            help="Brokers to contact first, to find the others; required without --what-if.",
        ),
    ] = None
    command_config: CommandConfig = None
    brokers: Annotated[
        str | None,
        typer.Option(metavar="ID[,...]", help="Brokers that would be stopped together."),
    ] = None
    rack: Annotated[
        str | None,
        typer.Option(metavar="RACK", help="All brokers of this broker.rack."),
    ] = None
    controllers: Annotated[
        str | None,
        typer.Option(
            metavar="ID[,...]",
            help="Controllers that would be stopped too; a node that is both counts in --brokers.",
        ),
    ] = None
    margin: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="How many more failures each partition must stand before writes are blocked.",
        ),
    ] = 0
    max: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Also show how far the brokers can be joined by others of their rack, one at a"
            " time, up to N in all; with --rack, it begins with none. By default this is not"
            " tried.",
        ),
    ] = None
    wait_ms: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="MS",
            help="Look again until the answer is yes, for at most this time, in milliseconds. By"
            " default there is one look.",
        ),
    ] = None
    after: Annotated[
        bool,
        typer.Option(
            "--after",
            help="After the start: show which of the brokers' replicas are not back in the ISR.",
        ),
    ] = False
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE",
            help="Write what was seen of the cluster to this new file, for --what-if.",
        ),
    ] = None
    what_if: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Answer from a file that --save wrote, and contact no cluster.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT


ok_to_stop = command(Options, "ok_to_stop:may_stop", "kafka-unclean-recovery ok-to-stop")
