"""kafka-unclean-recovery spark scan scans log directories with Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import (
    Conf,
    Format,
    HowMuch,
    Master,
    OutputFormat,
    PartitionsFile,
    StoreEndpoint,
    StoreRegion,
    Topics,
)
from kafka_unclean_recovery.cli.selection import Selection, selection
from kafka_unclean_recovery.cli.spark_failures import job_failed
from kafka_unclean_recovery.cli.spark_session import (
    SparkWatch,
    check_installed,
    session_for,
    store_flags,
    store_options,
)
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import (
    Console,
    check_outside_log_directories,
    read_bytes,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import count_and_first, doubt_complaints
from kafka_unclean_recovery.cli.terminal.scan_watch import size_text
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.log_dir.watching import Stopped
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.shown import shell_join
from kafka_unclean_recovery.wording import and_more, count_text

if TYPE_CHECKING:
    from kafka_unclean_recovery.spark.result_paths import ResultPath
    from kafka_unclean_recovery.spark.scan.job import Home, ScanOptions
    from kafka_unclean_recovery.spark.scan.scan_disks import Scanned


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Scan log directories as scan-log-dirs does, on the executors of a Spark cluster.

    The directory --output gets two tables as Parquet: replicas, with one row for each replica, and
    partitions. Disks are only read. A scan that was killed or interrupted continues when the same
    command is run again.

    On one machine of two cores scan-log-dirs was faster up to 300,000 small replicas on 1,000 disks
    (--mode recover) and up to 4 GiB of large ones (--mode deep); at 900,000 on 3,000 disks Spark
    was. It is for disks that several machines read, and for more than one process can hold.
    """

    output: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="Directory for the tables and for the progress of the scan: a path that driver and"
            " executors all have, or a URL that begins with s3://, gs://, abfs:// or hdfs://.",
        ),
    ]
    roots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ROOT]...",
            help="Log directory, or a directory that holds several: a path that all executors have,"
            " or a URL that begins with s3://, gs://, abfs:// or hdfs://.",
        ),
    ] = None
    roots_table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV or Parquet file with a column root, which names a log directory in each row.",
        ),
    ] = None
    leave_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV or Parquet file with a column root, which names a log directory in each row"
            " that does not count, such as one of another cluster. A scan that is refused for those"
            " writes the file, leave-out.csv in --output.",
        ),
    ] = None
    rescan: Annotated[
        bool,
        typer.Option(
            "--rescan",
            help="Remove what earlier runs of the same scan left in --output, and read everything"
            " again. Without it a scan that has ended is not run again, and what it found wrong is"
            " said again, with the same exit code.",
        ),
    ] = False
    mode: HowMuch = ScanMode.RECOVER
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    store_endpoint: StoreEndpoint = None
    store_region: StoreRegion = None
    master: Master = None
    conf: Conf = None
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


