"""Tasks find what lies below the roots: log directories, and the work items in them. The driver
chooses among these: each log directory counts once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow

from kafka_unclean_recovery.log_dir.future_replicas import copies
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory, read_log_directory
from kafka_unclean_recovery.log_dir.metadata.newest import CLUSTER_METADATA
from kafka_unclean_recovery.log_dir.pieces import Piece, plan_pieces
from kafka_unclean_recovery.log_dir.scan import (
    measured,
    none_at,
    started_replicas,
    strays_of,
)
from kafka_unclean_recovery.log_dir.small_files.properties_files import MetaProperties
from kafka_unclean_recovery.log_dir.tree import Folder, Unreadable, log_directories
from kafka_unclean_recovery.log_dir.watching import Unmetered
from kafka_unclean_recovery.log_dir.whole_disks import emptied
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.spark.new_files import whole_rows, write_text
from kafka_unclean_recovery.spark.places import address_of, identities, location_of
from kafka_unclean_recovery.spark.result_paths import ResultPath
from kafka_unclean_recovery.spark.scan.job import Home, ScanOptions, asked_there
from kafka_unclean_recovery.spark.scan.work_items import (
    ITEMS,
    Measured,
    item_row,
    packed,
    piece_items,
)
from kafka_unclean_recovery.spark.tasks import numbers, told
from kafka_unclean_recovery.spark.turns import Turns

_arrow: Any = pyarrow
_DIRECTORIES_OF_A_ROOT = 1 << 20

STRAYS: Any = _arrow.schema(
    [
        ("place", _arrow.int64()),
        ("topic", _arrow.string()),
        ("partition", _arrow.int32()),
        ("broker", _arrow.int32()),
        ("path", _arrow.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A log directory, without its replicas and offsets. place: its number among all, in the order
    of the roots. same: its identities, from places.identities."""

    place: int
    same: tuple[str, ...]
    directory: LogDirectory
    has_metadata: bool


