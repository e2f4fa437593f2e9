"""Where replica logs come from and how leaders are elected: the two protocols.

`recovery` knows only these; each implementation is a file of its own beside this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import (
    Broker,
    Outcome,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.election_rules import Choice


class ReplicaLogSource(Protocol):
    """Says how far the replicas on one broker go."""

    async def replica_logs(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        """One log for each state; what a replica can't tell is its `problem`.

        Raises ConnectionFailed when the broker gives no answer by the deadline.
        """
        ...

    async def log_ends(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        """As `replica_logs`, in one request: log end offset, broker epoch and problem only."""
        ...


@dataclass(frozen=True, slots=True)
class Elections:
    """What became of elections: an outcome for each, and the partitions as read back afterwards."""

    outcomes: dict[TopicPartition, Outcome]
    after: dict[TopicPartition, PartitionState]


class Elector(Protocol):
    """Makes designated replicas leaders, or leaves the partition as it was and says why."""

    @property
    def choose(self) -> Choice:
        """Whom its elections make leader."""
        ...

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        """Elect exactly the designated leader of each plan, which are sorted by partition.

        When asked to stop, the batch in hand is finished and no other begins.
        """
        ...
