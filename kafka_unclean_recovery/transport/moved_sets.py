"""Finish the reassignments that moves began, or take them back, whatever became of the elections.

A controller ends a reassignment once all added replicas are in sync, and looks at that only when
something else changes. So where a partition is led, the same order once more ends it; and where it
went back to old replicas, what is listed still is cancelled, which is safe with a leader alone.
Where nobody leads, a set that was to start empty gets its old replicas back.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from kafka_unclean_recovery.cluster.controller import Controller, Unsure
from kafka_unclean_recovery.cluster.requests.controller_requests import (
    alter_replica_order,
    left_out,
)
from kafka_unclean_recovery.cluster.requests.describe import Described, RequestFailed
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.documents.journal_lines import Reordered
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.model import MoveKind, PartitionState, TopicPartition
from kafka_unclean_recovery.survey.currency import Behind
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport.coming import Coming
from kafka_unclean_recovery.transport.gate import Gate, LookTooOld
from kafka_unclean_recovery.transport.order_standing import Standing, standing
from kafka_unclean_recovery.transport.sending import Sent, noted, settle

_BY_HAND = "cancel it once the partition has a leader (kafka-reassign-partitions --cancel)"
_CAUGHT_UP_SECONDS = 30.0


class Next(StrEnum):
    """WRITE: the new replicas once more. CANCEL: the reassignment. RESTORE: the old replicas. WAIT:
    added replicas are not in sync yet. NOTHING is left to do."""

    WRITE = "write"
    CANCEL = "cancel"
    RESTORE = "restore"
    WAIT = "wait"
    NOTHING = "nothing"


def next_step(step: Reordered, seen: Described, *, sent: bool = True) -> Next:
    """Return what a move asks for next. `seen` has the reassignments in progress. sent: this run
    wrote the new replicas, or may have."""
    stands, state = standing(step, seen), seen.states.get(step.topic_partition)
    if on_another_set(step, seen):
        led = state is not None and not state.offline
        return Next.CANCEL if sent and led else Next.NOTHING
    if stands in (Standing.GONE, Standing.ANEW):
        return Next.NOTHING
    if state is None:
        return Next.WAIT
    target = _target(state)
    if not _reassigning(state):
        return Next.WRITE if _has_them_again(step, state) else Next.NOTHING
    wanted = step.written if step.move is MoveKind.BACK else step.original
    if target == wanted:
        # Nobody else adds what he removes.
        ours = set(state.adding_replicas) <= set(state.removing_replicas)
        if _only_leave(step, state):
            ours = False  # Cancelled, they would have their places again.
        return Next.CANCEL if ours and not state.offline else Next.NOTHING
    if target != step.written:
        return Next.NOTHING
    if state.offline:
        return Next.RESTORE
    if state.leader not in step.written:
        return Next.CANCEL  # An old replica has come back, and leads.
    return Next.WRITE if set(state.adding_replicas) <= set(state.isr) else Next.WAIT


def on_another_set(step: Reordered, seen: Described) -> bool:
    """Return True where the new replicas came to a set that is not the old one: somebody had given
    the partition others, or made its topic anew, just before. Whatever these replicas are, they
    belong to him."""
    state = seen.states.get(step.topic_partition)
    if state is None or _target(state) != step.written or not _reassigning(state):
        return False
    anew = standing(step, seen) is Standing.ANEW
    had = set(state.replicas) - set(state.adding_replicas)
    return anew or not set(step.original) <= had


def _reassigning(state: PartitionState) -> bool:
    return bool(state.adding_replicas or state.removing_replicas)


def _left_out(step: Reordered) -> tuple[int, ...]:
    """Return the unregistered brokers that left the old set when it was written again."""
    if step.move is not MoveKind.BACK:
        return ()
    return tuple(sorted(set(step.original) - set(step.written)))


def _only_leave(step: Reordered, state: PartitionState) -> bool:
    """Return True where unregistered brokers are on their way out of the set, and nothing else."""
    return not state.adding_replicas and state.removing_replicas == _left_out(step) != ()


def _has_them_again(step: Reordered, state: PartitionState) -> bool:
    """Return True where our own cancellation has given unregistered brokers their places back: it
    leaves what was to be removed, behind the set that was written."""
    back = _left_out(step)
    return bool(back) and not state.offline and state.replicas == (*step.written, *back)


def _target(state: PartitionState) -> tuple[int, ...]:
    return tuple(r for r in state.replicas if r not in state.removing_replicas)


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of moves. left: sentences on what is listed still, or is not known. unsure: why
    what the controller does is not certain; those partitions stay open in the journal. foreign:
    partitions where the new replicas came to a set that somebody else had just written."""

    left: Mapping[TopicPartition, str] = field(default_factory=dict)
    unsure: str | None = None
    foreign: frozenset[TopicPartition] = frozenset()


