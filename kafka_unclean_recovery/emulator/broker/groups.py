"""A Group is a group of consumers as its coordinator holds it, in the classic protocol. No I/O, no
clock.

Members join. When all have joined, or the time for joining is up, a generation begins. Its leader
hands out the assignments, and until the other members have theirs nothing else counts. Times are in
seconds.

Source: org.apache.kafka.coordinator.group.classic.ClassicGroup and GroupMetadataManager, with
group.initial.rebalance.delay.ms 0 and no bounds on session time-outs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition

NO_GENERATION = -1


class GroupState(StrEnum):
    """The states of a group, by their names in DescribeGroups and ListGroups."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A joining member's choices. protocols: (name, metadata), its first choice first."""

    client_id: str
    session_timeout: float
    rebalance_timeout: float
    protocol_type: str
    protocols: tuple[tuple[str, bytes], ...]


@dataclass(slots=True)
class Member:
    """A member of a group. heard_at: the time of its last request. waiting: whether it waits for
    the answer to its JoinGroup, or to its SyncGroup once the rebalance completes."""

    id: str
    subscription: Subscription
    heard_at: float
    waiting: bool = False
    assignment: bytes = b""

    def metadata(self, protocol: str) -> bytes:
        return dict(self.subscription.protocols).get(protocol, b"")


@dataclass(frozen=True, slots=True)
class Committed:
    """A committed position. `offset` is that of the next record to read."""

    offset: int
    leader_epoch: int
    metadata: str


@dataclass(slots=True)
class Group:
    """The state of a group. invited: member ids that were given out and have not joined yet, each
    with the time at which it lapses. deadline: the time at which the group gives up members that
    have not joined, or have not synced."""

    id: str
    state: GroupState = GroupState.EMPTY
    generation: int = 0
    protocol_type: str = ""
    protocol: str = ""
    leader: str = ""
    members: dict[str, Member] = field(default_factory=dict)
    invited: dict[str, float] = field(default_factory=dict)
    deadline: float = float("inf")
    offsets: dict[TopicIdPartition, Committed] = field(default_factory=dict)


def join(group: Group, member_id: str, subscription: Subscription, now: float) -> int:
    """Let a member join and return an error, or NONE. After NONE the answer to the JoinGroup is
    known once the group is not PREPARING_REBALANCE."""
    member = group.members.get(member_id)
    if member is None and member_id not in group.invited:
        return Errors.UNKNOWN_MEMBER_ID
    if not _compatible(group, member_id, subscription):
        return Errors.INCONSISTENT_GROUP_PROTOCOL
    group.protocol_type = subscription.protocol_type
    changes = _takes(group, member, member_id, subscription, now)
    if changes and group.state is not GroupState.PREPARING_REBALANCE:
        _rebalance(group, now)
    await_join(group, member_id, now)
    return Errors.NONE


def _takes(
    group: Group, member: Member | None, member_id: str, subscription: Subscription, now: float
) -> bool:
    """Note a member's subscription. Return whether the group has to rebalance because of it."""
    if member is None:
        del group.invited[member_id]
        group.members[member_id] = Member(member_id, subscription, now)
        return True
    changed = member.subscription.protocols != subscription.protocols
    member.subscription = subscription
    return changed or (group.state is GroupState.STABLE and member_id == group.leader)


def _compatible(group: Group, member_id: str, subscription: Subscription) -> bool:
    """Return whether the subscription has the type of the others, and a protocol that all have."""
    others = [m.subscription for id_, m in group.members.items() if id_ != member_id]
    types = {each.protocol_type for each in (subscription, *others)}
    return len(types) == 1 and bool(_common([subscription, *others]))


def _common(subscriptions: Iterable[Subscription]) -> set[str]:
    """Return the protocols that all subscriptions have."""
    return set.intersection(*({name for name, _ in each.protocols} for each in subscriptions))


def await_join(group: Group, member_id: str, now: float) -> None:
    """Let the member wait for the answer to its JoinGroup, and so take part in a rebalance."""
    member = group.members.get(member_id)
    if member is not None and group.state is GroupState.PREPARING_REBALANCE:
        member.waiting, member.heard_at = True, now
        tick(group, now)


def _rebalance(group: Group, now: float) -> None:
    group.state = GroupState.PREPARING_REBALANCE
    _await_all(group, now)


