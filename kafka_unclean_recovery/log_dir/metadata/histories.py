"""Tell whether one quorum wrote the metadata logs of two nodes.

Which of two logs is newer is told by epoch and end offset within one history only (parting.py). So
of two histories none is believed: which of them the brokers follow is not on the disks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import ClusterMetadata
from kafka_unclean_recovery.log_dir.metadata.following import begins
from kafka_unclean_recovery.log_dir.metadata.parting import Parting, Relation, parting

_TWO = (Relation.OTHER_HISTORY, Relation.DIVERGES)


@dataclass(frozen=True, slots=True)
class Held:
    """What a node's metadata log says, and its files, which are open. where: fit to print."""

    where: str
    metadata: ClusterMetadata
    files: Sequence[MetadataFile]

    @property
    def topics(self) -> frozenset[UUID]:
        return frozenset(self.metadata.image.topics)

    def __str__(self) -> str:
        metadata = self.metadata
        return (
            f"{self.where} (up to offset {metadata.end_offset}, epoch {metadata.last_epoch},"
            f" {len(self.topics)} topics)"
        )


@dataclass(frozen=True, slots=True)
class Apart:
    """Why two logs may be of two histories, in a sentence. sure: they are."""

    said: str
    sure: bool


def told_apart(one: Held, other: Held) -> Apart | None:
    """Return what speaks against one history, None where one quorum wrote both. Raises Unreadable,
    for a file that can't be read."""
    newer, older = sorted((one, other), key=lambda held: held.metadata.authority, reverse=True)
    if begins(newer.files, older.files):
        return None
    found = _parting(newer, older)
    both = f"the metadata logs of {newer} and {older}"
    if found.relation in _TWO:
        since = f"part at offset {found.offset}" if found.offset else "have no record in common"
        return Apart(f"{both} {since}: two quorums wrote them", sure=True)
    if found.relation is Relation.NOT_COMPARED and not newer.topics & older.topics:
        why = "have neither an offset nor a topic in common: whether one quorum wrote both is not"
        return Apart(f"{both} {why} known; the first counts, for its epoch is higher", sure=False)
    return None


def _parting(newer: Held, older: Held) -> Parting:
    mine, its = newer.metadata, older.metadata
    found = parting(newer.files, mine.end_offset, older.files, its.end_offset)
    # What a checkpoint holds was committed, and so never given up.
    part = found.relation is Relation.GIVEN_UP and found.offset < mine.end_offset
    if part and its.committed_to > found.offset:
        return Parting(Relation.OTHER_HISTORY, found.offset)
    return found
