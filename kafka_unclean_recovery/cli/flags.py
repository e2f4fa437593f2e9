"""Every flag that several commands have is defined here, once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kafka_unclean_recovery.mechanisms import Dialect, ElectionMethod, ScanMode, Transport

# The default of a flag that only a group without a command requires: Typer can't require such a
# flag, so command.py does.
BY_HAND: Any = None


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"

    @property
    def is_json(self) -> bool:
        return self is Format.JSON


class ReplicaFormat(StrEnum):
    """The formats of the command that shows replicas."""

    TABLE = "table"
    JSON = "json"
    LADDER = "ladder"


class ReportFormat(StrEnum):
    """The formats of a post-mortem."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


BootstrapServer = Annotated[
    str, typer.Option(metavar="HOST:PORT[,...]", help="Brokers to connect to first.")
]
CommandConfig = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Java client properties: TLS, SASL, client.id."),
]
ElectionAttempts = Annotated[
    int, typer.Option(min=0, metavar="N", help="Retries of elections that fail in passing.")
]
HowSeen = Annotated[
    Transport,
    typer.Option(
        "--transport",
        help="How replicas are asked how far they go. auto: as every Kafka understands it"
        " (list-offsets), unless the dialect of GetReplicaLogInfo is named.",
    ),
]
HowElected = Annotated[
    ElectionMethod,
    typer.Option(
        help="How a designated leader is elected. reorder: as every Kafka understands it."
        " designated: by ElectLeaders version 3, and by nothing else. auto: reorder.",
    ),
]
ReplicaLogInfoDialect = Annotated[
    Dialect | None,
    typer.Option(
        help="What the brokers understand by GetReplicaLogInfo, which is sent with this key:"
        " kip-966 (krabka too) 1020, kip-1275 1275, reverted 93. That is another request since"
        " Kafka 4.4; where a broker wants its id by 93, none of these fits."
    ),
]
OutputFormat = Annotated[Format, typer.Option(help="What stdout gets.")]
ReplicaOutputFormat = Annotated[
    ReplicaFormat,
    typer.Option(
        help="What stdout gets. ladder: a bar for each replica, with --show-replica-info."
    ),
]
JournalFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where each step is noted before it is taken."),
]
IgnoreJournals = Annotated[
    list[Path] | None,
    typer.Option(
        "--ignore-journal",
        metavar="FILE",
        help="Elect although this journal of an earlier run can't be read; may be given again.",
    ),
]
AcceptLoss = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOPIC[:MAX_RECORDS]",
        help="Refuse partitions whose certain loss is above that of their topic, or unknown, and"
        " those whose topic is not named; * is any other topic. May be given again.",
    ),
]
Canary = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Elect N partitions and verify them before the others; a surprise stops it.",
    ),
]
WaveSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Elect N partitions at a time and verify them; a surprise stops it.",
    ),
]
PartitionsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help='The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}.',
    ),
]
ManualRecoveryFile = Annotated[
    Path | None,
    typer.Option(
        metavar="NEWFILE",
        help="Write the designated leaders, for kafka-elect-leaders, and elect nothing.",
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(metavar="NEWFILE", help="Write the plan with all that it rests on."),
]
Topics = Annotated[
    str | None,
    typer.Option(metavar="REGEX", help="Only topics whose whole name matches (Python's re)."),
]
HowMuch = Annotated[
    ScanMode,
    typer.Option(
        help="How much is read. fast: checkpoints and the last headers; no loss is told from it."
        " recover: with CRCs, as a broker does after an unclean stop. deep: CRCs of everything."
    ),
]
ReplicaInfoFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--replica-info-file",
        metavar="FILE",
        help="What scan-log-dirs --output wrote, here or elsewhere; may be given again.",
    ),
]
LogDirs = Annotated[
    list[Path] | None,
    typer.Option(
        "--log-dirs",
        metavar="DIR",
        help="Log directories of dead brokers to read now; may be given again.",
    ),
]
MetricsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write metrics of this run there, in Prometheus' text format, however it ends; such a"
        " file of an earlier run is replaced.",
    ),
]
PLAN: Any = typer.Option(
    "--plan",
    metavar="FILE",
    help="What --plan-output-file wrote: who is to lead, and how far its log goes.",
)
DesignatedByHand = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Designated leaders as they were elected, where they are not the plan's.",
    ),
]
RawOnly = Annotated[
    bool,
    typer.Option("--raw-only", help="Write segment files only, no Parquet, which needs pyarrow."),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="As spark-submit has it, or sc://HOST:PORT; by default spark-submit's, else local[*].",
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; may be given again."),
]
Summaries = Annotated[
    list[Path],
    typer.Option(
        metavar="DIR",
        help="What spark scan --output wrote; may be given again. Of a replica that two scans have"
        " the later counts.",
    ),
]
StoreEndpoint = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Of an object store that is not its maker's own."),
]
StoreRegion = Annotated[str | None, typer.Option(metavar="REGION", help="Of an S3 bucket.")]
