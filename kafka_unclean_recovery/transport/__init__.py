"""The two protocols between `recovery` and a cluster: one reads replica logs, one elects leaders.

`recovery` knows only these protocols; each implementation is a file of its own beside this one.
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
    """Tells how far the logs of the replicas on one broker go."""

    async def replica_logs(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        """Return one log for each state; where a replica can't tell something, `problem` says why.

        Raises ConnectionFailed when the broker gives no answer by the deadline.
        """
        ...

    async def log_ends(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        """Return logs as `replica_logs` does, in one request, with only log end offset, broker
        epoch and problem."""
        ...


@dataclass(frozen=True, slots=True)
class Elections:
    """The results of elections: an outcome for each, and the partitions as read back afterwards."""

    outcomes: dict[TopicPartition, Outcome]
    after: dict[TopicPartition, PartitionState]


class Elector(Protocol):
    """Makes designated replicas leaders, or leaves the partition as it was and says why."""

    @property
    def choose(self) -> Choice:
        """Return the rule that says which replica an election makes leader."""
        ...

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        """Elect exactly the designated leader of each plan; the plans are sorted by partition.

        When asked to stop, the elector finishes the batch in hand and begins no other.
        """
        ...
