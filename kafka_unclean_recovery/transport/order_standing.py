"""Judge whose a replica set is by now: ours to put back, or somebody else's; no I/O.

Topics are known by their ids: a topic that was deleted and created again has the same name, and its
replica sets are none of ours.
"""

from __future__ import annotations

from enum import StrEnum

from kafka_unclean_recovery.cluster.requests.describe import Described
from kafka_unclean_recovery.documents.journal_lines import Reordered
from kafka_unclean_recovery.model import PartitionState


class Standing(StrEnum):
    """OURS: in our order or the original one, and nothing moves it. GONE: the partition no longer
    exists. ANEW: its topic was deleted and created again. FOREIGN: somebody else gave it other
    replicas, or a reassignment is in progress. UNTOLD: it could not be described."""

    OURS = "ours"
    GONE = "gone"
    ANEW = "anew"
    FOREIGN = "foreign"
    UNTOLD = "untold"


def standing(step: Reordered, seen: Described) -> Standing:
    """Return how the partition stands. Reassignments count as far as `seen` has them."""
    tp = step.topic_partition
    if tp in seen.gone:
        return Standing.GONE
    state = seen.states.get(tp)
    topic_id = seen.topic_ids.get(tp.topic, step.topic_id) if state is None else state.topic_id
    if topic_id != step.topic_id or seen.topic_ids.get(tp.topic, topic_id) != topic_id:
        return Standing.ANEW
    if state is None:
        return Standing.UNTOLD
    if state.reassigning or state.replicas not in (step.written, step.original):
        return Standing.FOREIGN
    return Standing.OURS


def landed(step: Reordered, state: PartitionState) -> bool:
    """Return True where an order that we wrote began a reassignment: it came to replicas that had
    been changed just before."""
    target = tuple(r for r in state.replicas if r not in state.removing_replicas)
    return state.reassigning and target in (step.written, step.original)


def kept_text(step: Reordered, seen: Described) -> str:
    """Return a sentence on an order that a person leaves as it is."""
    state = seen.states.get(step.topic_partition)
    now = "not known" if state is None else list(state.replicas)
    return (
        f"{step.topic_partition}: its replica order is left as it is, as --keep-order says: now"
        f" {now}, before {list(step.original)}"
    )


def foreign_text(step: Reordered, state: PartitionState) -> str:
    """Return a sentence that says why the partition is left alone."""
    if state.reassigning:
        what = "a reassignment that is not ours is in progress:"
        moves = {"adding": state.adding_replicas, "removing": state.removing_replicas}
        told = ", ".join(f"{how} {list(which)}" for how, which in moves.items() if which)
        found = f"{what} {told}, replicas {list(state.replicas)}"
    else:
        found = f"somebody else gave it the replicas {list(state.replicas)}"
    return f"{step.topic_partition}: {found}; left alone (they were {list(step.original)})"
