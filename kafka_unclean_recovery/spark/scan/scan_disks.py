"""A bulk scan does what `log_dir.scan` does in one process, as a few Spark jobs one after the
other."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

from msgspec import structs
from pyspark.sql import SparkSession

from kafka_unclean_recovery.documents.replica_info import TableRowsJson
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.sync_directory import sync_directory
from kafka_unclean_recovery.kafka_names import COMPACTED_TOPICS
from kafka_unclean_recovery.log_dir.clean_stop import clean_by_broker
from kafka_unclean_recovery.log_dir.scan import (
    brokers_of,
    copied,
    foreign,
    strangers,
    strangers_text,
    unregistered,
)
from kafka_unclean_recovery.log_dir.watching import Progress
from kafka_unclean_recovery.log_dir.whole_disks import read_directories, whole_disks
from kafka_unclean_recovery.model import TopicPartition, WholeDisk
from kafka_unclean_recovery.shown import shell_word
from kafka_unclean_recovery.spark.new_files import write_rows, write_text
from kafka_unclean_recovery.spark.places import address_of
from kafka_unclean_recovery.spark.result_paths import (
    ResultPath,
    for_tasks,
    make_directory,
    read_batches,
    remove_tree,
    table_files,
)
from kafka_unclean_recovery.spark.running import Unwatched, Watch, cores_of, run_watched
from kafka_unclean_recovery.spark.scan.bundles import gather_strays, make_bundles
from kafka_unclean_recovery.spark.scan.census import census, late
from kafka_unclean_recovery.spark.scan.elsewhere import Jobs
from kafka_unclean_recovery.spark.scan.gathering import (
    ScanSummary,
    named_brokers,
    rows_of_partitions,
    summary_of,
    tables_in,
)
from kafka_unclean_recovery.spark.scan.job import (
    Home,
    ScanOptions,
    abandon,
    begun,
    check_left_out,
    start_over_if_refused,
)
from kafka_unclean_recovery.spark.scan.listing import Chosen, chosen_of, listed_roots
from kafka_unclean_recovery.spark.scan.metadata import (
    STATES,
    Known,
    known_of,
    newest_of,
    of_two_histories,
)
from kafka_unclean_recovery.spark.scan.roots_table import roots_csv
from kafka_unclean_recovery.spark.scan.scanning import done_directory
from kafka_unclean_recovery.spark.shipping import on_executors
from kafka_unclean_recovery.spark.summaries import SCAN, ScanHead, head_json, read_head
from kafka_unclean_recovery.spark.tables import KEY, PARTITIONS, REPLICAS
from kafka_unclean_recovery.spark.tasks import TOLD, collected
from kafka_unclean_recovery.spark.turns import sentences
from kafka_unclean_recovery.stores.store_path import StorePath

_HERE = "kafka_unclean_recovery.spark.scan"
_ROWS_OF_A_TASK = 50_000
# Spark's driver keeps an eye on each task.
_MOST_TASKS = 50_000


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result of a scan. size: bytes that were to be read of segments. differing: sentences on
    what was missing on some hosts, and was read on others."""

    head: ScanHead
    summary: ScanSummary
    size: int
    differing: tuple[str, ...] = ()


def scan(
    spark: SparkSession,
    asked: ScanOptions,
    home: Home,
    watch: Watch | None = None,
    leave_out: tuple[str, ...] = (),
) -> Scanned | None:
    """Write summaries of the log directories below the roots to the home; return None when they are
    there already. The same scan, run again, goes on where a killed one stopped. leave_out:
    addresses of log directories that do not count.

    Raises InputError for a home that is another scan's and for roots without any log directory;
    Stopped, JobFailed, OSError. Problems are in the head and the rows, as log_dir.scan has them.
    """
    watch = watch or Unwatched()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    start_over_if_refused(home, asked)
    with begun(home, asked, now) as at:
        check_left_out(home, leave_out)
        if home.ended:
            with suppress(OSError):
                remove_tree(home.work)
            return None
        jobs = Jobs(spark, home, watch)
        if not home.plan.exists():
            _prepare(jobs, asked, leave_out)
        plan = json.loads(home.plan.read_text(encoding="utf-8"))
        _read(jobs, plan)
        jobs.run("scanning:join_pieces", home.settings, plan["joins"])
        summary = _gather(jobs, plan)
        head = ScanHead(
            cluster_id=plan["cluster_id"],
            scanned_at=at,
            mode=asked.mode,
            brokers=tuple(plan["brokers"]),
            metadata_epoch=plan["metadata_epoch"],
            metadata_end_offset=plan["metadata_end_offset"],
            problems=(*plan["problems"], *_nowhere(jobs), *late(jobs)),
            whole=tuple(WholeDisk(*disk) for disk in plan["whole"]),
            rows=TableRowsJson(summary.replicas, summary.partitions),
        )
        write_text(home.summary, json.dumps(asdict(summary)) + "\n")
        write_text(home.path / SCAN, head_json(head))
        differing = (*plan["differing"], *_elsewhere(jobs.elsewhere))
        remove_tree(home.work)
        return Scanned(head, summary, plan["size"], differing)


