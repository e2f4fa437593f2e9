"""kafka-elect-leaders is the command of KIP-966 and KIP-1275; it makes designated elections on
today's Kafka."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli import entry, environment
from kafka_unclean_recovery.cli.command import command
from kafka_unclean_recovery.cli.flags import (
    AcceptLoss,
    BootstrapServer,
    Canary,
    ElectionAttempts,
    Format,
    HowElected,
    HowSeen,
    IgnoreJournals,
    JournalFile,
    MetricsFile,
    OutputFormat,
    ReplicaLogInfoDialect,
    WaveSize,
    version_flag,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.mechanisms import ElectionMethod, Transport

NAME = "kafka-elect-leaders"
PREFIX = f"{environment.PREFIX}_ELECT_LEADERS"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class ElectionType(StrEnum):
    PREFERRED = "preferred"
    UNCLEAN = "unclean"
    DESIGNATED = "designated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Elect leaders: preferred, unclean, or exactly the one designated."""

    bootstrap_server: BootstrapServer
    election_type: Annotated[
        ElectionType,
        typer.Option(
            case_sensitive=False,
            help="Which replica is elected. preferred: the first replica, if another one leads."
            " unclean: the first live replica of a partition without a leader. designated: exactly"
            " the replica that --path-to-json-file names, of a partition without a leader.",
        ),
    ]
    command_config: Annotated[
        Path | None,
        typer.Option(
            "--command-config",
            "--admin.config",
            metavar="FILE",
            help="Java client properties file for the connection, such as TLS and SASL; by default"
            " connections are plaintext.",
        ),
    ] = None
    path_to_json_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Only the partitions in this JSON file: {"partitions": [{"topic": "foo",'
            ' "partition": 1, "designatedLeader": 0}]}. Designated elections need designatedLeader'
            " (or desiredLeader) for each partition; other elections refuse it.",
        ),
    ] = None
    topic: Annotated[
        str | None,
        typer.Option(metavar="TOPIC", help="Topic of the one partition; needs --partition."),
    ] = None
    partition: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Number of the one partition; needs --topic."),
    ] = None
    all_topic_partitions: Annotated[
        bool,
        typer.Option("--all-topic-partitions", help="All partitions of all topics."),
    ] = False
    recovery_duration_ms: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="MS",
            help="How long brokers may take to say how far their replicas go, in milliseconds; only"
            " for designated elections.",
        ),
    ] = 30_000
    recovery_election_attempts: ElectionAttempts = 3
    format: OutputFormat = Format.TABLE
    accept_loss: AcceptLoss = None
    canary: Canary = None
    wave_size: WaveSize = None
    journal: JournalFile = None
    ignore_journal: IgnoreJournals = None
    transport: HowSeen = Transport.AUTO
    election_method: HowElected = ElectionMethod.AUTO
    replica_log_info_dialect: ReplicaLogInfoDialect = None
    metrics_file: MetricsFile = None
    log_format: LogFormatFlag = LogFormat.TEXT
    version: Annotated[bool, version_flag(NAME)] = False


app.command()(command(Options, "elect_leaders:elect", NAME))


def main() -> None:
    """Entry point of the console script."""
    entry.main(app, NAME, PREFIX)