def _await_all(group: Group, now: float) -> None:
    """Give every member the longest rebalance time-out of the group for its next request."""
    for member in group.members.values():
        member.waiting, member.heard_at = False, now
    times = [m.subscription.rebalance_timeout for m in group.members.values()]
    group.deadline = now + max(times, default=0.0)


def tick(group: Group, now: float) -> None:
    """Make the changes that are due because time has passed or the last awaited member has come."""
    group.invited = {id_: lapses for id_, lapses in group.invited.items() if lapses > now}
    for member in list(group.members.values()):
        if not member.waiting and now - member.heard_at > member.subscription.session_timeout:
            leave(group, member.id, now)
    due = now >= group.deadline
    if group.state is GroupState.COMPLETING_REBALANCE and due:
        _give_up_the_silent(group)
        _rebalance(group, now)
    elif group.state is GroupState.PREPARING_REBALANCE:
        complete = all(m.waiting for m in group.members.values()) and not group.invited
        if complete or due:
            _begin_generation(group, now)


def _give_up_the_silent(group: Group) -> None:
    group.members = {id_: member for id_, member in group.members.items() if member.waiting}


def _begin_generation(group: Group, now: float) -> None:
    _give_up_the_silent(group)
    group.generation += 1
    group.protocol, group.state, group.deadline = "", GroupState.EMPTY, float("inf")
    if group.members:
        group.protocol, group.state = _vote(group), GroupState.COMPLETING_REBALANCE
        if group.leader not in group.members:
            group.leader = next(iter(group.members))
        _await_all(group, now)


def _vote(group: Group) -> str:
    """Return the protocol that most members prefer, among those that all have
    (ClassicGroup.selectProtocol)."""
    subscriptions = [member.subscription for member in group.members.values()]
    common = _common(subscriptions)
    votes = Counter(next(n for n, _ in s.protocols if n in common) for s in subscriptions)
    return votes.most_common(1)[0][0]


def leave(group: Group, member_id: str, now: float) -> int:
    if group.invited.pop(member_id, None) is None:
        if group.members.pop(member_id, None) is None:
            return Errors.UNKNOWN_MEMBER_ID
        if group.state is not GroupState.PREPARING_REBALANCE:
            _rebalance(group, now)
    tick(group, now)
    return Errors.NONE


def refusal(group: Group, member_id: str, generation: int) -> int:
    """Return the error for a sender that is no member or names another generation, or NONE."""
    if member_id not in group.members:
        return Errors.UNKNOWN_MEMBER_ID
    return Errors.NONE if generation == group.generation else Errors.ILLEGAL_GENERATION


def sync(group: Group, member_id: str, assignments: Mapping[str, bytes], now: float) -> int:
    """Take a SyncGroup and return an error, or NONE. After NONE the member's assignment is known
    once the group is STABLE. Only the leader's `assignments` count."""
    if group.state is GroupState.PREPARING_REBALANCE:
        return Errors.REBALANCE_IN_PROGRESS
    member = group.members[member_id]
    member.heard_at = now
    if group.state is GroupState.COMPLETING_REBALANCE:
        member.waiting = True
        if member_id == group.leader:
            _hand_out(group, assignments, now)
    return Errors.NONE


def _hand_out(group: Group, assignments: Mapping[str, bytes], now: float) -> None:
    for member in group.members.values():
        member.assignment = assignments.get(member.id, b"")
    group.state = GroupState.STABLE
    _await_all(group, now)


def heartbeat(group: Group, member_id: str, now: float) -> int:
    group.members[member_id].heard_at = now
    rebalancing = group.state is GroupState.PREPARING_REBALANCE
    return Errors.REBALANCE_IN_PROGRESS if rebalancing else Errors.NONE


def commit_refusal(group: Group, member_id: str, generation: int) -> int:
    """Return the error of a commit, or NONE. A consumer that assigns its partitions itself (no
    generation) may commit while the group has no members."""
    if generation == NO_GENERATION and not member_id:
        return Errors.UNKNOWN_MEMBER_ID if group.members else Errors.NONE
    if error := refusal(group, member_id, generation):
        return error
    completing = group.state is GroupState.COMPLETING_REBALANCE
    return Errors.REBALANCE_IN_PROGRESS if completing else Errors.NONE
