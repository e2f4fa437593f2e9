"""The same events on two sides, and the first step after which these are not equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kafka_unclean_recovery.kraft_rules import events as ev
from tests.fidelity.states import FAILED, ClusterState


class Real(Protocol):
    """Where events happen first; one comes back with the epochs and ids that it had there."""

    def happen(self, event: ev.Event) -> tuple[ev.Event, ev.AnyResponse]: ...
    def state(self) -> ClusterState: ...


class Ours(Protocol):
    """Where they happen after that."""

    def happen(self, event: ev.Event) -> ev.AnyResponse: ...
    def state(self) -> ClusterState: ...


@dataclass(frozen=True, slots=True)
class Difference:
    """Step `step`, counted from 0, after which the sides differ; `before` is what both were."""

    step: int
    event: ev.Event
    sent: ev.Event
    answers: tuple[ev.AnyResponse, ev.AnyResponse]
    before: ClusterState
    states: tuple[ClusterState, ClusterState]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"step {self.step}: {self.sent}"
        real, ours = self.answers
        if real != ours:
            yield f"  answer   real {real}"
            yield f"           ours {ours}"
        both = self.states
        yield from _differing(self.before.partitions, both[0].partitions, both[1].partitions)
        yield from _differing(self.before.brokers, both[0].brokers, both[1].brokers)
        if both[0].elr_version != both[1].elr_version:
            yield f"  ELR version: real {both[0].elr_version}, ours {both[1].elr_version}"
        if both[0].end_offset != both[1].end_offset:
            written = [state.end_offset - self.before.end_offset for state in both]
            yield f"  records written: real {written[0]}, ours {written[1]}"


def _differing(
    before: Mapping[Any, Any], real: Mapping[Any, Any], ours: Mapping[Any, Any]
) -> Iterator[str]:
    for key in sorted({*real, *ours}):
        if real.get(key) != ours.get(key):
            yield f"  {key}"
            yield f"    before {before.get(key)}"
            yield f"    real   {real.get(key)}"
            yield f"    ours   {ours.get(key)}"


def first_difference(events: Iterable[ev.Event], real: Real, ours: Ours) -> Difference | None:
    """Let the events happen on both, one after the other, until they differ or both fail."""
    before = real.state()
    for step, event in enumerate(events):
        sent, real_answer = real.happen(event)
        our_answer = ours.happen(sent)
        if real_answer == our_answer == FAILED:
            return None
        states = real.state(), ours.state()
        if real_answer != our_answer or states[0] != states[1]:
            return Difference(step, event, sent, (real_answer, our_answer), before, states)
        before = states[0]
    return None


def related(events: Sequence[ev.Event], difference: Difference) -> list[ev.Event]:
    """Return the events that can matter to a partition that differs: none of other topics."""
    differing = {
        topic
        for topic, _ in difference.states[0].partitions
        if _of_topic(difference.states[0], topic) != _of_topic(difference.states[1], topic)
    }
    names = differing | ({_topic_of(difference.event)} - {None})
    return [event for event in events if _topic_of(event) in (None, *names)]


def _of_topic(state: ClusterState, topic: str) -> dict[int, Any]:
    return {number: found for (name, number), found in state.partitions.items() if name == topic}


def _topic_of(event: ev.Event) -> str | None:
    """Return the topic that an event is about; None when it is about brokers or all topics."""
    if isinstance(event, ev.AlterPartition | ev.AlterReassignment | ev.AssignReplicaToDir):
        return event.topic
    if isinstance(event, ev.CreateTopic | ev.DeleteTopic | ev.AlterTopicConfig):
        return event.name
    if isinstance(event, ev.ElectLeaders) and event.partitions is not None:
        return event.partitions[0][0]
    return None
