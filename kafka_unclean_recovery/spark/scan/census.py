"""A census tells what each executor sees below the roots, by paths alone: they may not all have the
same mounts, and a root without a mount is an empty directory that nobody complains about."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.tree import (
    META_PROPERTIES,
    Location,
    Unreadable,
    log_directories,
)
from kafka_unclean_recovery.spark.new_files import write_text
from kafka_unclean_recovery.spark.places import address_of, identities, location_of
from kafka_unclean_recovery.spark.result_paths import ResultPath, claimed, in_task
from kafka_unclean_recovery.spark.running import on_one_machine
from kafka_unclean_recovery.spark.scan.elsewhere import Jobs
from kafka_unclean_recovery.spark.scan.job import Home, ScanOptions, asked_there
from kafka_unclean_recovery.spark.scan.listing import ListedRoot, Root, parts_of, roots_asked
from kafka_unclean_recovery.spark.tasks import numbers, told

_MOUNTS = Path("/proc/self/ns/mnt")


@dataclass(frozen=True, slots=True)
class Apart:
    """A root below which executors do not see the same. addresses: the log directories that any of
    them sees. unseen, links: as ListedRoot has them, without what another executor sees."""

    addresses: tuple[str, ...]
    unseen: tuple[str, ...]
    links: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Census:
    """What differs by executor: roots by their numbers, and the hosts that do not see a log
    directory by its location as text. Both are empty where all see the same."""

    apart: Mapping[int, Apart]
    missing: Mapping[str, frozenset[str]]

    def roots(self, asked: ScanOptions) -> list[Root]:
        """Return the roots to read: of those that differ each log directory is one."""
        found: list[Root] = []
        for number, root in enumerate(roots_asked(asked)):
            one = self.apart.get(number)
            found += [root] if one is None else parts_of(number, one.addresses)
        return found

    def parts(self) -> list[Root]:
        return [
            part for number, one in self.apart.items() for part in parts_of(number, one.addresses)
        ]

    def unseen(self) -> Iterator[ListedRoot]:
        """Yield what no executor sees below the roots that differ."""
        return (ListedRoot(one.unseen, one.links, None, ()) for one in self.apart.values())


def census(jobs: Jobs, asked: ScanOptions) -> Census:
    """Take the census, or read the one that was taken. Raises InputError where one path is another
    log directory on another host; OSError, Stopped, JobFailed."""
    if on_one_machine(jobs.spark):
        return Census({}, {})
    if not jobs.home.census.exists():
        views = jobs.each_core("census:look", jobs.home.settings)
        found = taken(views)
        document = {
            "seen": sorted({address for address, _ in _addresses(views)}),
            "apart": [[number, asdict(one)] for number, one in found.apart.items()],
            "missing": {place: sorted(hosts) for place, hosts in found.missing.items()},
        }
        write_text(jobs.home.census, json.dumps(document))
    return _read(jobs.home)


def late(jobs: Jobs) -> list[str]:
    """Look once more in the end, and return a sentence on each log directory that no executor saw
    when the census was taken: executors begin when a cluster has room, and a disk may be mounted
    meanwhile. Raises OSError, Stopped, JobFailed."""
    # A scan that goes on here may have been begun on one machine, and then has no census.
    if on_one_machine(jobs.spark) or not jobs.home.census.exists():
        return []
    seen = set(json.loads(jobs.home.census.read_text(encoding="utf-8"))["seen"])
    views = jobs.each_core("census:look", jobs.home.settings)
    hosts = dict(sorted(_addresses(views)))
    return [
        f"{_shown(address)}: it is on {host} now, and no executor had it when disks were listed, so"
        " it was not read: run the same command with --rescan"
        for address, host in hosts.items()
        if address not in seen
    ]


def _addresses(views: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield each log directory that `look` told of, with the host."""
    for row in views:
        for _, seen in row["seen"]:
            for address in seen["found"]:
                yield address, row["host"]


