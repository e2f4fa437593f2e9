"""Leaders are elected when a client asks (ElectLeaders; KIP-460, KIP-966) or a timer fires."""

from __future__ import annotations

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.events import (
    BalanceLeaders,
    ElectionType,
    ElectLeaders,
    ElectLeadersResponse,
    ElectUncleanLeaders,
    Response,
)
from kafka_unclean_recovery.kraft_rules.partition_change import Election, Proposal
from kafka_unclean_recovery.kraft_rules.partition_updates import (
    electable,
    leaderless,
    proposed,
)
from kafka_unclean_recovery.kraft_rules.records import (
    NO_LEADER,
    Record,
    TopicIdPartition,
)
from kafka_unclean_recovery.kraft_rules.state import State, Topic
from kafka_unclean_recovery.kraft_rules.unclean_recovery import (
    LONGEST_LOG,
    elect_longest_logs,
)


def elect_leaders(state: State, event: ElectLeaders) -> tuple[list[Record], ElectLeadersResponse]:
    """Answer ElectLeaders. Raises ValueError if `designated` and `partitions` are not parallel."""
    if event.kind in LONGEST_LOG:
        return elect_longest_logs(state, event)
    designates = event.kind is ElectionType.DESIGNATED
    # A client can't designate a leader for partitions that it does not name.
    if designates and (event.partitions is None or not state.release.designated_elections):
        refused = tuple((*named, Errors.INVALID_REQUEST) for named in event.partitions or ())
        return [], ElectLeadersResponse(Errors.INVALID_REQUEST, refused)
    partitions = _all_partitions(state) if event.partitions is None else event.partitions
    designated = event.designated if designates else (None,) * len(partitions)
    records: list[Record] = []
    results: list[tuple[str, int, Errors]] = []
    for (name, number), leader in zip(partitions, designated, strict=True):
        error, changes = _elect(state, event.kind, name, number, leader)
        records += changes
        if event.partitions is not None or error is not Errors.ELECTION_NOT_NEEDED:
            results.append((name, number, error))
    return records, ElectLeadersResponse(results=tuple(results))


def _all_partitions(state: State) -> tuple[tuple[str, int], ...]:
    return tuple((t.name, number) for t in state.topics.values() for number in t.partitions)


def _elect(
    state: State, kind: ElectionType, name: str, number: int, designated: int | None
) -> tuple[Errors, list[Record]]:
    topic = state.topic(name)
    partition = None if topic is None else topic.partitions.get(number)
    if topic is None or partition is None:
        return Errors.UNKNOWN_TOPIC_OR_PARTITION, []
    preferred = kind is ElectionType.PREFERRED
    wanted = partition.preferred_replica if preferred else partition.leader
    if partition.leader == wanted != NO_LEADER:
        return Errors.ELECTION_NOT_NEEDED, []
    key = TopicIdPartition(topic.topic_id, number)
    if designated is not None and not electable(state, topic, key, designated):
        return Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE, []
    election = Election.PREFERRED if preferred else Election.UNCLEAN
    change = proposed(state, topic, key, Proposal(election=election, designated=designated))
    if change is not None:
        return Errors.NONE, [change]
    if preferred:
        return Errors.PREFERRED_LEADER_NOT_AVAILABLE, []
    return Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE, []


def elect_unclean_leaders(
    state: State, _event: ElectUncleanLeaders
) -> tuple[list[Record], Response]:
    """Elect a leader for every leaderless partition whose config allows an unclean one. The unclean
    recovery manager does this instead where it is enabled."""
    records: list[Record] = []
    if state.recovers_uncleanly:
        return records, Response()
    for key in leaderless(state):
        topic = state.topics[key.topic_id]
        if state.unclean_elections(topic):
            records += _elect(state, ElectionType.UNCLEAN, topic.name, key.partition, None)[1]
    return records, Response()


def balance_leaders(state: State, _event: BalanceLeaders) -> tuple[list[Record], Response]:
    """Elect the preferred leader of every partition that another replica or none leads."""
    records: list[Record] = []
    for topic in state.topics.values():
        records += _balanced(state, topic)
    return records, Response()


def _balanced(state: State, topic: Topic) -> list[Record]:
    return [
        change
        for number in topic.partitions
        for change in _elect(state, ElectionType.PREFERRED, topic.name, number, None)[1]
    ]