class MovedSets:
    def __init__(self, controller: Controller, reader: Reader, journal: Journal) -> None:
        self._controller = controller
        self._reader = reader
        self._journal = journal
        self._gate = Gate()

    async def settle(
        self, steps: Sequence[Reordered], sent: Container[TopicPartition] = ()
    ) -> Settled:
        """Finish the moves or take them back, and note in the journal which are over. sent: the
        partitions whose new replicas this run wrote, or may have."""
        pending = {step.topic_partition: step for step in steps}
        left: dict[TopicPartition, str] = {}
        untold: frozenset[TopicPartition] = frozenset()
        foreign: set[TopicPartition] = set()
        coming = Coming(len(pending))
        try:
            while pending:
                seen = await self._look(pending)
                ours = {tp: step for tp, step in pending.items() if tp in sent}
                foreign |= {tp for tp, step in ours.items() if on_another_set(step, seen)}
                todo = {tp: next_step(s, seen, sent=tp in ours) for tp, s in pending.items()}
                for tp in [tp for tp, what in todo.items() if what is Next.NOTHING]:
                    left |= _left_listed(pending.pop(tp), seen)
                if pending and coming.over(len(pending)):
                    left |= {tp: _still_text(step, seen) for tp, step in pending.items()}
                    untold = frozenset(pending.keys() - seen.states.keys())
                    break
                await self._send({tp: todo[tp] for tp in pending}, pending)
                if pending:
                    await coming.pause()
        except Unsure as error:
            left |= dict.fromkeys(pending, error.reason)
            return Settled(left, error.reason, frozenset(foreign))
        except (Behind, ConnectionFailed, NoBrokerReachable, RequestFailed) as error:
            left |= dict.fromkeys(pending, str(error))
            return Settled(left, str(error), frozenset(foreign))
        self._note([step for step in steps if step.topic_partition not in untold], left)
        return Settled(left, left[min(untold)] if untold else None, frozenset(foreign))

    async def _look(self, steps: Mapping[TopicPartition, Reordered]) -> Described:
        if self._controller.haunted:
            await settle(self._controller, self._journal, "a request given up may be carried out")
        wanted = sorted(steps)
        looked = self._gate.begin_look()
        seen = await self._reader.current(
            lambda: self._reader.described_with_reassignments(wanted), within=_CAUGHT_UP_SECONDS
        )
        looked()
        return seen

    async def _send(
        self, todo: Mapping[TopicPartition, Next], steps: Mapping[TopicPartition, Reordered]
    ) -> None:
        """Send what is next, in one request, by a young look. What is refused, or not sent, is seen
        at the next look, and tried again for a while: a cancellation is refused until enough
        replicas are in sync."""
        orders: dict[TopicPartition, Sequence[int] | None] = {}
        for tp, what in todo.items():
            if what is Next.WRITE:
                orders[tp] = steps[tp].written
            elif what is Next.RESTORE:
                orders[tp] = steps[tp].original
            elif what is Next.CANCEL:
                orders[tp] = None
        if not orders:
            return
        try:
            answers = await noted(
                self._controller,
                self._journal,
                Sent("AlterPartitionReassignments", len(orders), needs_note=False),
                lambda connection, deadline: alter_replica_order(
                    connection, orders, deadline, fewer=True
                ),
                self._gate.pass_whoever_stops,
            )
        except LookTooOld:
            return
        for answer in (left_out(orders) | dict(answers)).values():
            self._controller.unsure(answer.error)

    def _note(self, steps: Sequence[Reordered], left: Mapping[TopicPartition, str]) -> None:
        rows = [step.topic_partition._asdict() for step in steps]
        if rows:
            self._journal.note("restored", partitions=rows, left_alone=list(left.values()))


def _left_listed(step: Reordered, seen: Described) -> dict[TopicPartition, str]:
    """Return a sentence on a reassignment that is listed still; none where there is none."""
    tp = step.topic_partition
    state = seen.states.get(tp)
    if state is None or not _reassigning(state):
        return {}
    if step.move is MoveKind.BACK and _target(state) != step.written:
        return {}  # It was not written, so it is as it was.
    return {tp: _still_text(step, seen)}


def _still_text(step: Reordered, seen: Described) -> str:
    tp = step.topic_partition
    state = seen.states.get(tp)
    if state is None:
        return f"{tp}: could not be described ({seen.untold.get(tp)})"
    listed = f"{tp}: a reassignment is listed still, adding {list(state.adding_replicas)}, removing"
    listed = f"{listed} {list(state.removing_replicas)}"
    if not state.offline and _target(state) == step.written:
        if step.move is MoveKind.EMPTY:
            return f"{listed}; it ends once these are in sync"
        if _only_leave(step, state):
            return f"{listed}; it ends once all of {list(step.written)} are in sync"
    return f"{listed}; {_BY_HAND}"