def _prepare(jobs: Jobs, asked: ScanOptions, leave_out: tuple[str, ...]) -> None:
    """Do everything up to the plan, and write it."""
    home = jobs.home
    here = home.settings
    jobs.run("listing:list_roots", here, len(asked.roots))
    try:
        taken = census(jobs, asked)
    except InputError:
        abandon(home)
        raise
    parts, roots = taken.parts(), taken.roots(asked)
    jobs.run("listing:list_parts", {**here, "roots": [astuple(part) for part in parts]}, len(parts))
    chosen = chosen_of(chain(taken.unseen(), listed_roots(home, asked, roots)), leave_out)
    _check_chosen(home, chosen, leave_out)
    known = _newest_metadata(jobs, asked, chosen)
    places = {listed.place for listed in chosen.listed}
    gather_strays(home, roots, places)
    apart = {part.first_place for part in parts}
    bundles = make_bundles(home, roots, places, apart, cores_of(jobs.spark))
    make_directory(done_directory(home))
    if leave_out:
        write_text(home.left_out, roots_csv(leave_out))
    write_text(
        home.plan,
        json.dumps(
            {
                **_decided(asked, chosen, known),
                "bundles": bundles.count,
                "joins": bundles.joins,
                "size": bundles.size,
                "replicas": bundles.replicas,
                "differing": list(_elsewhere(taken.missing)),
            }
        ),
    )


def _check_chosen(home: Home, chosen: Chosen, leave_out: Collection[str]) -> None:
    """Raise InputError where there is nothing to scan, where a name in --leave-out is no log
    directory here, and for disks of several clusters. What was listed is kept for these two."""
    if not chosen.found:
        abandon(home)
        first = chosen.unseen[0] if chosen.unseen else "no root was given"
        raise InputError(f"no root holds a log directory; the first: {first}")
    if unknown := [name for name in leave_out if name not in chosen.left_out]:
        raise InputError(
            f"--leave-out: {unknown[0]} is no log directory below the roots; name those that are,"
            " as they are named in messages"
        )
    most, others = strangers(chosen.directories)
    if others:
        write_text(home.refused, roots_csv(address_of(each.location) for each in others))
        here = isinstance(home.refused, Path)
        file = home.refused if here else home.refused.name
        raise InputError(
            f"{strangers_text(most, others)}; give the disks of one cluster, or look at"
            f" {home.refused}, which names the others, and run the same command with --leave-out"
            f" {shell_word(str(file))}{'' if here else ', a copy of it'}: it goes on with what was"
            " listed (where disks were changed since, add --rescan)"
        )
    if not chosen.listed:
        raise InputError("--leave-out names all log directories below the roots; leave some in")


def _newest_metadata(jobs: Jobs, asked: ScanOptions, chosen: Chosen) -> Known:
    home = jobs.home
    locations = [address_of(directory.location) for directory in chosen.with_metadata]
    weighed = _weighed(jobs, locations, dict(asked.store))
    newest = newest_of(weighed)
    if newest is None:
        write_rows(home.states, (), STATES)
        return known_of(weighed, None)
    read = [row["number"] for row in weighed if "authority" in row]
    others = [locations[number] for number in sorted(read) if number != newest]
    settings = {"locations": [locations[newest], *others], "store": dict(asked.store)}
    compared = jobs.run("metadata:compare_metadata", settings, len(others))
    ordered = sorted(compared, key=lambda row: int(row["number"]))
    if two := [row for row in ordered if row["sure"]]:
        write_rows(home.states, (), STATES)
        return of_two_histories(weighed, two)
    settings = {**home.settings, "location": locations[newest]}
    (said,) = jobs.run("metadata:write_states", settings, 1)
    return known_of(weighed, said, [row["said"] for row in ordered])


def _weighed(jobs: Jobs, locations: Sequence[str], store: dict[str, str]) -> list[dict[str, Any]]:
    """Return what weigh_metadata tells of each metadata log. The one that goes furthest by its size
    is replayed first, and then those alone that do not repeat it."""
    settings: dict[str, Any] = {"locations": locations, "store": store}
    ranked = jobs.run("metadata:rank_metadata", settings, len(locations))
    if not ranked:
        return []
    first = max(ranked, key=lambda row: (row["reach"], -row["number"]))["number"]
    others = [number for number in range(len(locations)) if number != first]
    alone = {**settings, "locations": [locations[first]]}
    (furthest,) = jobs.run("metadata:weigh_metadata", alone, 1)
    settings["locations"] = [locations[number] for number in others]
    if furthest.get("sound"):
        authority = furthest["authority"]
        settings["furthest"] = {"location": locations[first], "authority": authority}
    rest = jobs.run("metadata:weigh_metadata", settings, len(others))
    told = [{**row, "number": others[row["number"]]} for row in rest]
    return [{**furthest, "number": first}, *told]


