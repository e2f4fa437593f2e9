"""Plans that give a partition other replicas before its election, which takes consent by name.

All replicas of a partition may be lost for good: then live brokers start it anew, empty. Or it lost
its leader during a reassignment: then it goes back to the replicas from before. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import (
    Commit,
    Finding,
    Move,
    MoveKind,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    Severity,
    TopicPartition,
)
from kafka_unclean_recovery.planning.findings import by_gravity
from kafka_unclean_recovery.planning.plan import REASSIGNING, plan_partition

GIVE_UP, END = "--give-up-log", "--end-reassignment"

_NAME = re.compile(r"[a-zA-Z0-9._-]{1,260}")


@dataclass(frozen=True, slots=True)
class Consented:
    """The partitions (topic-partition) and topics that a person named: whose logs are given up, and
    whose reassignment is ended."""

    give_up: frozenset[str] = frozenset()
    end: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.give_up or self.end)


NOTHING = Consented()

Topics = Mapping[str, int]
"""How many partitions each topic has that this user may describe."""


def parse_consented(give_up: Iterable[str], end: Iterable[str]) -> Consented:
    """Return what a person consented to, each topic or partition by its name. Raises InputError for
    what is no name, such as "*"."""
    for flag, names in ((GIVE_UP, give_up), (END, end)):
        for name in names:
            if not _NAME.fullmatch(name) or name in (".", ".."):
                raise InputError(f"{flag} {name}: give the name of a topic, or TOPIC-PARTITION")
    return Consented(frozenset(give_up), frozenset(end))


def with_moves(
    plans: Mapping[TopicPartition, PartitionPlan],
    consented: Consented,
    live: Collection[int],
    commits: Mapping[TopicPartition, Sequence[Commit]],
    topics: Topics,
) -> dict[TopicPartition, PartitionPlan]:
    """Return the plans; those that a person named, and that have no designated leader, get other
    replicas, or the reason why not. live: the brokers that are listed as live."""
    moved = dict(plans)
    give_up, end = (
        {name for name in names if not _unclear(name, topics)}
        for names in (consented.give_up, consented.end)
    )
    for tp, plan in plans.items():
        names = {tp.topic, str(tp)}
        if plan.designated_leader is not None:
            continue
        if plan.state.reassigning and names & end:
            moved[tp] = _back(plan, commits.get(tp, ()))
        elif names & give_up:
            moved[tp] = _started_empty(plan, live, alone=str(tp) in give_up)
    return moved


def problems(
    consented: Consented, plans: Collection[TopicPartition], topics: Topics
) -> Iterator[str]:
    """Yield a sentence for each name that fits no offline partition, or two things."""
    fits = {name for tp in plans for name in (tp.topic, str(tp))}
    for flag, names in ((GIVE_UP, consented.give_up), (END, consented.end)):
        for name in sorted(names):
            if name not in fits:
                yield f"{flag} {name}: no topic or partition of that name is offline here"
            elif _unclear(name, topics):
                yield (
                    f"{flag} {name}: names a topic and a partition of another one: neither counts;"
                    f" name the partitions of the topic one by one ({name}-0), or give the other"
                    " partition alone by --path-to-json-file"
                )


def _unclear(name: str, topics: Topics) -> bool:
    """Return True for the name of a topic that is also that of a partition of another one. Both
    count, offline or not: whoever named the one that came back meanwhile did not mean the other."""
    topic, _, number = name.rpartition("-")
    is_number = number.isascii() and number.isdecimal() and number == str(int(number))
    return name in topics and is_number and int(number) < topics.get(topic, 0)


def _started_empty(plan: PartitionPlan, live: Collection[int], *, alone: bool) -> PartitionPlan:
    """Return the plan by which live brokers without a replica start the partition anew. alone: this
    partition was named by itself, and not only its topic."""
    if plan.refusal not in (None, REASSIGNING):
        return plan
    state = plan.state
    order = _new_replicas(plan, live)
    why = _why_not_empty(plan, alone=alone)
    if why is None and not order:
        why = "no live broker is without a replica of it"
    if why is not None:
        return replace(plan, refusal=f"its log is not given up: {why}")
    return replace(
        plan,
        designated_leader=order[0],
        refusal=None,
        move=Move(MoveKind.EMPTY, order),
        findings=by_gravity([*_without_reassignment(plan), _given_up(state, order)]),
    )


def _new_replicas(plan: PartitionPlan, live: Collection[int]) -> tuple[int, ...]:
    """Return as many live brokers as the partition had replicas, where there are so many, none of
    which holds a record of it; partitions begin at one broker after another."""
    state = plan.state
    before = [r for r in state.replicas if r not in state.adding_replicas]
    empty = {log.broker for log in plan.replica_logs if _added_empty(state, log)}
    others = sorted(empty | (set(live) - set(state.replicas)))
    begin = state.partition % len(others) if others else 0
    return tuple([*others[begin:], *others[:begin]][: len(before)])


def _added_empty(state: PartitionState, log: ReplicaLog) -> bool:
    """Return True for a live replica that a reassignment adds, and that has copied nothing."""
    adding = log.broker in state.online_replicas and log.broker in state.adding_replicas
    return adding and log.sure and log.log_end_offset == 0


def _why_not_empty(plan: PartitionPlan, *, alone: bool) -> str | None:
    state = plan.state
    if state.tiered is not None:
        return f"{state.tiered}, and an empty leader deletes what lies in remote storage"
    empty = [log.broker for log in plan.replica_logs if _added_empty(state, log)]
    if online := [r for r in state.online_replicas if r not in empty]:
        return (
            f"broker {online[0]} is live and has a replica of it: let it be read, or stop that"
            " broker for good"
        )
    for log in plan.replica_logs:
        if log.broker not in empty and not alone and (why := _may_hold(log)) is not None:
            return (
                f"broker {log.broker} may hold its log ({why}); {GIVE_UP}"
                f" {state.topic_partition}, by its own name, gives that up too"
            )
    return None


def _may_hold(log: ReplicaLog) -> str | None:
    """Return why a replica that can't be elected may hold the log all the same; None of one whose
    broker is down as far as anything tells, and whose disk nobody gave."""
    if log.unproven is not None:
        return f"it may live: it {log.unproven}"
    if log.live:
        return log.problem or f"it answered, log end offset {log.log_end_offset}, and is fenced"
    if log.scanned is not None and not (log.empty and log.problem is None):
        return f"its disk was read: {log.scanned.directory}"
    return None


def _given_up(state: PartitionState, order: Sequence[int]) -> Finding:
    return Finding(
        "log_given_up",
        Severity.LOSS,
        f"broker {order[0]} is to start the partition anew, empty, with the replicas {list(order)}"
        f" in place of {list(state.replicas)}: every record that it had is given up, and how many"
        " these are is unknown. Where a disk of these brokers can still be read, save it first"
        " (salvage)",
    )


def _back(plan: PartitionPlan, commits: Sequence[Commit]) -> PartitionPlan:
    """Return the plan that gives the partition back the replicas from before the reassignment."""
    state = plan.state
    again = plan_partition(
        state, plan.replica_logs, commits, ends_reassignment=True, gone=plan.gone
    )
    if again.designated_leader is None:
        return again
    order = tuple(b for b in again.order if b not in state.adding_replicas)
    findings = by_gravity([*_without_reassignment(again), _ended(state, order)])
    return replace(again, move=Move(MoveKind.BACK, order), findings=findings)


def _without_reassignment(plan: PartitionPlan) -> list[Finding]:
    return [found for found in plan.findings if found.code != "reassignment_in_progress"]


def _ended(state: PartitionState, order: Sequence[int]) -> Finding:
    return Finding(
        "reassignment_ended",
        Severity.UNKNOWN,
        f"the reassignment (adding {list(state.adding_replicas)}, removing"
        f" {list(state.removing_replicas)}) is to be ended: the partition has the replicas"
        f" {list(order)} from then on, and what adding replicas hold is deleted",
    )
