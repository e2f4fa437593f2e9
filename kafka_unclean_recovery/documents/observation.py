"""What ok-to-stop sees of a cluster, saved and read back. Pure."""

from __future__ import annotations

from typing import Literal

from kafka_unclean_recovery.documents.reading.codec import decode, load_kind
from kafka_unclean_recovery.documents.reading.json_text import Place
from kafka_unclean_recovery.documents.values import (
    BrokerId,
    BrokerIds,
    DateTime,
    Entry,
    Int32,
    OrNone,
    TopicName,
    published,
)

BY_BROKER = frozenset({"file", "default", "one_broker"})
"""The sources of a min.insync.replicas that brokers may differ in."""


class ObservedBrokerJson(Entry, frozen=True):
    """A broker that the cluster knows.

    id: Id of the broker.
    rack: The broker's broker.rack; null where it has none.
    fenced: Whether the controller has fenced it; before Kafka 4.1 such brokers are left out.
    silent: Why it did not answer; null where it did, or was not asked.
    min_isr: The value of min.insync.replicas in the broker's own file, for topics without a value;
        null where that was not asked.
    listed: False for a broker that is not listed on the listener that the command came in by, and
        is not known to be dead.
    heard: What tells that it lives, where it did not answer; null where nothing does.
    disks: Why it did not tell which topics its log directories have; null where it did.
    """

    id: BrokerId
    rack: str | None
    fenced: bool
    silent: str | None
    min_isr: Int32 | None
    listed: bool = True
    heard: str | None = None
    disks: str | None = None

    @property
    def up(self) -> bool:
        """Return True when it lives, by its own or others' word, and is not fenced."""
        return not self.fenced and (self.silent is None or self.heard is not None)


class VoterStateJson(Entry, frozen=True):
    """A voter of the metadata quorum.

    id: Node id of the voter.
    follows: Whether it fetched within the last 3 s; null where that is not told.
    """

    id: Int32
    follows: bool | None


class ObservedPartitionJson(Entry, frozen=True):
    """A partition as the controller has it.

    leader: Broker id of the leader; -1 where it has none.
    offline_replicas: Replicas whose broker is fenced or dead, or whose log directory failed.
    led_unseen: Whether a broker leads it that is not listed; leader is -1 then.
    survivors: Where nobody leads it, the live replicas with the best log, also on fenced brokers
        that answer.
    survivors_untold: Why they are not known; null where they are, or were not asked for.
    """

    partition: Int32
    leader: OrNone
    replicas: BrokerIds
    isr: BrokerIds
    elr: BrokerIds
    last_known_elr: BrokerIds
    offline_replicas: BrokerIds
    adding_replicas: BrokerIds
    removing_replicas: BrokerIds
    led_unseen: bool = False
    survivors: BrokerIds = ()
    survivors_untold: str | None = None


class ObservedTopicJson(Entry, frozen=True):
    """A topic.

    name: Name of the topic.
    min_isr: The value of min.insync.replicas as configured; null where that is not known.
    min_isr_source: Who set it: topic, all_brokers, one_broker, file, default or unknown.
    unclean: The value of unclean.leader.election.enable; null where that is not known.
    problem: Why something of it is not known; null where all is.
    partitions: The partitions of the topic.
    """

    name: TopicName
    topic_id: str
    min_isr: Int32 | None
    min_isr_source: str
    unclean: bool | None
    problem: str | None
    partitions: tuple[ObservedPartitionJson, ...]


@published("What kafka-unclean-recovery ok-to-stop --save wrote, format 1")
class ObservationJson(Entry, frozen=True, kw_only=True):
    """What ok-to-stop saw of a cluster, to be asked again without it.

    release: Release of the brokers, as "4.3"; "unknown" where they do not tell it or differ.
    elr: Whether eligible leader replicas are on.
    brokers: Brokers that the cluster knows.
    voters: Voters of the metadata quorum; null where they are not known.
    topics: Topics of the cluster.
    problems: What could not be read.
    """

    format_version: Literal[1] = 1
    kind: Literal["cluster-observation"] = "cluster-observation"
    cluster_id: str
    observed_at: DateTime
    release: str
    elr: bool
    brokers: tuple[ObservedBrokerJson, ...]
    voters: tuple[VoterStateJson, ...] | None
    topics: tuple[ObservedTopicJson, ...]
    problems: tuple[str, ...]


KIND = "cluster-observation"


def read_observation(text: str, source: str) -> ObservationJson:
    """Return the observation. Raises InputError, which names `source`."""
    give = "give a file that `ok-to-stop --save` wrote"
    document = load_kind(text, source, KIND, give, "use the version of this tool that wrote it")
    found = decode(document, ObservationJson, Place(source))
    for number, topic in enumerate(found.topics):
        _check(topic, Place(source).at("topics").item(number))
    return found


def _check(topic: ObservedTopicJson, place: Place) -> None:
    """Refuse what no cluster has: the controller's rules are made for what one can have."""
    if topic.problem is None and (topic.min_isr is None or topic.unclean is None):
        raise place.error("min_isr or unclean is null, and no problem says why")
    seen = set()
    for number, partition in enumerate(topic.partitions):
        there = place.at("partitions").item(number)
        if partition.partition in seen:
            raise there.error(f"partition {partition.partition} comes twice")
        seen.add(partition.partition)
        if topic.problem is None:
            _check_replicas(partition, there)


def _check_replicas(partition: ObservedPartitionJson, place: Place) -> None:
    replicas = set(partition.replicas)
    if not replicas or len(replicas) < len(partition.replicas):
        raise place.at("replicas").error("is empty, or names a broker twice")
    # A controller of 4.3.1 leaves in ELR and last known ELR whom a reassignment took off.
    for name in ("isr", "offline_replicas"):
        others = sorted(set(getattr(partition, name)) - replicas)
        if others:
            raise place.at(name).error(f"broker {others[0]} is not one of the replicas")
