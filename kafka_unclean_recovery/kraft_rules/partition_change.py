"""The rules in this module decide one partition's next leader, ISR, ELR and epochs (Kafka's
PartitionChangeBuilder).

An event makes a proposal, and the rules decide on it in this order, each on the result of the one
before: a reassignment completes, the ELR is updated, a leader is elected, the record is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    RECOVERING,
    Ids,
    PartitionChangeRecord,
    TopicIdPartition,
)
from kafka_unclean_recovery.kraft_rules.releases import LastKnown, Release


class Election(Enum):
    ONLINE = "online"
    """Elect from the ISR, or from the ELR when the ISR is empty."""

    PREFERRED = "preferred"
    """Elect like ONLINE, but prefer the first replica to the present leader."""

    UNCLEAN = "unclean"
    """Elect like ONLINE, and if that finds no replica then any other."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The changes that an event proposes for a partition; None leaves a field as it is.

    unclean_shutdown: the replica that may have lost records. log_dir: a replica and its directory.
    designated: the replica to elect, which the caller has found electable; its election is unclean.
    """

    isr: Ids | None = None
    replicas: Ids | None = None
    removing: Ids | None = None
    adding: Ids | None = None
    unclean_shutdown: int | None = None
    leader_recovery_state: int | None = None
    log_dir: tuple[int, UUID] | None = None
    election: Election = Election.ONLINE
    designated: int | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """The facts about the cluster that the rules need. min_isr: the effective one, given replicas.
    recovers_uncleanly: the last known leader is no candidate, as logs are compared instead."""

    release: Release
    min_isr: Callable[[Ids], int]
    acceptable: Callable[[int], bool]
    default_dir: Callable[[int], UUID]
    recovers_uncleanly: bool


@dataclass(frozen=True, slots=True)
class Target:
    """The state that a partition is to have after the change."""

    isr: Ids
    replicas: Ids
    removing: Ids
    adding: Ids
    elr: Ids = ()
    last_known_elr: Ids = ()


@dataclass(frozen=True, slots=True)
class Elected:
    leader: int
    unclean: bool = False


def change_partition(
    key: TopicIdPartition, partition: PartitionRegistration, proposal: Proposal, rules: Rules
) -> PartitionChangeRecord | None:
    """Return the change, or None when nothing changes."""
    target = _with_elr(partition, _reassigned(partition, proposal, rules), proposal, rules)
    elected = _elect(partition, target, proposal, rules)
    moved = elected.leader != partition.leader
    unclean = moved and elected.unclean
    isr, elr, last_known_elr = _candidates(target, elected.leader, moved, unclean, rules)
    leader = _leader_field(partition, target, elected.leader, moved)
    release = rules.release
    if not release.elr:
        # Without ELR the last member stays in the ISR, dead or not (KIP-903's notable exception).
        isr, elr = isr or partition.isr, ()
    record = PartitionChangeRecord(
        key,
        _changed(isr, partition.isr),
        leader,
        _changed(target.replicas, partition.replicas),
        _directories_field(partition, target.replicas, proposal, rules),
        _changed(target.removing, partition.removing_replicas),
        _changed(target.adding, partition.adding_replicas),
        _recovery_field(partition, proposal, unclean),
        _changed(elr, partition.elr),
        _last_known_field(partition, leader, last_known_elr, release),
        _last_known_leader_field(partition, leader, release),
    )
    return None if record == PartitionChangeRecord(key) else record


def _changed(new: Ids, old: Ids) -> Ids | None:
    return None if new == old else new


# Reassignments complete as in PartitionReassignmentReplicas.


def _reassigned(partition: PartitionRegistration, proposal: Proposal, rules: Rules) -> Target:
    """Return the target of the proposal, with its reassignment completed if that can be."""
    target = Target(
        partition.isr if proposal.isr is None else proposal.isr,
        partition.replicas if proposal.replicas is None else proposal.replicas,
        partition.removing_replicas if proposal.removing is None else proposal.removing,
        partition.adding_replicas if proposal.adding is None else proposal.adding,
    )
    if not target.removing and not target.adding:
        return target
    isr = without(target.isr, target.removing)
    replicas = without(target.replicas, target.removing)
    if not _may_complete(isr, replicas, target, rules):
        return target
    return Target(isr, replicas, (), ())


def _may_complete(isr: Ids, replicas: Ids, target: Target, rules: Rules) -> bool:
    """Return whether the reassignment may complete with `isr` for the final `replicas`.

    4.x waits until all added replicas are in the ISR, and all final replicas if the replication
    factor shrinks. KIP-966 ("The AlterPartitionReassignments") also asks for min ISR, so that a
    replica which is removed can't stay in the ELR.
    """
    release = rules.release
    if release.reassignment_needs_min_isr and len(isr) < rules.min_isr(replicas):
        return False
    if release.reassignment_awaits_target:
        return _all_in(replicas, isr)
    shrinks = len(target.adding) < len(target.removing)
    # The next reassignment may remove what the last one added, so some of `adding` may not be in
    # `replicas`.
    return _all_in(target.adding, isr) and (not shrinks or _all_in(replicas, isr))


def _all_in(ids: Ids, others: Ids) -> bool:
    return all(i in others for i in ids)


def without(ids: Ids, others: Iterable[int]) -> Ids:
    left = set(others)
    return tuple(i for i in ids if i not in left)


# The ELR is updated as in KIP-966, "Eligible Leader Replicas".


def _with_elr(
    partition: PartitionRegistration, target: Target, proposal: Proposal, rules: Rules
) -> Target:
    """Return the target with its new ELR. With ISR >= min ISR there is no ELR. Below, members that
    leave the ISR join the ELR; replicas that enter the ISR leave the ELR, and so does the replica
    that has shut down uncleanly."""
    isr, release = target.isr, rules.release
    if not release.elr:
        return target if release.elr_ends_when_off else _with_elr_as_it_was(partition, target)
    if len(isr) >= rules.min_isr(target.replicas):
        return target
    if isr == partition.isr and not (partition.elr or partition.last_known_elr):
        return target
    candidates = _in_hash_order(partition.elr, partition.isr)
    elr = tuple(r for r in candidates if r not in isr and r != proposal.unclean_shutdown)
    former = (*candidates, *partition.last_known_elr)
    last_known_elr: Ids = ()
    if release.last_known is LastKnown.ELR:
        last_known_elr = tuple(sorted({r for r in former if r not in isr and r not in elr}))
    return Target(isr, target.replicas, target.removing, target.adding, elr, last_known_elr)


def _with_elr_as_it_was(partition: PartitionRegistration, target: Target) -> Target:
    """Let a partition elect from the ELR that it still has after ELR was switched off. The change
    then removes that ELR."""
    if not partition.elr:
        return target
    return Target(target.isr, target.replicas, target.removing, target.adding, partition.elr)


def _in_hash_order(ids: Ids, more: Ids) -> Ids:
    """Return the order in which a Java HashSet made of `ids`, with `more` added, lists them,
    because an ELR is written in that order. A broker id is its own hash, and the table has a third
    more slots than ids."""
    distinct = tuple(dict.fromkeys((*ids, *more)))
    table = 16
    while table < len(ids) * 4 // 3 + 1 or table * 3 // 4 < len(distinct):
        table *= 2
    return tuple(sorted(distinct, key=lambda i: i % table))


# The functions from here elect the leader.


def _elect(
    partition: PartitionRegistration, target: Target, proposal: Proposal, rules: Rules
) -> Elected:
    """Elect by KIP-966, "Leader election", and "Delivery plan" without unclean recovery."""
    if proposal.designated is not None:
        return Elected(proposal.designated, unclean=True)
    electable = target.isr or target.elr
    # In most changes the leader stays, so the present leader comes first unless another is
    # preferred.
    first = target.replicas[0] if proposal.election is Election.PREFERRED else partition.leader
    for replica in (first, partition.leader, *target.replicas):
        if replica in electable and rules.acceptable(replica):
            return Elected(replica)
    known = None if rules.recovers_uncleanly else _last_known_leader(partition, rules.release)
    if not target.isr and not target.elr and known is not None and rules.acceptable(known):
        return Elected(known, unclean=True)
    if proposal.election is Election.UNCLEAN:
        for replica in target.replicas:
            if rules.acceptable(replica):
                return Elected(replica, unclean=True)
    return Elected(NO_LEADER)


def _last_known_leader(partition: PartitionRegistration, release: Release) -> int | None:
    if not release.elr:
        return None
    if release.last_known is LastKnown.ELR:
        known = partition.last_known_leader
        return None if known == NO_LEADER else known
    return partition.last_known_elr[0] if len(partition.last_known_elr) == 1 else None


def _candidates(
    target: Target, leader: int, moved: bool, unclean: bool, rules: Rules
) -> tuple[Ids, Ids, Ids]:
    """Return ISR, ELR and last known ELR after the election."""
    if unclean:
        return (leader,), (), ()
    if moved and leader in target.elr:
        if rules.release.election_may_end_elr and rules.min_isr(target.replicas) <= 1:
            return (leader,), (), ()
        return (leader,), without(target.elr, (leader,)), target.last_known_elr
    return target.isr, target.elr, target.last_known_elr


# The functions from here return fields of the record.


def _leader_field(
    partition: PartitionRegistration, target: Target, leader: int, moved: bool
) -> int:
    """Return the new leader, or the same leader, in a new epoch, when the partition loses a
    replica, so that the lost replica can't go on fetching. A change of the ISR or ELR alone bumps
    no leader epoch (KIP-966, "Other behaviors"; KAFKA-15021)."""
    if moved:
        return leader
    lost = any(replica not in target.replicas for replica in partition.replicas)
    return partition.leader if lost else NO_LEADER_CHANGE


def _directories_field(
    partition: PartitionRegistration, replicas: Ids, proposal: Proposal, rules: Rules
) -> tuple[UUID, ...] | None:
    """Return the directories in the order of the replicas. A new replica begins in its broker's
    default directory."""
    if replicas == partition.replicas and proposal.log_dir is None:
        return None
    known = dict(zip(partition.replicas, partition.directories, strict=True))
    if proposal.log_dir is not None:
        known[proposal.log_dir[0]] = proposal.log_dir[1]
    directories = tuple(known[r] if r in known else rules.default_dir(r) for r in replicas)
    return None if directories == partition.directories else directories


def _recovery_field(
    partition: PartitionRegistration, proposal: Proposal, unclean: bool
) -> int | None:
    """Return the new recovery state. An uncleanly elected leader is recovering until it reports
    that it has recovered."""
    wanted = proposal.leader_recovery_state
    if wanted is not None and wanted != partition.leader_recovery_state:
        return wanted
    if unclean and partition.leader_recovery_state != RECOVERING:
        return RECOVERING
    return None


def _last_known_field(
    partition: PartitionRegistration, leader: int, last_known_elr: Ids, release: Release
) -> Ids | None:
    if release.last_known is LastKnown.ELR:
        return _changed(last_known_elr, partition.last_known_elr)
    if not release.elr:
        return None
    # Kafka's releases keep the last leader in this field.
    if leader == NO_LEADER and not partition.last_known_elr:
        return (partition.leader,)
    if leader >= 0 and partition.last_known_elr:
        return ()
    return None


def _last_known_leader_field(
    partition: PartitionRegistration, leader: int, release: Release
) -> int | None:
    """Return the leader that is lost as the last known one, and NO_LEADER when there is a new
    leader (KIP-966, "The last known leader will be tracked")."""
    if release.last_known is LastKnown.LEADER:
        return None
    if release.elr and leader == NO_LEADER and partition.leader != NO_LEADER:
        return partition.leader
    ended = leader >= 0 or not release.elr
    if ended and partition.last_known_leader != NO_LEADER:
        return NO_LEADER
    return None
