"""What all electors do alike: batch by batch observe again, announce, carry out; then read back.

How one batch is announced, carried out and concluded is the elector's own; see `Mechanism`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kafka_unclean_recovery.cluster.controller_requests import Answer
from kafka_unclean_recovery.cluster.describe import RequestFailed
from kafka_unclean_recovery.cluster.error_codes import ELECTION_NOT_NEEDED, NONE, error_name
from kafka_unclean_recovery.cluster.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.cluster.quorum import Controller, Unsure
from kafka_unclean_recovery.cluster.reading import Behind, Reader
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.election_rules import Choice
from kafka_unclean_recovery.journal import Journal, JournalError
from kafka_unclean_recovery.model import (
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    TopicPartition,
)
from kafka_unclean_recovery.stopping import Stop
from kafka_unclean_recovery.transport import Elections, ReplicaLogSource
from kafka_unclean_recovery.transport.observe_again import Election, observe_again

_POLL_SECONDS = 0.02
_READ_BACK_SECONDS = 10.0
_RETRY_SECONDS = 0.5

Outcomes = dict[TopicPartition, Outcome]
Carried = dict[TopicPartition, Election]
Said = dict[TopicPartition, str]
"""Why a partition got no leader."""
LOST = (Behind, ConnectionFailed, NoBrokerReachable)


@dataclass(frozen=True, slots=True)
class Means:
    """What every elector works with.

    `say` and `progress` take sentences for people; `retries` is how often a passing failure of an
    election is tried again.
    """

    reader: Reader
    source: ReplicaLogSource
    controller: Controller
    journal: Journal
    stop: Stop
    say: Callable[[str], None]
    progress: Callable[[str], None]
    retries: int = 3


class AnsweredLate(Exception):
    """What was seen before an election is too old by now: look again, and go on with the rest."""


class Mechanism(Protocol):
    """One way of making a designated replica the leader."""

    @property
    def batch(self) -> int:
        """How many partitions go at once."""
        ...

    @property
    def choose(self) -> Choice:
        """Whom its elections make leader."""
        ...

    @property
    def certain(self) -> bool:
        """False once it is not known what the controller still does: then no batch is begun."""
        ...

    def announce(self, elections: Carried) -> None:
        """What is about to be changed is on the disk before it is. Raises JournalError."""
        ...

    async def carry_out(self, elections: Carried) -> Said:
        """One batch."""
        ...

    async def conclude(self, carried: Carried, said: Said) -> Elections:
        """Read all batches back and judge them."""
        ...


async def elect_in_batches(
    mechanism: Mechanism, means: Means, plans: Sequence[PartitionPlan]
) -> Elections:
    outcomes: Outcomes = {}
    carried: Carried = {}
    said: Said = {}
    size = mechanism.batch
    for start in range(0, len(plans), size):
        batch = {plan.state.topic_partition: plan for plan in plans[start : start + size]}
        not_begun = _why_not_begin(mechanism, means.stop)
        if not_begun is not None:
            outcomes |= all_failed(batch, not_begun)
            continue
        try:
            settled, elections = await observe_again(
                means.reader, means.source, batch, mechanism.choose
            )
            mechanism.announce(elections)
        except (*LOST, RequestFailed, JournalError) as error:
            outcomes |= all_failed(batch, f"nothing was sent: {error}")
            continue
        outcomes |= settled
        carried |= elections
        means.progress(f"electing {start + len(batch)} of {len(plans)} partitions")
        said |= await mechanism.carry_out(elections) if elections else {}
    made = await mechanism.conclude(carried, said) if carried else Elections({}, {})
    return Elections(outcomes | made.outcomes, made.after)


def _why_not_begin(mechanism: Mechanism, stop: Stop) -> str | None:
    if stop.requested:
        return "interrupted before its election began"
    if not mechanism.certain:
        return "not begun: what the controller does is not certain"
    return None


@dataclass(frozen=True, slots=True)
class Tried:
    """`certain` is False when the last try may still be carried out."""

    said: Said
    certain: bool = True


async def until_elected(
    means: Means,
    elections: Carried,
    choose: Choice,
    attempt: Callable[[Carried], Awaitable[Said]],
) -> Tried:
    """Try, and try again what failed. After it was not certain what happened, which takes minutes,
    only what may still go ahead is tried again.

    `attempt` raises Unsure when any part of it may or may not have been carried out, AnsweredLate
    when it stopped on the way for it took too long, never twice in a row; RequestFailed when all
    was refused for sure.
    """
    said: Said = {}
    changed: Said = {}
    pending = dict(elections)
    retries = means.retries
    while True:
        try:
            failed = await attempt(pending)
        except Unsure as error:
            said = dict.fromkeys(pending, error.reason)
            if not await _settled(means, error.reason):
                return Tried(changed | said, certain=False)
            pending, why_not = await _still_to_elect(means, pending, choose)
            changed |= why_not
            said = dict.fromkeys(pending, error.reason)
        except AnsweredLate:
            pending, why_not = await _still_to_elect(means, pending, choose)
            changed |= why_not
            if pending:
                continue
        except RequestFailed as error:
            return Tried(changed | dict.fromkeys(pending, str(error)))
        else:
            said = failed
            pending = {tp: e for tp, e in pending.items() if tp in failed}
        if not pending:
            return Tried(changed)
        if not retries:
            return Tried(changed | said)
        retries -= 1
        await asyncio.sleep(_RETRY_SECONDS)


async def _still_to_elect(means: Means, elections: Carried, choose: Choice) -> tuple[Carried, Said]:
    """(those that may still go ahead, why the others may not). Raises LOST."""
    plans = {tp: elections[tp].plan for tp in sorted(elections)}
    try:
        settled, still = await observe_again(means.reader, means.source, plans, choose)
    except RequestFailed as error:
        return {}, dict.fromkeys(elections, f"not tried again: {error}")
    why_not = {tp: outcome.reason for tp, outcome in settled.items() if outcome.reason}
    return {tp: e for tp, e in elections.items() if tp in still}, why_not


async def _settled(means: Means, reason: str) -> bool:
    try:
        await means.controller.settle(reason)
    except Unsure as error:
        means.say(f"giving up: {error.reason}")
        return False
    return True


def raise_if_unsure(controller: Controller, answers: Iterable[Answer]) -> None:
    unsure = [answer for answer in answers if controller.unsure(answer.error)]
    if unsure:
        raise Unsure(sentence(unsure[0]))


async def read_back(
    reader: Reader, carried: Carried, said: Mapping[TopicPartition, str]
) -> dict[TopicPartition, PartitionState]:
    """The partitions once leader and order are seen, or when time is up.

    Metadata reaches a broker in the order it was written: the last partition is watched, and
    only when that is there all are read.
    """
    wanted = sorted(carried)
    deadline = Deadline.after(_READ_BACK_SECONDS)
    watched = wanted[-1:]
    while True:
        states = await reader.partitions(watched)
        if all(_seen(carried[tp], states.get(tp), tp in said) for tp in watched):
            if len(watched) == len(wanted):
                return states
            watched = wanted
            continue
        if deadline.expired:
            return await reader.partitions(wanted)
        await asyncio.sleep(_POLL_SECONDS)


def all_failed(partitions: Iterable[TopicPartition], reason: str) -> Outcomes:
    return dict.fromkeys(partitions, Outcome(OutcomeKind.FAILED, reason))


def errors(answers: Mapping[TopicPartition, Answer]) -> dict[TopicPartition, Answer]:
    return {tp: answer for tp, answer in answers.items() if answer.error != NONE}


def failures(answers: Mapping[TopicPartition, Answer]) -> dict[TopicPartition, Answer]:
    """Of elections. That one was not needed is no failure: reading back tells who leads."""
    return {tp: a for tp, a in errors(answers).items() if a.error != ELECTION_NOT_NEEDED}


def sentence(answer: Answer) -> str:
    return f"{error_name(answer.error)}: {answer.message or 'no reason given'}"


def elect_line(election: Election) -> dict[str, Any]:
    return {
        "topic": election.before.topic,
        "partition": election.before.partition,
        "designated_leader": election.leader,
    }


def outcome_line(tp: TopicPartition, outcome: Outcome) -> dict[str, Any]:
    return {
        "topic": tp.topic,
        "partition": tp.partition,
        "outcome": outcome.kind,
        "reason": outcome.reason,
    }


def _seen(election: Election, now: PartitionState | None, failed: bool) -> bool:
    """A leader, unless none was elected, and the order as it was."""
    if now is None or now.topic_id != election.before.topic_id:
        return True
    return (failed or not now.offline) and now.replicas == election.before.replicas