def look(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Tell what this process sees, unless another one with the same mounts did; for
    DataFrame.mapInArrow."""
    _, asked = asked_there(dict(settings))
    list(numbers(batches))
    if _first_of_its_kind(in_task(settings["claims"])):
        locations = (location_of(root, dict(asked.store)) for root in asked.roots)
        seen = [
            [number, _seen(location)]
            for number, location in enumerate(locations)
            if isinstance(location, LocalLocation)
        ]
        yield told({"host": os.uname().nodename, "seen": seen})
    yield told()


def _first_of_its_kind(claims: ResultPath) -> bool:
    try:
        mounts = str(_MOUNTS.readlink())
    except OSError:
        mounts = str(os.getpid())
    name = hashlib.sha256(f"{os.uname().nodename} {mounts}".encode()).hexdigest()
    return claimed(claims, name)


def _seen(root: Location) -> dict[str, Any]:
    """Return the fields of a _View but for its host."""
    below = log_directories(root)
    return {
        "found": {address_of(place): _whose(place) for place in below.found.values()},
        "complaints": list(below.complaints),
        "links": {
            said: list(identities(root, identity))[-1] for identity, said in below.links.items()
        },
    }


def _whose(place: Location) -> str:
    """Return a digest that tells whose a log directory is; "" where it can't be read."""
    try:
        with place.open() as folder:
            data = folder.read_whole(META_PROPERTIES) or b""
    except Unreadable:
        return ""
    return hashlib.sha256(data).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _View:
    """What one process saw below one root. found: whose a log directory is, by its address.
    complaints, links: sentences; a link has the identity of the directory that it leads to."""

    host: str
    found: Mapping[str, str]
    complaints: Sequence[str]
    links: Mapping[str, str]


def taken(told_by_tasks: Sequence[Mapping[str, Any]]) -> Census:
    """Return what differs, from what `look` told. Raises InputError."""
    views: dict[int, list[_View]] = {}
    for row in told_by_tasks:
        for number, seen in row["seen"]:
            views.setdefault(number, []).append(_View(row["host"], **seen))
    apart: dict[int, Apart] = {}
    missing: dict[str, frozenset[str]] = {}
    for number, of_root in views.items():
        lacking = _lacking(of_root)
        if any(lacking.values()):
            unseen = tuple(dict.fromkeys(_unexplained(of_root, lacking)))
            apart[number] = Apart(tuple(lacking), unseen, _links(of_root))
            missing |= {_shown(place): hosts for place, hosts in lacking.items() if hosts}
    return Census(apart, missing)


def _lacking(views: Sequence[_View]) -> dict[str, frozenset[str]]:
    """Return the hosts that do not see a log directory, by the address of each. Raises
    InputError."""
    first: dict[str, _View] = {}
    for view in views:
        for address, whose in view.found.items():
            other = first.setdefault(address, view)
            if other.found[address] == "":
                first[address] = view
            elif whose not in ("", other.found[address]):
                raise InputError(
                    f"{_shown(address)} is one log directory on {other.host} and another one on"
                    f" {view.host}: name roots that are the same on all executors, or scan each"
                    " host by scan-log-dirs"
                )
    return {
        address: frozenset(view.host for view in views if not view.found.get(address))
        for address in sorted(first)
    }


def _shown(address: str) -> str:
    return str(location_of(address, {}))


def _unexplained(views: Sequence[_View], addresses: Iterable[str]) -> Iterator[str]:
    """Yield complaints, but for those of a place at or above a log directory that is missing there
    and is seen by others."""
    seen = [address for address in addresses if any(view.found.get(address) for view in views)]
    for view in views:
        missing = (Path(_shown(address)) for address in seen if not view.found.get(address))
        above = {str(each) for path in missing for each in (path, *path.parents)}
        for text in view.complaints:
            if text.partition(": ")[0] not in above:
                yield f"{text}; left out"


def _links(views: Sequence[_View]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for view in views:
        for said, identity in view.links.items():
            found.setdefault(f"{said}; left out", []).append(identity)
    return tuple((said, tuple(same)) for said, same in found.items())


def _read(home: Home) -> Census:
    document = json.loads(home.census.read_text(encoding="utf-8"))
    return Census(
        {
            number: Apart(
                tuple(one["addresses"]),
                tuple(one["unseen"]),
                tuple((said, tuple(same)) for said, same in one["links"]),
            )
            for number, one in document["apart"]
        },
        {place: frozenset(hosts) for place, hosts in document["missing"].items()},
    )
