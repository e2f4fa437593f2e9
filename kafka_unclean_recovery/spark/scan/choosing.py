"""Each log directory that was listed counts once, and all must be of one cluster. This module does
no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.log_directory import LogDirectory
from kafka_unclean_recovery.log_dir.scan import refuse_strangers
from kafka_unclean_recovery.spark.scan.listing import Listed, ListedRoot, Unread


@dataclass(frozen=True, slots=True)
class Chosen:
    """The log directories that count, in the order of the roots, each once and all of one cluster.
    unseen: what is not among them, and why. found: there was a log directory at all."""

    listed: tuple[Listed, ...]
    unseen: tuple[str, ...]
    found: bool

    @property
    def directories(self) -> list[LogDirectory]:
        return [listed.directory for listed in self.listed]

    @property
    def with_metadata(self) -> list[LogDirectory]:
        return [listed.directory for listed in self.listed if listed.has_metadata]


def chosen_of(roots: Iterable[ListedRoot]) -> Chosen:
    """Choose the log directories that count. Raises InputError for two clusters."""
    unseen: dict[str, None] = {}
    links: dict[str, tuple[str, ...]] = {}
    unread: list[str] = []
    listed: list[Listed] = []
    known: set[str] = set()
    found = False
    for root in roots:
        unseen |= dict.fromkeys(root.unseen if root.none is None else (root.none,))
        links |= root.links if root.none is None else {}
        for one in root.directories:
            found = True
            if known.isdisjoint(one.same):
                if isinstance(one, Unread):
                    unread.append(one.why)
                else:
                    listed.append(one)
            known.update(one.same)
    refuse_strangers(one.directory for one in listed)
    left_out = (said for said, same in links.items() if known.isdisjoint(same))
    return Chosen(tuple(listed), (*unseen, *left_out, *unread), found)
