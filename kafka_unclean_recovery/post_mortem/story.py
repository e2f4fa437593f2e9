"""The story of a journal is what it tells, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from msgspec.structs import replace

from kafka_unclean_recovery.documents.reading.json_text import JsonObject
from kafka_unclean_recovery.model import (
    NO_LEADER,
    NO_TOPIC_ID,
    GroupBeyond,
    Loss,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    TopicPartition,
)
from kafka_unclean_recovery.planning.losses import UNKNOWN_LOSS, groups_under, loss_after
from kafka_unclean_recovery.post_mortem.learnt import Learnt
from kafka_unclean_recovery.report.loss_by_topic import RecordCount, TopicLoss

NOT_READ_BACK = "not known: the run ended before it could read back what became of it"
NOT_BEGUN = "the run ended before this election began"


@dataclass(frozen=True, slots=True)
class Moment:
    """An event: its time in ms since the Unix epoch, and a sentence."""

    at_ms: int
    event: str
    text: str
    alarm: bool = False

    @property
    def at(self) -> str:
        return utc(self.at_ms)


@dataclass(frozen=True, slots=True)
class Order:
    """A replica set that was written in another order.

    restored_at_ms: when the order was seen as before, or gone with its topic; None where the
    journal does not say so. left_alone: why the order was left as somebody else made it, None where
    it was not. unregistered: the brokers that left the set for good, since the controllers take no
    list that names them.
    """

    original: tuple[int, ...]
    written: tuple[int, ...]
    restored_at_ms: int | None = None
    left_alone: str | None = None
    unregistered: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class After:
    """A partition as the run saw it last. A leader of -1 means that there is no leader, of None
    that there is no such partition."""

    leader: int | None
    leader_epoch: int | None
    isr: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Election:
    """One partition in one run, whether a leader was elected or not.

    plan: the plan that was decided on, None in journals that do not tell it. begun_at_ms: when the
    election was announced; None when it never was. outcome, after: None where the journal ends
    before.
    """

    topic_partition: TopicPartition
    decided_at_ms: int | None = None
    plan: PartitionPlan | None = None
    begun_at_ms: int | None = None
    designated_leader: int | None = None
    outcome: Outcome | None = None
    after: After | None = None
    order: Order | None = None

    @property
    def elected_leader(self) -> int | None:
        """Return the leader who counts for losses, as in the run's report; None for nobody."""
        if self.outcome is None:
            return None
        online = self.after is not None and self.after.leader not in (None, NO_LEADER)
        if self.outcome.kind is OutcomeKind.FAILED and self.plan is not None and online:
            assert self.after is not None
            return self.after.leader
        return self.designated_leader if self.outcome.kind is OutcomeKind.ELECTED else None

    @property
    def partition_is_there(self) -> bool:
        """Return True when the partition is known to be still the one of the plan: it was elected,
        or came back."""
        return self.outcome is not None and self.outcome.kind.success

    @property
    def in_doubt(self) -> bool:
        """Return True when the election was begun, and nobody knows what became of it."""
        return self.begun_at_ms is not None if self.outcome is None else self.outcome.in_doubt

    @property
    def loss(self) -> Loss | None:
        """Return the loss of this election; None when nobody was elected."""
        if self.in_doubt:
            return UNKNOWN_LOSS
        leader = self.elected_leader
        return None if leader is None else loss_after(self.plan, leader, self.outcome)

    @property
    def groups(self) -> tuple[AffectedGroup, ...]:
        """Return groups known before the election that read what the elected leader lacks."""
        return tuple(
            AffectedGroup(
                self.topic_partition,
                g.commit.group,
                g.commit.offset,
                g.resume,
                g.refilled,
                g.commit.share_done_to is not None,
            )
            for g in groups_under(self.plan, self.elected_leader)
        )

    @property
    def what_became_of_it(self) -> str:
        if self.outcome is not None:
            return self.outcome.kind.value
        return NOT_READ_BACK if self.in_doubt else NOT_BEGUN


