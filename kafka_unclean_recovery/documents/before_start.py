"""What the start of a broker will do to what its disk holds: the artefact of before-start."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.values import (
    BrokerId,
    BrokerIds,
    Entry,
    Int32,
    Int64,
    ToldNumber,
    published,
)

StartEffect = Annotated[
    str,
    Meta(
        extra_json_schema={
            "enum": [
                "kept",
                "leads",
                "waits",
                "truncated",
                "emptied",
                "stray",
                "deleted",
                "offline",
                "refused",
                "epoch_fell_back",
                "unknown",
                "begins_empty",
            ]
        }
    ),
]


class CutJson(Entry, frozen=True, kw_only=True):
    """What another replica loses under the leader that the start brings about.

    broker: Id of the broker whose replica is cut.
    live: True when its broker lives; else this is what its scanned disk loses once the broker is
        back.
    offset: What it keeps ends here, exclusive.
    records: How many records it loses.
    """

    broker: BrokerId
    live: bool
    offset: Int64
    records: Int64


class StartJson(Entry, frozen=True, kw_only=True):
    """What the start does to one replica. Unknown is null.

    topic_id: Topic id in the replica's partition.metadata.
    directory: Directory of the replica on the disk.
    effect: What the broker does with it. leads: It is kept, and leads again by itself. waits: It is
        kept, and has no leader. truncated: The records from `offset` on are deleted. emptied: All
        are. stray: Its directory is put aside. offline: The broker starts without its log
        directory. refused: The broker does not start. epoch_fell_back: The controller has an older
        leader epoch than the disk. begins_empty: Its directory is not there, and the broker makes
        an empty one.
    log_end_offset: End of the replica's log, exclusive.
    offset: The offset from which on records are deleted.
    records: How many are deleted, or put aside with a stray; at most so many in a compacted topic.
    unique: How many of the deleted ones no other known log has.
    expired: How many are deleted besides, below the log start of the leader.
    leader: The broker that it follows, or itself.
    unread: Other replicas that may have some of the deleted ones, and whose logs nobody has read.
    why: What makes the broker do so, as a sentence.
    elected: The broker that the controller makes leader because of the start, where there is none;
        null: none.
    others_lose: Records that other replicas lose under it, each once.
    cuts: Which of them are cut, and to what.
    """

    topic: str
    partition: Int32
    topic_id: str | None
    directory: str
    effect: StartEffect
    log_end_offset: ToldNumber | None
    offset: Int64 | None
    records: Int64 | None
    unique: Int64 | None
    expired: Int64 | None
    leader: BrokerId | None
    unread: BrokerIds
    why: str
    elected: BrokerId | None = None
    others_lose: Int64 | None = None
    cuts: tuple[CutJson, ...] = ()


@published("kafka-unclean-recovery before-start --format json, format 1")
class BeforeStartJson(Entry, frozen=True, kw_only=True):
    """What the start of a broker will do to what its disk holds. Unknown is null, never 0.

    stopped_clean: The controller will count its last stop as clean.
    destroys: The start makes records be lost, of this disk or of others.
    untold: True when for some replica, or for the disk as a whole, it can't be told what happens.
    rests_on: The metadata log that was read in place of the controller; null: brokers were asked.
    unknown: What could not be seen of the disk or the cluster as a whole.
    commands: What to run before the start, a line each; comments where a person has to decide.
    partitions: Each replica that the broker has or should have, by topic, partition and directory.
    """

    format_version: Literal[1] = 1
    kind: Literal["before-start"] = "before-start"
    cluster_id: str | None
    broker: BrokerId
    stopped_clean: bool
    destroys: bool
    untold: bool
    rests_on: str | None
    unknown: tuple[str, ...]
    commands: tuple[str, ...] = ()
    partitions: tuple[StartJson, ...]
