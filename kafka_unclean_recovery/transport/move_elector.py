"""Give partitions other replicas, and elect the first of them: all had replicas that are lost for
good, or a reassignment was in progress.

The replicas are written by a reassignment. Without a leader that one stays in progress and moves no
data, and an UNCLEAN election takes the first live replica of the list. What became of it is settled
afterwards (moved_sets.py), by the next run after a crash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from kafka_unclean_recovery.cluster.requests.controller_requests import PartitionResult
from kafka_unclean_recovery.documents.journal import Event
from kafka_unclean_recovery.documents.journal_lines import JournalError, Reordered
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import (
    Move,
    MoveKind,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    TopicPartition,
)
from kafka_unclean_recovery.planning.election_rules import Choice, controller_choice
from kafka_unclean_recovery.transport import Elections, Elector
from kafka_unclean_recovery.transport.coming import Coming
from kafka_unclean_recovery.transport.electing import (
    LOST,
    NOT_CERTAIN,
    Carried,
    Means,
    Said,
    all_in_doubt,
    elect_in_batches,
    elect_line,
    elect_uncleanly,
    errors,
    judged,
    outcome_line,
    raise_if_unsure,
    until_elected,
    why_not_elected,
)
from kafka_unclean_recovery.transport.gate import LookTooOld
from kafka_unclean_recovery.transport.moved_sets import MovedSets, Settled
from kafka_unclean_recovery.transport.observe_again import DueElection
from kafka_unclean_recovery.transport.replica_order import BATCH, ReplicaOrder
from kafka_unclean_recovery.transport.unregistered import (
    Brokers,
    Reduced,
    leave_out,
    left_text,
    reduce_line,
    refused_text,
    without,
)

_UNSEEN = "the controller took its new replicas, and brokers do not show them"
_OTHER_REPLICAS = (
    "somebody else gave it the replicas {now} since; nobody was elected by them: plan again"
)
_GIVEN_UP = (
    "it begins empty on broker {leader}: every record that it had is given up, and how many these"
    " were is unknown"
)
_NOT_BY_US = (
    "led by no election of this run: a replica from before came back and led it meanwhile, or"
    " somebody else elected"
)
_CAME_TO_OTHERS = (
    "its new replicas came to a set that somebody else had just written, which is to stay: plan"
    " again"
)
_ENDED = "the reassignment is ended"


class MoveElector:
    """An Elector (the protocol in transport/__init__.py), and a Mechanism (electing.py)."""

    batch = BATCH
    choose = staticmethod(controller_choice)

    def __init__(self, means: Means) -> None:
        self._means = means
        self._order = ReplicaOrder(means.controller, means.reader, means.journal)
        self._sets = MovedSets(means.controller, means.reader, means.journal)
        self._written: set[TopicPartition] = set()
        self._reduced: Reduced = {}
        self._elected: set[TopicPartition] = set()
        self._unanswered: set[TopicPartition] = set()
        self.obstacle: str | None = None

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        return await elect_in_batches(self, self._means, plans)

    async def announce(self, elections: Carried) -> None:
        if elections:
            moving = [_move_line(e, _move(e).order) for e in elections.values()]
            electing = [elect_line(election) for election in elections.values()]
            lines: list[tuple[Event, dict[str, Any]]] = [
                ("move", {"partitions": moving}),
                ("elect", {"partitions": electing}),
            ]
            await asyncio.to_thread(self._means.journal.announce, *lines)

    async def carry_out(self, elections: Carried) -> Said:
        try:
            tried = await until_elected(
                self._means, elections, self.choose, self._write_and_elect, self._why_not_moved
            )
        except JournalError as error:
            await asyncio.to_thread(self._means.journal.take_back)
            return dict.fromkeys(elections, str(error))
        except LOST as error:
            return dict.fromkeys(elections, str(error))
        self._unanswered |= tried.unanswered
        if not tried.certain:
            self.obstacle = NOT_CERTAIN
        return tried.said

    async def _write_and_elect(self, pending: Carried) -> Said:
        """Make one try; see until_elected."""
        unwritten = {tp: e for tp, e in pending.items() if tp not in self._written}
        failed = await self._write(unwritten)
        self._written |= pending.keys() - failed.keys()
        if unwritten:
            await self._see_who_came_back(list(unwritten.values()))
        wanted = sorted(pending.keys() - failed.keys())
        return failed | (await self._elect(wanted) if wanted else {})

    def _why_not_moved(self, now: DueElection) -> str | None:
        """Return why the next try would not elect by the new replicas: they were written, and
        somebody else changed them."""
        if now.before.topic_partition not in self._written:
            return None
        target = tuple(r for r in now.before.replicas if r not in now.before.removing_replicas)
        return None if target == self._target(now) else _OTHER_REPLICAS.format(now=list(target))

    def _target(self, election: DueElection) -> tuple[int, ...]:
        return self._reduced.get(election.before.topic_partition, _move(election).order)

    async def _write(self, elections: Carried) -> Said:
        """Write the new replicas, see that they are there, and return which partitions are not to
        be elected, and why."""
        orders = {tp: _move(election).order for tp, election in elections.items()}
        if not orders:
            return {}
        gate = self._means.pass_gate
        refused = errors(await self._order.write(orders, needs_note=True, fewer=True, gate=gate))
        raise_if_unsure(self._means.controller, refused.values())
        refused = await leave_out(elections, refused, self._write_without)
        said = {tp: refused_text(orders[tp], answer) for tp, answer in refused.items()}
        taken = {tp: self._target(elections[tp]) for tp in orders if tp not in said}
        return said | dict.fromkeys(await self._unseen(taken), _UNSEEN)

    async def _write_without(
        self, elections: Carried, gone: Brokers
    ) -> dict[TopicPartition, PartitionResult]:
        """Write the new replicas without the brokers in `gone`, announced as another move."""
        orders = {tp: without(_move(e).order, gone[tp]) for tp, e in elections.items()}
        reduced = [
            reduce_line(e, _old_replicas(e), orders[tp], gone[tp]) for tp, e in elections.items()
        ]
        moving = [_move_line(e, orders[tp]) for tp, e in elections.items()]
        lines: list[tuple[Event, dict[str, Any]]] = [
            ("reduce", {"partitions": reduced}),
            ("move", {"partitions": moving}),
        ]
        await asyncio.to_thread(self._means.journal.announce, *lines)
        gate = self._means.pass_gate
        refused = errors(await self._order.write(orders, needs_note=True, fewer=True, gate=gate))
        self._reduced |= {tp: order for tp, order in orders.items() if tp not in refused}
        raise_if_unsure(self._means.controller, refused.values())
        return refused

    async def _see_who_came_back(self, written: Sequence[DueElection]) -> None:
        """Raise LookTooOld where an old replica has come back while the new ones were written."""
        live = (await self._means.reader.cluster())[0].brokers.keys()
        back = next((broker for election in written for broker in election.back(live)), None)
        if back is not None:
            raise LookTooOld(f"broker {back} came back while the replicas were written")

    async def _unseen(self, orders: dict[TopicPartition, tuple[int, ...]]) -> list[TopicPartition]:
        """Wait until brokers show the new replicas, and return the partitions where they do not: an
        election would take another leader."""
        coming = Coming(len(orders))
        while orders:
            seen = await self._means.reader.described(sorted(orders))
            states = seen.states
            missing = [
                tp
                for tp, order in orders.items()
                if tp not in states or states[tp].replicas[: len(order)] != order
            ]
            if not missing or coming.over(len(missing)):
                return missing
            await coming.pause()
        return []

    async def _elect(self, wanted: Sequence[TopicPartition]) -> Said:
        answers = await elect_uncleanly(self._means, wanted)
        self._elected |= {tp for tp, answer in answers.items() if answer.error == Errors.NONE}
        return why_not_elected(self._means.controller, answers)

    async def conclude(self, carried: Carried, said: Said) -> Elections:
        steps = [_step(election, self._target(election)) for election in carried.values()]
        settled = await self._sets.settle(steps, self._order.maybe_written)
        try:
            seen = await self._means.reader.described(sorted(carried))
        except LOST as error:
            unfinished = f"not finished: {error}; the journal stays open, --resume finishes it"
            return Elections(all_in_doubt(carried, unfinished), {})
        outcomes = {}
        for tp, election in carried.items():
            outcome = judged(tp, _weighed(election), seen, said, self._unanswered)
            if outcome.kind is OutcomeKind.ELECTED and tp not in self._elected | self._unanswered:
                outcome = Outcome(OutcomeKind.ALREADY_ONLINE, _NOT_BY_US)
            outcomes[tp] = _told(outcome, election, settled, self._target(election))
        lines = [outcome_line(tp, outcome) for tp, outcome in outcomes.items()]
        self._means.journal.note("outcome", partitions=lines)
        return Elections(outcomes, dict(seen.states))


class MovesApart:
    """An Elector that has one Elector elect the plans with other replicas, and another one the
    rest."""

    def __init__(self, moving: MoveElector, rest: Elector) -> None:
        self._moving = moving
        self._rest = rest

    @property
    def choose(self) -> Choice:
        return self._rest.choose

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        moved = [plan for plan in plans if plan.move is not None]
        rest = [plan for plan in plans if plan.move is None]
        made = await self._rest.elect(rest) if rest or not moved else Elections({}, {})
        if not moved:
            return made
        also = await self._moving.elect(moved)
        return Elections(made.outcomes | also.outcomes, made.after | also.after)


def _move(election: DueElection) -> Move:
    assert election.plan.move is not None
    return election.plan.move


def _weighed(election: DueElection) -> DueElection:
    """Return the election as one whose new replicas were there before: they hold nothing."""
    before, order = election.before, _move(election).order
    new = tuple(broker for broker in order if broker not in before.replicas)
    return replace(election, before=replace(before, replicas=(*before.replicas, *new)))


def _told(
    outcome: Outcome, election: DueElection, settled: Settled, order: tuple[int, ...]
) -> Outcome:
    """Return the outcome, with what was given up, the replicas, who has left them, and what is
    listed still. Where it is not certain how the move ended it is no success."""
    tp = election.before.topic_partition
    parts = [outcome.reason]
    if tp in settled.foreign:
        parts += [_CAME_TO_OTHERS, settled.left.get(tp)]
        reason = "; ".join(filter(None, parts))
        return replace(outcome, kind=OutcomeKind.FAILED, reason=reason)
    if outcome.kind is OutcomeKind.ELECTED:
        what = _GIVEN_UP if _move(election).kind is MoveKind.EMPTY else _ENDED
        parts += [what.format(leader=election.leader)]
        if gone := without(_move(election).order, order):
            parts += [left_text(_old_replicas(election), gone)]
        parts += [f"its replicas are {list(order)} from now on"]
    parts.append(settled.left.get(tp))
    kind = OutcomeKind.FAILED if settled.unsure and tp in settled.left else outcome.kind
    return replace(outcome, kind=kind, reason="; ".join(filter(None, parts)) or None)


def _step(election: DueElection, order: tuple[int, ...]) -> Reordered:
    before, kind = election.before, _move(election).kind
    old = _old_replicas(election)
    return Reordered(before.topic_partition, before.topic_id, old, order, 0, kind)


def _old_replicas(election: DueElection) -> tuple[int, ...]:
    """Return the replicas from before, without those that a reassignment was adding."""
    state = election.plan.state
    return tuple(r for r in state.replicas if r not in state.adding_replicas)


def _move_line(election: DueElection, order: Sequence[int]) -> dict[str, Any]:
    before, move = election.before, _move(election)
    return {
        "topic": before.topic,
        "topic_id": before.topic_id,
        "partition": before.partition,
        "original": _old_replicas(election),
        "written": order,
        "leader_epoch": before.leader_epoch,
        "designated_leader": election.leader,
        "kind": move.kind.value,
    }
