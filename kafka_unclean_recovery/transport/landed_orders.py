"""Take back an order of ours that began a reassignment.

Between the last look and a request somebody may delete a topic and create it again, or give a
partition other replicas. An order that comes to such a partition adds replicas, which the
controller would fill with data: it is cancelled, and the partition keeps the replicas that it was
given.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.cluster.controller import Controller, Unsure
from kafka_unclean_recovery.cluster.requests.controller_requests import (
    alter_replica_order,
    left_out,
)
from kafka_unclean_recovery.cluster.requests.describe import Described, RequestFailed
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.documents.journal_lines import Reordered
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import PartitionState, TopicPartition
from kafka_unclean_recovery.transport.electing import LOST
from kafka_unclean_recovery.transport.gate import LookTooOld
from kafka_unclean_recovery.transport.order_standing import landed
from kafka_unclean_recovery.transport.sending import Sent, noted

_LOOKS = 3
_BY_HAND = "cancel it by kafka-reassign-partitions --cancel"
_NO_LEADER = f"could not be cancelled, for it has no leader: {_BY_HAND}"
_NOT_OURS = "is over, or somebody else's by now: left alone"


@dataclass(frozen=True, slots=True)
class Looking:
    """Looks at partitions, with the reassignments in progress, and has a gate that is open for a
    while afterwards. `look` raises LOST and RequestFailed."""

    look: Callable[[Iterable[TopicPartition]], Awaitable[Described]]
    gate: Callable[[], None]


async def take_back(
    controller: Controller,
    journal: Journal,
    steps: Mapping[TopicPartition, Reordered],
    seen: Described,
    looking: Looking,
) -> dict[TopicPartition, str]:
    """Cancel the reassignments that orders of ours began, and return a sentence on each. `seen` has
    the reassignments in progress, of just now.

    Where that is old by the time of the request another look is taken, and what is not ours any
    more is left alone: a partition may have lost its leader since, or somebody may have given it
    other replicas, or made its topic anew.
    """
    began = _landed(steps, seen)
    told: dict[TopicPartition, str] = {}
    for _ in range(_LOOKS):
        found = _landed({tp: steps[tp] for tp in began}, seen)
        ours = [tp for tp, now in found.items() if now.topic_id == began[tp].topic_id]
        # Without a leader, a cancelled reassignment may be followed by a blind election.
        led = [tp for tp in ours if not found[tp].offline]
        told = dict.fromkeys(began, _NOT_OURS) | dict.fromkeys(ours, _NO_LEADER)
        if not led:
            break
        try:
            told |= await _cancelled(controller, journal, led, looking.gate)
            break
        except LookTooOld as error:
            told |= dict.fromkeys(led, f"was not cancelled ({error}): {_BY_HAND}")
        try:
            seen = await looking.look(began)
        except (*LOST, RequestFailed) as error:
            told |= dict.fromkeys(led, f"was not cancelled ({error}): {_BY_HAND}")
            break
    return {tp: f"{_landed_text(tp, state)} {told[tp]}" for tp, state in began.items()}


def _landed(
    steps: Mapping[TopicPartition, Reordered], seen: Described
) -> dict[TopicPartition, PartitionState]:
    return {
        tp: seen.states[tp]
        for tp, step in steps.items()
        if tp in seen.states and landed(step, seen.states[tp])
    }


async def _cancelled(
    controller: Controller,
    journal: Journal,
    wanted: list[TopicPartition],
    gate: Callable[[], None],
) -> dict[TopicPartition, str]:
    """Return what became of each cancellation, as the end of a sentence. Raises LookTooOld."""
    orders = dict.fromkeys(wanted)
    sent = Sent("AlterPartitionReassignments", len(wanted), needs_note=False)
    try:
        answers = await noted(
            controller,
            journal,
            sent,
            lambda connection, deadline: alter_replica_order(connection, orders, deadline),
            gate,
        )
    except (Unsure, RequestFailed) as error:
        return dict.fromkeys(wanted, f"may not be cancelled ({error}): {_BY_HAND}")
    answers = left_out(orders) | {tp: answers[tp] for tp in wanted if tp in answers}
    told = {}
    for tp, answer in answers.items():
        controller.unsure(answer.error)
        why = answer.message or error_name(answer.error)
        refused = f"could not be cancelled ({why}): {_BY_HAND}"
        told[tp] = "was cancelled" if answer.error == Errors.NONE else refused
    return told


def _landed_text(tp: TopicPartition, state: PartitionState) -> str:
    before = [r for r in state.replicas if r not in state.adding_replicas]
    return (
        f"{tp}: somebody else gave it the replicas {sorted(before)} while an order of this run was"
        " on its way; the reassignment that the order began"
    )
