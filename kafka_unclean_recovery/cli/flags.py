"""Every flag that several commands have is defined here, once."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.errors import usage
from kafka_unclean_recovery.mechanisms import Dialect, ElectionMethod, ScanMode, Transport, Wishes

# The default of a flag that only a group without a command requires: Typer can't require such a
# flag, so command.py does.
BY_HAND: Any = None


class Format(StrEnum):
    """The formats of most commands. WIDE: all that a table has, on a terminal too."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"

    @property
    def is_json(self) -> bool:
        return self is Format.JSON


class ReplicaFormat(StrEnum):
    """The formats of the command that shows replicas."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    LADDER = "ladder"


class ReportFormat(StrEnum):
    """The formats of a post-mortem."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


BootstrapServer = Annotated[
    str,
    typer.Option(metavar="HOST:PORT[,...]", help="Brokers to contact first, to find the others."),
]
CommandConfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Java client properties file for the connection, such as TLS and SASL; by default"
        " connections are plaintext.",
    ),
]
ElectionAttempts = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="How many times elections that failed for a temporary reason are tried again.",
    ),
]
HowSeen = Annotated[
    Transport,
    typer.Option(
        "--transport",
        help="How brokers are asked how far their replicas' logs go. list-offsets: by requests that"
        " every Kafka understands. replica-log-info: by GetReplicaLogInfo. auto: replica-log-info"
        " for brokers that speak the given --replica-log-info-dialect, list-offsets for others.",
    ),
]
HowElected = Annotated[
    ElectionMethod,
    typer.Option(
        help="How a designated leader is elected. reorder: by a temporary replica order, which"
        " every Kafka understands. designated: only by ElectLeaders version 3. auto: reorder, but"
        " designated on an emulated cluster that offers it.",
    ),
]
ReplicaLogInfoDialect = Annotated[
    Dialect | None,
    typer.Option(
        help="The form of GetReplicaLogInfo that the brokers speak; by default real brokers are not"
        " sent this request. Its API key is 1020 for kip-966 (also for krabka), 1275 for kip-1275"
        " and 93 for reverted. Since Kafka 4.4, key 93 is another request; there is no dialect for"
        " a request of key 93 that contains the broker's id."
    ),
]
OutputFormat = Annotated[
    Format,
    typer.Option(
        help="Format of the result on stdout. table: on a terminal a long one is cut to the window,"
        " elsewhere all rows. wide: all rows."
    ),
]
ReplicaOutputFormat = Annotated[
    ReplicaFormat,
    typer.Option(
        help="Format of the result on stdout. table: on a terminal no more than fits into its"
        " window, elsewhere all rows. wide: all rows. ladder: a bar for each replica; needs"
        " --show-replica-info."
    ),
]
JournalFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File in which each step is written before it is taken; by default a new file under"
        " kafka-unclean-recovery in $XDG_STATE_HOME or $HOME/.local/state.",
    ),
]
IgnoreJournals = Annotated[
    list[Path] | None,
    typer.Option(
        "--ignore-journal",
        metavar="FILE",
        help="Elect even if this journal of an earlier run can't be read. Can be repeated; by"
        " default such a journal stops the run.",
    ),
]
AcceptLoss = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOPIC[:MAX_RECORDS]",
        help="Elect a partition of the topic only if its certain loss is known and at most"
        " MAX_RECORDS; a topic without a number accepts any loss. Partitions of topics that are not"
        " named are refused; * names all other topics. Can be repeated; by default any loss is"
        " accepted.",
    ),
]
Canary = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Elect and verify N partitions first, and stop if an election failed or did not last."
        " By default there is no such first step.",
    ),
]
WaveSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Elect and verify at most N partitions at a time, and stop if an election failed or"
        " did not last. By default all partitions are elected together.",
    ),
]
PartitionsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help='Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partitions":'
        " [0, 3]}]}.",
    ),
]
ManualRecoveryFile = Annotated[
    Path | None,
    typer.Option(
        metavar="NEWFILE",
        help="Write the designated leaders to this new file, for kafka-elect-leaders, and elect"
        " nothing.",
    ),
]
DesignatedLeadersFile = Annotated[
    Path,
    typer.Option(
        metavar="NEWFILE",
        help="Write the designated leaders to this new file, for kafka-elect-leaders.",
    ),
]
ExcludeBrokers = Annotated[
    str | None,
    typer.Option(
        metavar="IDS",
        help="Ids of brokers that will never start again and must not lead, such as 1,2; by"
        " default none.",
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        metavar="NEWFILE", help="Write the plan, with all data that it rests on, to this new file."
    ),
]
Gone = Annotated[
    str | None,
    typer.Option(
        metavar="IDS",
        help="Ids of brokers whose disks are lost for good, such as 1,2; by default none.",
    ),
]
Topics = Annotated[
    str | None,
    typer.Option(
        metavar="REGEX",
        help="Only topics whose whole name matches this regular expression of Python's re; by"
        " default all topics.",
    ),
]
HowMuch = Annotated[
    ScanMode,
    typer.Option(
        help="How much of the logs is read. fast: checkpoints and the last headers; losses can't be"
        " counted this way. recover: also everything after the recovery point, with CRCs, as a"
        " broker does after an unclean stop. deep: everything, with CRCs."
    ),
]
ReplicaInfoFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--replica-info-file",
        metavar="FILE",
        help="File that scan-log-dirs --output wrote, on this machine or another. Can be repeated.",
    ),
]
LogDirs = Annotated[
    list[Path] | None,
    typer.Option(
        "--log-dirs",
        metavar="DIR",
        help="Log directory of a dead broker, which is read now. Can be repeated.",
    ),
]
MetricsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write metrics of this run to this file, in the Prometheus text format, however the"
        " run ends; metrics of an earlier run in the file are replaced.",
    ),
]
IncidentJournal = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        metavar="JOURNAL",
        help="Journal of the run that elected, which also gets what is found or done here, for the"
        " command report.",
    ),
]
Last = Annotated[
    bool,
    typer.Option(
        "--last",
        help="Take the journal of this user's last run that elected, out of the state directory.",
    ),
]
PLAN: Any = typer.Option(
    "--plan",
    metavar="FILE",
    help="Plan that --plan-output-file wrote; it names the designated leaders and the ends of their"
    " logs.",
)
DesignatedByHand = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File of designated leaders, as kafka-elect-leaders takes it, for partitions where"
        " another leader than the plan's was elected.",
    ),
]
RawOnly = Annotated[
    bool,
    typer.Option(
        "--raw-only", help="Write only segment files, and no Parquet files, which need pyarrow."
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Spark master as for spark-submit, or sc://HOST:PORT for Spark Connect; by default the"
        " master of spark-submit, else local[*].",
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="Spark setting. Can be repeated."),
]
Summaries = Annotated[
    list[str],
    typer.Option(
        metavar="DIR",
        help="Directory that spark scan --output wrote, or its URL. Can be repeated; if two scans"
        " have the same replica, the later scan counts.",
    ),
]
StoreEndpoint = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Address of the object store; by default the public service of its provider.",
    ),
]
StoreRegion = Annotated[
    str | None,
    typer.Option(
        metavar="REGION", help="Region of the S3 bucket; by default the S3 client's own setting."
    ),
]


def version_flag(program: str) -> Any:
    """Return the option --version, which prints the version of this program and ends it."""

    def show(wanted: bool) -> None:
        if wanted:
            typer.echo(f"{program} {__version__}")
            raise typer.Exit

    return typer.Option("--version", callback=show, is_eager=True, help="Show the version.")


def wishes_of(transport: Transport, method: ElectionMethod, dialect: Dialect | None) -> Wishes:
    """Return the wishes that these flags express. Raises Exit(2) when two flags exclude each
    other."""
    if dialect is not None and transport is Transport.LIST_OFFSETS:
        raise usage("--replica-log-info-dialect and --transport list-offsets exclude each other")
    return Wishes(transport, method, dialect)


def mechanism_flags(wishes: Wishes) -> Iterator[str]:
    """Return the flags for these wishes on a command line; defaults need no flag."""
    if wishes.transport is not Transport.AUTO:
        yield from ("--transport", wishes.transport)
    if wishes.election_method is not ElectionMethod.AUTO:
        yield from ("--election-method", wishes.election_method)
    if wishes.dialect is not None:
        yield from ("--replica-log-info-dialect", wishes.dialect)
