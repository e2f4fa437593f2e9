"""kafka-unclean-recovery salvage saves records that the designated leaders lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.commands.salvage import Options
from kafka_unclean_recovery.cli.disk_sources import read_info
from kafka_unclean_recovery.cli.incident import note, read_incident
from kafka_unclean_recovery.cli.selection import Selection, selection
from kafka_unclean_recovery.cli.terminal.console import Console, check_new_directory, read_input
from kafka_unclean_recovery.cli.terminal.log_format import context_of_command
from kafka_unclean_recovery.cli.terminal.output import columns_to_fit, count_and_first, print_text
from kafka_unclean_recovery.cli.terminal.scan_watch import ScanWatch
from kafka_unclean_recovery.documents.manual_recovery import parse_elections
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.watching import Stopped
from kafka_unclean_recovery.planning.merged_scans import merge_infos
from kafka_unclean_recovery.post_mortem.story import carried_out
from kafka_unclean_recovery.salvage.designated import (
    DesignatedLeaders,
    Elections,
    designated_leaders,
    leaders_of,
)
from kafka_unclean_recovery.salvage.earlier import Earlier, earlier_scans
from kafka_unclean_recovery.salvage.manifest import Manifest, manifest_json, note_salvage
from kafka_unclean_recovery.salvage.output_directory import new_directory, write_manifest
from kafka_unclean_recovery.salvage.replica import OpenRecords, Output, Salvaged
from kafka_unclean_recovery.salvage.salvage_disks import (
    Source,
    find_named,
    find_replicas,
    order,
    salvage_replicas,
)
from kafka_unclean_recovery.salvage.salvage_table import render_salvage
from kafka_unclean_recovery.shown import shell_join

_BY_HAND = "--manual-recovery-file"
RAW_ONLY = ", or give --raw-only for the segment files alone"
_NO_REPLICA = "no replica here but the designated leader's"


def save(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    if not options.log_dirs and not options.replica_info_file:
        context_of_command().fail("Missing option '--log-dirs' or '--replica-info-file'.")
    check_new_directory(options.output, "--output")
    records = None if options.raw_only else parquet_records(RAW_ONLY)
    leaders = _leaders(options)
    chosen = selection(options.topics, options.path_to_json_file)
    manifest = _salvage(console, options, leaders, chosen, records)
    width = columns_to_fit(options.format)
    text = manifest_json(manifest) if options.format.is_json else render_salvage(manifest, width)
    note(console, options.journal, lambda journal: note_salvage(journal, options.output, manifest))
    complaints = [*_complaints(manifest), *_not_found(manifest.replicas, leaders, chosen)]
    below = [*complaints]
    if records is not None and any(row.saved for row in manifest.replicas):
        below.append(f"next, see what producing them again would do: {_replay(options)}")
    print_text(console, text, options.format, below)
    return NOT_ALL if complaints else OK


def _replay(options: Options) -> str:
    told = None if options.journal is None else read_incident(options.journal)
    servers = (None if told is None else told.bootstrap) or "BROKERS"
    replay = [RECOVERY, "salvage", "replay", str(options.output), "--bootstrap-server", servers]
    noted = [] if options.journal is None else ["--journal", str(options.journal)]
    return shell_join([*replay, *noted])


def parquet_records(instead: str = "") -> OpenRecords:
    """Return the function that opens Parquet files. instead: advice for users without pyarrow.
    Raises Exit(2)."""
    try:
        from kafka_unclean_recovery.salvage.parquet import RecordsFile
    except ModuleNotFoundError as error:
        raise usage(
            f"{error.name} is not installed, which writes records as Parquet and unfolds compressed"
            f" batches: pip install 'kafka-unclean-recovery[salvage]'{instead}"
        ) from None
    return RecordsFile


def _leaders(options: Options) -> DesignatedLeaders:
    """Return the leaders of --plan or --journal. Raises Exit(2), InputError."""
    if options.plan is not None and options.journal is not None:
        raise usage("--plan and --journal both name the designated leaders: give one of them")
    if options.plan is not None:
        return read_leaders(options.plan, options.manual_recovery_file)
    if options.journal is None:
        context_of_command().fail("Missing option '--plan' or '--journal'.")
    told = read_incident(options.journal)
    plans = carried_out(told.elections)
    if told.cluster_id is None or not plans:
        raise usage(f"{told.journal}: it tells of no plan; give --plan, or another journal")
    by_hand = _by_hand(options.manual_recovery_file)
    return leaders_of(told.cluster_id, plans, told.journal, by_hand)


def read_leaders(plan: Path, manual_recovery_file: Path | None) -> DesignatedLeaders:
    """Read the designated leaders from both files. Raises Exit(2)."""
    chosen = _by_hand(manual_recovery_file)
    return designated_leaders(read_input(plan, "--plan"), str(plan), chosen)


def _by_hand(path: Path | None) -> Elections:
    return () if path is None else parse_elections(read_input(path, _BY_HAND), str(path))


def _salvage(
    console: Console,
    options: Options,
    leaders: DesignatedLeaders,
    chosen: Selection,
    records: OpenRecords | None,
) -> Manifest:
    """Save the replicas and return the manifest.

    Raises Exit(2), Exit(1) when the output can't be written, Exit(130 or 143).
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    watch = ScanWatch(console, "what was saved so far is left where it is", _incomplete(options))
    try:
        sources, not_read, problems = _find(options, leaders, chosen)
        with watch.signals(), new_directory(options.output) as building:
            salvage_replicas(sources, Output(building, records), watch)
            rows = [*(source.row for source in sources), *not_read]
            manifest = Manifest(leaders.cluster_id, now, sorted(rows, key=order), problems)
            write_manifest(building, [manifest_json(manifest)])
            return manifest
    except OSError as error:
        why = error.strerror or str(error)
        raise Exit(NOT_ALL, f"--output {options.output}: {why}; {_incomplete(options)}") from None
    except Stopped:
        raise Exit(watch.exit_code or NOT_ALL, f"interrupted: {_incomplete(options)}") from None


