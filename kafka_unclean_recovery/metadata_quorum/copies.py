"""Read one node's copy of the metadata log: how far it goes, where its end is, and what the node
knows of the quorum."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.log_directory import LOCK
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import (
    ClusterMetadata,
    SnapshotId,
    read_metadata,
    segments_of,
)
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.metadata.loading.replay import Fatal
from kafka_unclean_recovery.log_dir.metadata.newest import doubts
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    META_PROPERTIES,
    MetaProperties,
    parse_meta_properties,
)
from kafka_unclean_recovery.log_dir.small_files.quorum_state import (
    QUORUM_STATE,
    QuorumState,
    parse_quorum_state,
)
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.metadata_quorum.log_end import LogEnd, log_end
from kafka_unclean_recovery.metadata_quorum.places import CopyPlace, metadata_files, opened


@dataclass(frozen=True, slots=True)
class Listener:
    """A listener of a controller, under its name in the configuration."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Voter:
    """A voter of the quorum. `directory_id` (8-4-4-4-12 hex digits) is None for a voter of a static
    quorum, and so are the listeners empty unless the controller registered."""

    id: int
    directory_id: str | None
    listeners: tuple[Listener, ...] = ()


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the metadata log, without what it says about topics.

    `end_offset` is exclusive, `log_start_offset` inclusive: the first offset that a segment has;
    `last_timestamp_ms` is ms since the Unix epoch. `held_by` is the process that locks the log
    directory. `problems` are sentences on what may be missing. `fatal` is the record at which a
    controller that loads this copy dies. `state_problem` is why quorum-state can't be read,
    `bad_checkpoint` why the newest checkpoint can't: no node starts with either. `topics` and
    `brokers` are those that it knows.
    """

    place: CopyPlace
    owner: MetaProperties | None
    snapshot: SnapshotId | None
    log_start_offset: int
    last_epoch: int
    end_offset: int
    last_timestamp_ms: int | None
    end: LogEnd
    kraft_version: int
    voters: tuple[Voter, ...]
    quorum_state: QuorumState | None
    held_by: int | None
    problems: tuple[str, ...]
    fatal: Fatal | None = None
    state_problem: str | None = None
    bad_checkpoint: str | None = None
    topics: int = 0
    brokers: frozenset[int] = frozenset()

    @property
    def sound(self) -> bool:
        """Return True where a controller can begin from it."""
        return self.end.damage is None and self.fatal is None and self.last_epoch >= 0

    @property
    def authority(self) -> tuple[int, int]:
        """Return the rank of the copy: of two, the greater (last epoch, end offset) can lead."""
        return self.last_epoch, self.end_offset

    @property
    def node(self) -> int | None:
        return None if self.owner is None else self.owner.node_id

    @property
    def name(self) -> str:
        return f"node {self.node} ({self.place})" if self.owner else str(self.place)

    @property
    def newest_epoch(self) -> int:
        """Return the greatest epoch that the node has seen, in its log or in its quorum-state."""
        seen = -1 if self.quorum_state is None else self.quorum_state.leader_epoch
        return max(self.last_epoch, seen)


def read_copy(place: CopyPlace) -> tuple[Copy, MetadataImage]:
    """Read one copy, and the state of the cluster that it has. Raises BadFormat, Unreadable."""
    with metadata_files(place) as files:
        metadata = read_metadata(files, as_controller=True)
        end = log_end(files, metadata)
        bases = [base for base, _ in segments_of(files)]
    copy = Copy(
        place=place,
        owner=None,
        snapshot=metadata.snapshot,
        log_start_offset=min(bases, default=metadata.end_offset),
        last_epoch=-1 if metadata.last_epoch is None else metadata.last_epoch,
        end_offset=metadata.end_offset,
        last_timestamp_ms=metadata.last_timestamp_ms,
        end=end,
        kraft_version=metadata.image.kraft_version,
        voters=voters_of(metadata.image),
        quorum_state=None,
        held_by=None,
        problems=_doubts(metadata, end),
        fatal=metadata.fatal,
        bad_checkpoint=metadata.problems[0] if metadata.problems else None,
        topics=len(metadata.image.topics),
        brokers=frozenset(metadata.image.brokers),
    )
    return with_node(copy, place), metadata.image


def with_node(log: Copy, place: CopyPlace, **behind: Any) -> Copy:
    """Return the copy at this place, whose log is as `log` has it, with what its node's small files
    say. behind: what is otherwise in a log that ends before. Raises BadFormat, Unreadable."""
    owner, held_by = (None, None) if place.alone else _owner(place)
    state, why = _quorum_state(place)
    unknown = [] if why is None else [f"{why}; the epochs that this node saw are not known"]
    own: dict[str, Any] = {
        "owner": owner,
        "held_by": held_by,
        "quorum_state": state,
        "state_problem": why,
    }
    return replace(log, place=place, problems=(*unknown, *log.problems), **own, **behind)


def voters_of(image: MetadataImage) -> tuple[Voter, ...]:
    """Return the voters that the log tells: by the last VotersRecord, else by the last LeaderChange
    with the listeners of controllers that registered."""
    if image.voter_set:
        return tuple(
            Voter(
                found["voter_id"],
                str(found["voter_directory_id"]),
                tuple(Listener(e["name"], e["host"], e["port"]) for e in found["endpoints"]),
            )
            for found in sorted(image.voter_set, key=lambda each: int(each["voter_id"]))
        )
    return tuple(Voter(id_, None, registered_at(image, id_)) for id_ in image.voters)


def registered_at(image: MetadataImage, controller: int) -> tuple[Listener, ...]:
    """Return the listeners of a controller that registered (3.7 and later), else none."""
    endpoints = image.controllers.get(controller, ())
    return tuple(Listener(each.name, each.host, each.port) for each in endpoints)


def same_directory(voter: Voter, owner: MetaProperties) -> bool:
    """Return False when the voter is known to be another directory than this one."""
    if voter.directory_id is None or owner.directory_id is None:
        return True
    return uuid.UUID(voter.directory_id) == uuid.UUID(owner.directory_id)


def _doubts(metadata: ClusterMetadata, end: LogEnd) -> tuple[str, ...]:
    """Return what the metadata may leave out; that a log ends at a torn batch is no doubt."""
    return tuple(doubts(replace(metadata, stopped=end.damage)))


def _owner(place: CopyPlace) -> tuple[MetaProperties, int | None]:
    with place.within.open() as folder:
        data = folder.read_whole(META_PROPERTIES)
        if data is None:
            raise Unreadable(f"{META_PROPERTIES}: there is none")
        return parse_meta_properties(data), folder.lock_holder(LOCK)


def _quorum_state(place: CopyPlace) -> tuple[QuorumState | None, str | None]:
    """Return what the file says, None where there is none; and why it can't be read."""
    try:
        with opened(place) as folder:
            data = folder.read_whole(QUORUM_STATE)
            return None if data is None else parse_quorum_state(data), None
    except BadFormat as error:
        return None, str(error)
