"""Brokers answer the requests of the unclean recovery manager here, and its clock runs here
(KIP-966).

A running broker answers GetReplicaLogInfo at once, with the state of its log. A broker that is
paused, or that the controller can't reach, answers when that is over. Times are in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.recovery import Recovery, Strategy
from kafka_unclean_recovery.kraft_rules.state import State
from kafka_unclean_recovery.kraft_rules.unclean_recovery import to_be_asked

Commit = Callable[[ev.Event], ev.AnyResponse]
_Begun = tuple[TopicIdPartition, Strategy, bool]


@dataclass(slots=True)
class Recoveries:
    """The emulation's part of unclean recoveries. `since`: when a tick first saw each recovery that
    goes on."""

    state: State
    brokers: Mapping[int, Broker]
    commit: Commit
    reaches_controller: Callable[[int], bool]
    since: dict[_Begun, float] = field(default_factory=dict)

    def go_on(self) -> None:
        """Begin and end recoveries after an event, with the answers and elections that follow."""
        if not (self.state.recovers_uncleanly or self.state.recoveries):
            return
        answered = 1
        while answered:
            self.commit(ev.ReviewRecoveries())
            answered = sum(self._answer(key, broker) for key, broker in list(self._asked()))
        # A recovery that begins anew, or by another strategy, has its whole time again.
        going_on = {_begun(key, recovery) for key, recovery in self.state.recoveries.items()}
        self.since = {begun: seen for begun, seen in self.since.items() if begun in going_on}

    def tick(self, now: float) -> None:
        """Time out the recoveries that have lasted for unclean.recovery.timeout.ms."""
        limit = self.state.recovery_timeout_ms / 1000
        for key, recovery in list(self.state.recoveries.items()):
            since = self.since.setdefault(_begun(key, recovery), now)
            if not recovery.timed_out and now - since >= limit:
                self.commit(ev.RecoveryTimeout(key.topic_id, key.partition))

    def _asked(self) -> Iterator[tuple[TopicIdPartition, Broker]]:
        for key in self.state.recoveries:
            for id_ in to_be_asked(self.state, key):
                broker = self.brokers[id_]
                reached = broker.running and self.reaches_controller(id_)
                if reached and key in broker.replicas:
                    yield key, broker

    def _answer(self, key: TopicIdPartition, broker: Broker) -> bool:
        """Send the controller a broker's answer, and return whether it was accepted."""
        replica = broker.replicas[key]
        info = ev.ReplicaLogInfo(
            broker=broker.id,
            broker_epoch=broker.epoch,
            topic_id=key.topic_id,
            partition=key.partition,
            current_leader_epoch=replica.leader_epoch,
            last_written_leader_epoch=replica.log.last_written_epoch,
            log_end_offset=replica.log.end_offset,
        )
        return not self.commit(info).error


def _begun(key: TopicIdPartition, recovery: Recovery) -> _Begun:
    return key, recovery.strategy, recovery.requested
