"""Elections are counted here by kind, as no state of the cluster tells their number later."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import RECOVERING, PartitionChangeRecord


@dataclass(slots=True)
class ElectionCounts:
    """The numbers of elections since the cluster started."""

    unclean: int = 0
    from_elr: int = 0

    def count(self, before: PartitionRegistration, change: PartitionChangeRecord) -> None:
        """Count a change by its record, as Kafka does (TopicDelta.updateElectionStats)."""
        self.unclean += change.leader_recovery_state == RECOVERING
        self.from_elr += change.leader in before.elr
