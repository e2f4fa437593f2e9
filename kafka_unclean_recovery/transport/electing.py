"""All electors work batch by batch: observe again, announce, carry out; in the end read back.

Each elector has its own way to announce, carry out and conclude a batch; see `Mechanism`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from kafka_unclean_recovery.cluster.controller import Controller, Unsure
from kafka_unclean_recovery.cluster.requests.controller_requests import (
    UNCLEAN,
    PartitionResult,
    elect_leaders,
    left_out,
)
from kafka_unclean_recovery.cluster.requests.describe import Described, RequestFailed
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.deadline import Clock, Deadline
from kafka_unclean_recovery.documents.journal_lines import JournalError, outcome_fields
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import (
    Outcome,
    OutcomeKind,
    PartitionPlan,
    TopicPartition,
)
from kafka_unclean_recovery.planning.election_rules import Choice, judge
from kafka_unclean_recovery.shutdown import Stop
from kafka_unclean_recovery.survey.currency import Behind
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport import Elections, ReplicaLogSource
from kafka_unclean_recovery.transport.coming import Coming
from kafka_unclean_recovery.transport.gate import Gate, LookTooOld, StopAsked
from kafka_unclean_recovery.transport.observe_again import DueElection, observe_again
from kafka_unclean_recovery.transport.sending import Sent, noted, settle

_LATE_SECONDS = 2.0
_RETRY_SECONDS = 0.5
# A look that is too old is repeated so often before it is given up.
_LATE_TRIES = 5

Outcomes = dict[TopicPartition, Outcome]
Carried = dict[TopicPartition, DueElection]
Said = dict[TopicPartition, str]
"""The reason, by partition, why it got no leader."""
Stands = Callable[[DueElection], str | None]
"""Given an election as observed again, returns why an election would take another leader by now
than in the try before; None where it would not."""
LOST = (Behind, ConnectionFailed, NoBrokerReachable)
NOT_CERTAIN = "what the controller does is not certain"


@dataclass(frozen=True, slots=True)
class Means:
    """The parts that every elector works with.

    `say` and `progress` take sentences for people; `retries` is how often an election with a
    passing failure is tried again; `gate` is passed by each request that changes the cluster and
    puts nothing back; `slowed` returns what is known to hold answers back, None for nothing.
    """

    reader: Reader
    source: ReplicaLogSource
    controller: Controller
    journal: Journal
    stop: Stop
    say: Callable[[str], None]
    progress: Callable[[str], None]
    retries: int = 3
    gate: Gate = field(default_factory=Gate)
    slowed: Callable[[], str | None] = lambda: None

    def pass_gate(self) -> None:
        """Let one request pass the gate. Raises NotSent."""
        self.gate.pass_one(self.stop)


class Mechanism(Protocol):
    """One way of making a designated replica the leader."""

    @property
    def batch(self) -> int:
        """Return the number of partitions in one batch."""
        ...

    @property
    def choose(self) -> Choice:
        """Return the rule that says which replica an election makes leader."""
        ...

    @property
    def obstacle(self) -> str | None:
        """Return why no more batches are begun; None while nothing prevents it."""
        ...

    async def announce(self, elections: Carried) -> None:
        """Write the coming changes to the disk before they are made, and off the event loop: a
        disk that hangs must not keep a signal from being heard. Raises JournalError."""
        ...

    async def carry_out(self, elections: Carried) -> Said:
        """Carry out one batch, and return why partitions got no leader."""
        ...

    async def conclude(self, carried: Carried, said: Said) -> Elections:
        """Read all batches back and judge each election."""
        ...


async def elect_in_batches(
    mechanism: Mechanism,
    means: Means,
    plans: Sequence[PartitionPlan],
    clock: Clock = time.monotonic,
) -> Elections:
    begun = clock()
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
                means.reader, means.source, batch, mechanism.choose, means.gate
            )
            # A signal may have come during the observation.
            not_begun = _why_not_begin(mechanism, means.stop)
            if not_begun is not None:
                outcomes |= all_failed(batch, not_begun)
                continue
            await mechanism.announce(elections)
        except (*LOST, RequestFailed, JournalError) as error:
            outcomes |= all_failed(batch, f"nothing was sent: {error}")
            continue
        outcomes |= settled
        carried |= elections
        means.progress(electing_text(start, len(batch), len(plans), clock() - begun))
        said |= await mechanism.carry_out(elections) if elections else {}
    made = await mechanism.conclude(carried, said) if carried else Elections({}, {})
    return Elections(outcomes | made.outcomes, made.after)


def electing_text(done: int, at_work: int, total: int, seconds: float) -> str:
    """Return such as "electing 6000 of 8000 partitions, 500/s, 8 s left". seconds: what those that
    are done took."""
    text = f"electing {done + at_work} of {total} partitions"
    if not done or seconds <= 0:
        return text
    rate = done / seconds
    return f"{text}, {rate:.0f}/s, {(total - done) / rate:.0f} s left"


def _why_not_begin(mechanism: Mechanism, stop: Stop) -> str | None:
    if stop.requested:
        return "interrupted before its election began"
    return None if mechanism.obstacle is None else f"not begun: {mechanism.obstacle}"


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of all tries. `certain` is False when the last try may still be carried out;
    unanswered: elections of which no answer tells when they were carried out."""

    said: Said
    certain: bool = True
    unanswered: frozenset[TopicPartition] = frozenset()


