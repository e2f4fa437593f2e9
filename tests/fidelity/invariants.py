"""What must hold in every state of a controller, whoever it is.

The names are those of the TLA+ specification of KIP-966 where it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS
from kafka_unclean_recovery.log_dir.metadata.image import (
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
    MetadataImage,
)
from tests.fidelity.states import ClusterState, PartitionView


def broken(before: ClusterState, after: ClusterState, image: MetadataImage) -> Iterator[str]:
    """Yield a sentence for each invariant that does not hold; `image` is the one of `after`."""
    for place, now in after.partitions.items():
        for name, holds in _OF_A_STATE.items():
            if not holds(now, after):
                yield f"{name}: {place} is {now}"
        was = before.partitions.get(place)
        min_isr = _min_isr(place[0], image.configs)
        if now.elr and len(now.isr) >= min_isr and not _elr_was_stale(was, after, min_isr):
            yield f"ValidControllerIsrAndElr: {place} has an ELR beside a whole ISR: {now}"
        for name, follows in _OF_A_STEP.items():
            if was is not None and not follows(was, now):
                yield f"{name}: {place} was {was} and is {now}"


def _min_isr(topic: str, configs: Mapping[tuple[int, str], Mapping[str, str]]) -> int:
    of_cluster = configs.get((BROKER_RESOURCE, ""), {}).get(MIN_INSYNC_REPLICAS, "1")
    return int(configs.get((TOPIC_RESOURCE, topic), {}).get(MIN_INSYNC_REPLICAS, of_cluster))


def _elr_was_stale(was: PartitionView | None, after: ClusterState, min_isr: int) -> bool:
    """Return True when ELR is off, or a min ISR that was lowered meanwhile will be seen."""
    left = was is not None and was.elr and (not was.isr or len(was.isr) >= min_isr)
    return not after.elr_version or bool(left)


def _apart(now: PartitionView, _: ClusterState) -> bool:
    return not {*now.isr} & {*now.elr}


def _isr_are_replicas(now: PartitionView, _: ClusterState) -> bool:
    return {*now.isr} <= {*now.replicas}


def _led_from_the_isr(now: PartitionView, _: ClusterState) -> bool:
    return now.leader < 0 or now.leader in now.isr


def _led_by_an_unfenced_broker(now: PartitionView, state: ClusterState) -> bool:
    leader = state.brokers.get(now.leader)
    return now.leader < 0 or (leader is not None and not leader.fenced)


def _one_leader_an_epoch(was: PartitionView, now: PartitionView) -> bool:
    return was.leader == now.leader or now.leader_epoch > was.leader_epoch


def _epochs_do_not_fall(was: PartitionView, now: PartitionView) -> bool:
    return was.leader_epoch <= now.leader_epoch and was.partition_epoch <= now.partition_epoch


def _a_change_is_an_epoch(was: PartitionView, now: PartitionView) -> bool:
    return (was == now) == (was.partition_epoch == now.partition_epoch)


_OF_A_STATE: Mapping[str, Callable[[PartitionView, ClusterState], bool]] = {
    "ValidControllerIsrAndElr": _apart,
    "the ISR are replicas": _isr_are_replicas,
    "the leader is of the ISR": _led_from_the_isr,
    "the leader is unfenced": _led_by_an_unfenced_broker,
}
_OF_A_STEP: Mapping[str, Callable[[PartitionView, PartitionView], bool]] = {
    "at most one leader an epoch": _one_leader_an_epoch,
    "epochs do not fall": _epochs_do_not_fall,
    "every change is a partition epoch": _a_change_is_an_epoch,
}