@dataclass(frozen=True, slots=True)
class Unread:
    """A log directory that could not be read, and a sentence on why."""

    same: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class ListedRoot:
    """A root that was listed. unseen: what could not be looked at. links: sentences on directories
    that links lead to, each with its identities. none: why there is no log directory, None if there
    is one."""

    unseen: tuple[str, ...]
    links: tuple[tuple[str, tuple[str, ...]], ...]
    none: str | None
    directories: tuple[Listed | Unread, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """A root as it is listed: one that was asked for, or a log directory below one. name: of its
    files. first_place: the place of the first log directory that is found."""

    address: str
    name: str
    first_place: int


def roots_asked(asked: ScanOptions) -> list[Root]:
    return [
        Root(address, str(number), number * _DIRECTORIES_OF_A_ROOT)
        for number, address in enumerate(asked.roots)
    ]


def parts_of(number: int, addresses: Iterable[str]) -> list[Root]:
    """Return the log directories below root `number` as roots of their own, in its place."""
    first = number * _DIRECTORIES_OF_A_ROOT
    return [
        Root(address, f"{number}-{part}", first + part) for part, address in enumerate(addresses)
    ]


def list_roots(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """List the roots of the settings whose numbers are the rows; for DataFrame.mapInArrow."""
    home, asked = asked_there(dict(settings))
    roots = roots_asked(asked)
    for number in numbers(batches):
        _list_once(home, asked, roots[number])
    yield told()


def list_parts(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """List the roots of the settings whose numbers are the rows, each of which is a log directory;
    for DataFrame.mapInArrow."""
    home, asked = asked_there(dict(settings))
    roots = [Root(*root) for root in settings["roots"]]
    turns = Turns(settings)
    for number in turns.of(batches, lambda n: [location_of(roots[n].address, dict(asked.store))]):
        _list_once(home, asked, roots[number])
    yield told(*turns.said)


def listed_roots(home: Home, asked: ScanOptions, roots: Iterable[Root]) -> Iterator[ListedRoot]:
    """Yield the roots, once all are listed. Raises OSError."""
    store = dict(asked.store)
    for root in roots:
        document = json.loads(_listed_at(home, root).read_text(encoding="utf-8"))
        yield ListedRoot(
            tuple(document["unseen"]),
            tuple((said, tuple(same)) for said, same in document["links"]),
            document["none"],
            tuple(_listed(row, store) for row in document["directories"]),
        )


def items_of(home: Home, root: Root) -> ResultPath:
    return home.work / "items" / f"{root.name}.parquet"


def strays_below(home: Home, root: Root) -> ResultPath:
    return home.work / "strays" / f"{root.name}.parquet"


def _listed_at(home: Home, root: Root) -> ResultPath:
    return home.work / "roots" / f"{root.name}.json"


def _list_once(home: Home, asked: ScanOptions, listed: Root) -> None:
    path = _listed_at(home, listed)
    if path.exists():
        return
    root = location_of(listed.address, dict(asked.store))
    below = log_directories(root)
    with (
        whole_rows(items_of(home, listed), ITEMS) as add_item,
        whole_rows(strays_below(home, listed), STRAYS) as add_stray,
    ):
        directories = []
        for place, (identity, location) in enumerate(below.found.items(), listed.first_place):
            same = list(identities(location, identity))
            try:
                directory = read_log_directory(location)
                for item in _items(directory, place, asked):
                    add_item(item)
                for stray in _strays(directory, place, asked):
                    add_stray(stray)
            except Unreadable as error:
                why = f"{location}: left out: {error}"
                directories.append({"same": same, "unread": why})
            else:
                directories.append(_directory_row(place, same, directory))
    document = {
        "unseen": [f"{complaint}; left out" for complaint in below.complaints],
        "links": [
            (f"{said}; left out", list(identities(root, identity))[-1:])
            for identity, said in below.links.items()
        ],
        "none": None if below.found else none_at(root, below),
        "directories": directories,
    }
    write_text(path, json.dumps(document))


def _items(directory: LogDirectory, place: int, asked: ScanOptions) -> Iterator[dict[str, Any]]:
    location = address_of(directory.location)
    with directory.location.open() as folder:
        if asked.mode is not ScanMode.FAST:
            # The scan of each replica says what can't be listed.
            with suppress(Unreadable):
                folder.list_all()
        small: list[Measured] = []
        for found in _measured(directory, folder, asked):
            pieces = _pieces(folder, found, asked) if found.size > asked.share else []
            if len(pieces) > 1:
                yield from piece_items(place, location, found, pieces, asked.share)
            else:
                small.append(found)
        for group in packed(small, asked.share):
            yield item_row(place, location, group)


def _measured(directory: LogDirectory, folder: Folder, asked: ScanOptions) -> Iterator[Measured]:
    # Which of the copies a start takes into use is known once all of a partition is gathered.
    every = {str(directory.location / name) for _, name in copies([directory])}
    for name, replica in started_replicas(directory, asked.wanted(), (), every):
        fast = asked.mode is ScanMode.FAST
        size = 0 if fast else measured(folder, name, replica, asked.mode)
        yield Measured(name, replica, size)


def _pieces(log_directory: Folder, found: Measured, asked: ScanOptions) -> list[Piece]:
    """Return the pieces of a replica. One that can't be read has none: the scan itself says why."""
    try:
        with log_directory.folder(found.name) as folder:
            return plan_pieces(folder, found.replica, asked.mode, asked.share, Unmetered())
    except Unreadable:
        return []


def _strays(directory: LogDirectory, place: int, asked: ScanOptions) -> Iterator[dict[str, Any]]:
    for partition, broker, path in strays_of([directory], asked.wanted()):
        yield {
            "place": place,
            "topic": partition.topic,
            "partition": partition.partition,
            "broker": broker,
            "path": path,
        }


def _directory_row(place: int, same: list[str], directory: LogDirectory) -> dict[str, Any]:
    meta = directory.meta
    return {
        "place": place,
        "location": address_of(directory.location),
        "same": same,
        "unread": None,
        "version": meta.version,
        "node_id": meta.node_id,
        "cluster_id": meta.cluster_id,
        "directory_id": meta.directory_id,
        "cleaned_topics": sorted(directory.cleaned_topics),
        "problems": directory.problems,
        "stopped_clean": directory.stopped_clean,
        "left_out": sorted(directory.left_out),
        "stopped_epoch": directory.stopped_epoch,
        "foreign": list(directory.foreign),
        "fails": list(directory.fails),
        # Read back it has no replicas.
        "used": not emptied(directory),
        "has_metadata": CLUSTER_METADATA in directory.replicas,
    }


def _listed(row: Mapping[str, Any], store: Mapping[str, str]) -> Listed | Unread:
    same = tuple(row["same"])
    if row["unread"] is not None:
        return Unread(same, row["unread"])
    directory = LogDirectory(
        location=location_of(row["location"], store),
        meta=MetaProperties(row["version"], row["node_id"], row["cluster_id"], row["directory_id"]),
        stopped_clean=row["stopped_clean"],
        high_watermarks={},
        recovery_points={},
        log_starts={},
        cleaned_topics=frozenset(row["cleaned_topics"]),
        replicas={},
        problems=tuple(row["problems"]),
        left_out=frozenset(row["left_out"]),
        used=row["used"],
        stopped_epoch=row["stopped_epoch"],
        foreign=tuple(row["foreign"]),
        fails=tuple(row["fails"]),
    )
    return Listed(row["place"], same, directory, row["has_metadata"])


@dataclass(frozen=True, slots=True)
class Chosen:
    """The log directories that count, in the order of the roots, each once. unseen: what is not
    among them, and why. found: there was a log directory at all. left_out: addresses of those that
    were to be left out, and are there."""

    listed: tuple[Listed, ...]
    unseen: tuple[str, ...]
    found: bool
    left_out: frozenset[str] = frozenset()

    @property
    def directories(self) -> list[LogDirectory]:
        return [listed.directory for listed in self.listed]

    @property
    def with_metadata(self) -> list[LogDirectory]:
        return [listed.directory for listed in self.listed if listed.has_metadata]


def chosen_of(roots: Iterable[ListedRoot], leave_out: Collection[str] = ()) -> Chosen:
    """Choose the log directories that count. leave_out: addresses of those that do not."""
    unseen: dict[str, None] = {}
    links: dict[str, tuple[str, ...]] = {}
    unread: list[str] = []
    listed: list[Listed] = []
    known: set[str] = set()
    away: set[str] = set()
    found = False
    for root in roots:
        unseen |= dict.fromkeys(root.unseen if root.none is None else (root.none,))
        links |= root.links if root.none is None else {}
        for one in root.directories:
            found = True
            if known.isdisjoint(one.same):
                if isinstance(one, Unread):
                    unread.append(one.why)
                elif (address := address_of(one.directory.location)) in leave_out:
                    away.add(address)
                else:
                    listed.append(one)
            known.update(one.same)
    elsewhere = (said for said, same in links.items() if known.isdisjoint(same))
    return Chosen(tuple(listed), (*unseen, *elsewhere, *unread), found, frozenset(away))