async def until_elected(
    means: Means,
    elections: Carried,
    choose: Choice,
    attempt: Callable[[Carried], Awaitable[Said]],
    stands: Stands = lambda _: None,
) -> Tried:
    """Try the elections, and try the failed ones again. Before each further try all is observed
    again: the designated replica may be fenced by now, and another one live, and somebody else may
    have changed what the try before had seen or made (`stands`).

    `attempt` raises Unsure when any part of it may or may not have been carried out; NotSent when
    it stopped on the way, at the gate; RequestFailed when the whole request was refused for sure.
    """
    given_up: Said = {}
    unanswered: frozenset[TopicPartition] = frozenset()
    pending = dict(elections)
    retries, late_tries = means.retries, _LATE_TRIES
    while True:
        late = False
        unanswered -= pending.keys()
        try:
            failed = before = await attempt(pending)
        except Unsure as error:
            failed, before = dict.fromkeys(pending, error.reason), {}
            unanswered |= pending.keys()
            if not await _settled(means, error.reason):
                return Tried(given_up | failed, certain=False, unanswered=unanswered)
        except LookTooOld as error:
            slowed = means.slowed()
            reason = error.reason if slowed is None else f"{error.reason} ({slowed})"
            failed, before, late = dict.fromkeys(pending, reason), {}, late_tries > 0
            late_tries -= 1
        except (StopAsked, RequestFailed) as error:
            said = given_up | dict.fromkeys(pending, str(error))
            return Tried(said, unanswered=unanswered)
        pending = {tp: e for tp, e in pending.items() if tp in failed}
        if not pending or not (retries or late) or means.stop.requested:
            return Tried(given_up | failed, unanswered=unanswered)
        if not late:
            retries -= 1
            await asyncio.sleep(_RETRY_SECONDS)
        pending, why_not = await _still_to_elect(means, pending, choose, stands)
        given_up |= {tp: _not_again(before.get(tp), why) for tp, why in why_not.items()}
        if not pending or means.stop.requested:
            said = given_up | {tp: failed[tp] for tp in pending}
            return Tried(said, unanswered=unanswered)


def _not_again(before: str | None, why: str) -> str:
    return why if before is None else f"{before}; not tried again: {why}"


async def _still_to_elect(
    means: Means, elections: Carried, choose: Choice, stands: Stands
) -> tuple[Carried, Said]:
    """Return (the elections that may still go ahead, why the others may not)."""
    plans = {tp: elections[tp].plan for tp in sorted(elections)}
    try:
        settled, still = await observe_again(means.reader, means.source, plans, choose, means.gate)
    except (*LOST, RequestFailed) as error:
        return {}, dict.fromkeys(elections, f"it could not be looked at again: {error}")
    why_not: Said = {tp: outcome.reason or outcome.kind for tp, outcome in settled.items()}
    why_not |= {tp: why for tp, now in still.items() if (why := stands(now)) is not None}
    return {tp: e for tp, e in elections.items() if tp not in why_not}, why_not


async def _settled(means: Means, reason: str) -> bool:
    try:
        await settle(means.controller, means.journal, reason)
    except Unsure as error:
        means.say(f"giving up: {error.reason}")
        return False
    return True