def lossless(elections: Iterable[Election]) -> frozenset[TopicPartition]:
    """Return the partitions of which all begun elections are known to have lost nothing."""
    begun = [each for each in elections if each.begun_at_ms is not None]
    losing = {each.topic_partition for each in begun if each.loss != Loss(0, 0)}
    return frozenset(each.topic_partition for each in begun) - losing


def unread_replicas(told: PostMortem) -> list[tuple[TopicPartition, int]]:
    """Return the replicas that were down, may hold more than the elected leader, and are not lost
    for good, of which it is not known how much more that is: (partition, broker)."""
    return [
        (election.topic_partition, broker)
        for election in told.elections
        if election.plan is not None and election.loss is not None and election.loss.possible != 0
        for broker in election.plan.state.offline_replicas
        if broker not in told.gone and not told.learnt.knows(election.topic_partition, broker)
    ]


def known_since(election: Election) -> int:
    """Return when the election was decided on or begun, whichever came last, in ms."""
    return max(election.decided_at_ms or 0, election.begun_at_ms or 0)


def carried_out(elections: Iterable[Election]) -> Mapping[TopicPartition, PartitionPlan]:
    """Return the plan of each partition's last election, with who leads by the journal as the
    designated leader; None where nobody knows who was elected."""
    return {
        each.topic_partition: replace(each.plan, designated_leader=_leads(each))
        for each in sorted(elections, key=known_since)
        if each.plan is not None
    }


def _leads(election: Election) -> int | None:
    """Return who leads, or would if the election is made yet."""
    after = election.after
    if after is not None and after.leader not in (None, NO_LEADER):
        return after.leader
    return None if election.in_doubt else election.designated_leader


def topic_ids(elections: Iterable[Election]) -> Mapping[TopicPartition, str]:
    """Return the id of the topic that each election was planned for, as far as the journal tells;
    of several elections of a partition the last counts."""
    return {
        each.topic_partition: each.plan.state.topic_id
        for each in sorted(elections, key=lambda e: e.decided_at_ms or 0)
        if each.plan is not None and each.plan.state.topic_id not in NO_TOPIC_ID
    }


def groups_given_up(
    elections: Iterable[Election],
) -> Mapping[TopicPartition, tuple[GroupBeyond, ...]]:
    """Return the groups that had read more than the log held that was elected, or may have been."""
    found: dict[TopicPartition, tuple[GroupBeyond, ...]] = {}
    for each in elections:
        if each.begun_at_ms is not None:
            leader = each.designated_leader if each.in_doubt else each.elected_leader
            groups = groups_under(each.plan, leader)
            found[each.topic_partition] = found.get(each.topic_partition, ()) + groups
    return found


@dataclass(frozen=True, slots=True)
class SavedTail:
    """The tail of one live replica, [start_offset, end_offset). reason: why the tail was not
    saved."""

    topic_partition: TopicPartition
    broker: int
    start_offset: int | None
    end_offset: int | None
    saved: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class AffectedGroup:
    """A group that has read records that are gone, from resume_offset on. share: whether it is a
    share group (KIP-932), which no tool of Kafka's sets to an offset."""

    topic_partition: TopicPartition
    group: str
    committed_offset: int
    resume_offset: int
    refilled: bool
    share: bool = False


@dataclass(frozen=True, slots=True)
class Care:
    """The last result of aftercare. unknown: what aftercare could not see, which may hide more.
    hanging: the number of hanging transactions. endable: how many of these have a known ending.
    out_of_sync: the number of replicas that are not back in the ISR."""

    at_ms: int
    over: bool
    unknown: tuple[str, ...]
    groups: tuple[AffectedGroup, ...]
    hanging: int
    endable: int
    out_of_sync: int