def scan(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    check_installed()
    from kafka_unclean_recovery.spark.scan.job import Home

    chosen = selection(options.topics, options.path_to_json_file)
    asked = _asked(options, chosen)
    leave_out = _left_out(options, asked)
    home = _output(options.output, dict(asked.store))
    scanned = _scanned(console, options, Home(home), asked, leave_out)
    from kafka_unclean_recovery.spark.scan.scan_disks import found_before, replicas_missing
    from kafka_unclean_recovery.spark.summaries import SCAN

    if options.format.is_json:
        console.artefact((home / SCAN).read_text(encoding="utf-8"))
    if scanned is None:
        console.say(f"{home}: this scan has ended before; nothing was done")
        scanned = found_before(Home(home))
    else:
        console.say(_summary(scanned))
    missing = [str(partition) for partition in replicas_missing(Home(home), chosen.named)]
    complaints = [*_doubts(scanned), *_not_found(scanned, missing, chosen)]
    for sentence in (*_said_left_out(leave_out), *scanned.differing, *complaints):
        console.say(sentence)
    if scanned.summary.replicas:
        plan = [RECOVERY, "spark", "plan", "--summaries", options.output]
        plan += store_flags(options.store_endpoint, options.store_region)
        plan += ["--manual-recovery-output-file", "leaders.json"]
        console.say(
            f"next, choose leaders: {shell_join([*plan, '--plan-output-file', 'plan.json'])}"
        )
    if complaints:
        console.say("once that is mended, the same command with --rescan reads everything again")
    return NOT_ALL if complaints else OK


def _scanned(
    console: Console,
    options: Options,
    home: Home,
    asked: ScanOptions,
    leave_out: tuple[str, ...],
) -> Scanned | None:
    """Scan, or return None where this scan has ended before, which needs no Spark. Raises Exit."""
    from kafka_unclean_recovery.spark.running import JobFailed
    from kafka_unclean_recovery.spark.scan.job import forget, has_ended
    from kafka_unclean_recovery.spark.scan.scan_disks import scan as scan_disks

    again = "what is done is kept, and the same command goes on from there"
    watch = SparkWatch(console, again)
    try:
        if options.rescan:
            forget(home, asked)
        if has_ended(home, asked, leave_out):
            return None
        with session_for(options.master, options.conf or (), watch) as spark:
            return scan_disks(spark, asked, home, watch, leave_out)
    except Stopped:
        raise Exit(watch.signals.exit_code or NOT_ALL, f"interrupted; {again}") from None
    except JobFailed as error:
        raise job_failed(error, options.conf or (), again) from None
    except OSError as error:
        place = error.filename or home.path
        raise Exit(NOT_ALL, f"{place}: {error.strerror}; {again}") from None


def _asked(options: Options, chosen: Selection) -> ScanOptions:
    from kafka_unclean_recovery.spark.scan.job import ScanOptions

    roots = list(options.roots or ())
    if options.roots_table is not None:
        roots += _roots(options.roots_table, "--roots-table")
    if not roots:
        raise usage("no ROOT: name log directories or their parents, or a --roots-table")
    store = store_options(options.store_endpoint, options.store_region)
    return ScanOptions(
        roots=_addresses(roots, store),
        mode=options.mode,
        topics=None if chosen.topics is None else chosen.topics.pattern,
        partitions=None
        if chosen.partitions is None
        else tuple(sorted((p.topic, p.partition) for p in chosen.partitions)),
        store=tuple(store.items()),
        version=__version__,
    )


def _left_out(options: Options, asked: ScanOptions) -> tuple[str, ...]:
    """Return the addresses of the log directories that do not count. Raises Exit(2)."""
    if options.leave_out is None:
        return ()
    return _addresses(_roots(options.leave_out, "--leave-out"), dict(asked.store))


def _addresses(roots: Iterable[str], store: Mapping[str, str]) -> tuple[str, ...]:
    from kafka_unclean_recovery.spark.places import address_of, location_of

    return tuple(dict.fromkeys(address_of(location_of(root, store)) for root in roots))


def _roots(path: Path, flag: str) -> list[str]:
    """Read a table of roots. Raises Exit(2), also for one without a row."""
    from kafka_unclean_recovery.spark.scan.roots_table import roots_of

    found = roots_of(read_bytes(path, flag), f"{flag} {path}")
    if not found:
        raise usage(f"{flag} {path}: no row; write a root in each")
    return found


def _output(text: str, store: Mapping[str, str]) -> ResultPath:
    """Return where the results go. Raises Exit(2)."""
    from kafka_unclean_recovery.spark.result_paths import result_path

    home = result_path(text, store)
    if isinstance(home, Path):
        if not home.parent.is_dir():
            raise usage(f"--output {home}: {home.parent} is no directory; make it first")
        check_outside_log_directories(home / "replicas", "--output")
    return home


def _summary(scanned: Scanned) -> str:
    summary = scanned.summary
    suspect, unusable = summary.doubts.suspect.count, summary.doubts.unusable.count
    trusted = summary.replicas - suspect - unusable
    size = f", {size_text(scanned.size)} of segments" if scanned.size else ""
    brokers = count_text(len(scanned.head.brokers), "broker")
    return (
        f"{brokers}, {count_text(summary.partitions, 'partition')},"
        f" {count_text(summary.replicas, 'replica')} ({trusted} trusted, {suspect} suspect,"
        f" {unusable} unusable){size}"
    )


def _doubts(scanned: Scanned) -> Iterator[str]:
    yield from doubt_complaints(scanned.summary.doubts)
    yield from count_and_first("problem", "problems", scanned.head.problems)


def _said_left_out(leave_out: Sequence[str]) -> Iterator[str]:
    if leave_out:
        yield f"left out, as --leave-out says: {leave_out[0]}{and_more(leave_out)}"


def _not_found(scanned: Scanned, missing: list[str], chosen: Selection) -> Iterator[str]:
    """Return complaints about partitions without a replica here: a misspelt name must not look like
    a disk without problems."""
    if missing:
        yield from count_and_first(
            "partition has no replica here", "partitions have no replica here", missing
        )
    elif not scanned.summary.replicas and not chosen.everything:
        yield f"no replica here is of the partitions asked for{chosen.hint}"


COMMAND = Command(Options, scan)
