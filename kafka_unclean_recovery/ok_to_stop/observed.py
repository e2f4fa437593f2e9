"""What was asked of a cluster, put together as the observation that answers rest on; no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_unclean_recovery.cluster.requests.configs import ConfigValue, number
from kafka_unclean_recovery.cluster.requests.describe import (
    Reassignment,
    Topic,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.documents.observation import (
    ObservedBrokerJson,
    ObservedPartitionJson,
    ObservedTopicJson,
)
from kafka_unclean_recovery.kafka_names import (
    ELR_VERSION,
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    Errors,
)
from kafka_unclean_recovery.model import Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.ok_to_stop.seldom import SOURCES, UNKNOWN, Seldom
from kafka_unclean_recovery.ok_to_stop.survivors import Survivors
from kafka_unclean_recovery.survey.liveness import (
    Heard,
    Life,
    fetched_lately,
    in_sync_beside_a_leader,
    verdict,
)

_ASKED_NOBODY = Survivors()


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers. hidden: partitions that a broker leads which is not listed. silent: why listed
    brokers did not answer. reassignments: None where they are not known."""

    heard: Heard
    topics: Sequence[Topic]
    hidden: frozenset[TopicPartition]
    silent: Mapping[int, str]
    seldom: Seldom
    reassignments: Mapping[TopicPartition, Reassignment] | None
    survivors: Mapping[TopicPartition, Survivors] = field(default_factory=dict)

    @property
    def cluster(self) -> Cluster:
        return self.heard.cluster


def one(releases: Iterable[str | None]) -> str:
    told = {release for release in releases if release is not None}
    return told.pop() if len(told) == 1 else UNKNOWN


def has_elr(finalized: Mapping[str, int], topics: Sequence[ObservedTopicJson]) -> bool:
    if finalized:
        return finalized.get(ELR_VERSION, 0) > 0
    partitions = (partition for topic in topics for partition in topic.partitions)
    return any(partition.elr or partition.last_known_elr for partition in partitions)


def observed_brokers(asked: Answers) -> tuple[ObservedBrokerJson, ...]:
    """Return the brokers that are listed, and those that are not and may live."""
    own, disks = asked.seldom.own_min_isrs, asked.seldom.hidden.silent
    live = (
        ObservedBrokerJson(
            *(b.id, b.rack, False, asked.silent.get(b.id), own.get(b.id)),
            heard=fetched_lately(b.id, asked.heard.controllers) if b.id in asked.silent else None,
            disks=None if b.id in asked.silent else disks.get(b.id),
        )
        for b in asked.cluster.brokers.values()
    )
    fenced = (ObservedBrokerJson(id_, None, True, None, None) for id_ in asked.cluster.fenced)
    return tuple(sorted((*live, *fenced, *_unlisted(asked)), key=lambda broker: broker.id))


def strangers(cluster: Cluster, topics: Sequence[Topic]) -> list[int]:
    """Return the brokers of replicas that are not listed, live or fenced."""
    replicas = {r for topic in topics for state in topic.partitions for r in state.replicas}
    return sorted(replicas - cluster.brokers.keys() - set(cluster.fenced))


def in_sync_unlisted(
    cluster: Cluster, topics: Sequence[Topic], hidden: frozenset[TopicPartition]
) -> dict[int, str]:
    """Return a partition by broker that is not listed and yet is in the ISR beside a leader, listed
    or not. hidden: partitions that a broker leads which is not listed."""
    states = [state for topic in topics for state in topic.partitions]
    in_sync = in_sync_beside_a_leader(cluster, states)
    for state in states:
        if state.topic_partition in hidden:
            for broker in set(state.isr) - cluster.brokers.keys() - set(cluster.fenced):
                in_sync.setdefault(broker, str(state.topic_partition))
    return in_sync


def _unlisted(asked: Answers) -> list[ObservedBrokerJson]:
    """Return the brokers of replicas that are not listed, live or fenced, and not known to be dead.
    What becomes of fenced ones the controller's rules tell, whether they live or not."""
    found = []
    for id_ in strangers(asked.cluster, asked.topics):
        told = verdict(id_, asked.heard)
        if told.life is Life.LIVES:
            found.append(_unseen(id_, told.mend or "", told.why))
        elif told.life is Life.UNKNOWN:
            found.append(_unseen(id_, f"{told.why}; {told.mend}", None))
    return found


def _unseen(broker: int, silent: str, heard: str | None) -> ObservedBrokerJson:
    return ObservedBrokerJson(broker, None, False, silent, None, listed=False, heard=heard)


def observed_topic(topic: Topic, asked: Answers, unseen: frozenset[int]) -> ObservedTopicJson:
    """Return the topic. unseen: brokers that are not listed and live."""
    min_isr = asked.seldom.min_isrs.get(topic.name)
    unclean = asked.seldom.uncleans.get(topic.name)
    flag = None if unclean is None else unclean.value
    return ObservedTopicJson(
        topic.name,
        topic.topic_id,
        number(min_isr),
        UNKNOWN if min_isr is None else SOURCES.get(min_isr.source, UNKNOWN),
        None if flag is None else flag == "true",
        _problem(topic, min_isr, unclean),
        tuple(_partition(state, asked, unseen) for state in topic.partitions),
    )


def _problem(topic: Topic, min_isr: ConfigValue | None, unclean: ConfigValue | None) -> str | None:
    if topic.error != Errors.NONE:
        return f"{error_name(topic.error)}; grant Topic:DESCRIBE"
    untold = [error for error in topic.untold.values() if error != Errors.LISTENER_NOT_FOUND]
    if untold:
        return f"not all its partitions are told: {error_name(untold[0])}"
    if (lacking := _lacking(topic)) is not None:
        return f"partition {lacking} is missing in the answer; look again"
    if number(min_isr) is None:
        return _config_problem(MIN_INSYNC_REPLICAS, min_isr)
    if unclean is None or unclean.value not in ("true", "false"):
        return _config_problem(UNCLEAN_LEADER_ELECTION_ENABLE, unclean)
    return None


def _lacking(topic: Topic) -> int | None:
    """Return a partition that the answer lacks: Kafka numbers them without a gap."""
    told = {state.partition for state in topic.partitions}
    return next((number for number in range(len(told)) if number not in told), None)


def _config_problem(key: str, found: ConfigValue | None) -> str:
    why = "" if found is None or found.error == Errors.NONE else f" ({error_name(found.error)})"
    return f"{key} is not known{why}; grant Topic:DESCRIBE_CONFIGS"


def _partition(
    state: PartitionState, asked: Answers, unseen: frozenset[int]
) -> ObservedPartitionJson:
    told = with_reassignment(state, asked.reassignments or {})
    best = asked.survivors.get(state.topic_partition, _ASKED_NOBODY)
    return ObservedPartitionJson(
        told.partition,
        told.leader,
        told.replicas,
        told.isr,
        told.elr,
        told.last_known_elr,
        # On the listener that is read through, such a broker looks as if it were down.
        tuple(replica for replica in told.offline_replicas if replica not in unseen),
        told.adding_replicas,
        told.removing_replicas,
        led_unseen=state.topic_partition in asked.hidden,
        survivors=best.brokers,
        survivors_untold=best.untold,
    )
