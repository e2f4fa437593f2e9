"""A PartitionRegistration is a partition as the controller holds it; `merge` applies a change."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from kafka_unclean_recovery.kraft_rules.records import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    RECOVERED,
    Ids,
    PartitionChangeRecord,
)


@dataclass(frozen=True, slots=True)
class PartitionRegistration:
    """A partition's state. `directories` is parallel to `replicas`; the module records has the
    values of `leader_recovery_state`.

    `last_known_leader` is used only where `last_known_elr` holds former members of the ELR.
    """

    replicas: Ids
    directories: tuple[UUID, ...]
    isr: Ids
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    elr: Ids = ()
    last_known_elr: Ids = ()
    last_known_leader: int = NO_LEADER
    leader_recovery_state: int = RECOVERED
    removing_replicas: Ids = ()
    adding_replicas: Ids = ()

    @property
    def preferred_replica(self) -> int:
        return self.replicas[0]

    @property
    def reassigning(self) -> bool:
        return bool(self.removing_replicas or self.adding_replicas)


def merge(old: PartitionRegistration, change: PartitionChangeRecord) -> PartitionRegistration:
    """Return the partition after a change (PartitionRegistration.merge)."""
    moved = change.leader != NO_LEADER_CHANGE
    return PartitionRegistration(
        old.replicas if change.replicas is None else change.replicas,
        old.directories if change.directories is None else change.directories,
        old.isr if change.isr is None else change.isr,
        change.leader if moved else old.leader,
        old.leader_epoch + 1 if moved else old.leader_epoch,
        old.partition_epoch + 1,
        old.elr if change.elr is None else change.elr,
        old.last_known_elr if change.last_known_elr is None else change.last_known_elr,
        old.last_known_leader if change.last_known_leader is None else change.last_known_leader,
        old.leader_recovery_state
        if change.leader_recovery_state is None
        else change.leader_recovery_state,
        old.removing_replicas if change.removing_replicas is None else change.removing_replicas,
        old.adding_replicas if change.adding_replicas is None else change.adding_replicas,
    )
