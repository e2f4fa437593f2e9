"""A group of consumers as its coordinator has it: the classic protocol. No I/O, no clock.

Members join, and when all have, or the time for it is up, a generation begins; its leader hands out
the assignments, and until the others have theirs nothing else counts. Times are in seconds.

Source: org.apache.kafka.coordinator.group.classic.ClassicGroup and GroupMetadataManager, with
group.initial.rebalance.delay.ms 0 and no bounds on session time-outs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kafka_unclean_recovery.emulator.controller.records import TopicIdPartition
from kafka_unclean_recovery.emulator.error_codes import (
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    NONE,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)

NO_GENERATION = -1


class GroupState(StrEnum):
    """As DescribeGroups and ListGroups name them."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a member says when it joins. protocols: (name, metadata), its first choice first."""

    client_id: str
    session_timeout: float
    rebalance_timeout: float
    protocol_type: str
    protocols: tuple[tuple[str, bytes], ...]


@dataclass(slots=True)
class Member:
    """heard_at: when it last said anything. waiting: for an answer to its JoinGroup, or to its
    SyncGroup once the rebalance completes."""

    id: str
    subscription: Subscription
    heard_at: float
    waiting: bool = False
    assignment: bytes = b""

    def metadata(self, protocol: str) -> bytes:
        return dict(self.subscription.protocols).get(protocol, b"")


@dataclass(frozen=True, slots=True)
class Committed:
    """`offset`: of the next record to be read."""

    offset: int
    leader_epoch: int
    metadata: str


@dataclass(slots=True)
class Group:
    """invited: member ids that were given out and have not joined yet, with when they lapse.
    deadline: when who has not joined, or has not synced, is given up."""

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
    """An error, or none: then the answer is there once the group is not PREPARING_REBALANCE."""
    member = group.members.get(member_id)
    if member is None and member_id not in group.invited:
        return UNKNOWN_MEMBER_ID
    if not _compatible(group, member_id, subscription):
        return INCONSISTENT_GROUP_PROTOCOL
    group.protocol_type = subscription.protocol_type
    changes = _takes(group, member, member_id, subscription, now)
    if changes and group.state is not GroupState.PREPARING_REBALANCE:
        _rebalance(group, now)
    await_join(group, member_id, now)
    return NONE


def _takes(
    group: Group, member: Member | None, member_id: str, subscription: Subscription, now: float
) -> bool:
    """Note what a member says. Whether the group has to be balanced anew for it."""
    if member is None:
        del group.invited[member_id]
        group.members[member_id] = Member(member_id, subscription, now)
        return True
    changed = member.subscription.protocols != subscription.protocols
    member.subscription = subscription
    return changed or (group.state is GroupState.STABLE and member_id == group.leader)


def _compatible(group: Group, member_id: str, subscription: Subscription) -> bool:
    """Of the others' type, and with a protocol that all have."""
    others = [m.subscription for id_, m in group.members.items() if id_ != member_id]
    types = {each.protocol_type for each in (subscription, *others)}
    return len(types) == 1 and bool(_common([subscription, *others]))


def _common(subscriptions: Iterable[Subscription]) -> set[str]:
    """Protocols that all of them have."""
    return set.intersection(*({name for name, _ in each.protocols} for each in subscriptions))


def await_join(group: Group, member_id: str, now: float) -> None:
    """The member waits for the answer to its JoinGroup, and so takes part in a rebalance."""
    member = group.members.get(member_id)
    if member is not None and group.state is GroupState.PREPARING_REBALANCE:
        member.waiting, member.heard_at = True, now
        tick(group, now)


def _rebalance(group: Group, now: float) -> None:
    group.state = GroupState.PREPARING_REBALANCE
    _await_all(group, now)


def _await_all(group: Group, now: float) -> None:
    """Every member has its longest rebalance time-out for the next request."""
    for member in group.members.values():
        member.waiting, member.heard_at = False, now
    times = [m.subscription.rebalance_timeout for m in group.members.values()]
    group.deadline = now + max(times, default=0.0)


def tick(group: Group, now: float) -> None:
    """What happens because time has passed, or because the last of them has come."""
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
    """The first choice of most, of the protocols that all have (ClassicGroup.selectProtocol)."""
    subscriptions = [member.subscription for member in group.members.values()]
    common = _common(subscriptions)
    votes = Counter(next(n for n, _ in s.protocols if n in common) for s in subscriptions)
    return votes.most_common(1)[0][0]


def leave(group: Group, member_id: str, now: float) -> int:
    if group.invited.pop(member_id, None) is None:
        if group.members.pop(member_id, None) is None:
            return UNKNOWN_MEMBER_ID
        if group.state is not GroupState.PREPARING_REBALANCE:
            _rebalance(group, now)
    tick(group, now)
    return NONE


def refusal(group: Group, member_id: str, generation: int) -> int:
    """Of who is no member, or of another generation."""
    if member_id not in group.members:
        return UNKNOWN_MEMBER_ID
    return NONE if generation == group.generation else ILLEGAL_GENERATION


def sync(group: Group, member_id: str, assignments: Mapping[str, bytes], now: float) -> int:
    """An error, or none: then the assignment is there once the group is STABLE. Those that the
    leader hands out count."""
    if group.state is GroupState.PREPARING_REBALANCE:
        return REBALANCE_IN_PROGRESS
    member = group.members[member_id]
    member.heard_at = now
    if group.state is GroupState.COMPLETING_REBALANCE:
        member.waiting = True
        if member_id == group.leader:
            _hand_out(group, assignments, now)
    return NONE


def _hand_out(group: Group, assignments: Mapping[str, bytes], now: float) -> None:
    for member in group.members.values():
        member.assignment = assignments.get(member.id, b"")
    group.state = GroupState.STABLE
    _await_all(group, now)


def heartbeat(group: Group, member_id: str, now: float) -> int:
    group.members[member_id].heard_at = now
    rebalancing = group.state is GroupState.PREPARING_REBALANCE
    return REBALANCE_IN_PROGRESS if rebalancing else NONE


def commit_refusal(group: Group, member_id: str, generation: int) -> int:
    """A consumer that assigns its partitions itself (no generation) may commit while the group has
    no members."""
    if generation == NO_GENERATION and not member_id:
        return UNKNOWN_MEMBER_ID if group.members else NONE
    if error := refusal(group, member_id, generation):
        return error
    completing = group.state is GroupState.COMPLETING_REBALANCE
    return REBALANCE_IN_PROGRESS if completing else NONE