def _find(
    options: Options, leaders: DesignatedLeaders, chosen: Selection
) -> tuple[list[Source], list[Salvaged], list[str]]:
    """Return (replicas to read; rows of replicas that earlier scans make unnecessary; problems).

    Raises InputError, Exit(2).
    """
    earlier = _earlier(options, leaders, chosen)
    if options.log_dirs:
        roots = [LocalLocation(path) for path in options.log_dirs]
        sources, problems = find_replicas(roots, leaders, chosen.includes)
    else:
        named = {Path(row.replica.directory).parent: None for row in earlier.left}
        sources, problems = find_named(map(LocalLocation, named), leaders, chosen.includes)
    here = [source.row.replica for source in sources]
    spared = set(earlier.spared(here))
    return (
        [source for source in sources if source.row.replica not in spared],
        [*earlier.settled, *earlier.missing(here)],
        [*earlier.problems, *problems],
    )


def _earlier(options: Options, leaders: DesignatedLeaders, chosen: Selection) -> Earlier:
    if not options.replica_info_file:
        return Earlier()
    infos = [(str(path), read_info(path, chosen)) for path in options.replica_info_file]
    return earlier_scans(merge_infos(infos), leaders, chosen.includes)


def _incomplete(options: Options) -> str:
    return f"what is in {options.output.name}.partial is not whole; run it again, which begins anew"


def _complaints(manifest: Manifest) -> Iterator[str]:
    found = [
        f"{row.replica.topic_partition} of broker {row.replica.broker}: {problem}"
        for row in manifest.replicas
        for problem in row.problems
    ]
    yield from count_and_first("doubt about a replica", "doubts about replicas", found)
    yield from count_and_first("problem", "problems", list(manifest.problems))


def _not_found(
    rows: Sequence[Salvaged], leaders: DesignatedLeaders, chosen: Selection
) -> Iterator[str]:
    """Return complaints about partitions without a replica here: a misspelt name must not look like
    a disk with nothing to salvage."""
    if not rows:
        yield "no replica here is of a partition of the plan and not its designated leader's"
    missing = [
        f"{partition}: {_NO_REPLICA if partition in leaders.partitions else 'not in the plan'}"
        for partition in sorted(chosen.named - {row.replica.topic_partition for row in rows})
    ]
    yield from count_and_first(
        "partition could not be salvaged", "partitions could not be salvaged", missing
    )
