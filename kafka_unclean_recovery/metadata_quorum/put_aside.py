"""Find the partitions that brokers put aside as strays: the metadata log that they follow does not
have them on that broker.

Kafka moves such a directory aside when the broker starts, under a name with 32 hex digits of its
own. So a stray is known again by its name, wherever its disk is mounted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.directory_names import (
    DirectoryKind,
    parse_partition_directory,
)
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    META_PROPERTIES,
    parse_meta_properties,
)
from kafka_unclean_recovery.log_dir.tree import Location, Unreadable, log_directories


@dataclass(frozen=True, slots=True)
class Stray:
    """A directory that was put aside. where: its path."""

    name: str
    where: str


@dataclass(frozen=True, slots=True)
class PutAside:
    """What log directories show. nodes: whose they are. clusters: the ids in their meta.properties.
    problems: sentences on what could not be read, which may hide strays."""

    strays: tuple[Stray, ...] = ()
    nodes: frozenset[int] = frozenset()
    clusters: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()


def put_aside(roots: Iterable[Location]) -> PutAside:
    """Look into the log directories at and below these."""
    found: dict[object, Location] = {}
    problems: list[str] = []
    for root in roots:
        below = log_directories(root)
        found |= below.found
        said = [*below.complaints, *below.links.values()]
        problems += said if below.found or said else [f"{root}: it holds no log directory"]
    seen = [_in(location) for location in found.values()]
    return PutAside(
        tuple(stray for each in seen for stray in each.strays),
        frozenset().union(*(each.nodes for each in seen)),
        frozenset().union(*(each.clusters for each in seen)),
        (*problems, *(problem for each in seen for problem in each.problems)),
    )


def _in(location: Location) -> PutAside:
    try:
        with location.open() as folder:
            owner = parse_meta_properties(folder.read_whole(META_PROPERTIES) or b"")
            names = [entry.name for entry in folder.entries() if entry.is_directory]
    except (BadFormat, Unreadable) as error:
        return PutAside(problems=(f"{location}: {error}",))
    strays = (Stray(name, str(location / name)) for name in names if _is_stray(name))
    cluster = frozenset({owner.cluster_id} if owner.cluster_id else ())
    return PutAside(tuple(strays), frozenset({owner.node_id}), cluster)


def _is_stray(name: str) -> bool:
    parsed = parse_partition_directory(name)
    return parsed is not None and parsed.kind is DirectoryKind.STRAY
