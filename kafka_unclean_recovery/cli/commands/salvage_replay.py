"""kafka-unclean-recovery salvage replay: what salvage saved, produced to a topic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.exits import USAGE
from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    Format,
    OutputFormat,
    PartitionsFile,
    Topics,
)
from kafka_unclean_recovery.cli.log_format import LogFormat, LogFormatFlag

NAME = "replay"


def salvage_replay(
    saved: Annotated[
        Path, typer.Argument(metavar="SAVED", help="The directory that salvage wrote.")
    ],
    bootstrap_server: BootstrapServer,
    command_config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Java client properties: TLS, SASL, client.id."),
    ] = None,
    topics: Topics = None,
    path_to_json_file: PartitionsFile = None,
    target: Annotated[
        str,
        typer.Option(
            metavar="TEMPLATE", help="Where records go; {topic} is the topic they were in."
        ),
    ] = "{topic}.salvaged",
    include_open: Annotated[
        bool,
        typer.Option(
            "--include-open", help="Produce records of transactions without an end here, too."
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What has been produced; by default beside SAVED, by its name.",
        ),
    ] = None,
    execute: Annotated[
        bool, typer.Option("--execute", help="Produce; else it is only shown what would be.")
    ] = False,
    format: OutputFormat = Format.TABLE,  # noqa: A002 - the flag's name
    log_format: LogFormatFlag = LogFormat.TEXT,
) -> None:
    """Produce the records that salvage saved to a topic beside the one that lost them.

    Without --execute nothing is produced: it is shown what would be, and what the target topics
    would alter or refuse. Each record goes to the partition that it was in, with its key, headers
    and time, and with headers of ours that say where it was. Run again, it goes on where it ended,
    and adds nothing that is there.
    """
    try:
        from kafka_unclean_recovery.cli.runs.salvage_replay import Options, run
    except ModuleNotFoundError as error:
        from kafka_unclean_recovery.cli.console import Console

        Console("kafka-unclean-recovery").say(
            f"{error.name} is not installed, which reads or produces salvaged records: pip install"
            " 'kafka-unclean-recovery[salvage]'"
        )
        raise typer.Exit(USAGE) from None

    options = Options(
        saved=saved,
        bootstrap_server=bootstrap_server,
        command_config=command_config,
        topics=topics,
        path_to_json_file=path_to_json_file,
        target=target,
        include_open=include_open,
        checkpoint=checkpoint,
        execute=execute,
        as_json=format is Format.JSON,
    )
    raise typer.Exit(run(options))
