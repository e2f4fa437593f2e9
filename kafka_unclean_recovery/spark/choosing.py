"""Which of the log directories that were listed count, and what is odd about them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.log_directory import LogDirectory
from kafka_unclean_recovery.log_dir.scan import of_one_cluster
from kafka_unclean_recovery.spark.listing import Listed, ListedRoot, Unread


@dataclass(frozen=True, slots=True)
class Chosen:
    """Log directories in the order of the roots, each once and all of one cluster. unseen, foreign:
    sentences on what is not among them. found: there was a log directory at all."""

    listed: tuple[Listed, ...]
    unseen: tuple[str, ...]
    foreign: tuple[str, ...]
    found: bool

    @property
    def directories(self) -> list[LogDirectory]:
        return [listed.directory for listed in self.listed]

    @property
    def with_metadata(self) -> list[LogDirectory]:
        return [listed.directory for listed in self.listed if listed.has_metadata]


def chosen_of(roots: Iterable[ListedRoot]) -> Chosen:
    unseen: dict[str, None] = {}
    unread: list[str] = []
    listed: list[Listed] = []
    known: set[str] = set()
    found = False
    for root in roots:
        unseen |= dict.fromkeys(root.unseen if root.none is None else (root.none,))
        for one in root.directories:
            found = True
            if known.isdisjoint(one.same):
                if isinstance(one, Unread):
                    unread.append(one.why)
                else:
                    listed.append(one)
            known.update(one.same)
    ours, foreign = _of_one_cluster(listed)
    return Chosen(tuple(ours), (*unseen, *unread), tuple(foreign), found)


def _of_one_cluster(listed: Sequence[Listed]) -> tuple[list[Listed], list[str]]:
    kept, foreign = of_one_cluster([one.directory for one in listed])
    same = {id(directory) for directory in kept}
    return [one for one in listed if id(one.directory) in same], foreign