def _decided(asked: ScanOptions, chosen: Chosen, known: Known) -> dict[str, Any]:
    """Return what is known of the log directories together, as log_dir.scan tells it."""
    directories = chosen.directories
    cleaned = (directory.cleaned_topics for directory in directories)
    weighed = chosen.with_metadata
    return {
        "cluster_id": next((d.meta.cluster_id for d in directories if d.meta.cluster_id), None),
        "brokers": brokers_of(directories, known.image),
        "compacted": sorted(known.compacted.union(COMPACTED_TOPICS, *cleaned)),
        "covered": sorted({weighed[number].meta.node_id for number in known.read}),
        "read": [
            [read.directory_id, *structs.astuple(read.disk), sorted(read.left_out)]
            for read in read_directories(directories, known.image)
        ],
        "zookeeper": sorted({d.meta.node_id for d in directories if d.meta.zookeeper}),
        "clean": list(clean_by_broker(directories, known.image).items()),
        # A scan of some topics does not tell what else is not there.
        "whole": [
            structs.astuple(d) for d in whole_disks(directories, known.image) if asked.everything
        ],
        "metadata_epoch": known.epoch,
        "metadata_end_offset": known.end_offset,
        "states": known.states,
        "problems": [
            *chosen.unseen,
            *(problem for directory in directories for problem in directory.problems),
            *unregistered(directories, known.image),
            *foreign(directories),
            *copied(directories),
            *known.problems,
        ],
    }


def _gather(jobs: Jobs, plan: Mapping[str, Any]) -> ScanSummary:
    """Write both tables, in place of what a run that was killed left of them."""
    home = jobs.home
    rows = plan["replicas"] + plan["states"]
    building = home.work / f"tables-{uuid.uuid4().hex}"
    settings = {
        "tables": for_tasks(building),
        "compacted": plan["compacted"],
        "covered": plan["covered"],
        "read": plan["read"],
        "clean": plan["clean"],
        "named": sorted(named_brokers(home, plan["zookeeper"])),
    }
    summary = summary_of(_run_gathering(jobs.spark, home, settings, rows, jobs.watch))
    for built, table, schema in zip(
        tables_in(building), home.tables, (REPLICAS, PARTITIONS), strict=True
    ):
        if not built.exists():
            write_rows(built / "part-00000.parquet", (), schema)
        _move(built, table)
    return summary


def _move(built: ResultPath, table: ResultPath) -> None:
    """Put a table in the place of what is there; a store has none but single files to move."""
    remove_tree(table)
    if isinstance(built, StorePath) and isinstance(table, StorePath):
        for name in built.names():
            (built / name).copy_to(table / name)
    elif isinstance(built, Path) and isinstance(table, Path):
        built.rename(table)
        sync_directory(table.parent)


def _run_gathering(
    spark: SparkSession, home: Home, settings: Mapping[str, Any], rows: int, watch: Watch
) -> list[dict[str, Any]]:
    tasks = max(cores_of(spark), ceil(rows / _ROWS_OF_A_TASK))

    def job() -> list[dict[str, Any]]:
        work = on_executors(f"{_HERE}.gathering:gather", settings)
        return collected(rows_of_partitions(spark, home, tasks).mapInArrow(work, TOLD))

    tell = partial(watch.tasks, "gathering")
    return run_watched(spark, job, tasks, lambda n: tell(n, tasks), lambda: watch.stopped)


def _read(jobs: Jobs, plan: Mapping[str, Any]) -> None:
    """Read all that is to be read of segments; bundles that are done are passed over."""
    count, size, replicas = plan["bundles"], plan["size"], plan["replicas"]
    tasks = min(count, _MOST_TASKS)

    def tell(done: int) -> None:
        part = done / tasks
        jobs.watch.progress(Progress(int(part * size), size, int(part * replicas), replicas))

    settings = jobs.home.settings
    jobs.run_in("scanning:scan_bundles", settings, count, tasks, tell)


def _elsewhere(missing: Mapping[str, Iterable[str]]) -> Iterator[str]:
    return (f"{said}; it is read where it can be" for said in sentences(missing))


def _nowhere(jobs: Jobs) -> Iterator[str]:
    return (f"{said}; no host that can was found" for said in sentences(jobs.nowhere))


def found_before(home: Home) -> Scanned:
    """Return the result of a scan that has ended. Raises OSError, InputError."""
    summary = summary_of([json.loads(home.summary.read_text(encoding="utf-8"))])
    return Scanned(read_head(home.path), summary, 0)


def replicas_missing(home: Home, named: Collection[TopicPartition]) -> list[TopicPartition]:
    """Return those of `named` that have no row in the table of replicas. Raises OSError."""
    if not named:
        return []
    left = set(named)
    for file in table_files(home.tables[0]):
        for batch in read_batches(file, KEY):
            columns = (batch.column(name).to_pylist() for name in KEY)
            left -= set(map(TopicPartition._make, zip(*columns, strict=True)))
    return sorted(left)
