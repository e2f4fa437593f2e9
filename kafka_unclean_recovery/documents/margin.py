"""What `watch` prints."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.values import (
    BrokerId,
    BrokerIds,
    DateTime,
    Entry,
    Int32,
    Int64,
    published,
)

Stood = Annotated[int, Meta(ge=-1)]
Next = Literal["blocked", "unclean", "offline"]


class StandsJson(Entry, frozen=True):
    """How many partitions stand so many further failures, and not one more.

    before: What the next failure then does: blocked: producers with acks=all are refused; offline:
        nobody leads; unclean: a replica from outside the ISR leads, and records are lost.
    failures: Failures of brokers in the ISR that these partitions stand; -1 where it is so already.
    partitions: How many partitions stand so many.
    """

    before: Next
    failures: Stood
    partitions: Int64


class OutOfSyncJson(Entry, frozen=True):
    """A live broker that lacks in ISRs.

    replicas: How many of its replicas are not in the ISR.
    """

    broker: BrokerId
    replicas: Int64


class ChangeJson(Entry, frozen=True):
    """A partition whose margin is another one than at the last look.

    was: Failures that it stood before writes were blocked, -1 where they were.
    stands: Failures that the partition stands now before writes are blocked, -1 where they are.
    """

    topic: str
    partition: Int32
    was: Stood
    stands: Stood
    isr: BrokerIds
    elr: BrokerIds


class QuorumMarginJson(Entry, frozen=True):
    """The metadata quorum: without it nobody is elected, and no ISR shrinks.

    state: How the quorum is. up: a controller leads, and a majority follows; down: none does;
        silent: nothing was heard of it; untold: there is none, or this user may not ask.
    voters: How many there are; null where that is not known.
    follow: How many of them fetched within the last 3 s; null where that is not known.
    failures: Failures of voters that the quorum still stands; null where that is not known.
    """

    state: Literal["up", "down", "silent", "untold"]
    voters: Int64 | None = None
    follow: Int64 | None = None
    failures: Int64 | None = None


@published("What kafka-unclean-recovery watch prints, a line a look, format 1")
class MarginJson(Entry, frozen=True, kw_only=True):
    """The margin of a cluster, at the first look and whenever something of it changes.

    known: How many partitions have a known margin; none while the quorum is down or silent.
    not_known: How many partitions have an unknown margin.
    stands: Partitions with one replica are not in it, unless they are offline.
    single_replicas: How many partitions have one replica.
    elr_partitions: How many partitions have an ELR.
    elr_members: How many replicas are in ELRs.
    out_of_sync: Live brokers with replicas that are not in the ISR.
    down: Brokers that are fenced or do not answer, as far as replicas name them.
    changes: Since the last look; none at the first.
    problems: What could not be read.
    quorum: The metadata quorum.
    failed_looks: How many looks have told nothing so far.
    """

    format_version: Literal[1] = 1
    kind: Literal["margin"] = "margin"
    cluster_id: str
    observed_at: DateTime
    known: Int64
    not_known: Int64
    stands: tuple[StandsJson, ...]
    single_replicas: Int64
    elr_partitions: Int64
    elr_members: Int64
    out_of_sync: tuple[OutOfSyncJson, ...]
    down: BrokerIds
    changes: tuple[ChangeJson, ...]
    problems: tuple[str, ...]
    quorum: QuorumMarginJson = QuorumMarginJson("untold")
    failed_looks: Int64 = 0
