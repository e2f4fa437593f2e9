"""A cluster of which some brokers run is asked, and disks tell of those that are down."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from kafka_unclean_recovery.model import PartitionState, ReplicaInfo, ReplicaLog
from kafka_unclean_recovery.planning.merged_scans import add_disks
from kafka_unclean_recovery.planning.started_replica import as_started
from kafka_unclean_recovery.recovery.observe import Observation, Observer
from kafka_unclean_recovery.recovery.views import Wanted
from kafka_unclean_recovery.start_order.situation import (
    Part,
    Situation,
    clean_stops,
    who_starts,
)
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.survey.unclean_elections import UncleanElections, unclean_elections


async def look(
    observer: Observer,
    reader: Reader,
    seconds: float,
    disks: ReplicaInfo | None,
    gone: Collection[int] = (),
    later: Collection[int] = (),
) -> Situation:
    """Return the situation as live brokers and these disks tell it. seconds: how long brokers may
    take to say how far their replicas go. Raises as Observer.observe does, and InputError for disks
    of another cluster."""
    seen = await observer.observe(Wanted(None), seconds)
    states = {tp: state for tp, state in seen.states.items() if state.offline}
    topics = sorted({tp.topic for tp in states})
    unclean = await unclean_elections(reader, topics)
    logs = dict(seen.replica_logs)
    if disks is not None:
        logs = dict(add_disks(logs, states, seen.cluster.cluster_id, disks))
    parts = tuple(
        _part(state, logs.get(tp, ()), gone, unclean) for tp, state in sorted(states.items())
    )
    down = {broker for part in parts for broker in part.state.offline_replicas}
    return Situation(
        seen.cluster.cluster_id,
        parts,
        *who_starts(down, gone, later),
        clean=clean_stops(log for of_one in logs.values() for log in of_one),
        unknown=tuple(_unknown(seen, unclean, disks)),
    )


def _part(
    state: PartitionState,
    logs: Collection[ReplicaLog],
    gone: Collection[int],
    unclean: UncleanElections,
) -> Part:
    known = {
        log.broker: log if log.live else replace(as_started(state, log), live=True)
        for log in logs
        if log.broker not in gone and (log.live or log.scanned is not None)
    }
    return Part(state, known, unclean.enabled.get(state.topic, False))


def _unknown(
    seen: Observation, unclean: UncleanElections, disks: ReplicaInfo | None
) -> Iterator[str]:
    """Yield what is not known, a sentence each."""
    yield from seen.problems
    for broker, why in sorted(seen.silent_brokers.items()):
        yield f"broker {broker} gave no answer: {why}"
    yield from disks.problems if disks is not None else ()
    for topic, why in sorted(unclean.untold.items()):
        yield f"unclean.leader.election.enable of topic {topic} {why}"
    for tp, state in sorted(seen.led_by_the_dead.items()):
        yield f"{tp}: its leader, broker {state.leader}, is not live: ask again once it is fenced"
    for topic, why in sorted(seen.tiered.items()):
        yield f"topic {topic}: {why}"