async def elect_uncleanly(
    means: Means, wanted: Sequence[TopicPartition]
) -> dict[TopicPartition, PartitionResult]:
    """Have the controller elect the first live replica of each list, and return its answers; that
    it left a partition out is one."""
    answers = await noted(
        means.controller,
        means.journal,
        Sent("ElectLeaders", len(wanted)),
        lambda connection, deadline: elect_leaders(connection, UNCLEAN, wanted, deadline),
        means.pass_gate,
    )
    return left_out(wanted) | {tp: answers[tp] for tp in wanted if tp in answers}


def raise_if_unsure(controller: Controller, answers: Iterable[PartitionResult]) -> None:
    unsure = [answer for answer in answers if controller.unsure(answer.error)]
    if unsure:
        raise Unsure(sentence(unsure[0]))


def why_not_elected(
    controller: Controller, answers: Mapping[TopicPartition, PartitionResult]
) -> Said:
    """Return why partitions have no leader of this election. Raises Unsure."""
    failed = failures(answers)
    raise_if_unsure(controller, failed.values())
    return {tp: sentence(answer) for tp, answer in failed.items()}


async def read_back(
    reader: Reader, carried: Carried, said: Mapping[TopicPartition, str]
) -> Described:
    """Return the partitions once leader and order are seen, or when no more changes appear.

    Metadata reaches a broker in the order it was written: only the last partition is watched, and
    all are read once it is seen, or is late.
    """
    wanted = sorted(carried)
    coming = Coming(len(wanted))
    late = Deadline.after(_LATE_SECONDS)
    watched = wanted[-1:]
    while True:
        seen = await reader.described(watched)
        left = sum(not _seen(tp, carried[tp], seen, tp in said) for tp in watched)
        if len(watched) < len(wanted):
            if not left or late.expired:
                watched = wanted
                continue
        elif not left or coming.over(left):
            return seen
        await coming.pause()


def judged(
    tp: TopicPartition,
    election: DueElection,
    seen: Described,
    said: Said,
    unanswered: Collection[TopicPartition],
) -> Outcome:
    """Return the outcome of an election, judged by the partition as read back."""
    if tp in seen.untold:
        why = f"who leads could not be read back ({seen.untold[tp]}); look again"
        return Outcome(OutcomeKind.FAILED, why, in_doubt=True)
    now, answered = seen.states.get(tp), tp not in unanswered
    return judge(election.leader, election.before, now, said.get(tp), answered=answered)


def all_failed(partitions: Iterable[TopicPartition], reason: str) -> Outcomes:
    return dict.fromkeys(partitions, Outcome(OutcomeKind.FAILED, reason))


def all_in_doubt(partitions: Iterable[TopicPartition], reason: str) -> Outcomes:
    """Return the failure of partitions for which an election was sent."""
    return dict.fromkeys(partitions, Outcome(OutcomeKind.FAILED, reason, in_doubt=True))


def errors(
    answers: Mapping[TopicPartition, PartitionResult],
) -> dict[TopicPartition, PartitionResult]:
    return {tp: answer for tp, answer in answers.items() if answer.error != Errors.NONE}


def failures(
    answers: Mapping[TopicPartition, PartitionResult],
) -> dict[TopicPartition, PartitionResult]:
    """Return the answers that are failures. An election that was not needed is no failure: reading
    back tells who leads."""
    return {tp: a for tp, a in errors(answers).items() if a.error != Errors.ELECTION_NOT_NEEDED}


def sentence(answer: PartitionResult) -> str:
    if answer.left_out:
        return answer.message or ""
    return f"{error_name(answer.error)}: {answer.message or 'no reason given'}"


def elect_line(election: DueElection) -> dict[str, Any]:
    return {
        "topic": election.before.topic,
        "partition": election.before.partition,
        "designated_leader": election.leader,
    }


def outcome_line(tp: TopicPartition, outcome: Outcome) -> dict[str, Any]:
    return {
        "topic": tp.topic,
        "partition": tp.partition,
        **outcome_fields(outcome),
    }


def _seen(tp: TopicPartition, election: DueElection, seen: Described, failed: bool) -> bool:
    """Return True when the partition has a leader, unless none was elected, and its old order, or
    replicas that somebody else gave it."""
    before = election.before
    if tp in seen.gone or seen.topic_ids.get(tp.topic, before.topic_id) != before.topic_id:
        return True
    now = seen.states.get(tp)
    if now is None or (now.offline and not failed):
        return False
    return now.replicas == before.replicas or set(now.replicas) != set(before.replicas)
