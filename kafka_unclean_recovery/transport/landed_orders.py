"""Take back an order of ours that began a reassignment.

Between the last look and a request somebody may delete a topic and create it again, or give a
partition other replicas. An order that comes to such a partition adds replicas, which the
controller would fill with data: it is cancelled, and the partition keeps the replicas that it was
given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
from kafka_unclean_recovery.transport.gate import LookTooOld
from kafka_unclean_recovery.transport.order_standing import landed
from kafka_unclean_recovery.transport.sending import Sent, noted

_BY_HAND = "cancel it by kafka-reassign-partitions --cancel"


async def take_back(
    controller: Controller,
    journal: Journal,
    steps: Mapping[TopicPartition, Reordered],
    seen: Described,
    gate: Callable[[], None],
) -> dict[TopicPartition, str]:
    """Cancel the reassignments that orders of ours began, and return a sentence on each. `seen` has
    the reassignments in progress, of just now; `gate` is asked directly before the request, for a
    partition that has lost its leader since must not be cancelled."""
    found = {
        tp: seen.states[tp]
        for tp, step in steps.items()
        if tp in seen.states and landed(step, seen.states[tp])
    }
    # Without a leader, a cancelled reassignment may be followed by a blind election.
    led = [tp for tp, state in found.items() if not state.offline]
    told = dict.fromkeys(found, f"could not be cancelled, for it has no leader: {_BY_HAND}")
    if led:
        told |= await _cancelled(controller, journal, led, gate)
    return {tp: f"{_landed_text(tp, state)} {told[tp]}" for tp, state in found.items()}


async def _cancelled(
    controller: Controller,
    journal: Journal,
    wanted: list[TopicPartition],
    gate: Callable[[], None],
) -> dict[TopicPartition, str]:
    """Return what became of each cancellation, as the end of a sentence."""
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
    except LookTooOld as error:
        return dict.fromkeys(wanted, f"was not cancelled ({error}): {_BY_HAND}")
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