@dataclass(frozen=True, slots=True)
class Seed:
    """The log directory of a new controller that `quorum seed` was to write. new_controller:
    ID@HOST:PORT, None in journals that do not tell, as end_offset. steps_left: what the plan has to
    be done afterwards. exit_code: None where the run noted no result. reason: why it was not
    written."""

    at_ms: int
    directory: str
    source: str
    epoch: int
    plan_digest: str
    end_offset: int | None = None
    new_controller: str | None = None
    lost: tuple[int, ...] = ()
    steps_left: tuple[str, ...] = ()
    exit_code: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PostMortem:
    """All that a journal tells.

    journal: the file, as the user named it. bootstrap: the addresses of the live brokers that were
    seen, None in journals that do not tell. elections: in the order of `gravest`. consents: the
    fields of each, with its time. unfinished: the partitions whose replica orders may not be back.
    ended: False when the last run was killed, or is not over. care: None when aftercare noted
    nothing. groups_asked: whether groups were asked before electing. unknown: what could not be
    known of groups. seeds: of `quorum seed`, in the order of the lines. only_seeds: no run of the
    journal was another command. gone: brokers whose disks are lost for good, as a person said.
    learnt: what other commands noted after the elections.
    """

    journal: str
    cluster_id: str | None
    bootstrap: str | None
    moments: tuple[Moment, ...]
    consents: tuple[tuple[int, JsonObject], ...]
    elections: tuple[Election, ...]
    saved: tuple[tuple[str, tuple[SavedTail, ...]], ...]
    unfinished: tuple[TopicPartition, ...]
    ended: bool
    care: Care | None
    problems: tuple[str, ...] = ()
    groups_asked: bool = False
    unknown: tuple[str, ...] = ()
    seeds: tuple[Seed, ...] = ()
    only_seeds: bool = False
    gone: frozenset[int] = frozenset()
    learnt: Learnt = field(default_factory=Learnt)

    @property
    def groups(self) -> tuple[AffectedGroup, ...]:
        """Return the groups as aftercare saw them last, or as they were before electing."""
        if self.care is not None:
            return self.care.groups
        return tuple(group for election in self.elections for group in election.groups)


def utc(at_ms: int) -> str:
    """Return the time in UTC, as "2026-01-02 03:04:05.678"."""
    seconds, ms = divmod(at_ms, 1000)
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{at_ms} ms"
    return f"{at:%Y-%m-%d %H:%M:%S}.{ms:03}"


def losses_by_topic(elections: Iterable[Election]) -> tuple[TopicLoss, ...]:
    """Return the losses by topic, the topics that lost most first. `designated` counts the
    elections of a leader, `without` the others by what became of them."""
    found: dict[str, list[Election]] = {}
    for election in elections:
        found.setdefault(election.topic_partition.topic, []).append(election)
    losses = [_topic_loss(topic, rows) for topic, rows in found.items()]
    return tuple(sorted(losses, key=_most_lost))


def _topic_loss(topic: str, elections: list[Election]) -> TopicLoss:
    without: dict[str, int] = {}
    for election in elections:
        if election.elected_leader is None:
            kind = "not_known" if election.in_doubt else "not_begun"
            what = kind if election.outcome is None else election.outcome.kind.value
            without[what] = without.get(what, 0) + 1
    losses = [loss for election in elections if (loss := election.loss) is not None]
    return TopicLoss(
        topic,
        len(elections),
        len(elections) - sum(without.values()),
        without,
        _sum(loss.certain for loss in losses),
        _sum(loss.possible for loss in losses),
    )


def _sum(records: Iterable[int | None]) -> RecordCount:
    counts = list(records)
    return RecordCount(sum(count or 0 for count in counts), counts.count(None))


def _most_lost(loss: TopicLoss) -> tuple[object, ...]:
    certain, possible = loss.certain, loss.possible
    unknown = (-certain.unknown_partitions, -certain.known, -possible.known)
    return (*unknown, -possible.unknown_partitions, loss.topic)


def gravest(elections: Iterable[Election], unfinished: Iterable[TopicPartition]) -> list[Election]:
    """Return the elections whose replica orders are not back first, then the others by loss:
    unknown is never less than known."""
    left = frozenset(unfinished)

    def weight(election: Election) -> tuple[object, ...]:
        loss = election.loss or Loss(0, 0)
        certain = (loss.certain is not None, -(loss.certain or 0))
        possible = (loss.possible is not None, -(loss.possible or 0))
        fine = election.outcome is not None and election.outcome.kind.success
        return (
            election.topic_partition not in left,
            *certain,
            fine,
            *possible,
            election.topic_partition,
            election.decided_at_ms or 0,
        )

    return sorted(elections, key=weight)
