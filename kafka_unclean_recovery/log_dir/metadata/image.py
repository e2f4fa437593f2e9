"""The image of the cluster is built up from the metadata log record by record. No I/O.

Records are replayed as in org.apache.kafka.image and PartitionRegistration:

- A PartitionChange raises the partition epoch by one, and the leader epoch by one when it carries
  a leader, even the same leader.
- ClearElr empties ELR and last known ELR of a topic's partitions, or of all partitions, and raises
  the partition epoch of the partitions that had any.
- Registering a broker replaces its earlier registration; fencing and every other change of the
  broker must carry the epoch of its registration.
- Removing a topic removes its configs. Configs without a value and features of level 0
  are removed.
- Records between BeginTransaction and EndTransaction count from the end on, or never.

A record that can't be replayed, because the object it changes was never seen, changes nothing and
is counted in `unreplayed`: after an unknown version of PartitionRecord there will be more such
records.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kafka_unclean_recovery.kafka_names import (
    METADATA_VERSION,
    REMOTE_STORAGE_ENABLE,
)
from kafka_unclean_recovery.log_dir.metadata import records as records
from kafka_unclean_recovery.log_dir.metadata.records import (
    ControlRecord,
    MetadataRecord,
    UnknownRecord,
)
from kafka_unclean_recovery.log_dir.metadata.registration_table import RegistrationTable
from kafka_unclean_recovery.model import TIERED, PartitionState

TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
"""The numbers are ConfigResource.Type's. A broker's configs have its id as text for their name; ""
names the cluster's default."""

# DirectoryId reserves the ids below 100: they belong to no directory.
_MIGRATING, UNASSIGNED, _LOST = (uuid.UUID(int=number) for number in range(3))
_TRANSACTION = {
    records.BEGIN_TRANSACTION,
    records.END_TRANSACTION,
    records.ABORT_TRANSACTION,
}
_NEVER_REGISTERED = "a broker that is not registered, or was with another epoch"
_NO_SUCH_TOPIC = "a topic that is not known"


@dataclass(frozen=True, slots=True)
class Endpoint:
    name: str
    host: str
    port: int
    security_protocol: int


def names_a_directory(directory: uuid.UUID) -> bool:
    """Return False for an id that stands for a log directory which its broker did not tell yet."""
    return directory not in (UNASSIGNED, _MIGRATING)


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """A registered broker. Empty `log_dirs`: nobody told which of its log directories work."""

    id: int
    epoch: int
    incarnation_id: uuid.UUID
    fenced: bool
    in_controlled_shutdown: bool
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None
    log_dirs: tuple[uuid.UUID, ...] = ()
    cordoned_log_dirs: tuple[uuid.UUID, ...] | None = None

    def directory_works(self, directory: uuid.UUID) -> bool:
        """Return False when the directory is known to be lost, as DirectoryId.isOnline does."""
        if not names_a_directory(directory) or not self.log_dirs:
            return directory != _LOST
        return directory in self.log_dirs


class PartitionRegistration(NamedTuple):
    """A partition as the controller has it. `directories` are parallel to `replicas`, or empty
    before 3.7."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = 0
    directories: tuple[uuid.UUID, ...] = ()

    def changed(self, change: Mapping[str, Any]) -> PartitionRegistration:
        """Return the partition after a PartitionChangeRecord with these fields."""
        leader, recovery = change["leader"], change["leader_recovery_state"]
        same_leader = leader == records.NO_LEADER_CHANGE
        same_recovery = recovery == records.NO_RECOVERY_CHANGE
        # Written out, for a metadata log has tens of millions of them.
        return PartitionRegistration(
            self.replicas if (new := change["replicas"]) is None else new,
            self.isr if (new := change["isr"]) is None else new,
            self.leader if same_leader else leader,
            self.leader_epoch + (not same_leader),
            self.partition_epoch + 1,
            self.elr if (new := change.get("eligible_leader_replicas")) is None else new,
            self.last_known_elr if (new := change.get("last_known_elr")) is None else new,
            self.adding_replicas if (new := change["adding_replicas"]) is None else new,
            self.removing_replicas if (new := change["removing_replicas"]) is None else new,
            self.leader_recovery_state if same_recovery else recovery,
            self.directories if (new := change.get("directories")) is None else new,
        )

    def with_elr_cleared(self) -> PartitionRegistration:
        if not self.elr and not self.last_known_elr:
            return self
        return self._replace(elr=(), last_known_elr=(), partition_epoch=self.partition_epoch + 1)


@dataclass(slots=True)
class MetadataImage:
    """The cluster after every record that was replayed.

    `configs` by (ConfigResource type, name). It holds passwords, which brokers keep there in plain
    text: never print it whole. `voters` and `quorum_leader` are from the quorum's own records, and
    not known once those records are deleted: snapshots hold the voters of a dynamic quorum only.
    """

    brokers: dict[int, BrokerRegistration] = field(default_factory=dict)
    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    partitions: dict[uuid.UUID, dict[int, PartitionRegistration]] = field(default_factory=dict)
    configs: dict[tuple[int, str], dict[str, str]] = field(default_factory=dict, repr=False)
    features: dict[str, int] = field(default_factory=dict)
    voters: tuple[int, ...] = ()
    voter_set: tuple[Mapping[str, Any], ...] = ()
    """The voters as VotersRecord has them (KIP-853), empty for a static quorum."""
    controllers: dict[int, tuple[Endpoint, ...]] = field(default_factory=dict)
    """The controllers that registered (3.7 and later), with their listeners."""
    controller_levels: dict[int, int] = field(default_factory=dict)
    """The highest metadata.version that each of them supports, 0 unknown."""
    registered: RegistrationTable = field(
        default_factory=RegistrationTable, repr=False, compare=False
    )
    """The ids of `brokers`, as a controller goes through them."""
    quorum_leader: int | None = None
    kraft_version: int = 0
    unknown: Counter[UnknownRecord] = field(default_factory=Counter)
    """The records that this program's tables lack, each with how often it was seen."""
    unknown_tags: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    """The skipped fields as (record, version, tag), each with how often it was seen."""
    unreplayed: Counter[str] = field(default_factory=Counter)
    """The records that change an object that was never seen, each as a phrase."""
    _transaction: list[MetadataRecord] | None = field(default=None, repr=False)

    @property
    def open_transaction(self) -> int | None:
        """Return how many records wait for the end of their transaction; None outside of one."""
        return None if self._transaction is None else len(self._transaction)

    def replay(self, record: MetadataRecord | ControlRecord | UnknownRecord) -> None:
        """Apply one record. Never raises: a record that does not fit is counted."""
        if isinstance(record, UnknownRecord):
            self.unknown[record] += 1
            return
        for tag in record.unknown_tags:
            self.unknown_tags[record.name, record.version, tag] += 1
        if isinstance(record, ControlRecord):
            self._replay_control(record)
        else:
            self._replay_metadata(record)

    def _replay_control(self, record: ControlRecord) -> None:
        if record.type == records.LEADER_CHANGE:
            self.quorum_leader = record.fields["leader_id"]
        if record.type in (records.LEADER_CHANGE, records.KRAFT_VOTERS):
            self.voters = tuple(sorted(voter["voter_id"] for voter in record.fields["voters"]))
        if record.type == records.KRAFT_VOTERS:
            self.voter_set = record.fields["voters"]
        if record.type == records.KRAFT_VERSION:
            self.kraft_version = record.fields["k_raft_version"]

    def _replay_metadata(self, record: MetadataRecord) -> None:
        if record.api_key in _TRANSACTION:
            self._begin_or_end(record)
        elif self._transaction is not None:
            self._transaction.append(record)
        else:
            self._apply(record)

    def _begin_or_end(self, record: MetadataRecord) -> None:
        if record.api_key != records.BEGIN_TRANSACTION:
            self._end_transaction(record)
            return
        if self._transaction is not None:
            self._not_replayed(record, "a transaction within another")
        self._transaction = []

    def _end_transaction(self, record: MetadataRecord) -> None:
        if self._transaction is None:
            self._not_replayed(record, "a transaction that never began")
            return
        waiting, self._transaction = self._transaction, None
        if record.api_key == records.END_TRANSACTION:
            for waited in waiting:
                self._apply(waited)

    def _apply(self, record: MetadataRecord) -> None:
        """Apply one record; a record that has no place in the image (ACLs, quotas, tokens, producer
        ids) does nothing."""
        apply = _APPLY.get(record.api_key)
        refusal = None if apply is None else apply(self, record.fields)
        if refusal is not None:
            self._not_replayed(record, refusal)

    def _not_replayed(self, record: MetadataRecord, why: str) -> None:
        self.unreplayed[f"{record.name} of {why}"] += 1


Fields = Mapping[str, Any]
Refusal = str | None


def _register_broker(image: MetadataImage, fields: Fields) -> Refusal:
    image.registered.put(fields["broker_id"])
    image.brokers[fields["broker_id"]] = BrokerRegistration(
        id=fields["broker_id"],
        epoch=fields["broker_epoch"],
        incarnation_id=fields["incarnation_id"],
        fenced=fields["fenced"],
        in_controlled_shutdown=fields.get("in_controlled_shutdown", False),
        endpoints=tuple(Endpoint(**endpoint) for endpoint in fields["end_points"]),
        rack=fields["rack"],
        log_dirs=fields.get("log_dirs", ()),
        cordoned_log_dirs=fields.get("cordoned_log_dirs"),
    )
    return None


def _unregister_broker(image: MetadataImage, fields: Fields) -> Refusal:
    image.registered.remove(fields["broker_id"])
    known = image.brokers.pop(fields["broker_id"], None)
    return _NEVER_REGISTERED if known is None else None


def _register_controller(image: MetadataImage, fields: Fields) -> Refusal:
    listeners = tuple(Endpoint(**endpoint) for endpoint in fields["end_points"])
    image.controllers[fields["controller_id"]] = listeners
    levels = {f["name"]: f["max_supported_version"] for f in fields["features"]}
    image.controller_levels[fields["controller_id"]] = levels.get(METADATA_VERSION, 0)
    return None


def _unregister_controller(image: MetadataImage, fields: Fields) -> Refusal:
    image.controllers.pop(fields["controller_id"], None)
    image.controller_levels.pop(fields["controller_id"], None)
    return None


def _change_broker(image: MetadataImage, broker: int, epoch: int, **changes: Any) -> Refusal:
    known = image.brokers.get(broker)
    if known is None or known.epoch != epoch:
        return _NEVER_REGISTERED
    image.registered.put(broker)
    image.brokers[broker] = replace(known, **changes)
    return None


def _fence_broker(image: MetadataImage, fields: Fields) -> Refusal:
    return _change_broker(image, fields["id"], fields["epoch"], fenced=True)


def _unfence_broker(image: MetadataImage, fields: Fields) -> Refusal:
    return _change_broker(image, fields["id"], fields["epoch"], fenced=False)


def _change_registration(image: MetadataImage, fields: Fields) -> Refusal:
    changes: dict[str, Any] = {}
    if fields["fenced"]:
        changes["fenced"] = fields["fenced"] > 0
    if fields.get("in_controlled_shutdown"):
        changes["in_controlled_shutdown"] = True
    if fields.get("log_dirs"):
        changes["log_dirs"] = fields["log_dirs"]
    if fields.get("cordoned_log_dirs") is not None:
        changes["cordoned_log_dirs"] = fields["cordoned_log_dirs"]
    return _change_broker(image, fields["broker_id"], fields["broker_epoch"], **changes)


def _add_topic(image: MetadataImage, fields: Fields) -> Refusal:
    image.topics[fields["topic_id"]] = fields["name"]
    image.partitions[fields["topic_id"]] = {}
    return None


def _remove_topic(image: MetadataImage, fields: Fields) -> Refusal:
    name = image.topics.pop(fields["topic_id"], None)
    if name is None:
        return _NO_SUCH_TOPIC
    del image.partitions[fields["topic_id"]]
    image.configs.pop((TOPIC_RESOURCE, name), None)
    return None


def _set_partition(image: MetadataImage, fields: Fields) -> Refusal:
    partitions = image.partitions.get(fields["topic_id"])
    if partitions is None:
        return _NO_SUCH_TOPIC
    partitions[fields["partition_id"]] = PartitionRegistration(
        replicas=fields["replicas"],
        isr=fields["isr"],
        leader=fields["leader"],
        leader_epoch=fields["leader_epoch"],
        partition_epoch=fields["partition_epoch"],
        elr=fields.get("eligible_leader_replicas") or (),
        last_known_elr=fields.get("last_known_elr") or (),
        adding_replicas=fields["adding_replicas"],
        removing_replicas=fields["removing_replicas"],
        leader_recovery_state=fields["leader_recovery_state"],
        directories=fields.get("directories", ()),
    )
    return None


def _change_partition(image: MetadataImage, fields: Fields) -> Refusal:
    partitions = image.partitions.get(fields["topic_id"], {})
    known = partitions.get(fields["partition_id"])
    if known is None:
        return "a partition that is not known"
    partitions[fields["partition_id"]] = known.changed(fields)
    return None


def _clear_elr(image: MetadataImage, fields: Fields) -> Refusal:
    wanted = fields["topic_name"]
    chosen = [id_ for id_, name in image.topics.items() if not wanted or name == wanted]
    for topic_id in chosen:
        partitions = image.partitions[topic_id]
        image.partitions[topic_id] = {n: p.with_elr_cleared() for n, p in partitions.items()}
    return None if chosen or not wanted else _NO_SUCH_TOPIC


def _set_config(image: MetadataImage, fields: Fields) -> Refusal:
    resource = fields["resource_type"], fields["resource_name"]
    if fields["value"] is not None:
        image.configs.setdefault(resource, {})[fields["name"]] = fields["value"]
        return None
    values = image.configs.get(resource, {})
    values.pop(fields["name"], None)
    if not values:
        image.configs.pop(resource, None)
    return None


def _set_feature(image: MetadataImage, fields: Fields) -> Refusal:
    if fields["feature_level"]:
        image.features[fields["name"]] = fields["feature_level"]
    else:
        image.features.pop(fields["name"], None)
    return None


_APPLY: Mapping[int, Callable[[MetadataImage, Fields], Refusal]] = {
    records.REGISTER_BROKER: _register_broker,
    records.UNREGISTER_BROKER: _unregister_broker,
    records.TOPIC: _add_topic,
    records.PARTITION: _set_partition,
    records.CONFIG: _set_config,
    records.PARTITION_CHANGE: _change_partition,
    records.FENCE_BROKER: _fence_broker,
    records.UNFENCE_BROKER: _unfence_broker,
    records.REMOVE_TOPIC: _remove_topic,
    records.FEATURE_LEVEL: _set_feature,
    records.BROKER_REGISTRATION_CHANGE: _change_registration,
    records.CLEAR_ELR: _clear_elr,
    records.REGISTER_CONTROLLER: _register_controller,
    records.UNREGISTER_CONTROLLER: _unregister_controller,
}


def partition_states(image: MetadataImage) -> list[PartitionState]:
    """Return every partition as a broker would describe it, by topic and partition.

    A replica is offline when its broker is fenced or not registered, or its directory is lost.
    """
    return [
        PartitionState(
            topic=topic,
            topic_id=str(topic_id),
            partition=number,
            leader=found.leader,
            leader_epoch=found.leader_epoch,
            replicas=found.replicas,
            isr=found.isr,
            elr=found.elr,
            last_known_elr=found.last_known_elr,
            offline_replicas=tuple(_offline_replicas(image, found)),
            adding_replicas=found.adding_replicas,
            removing_replicas=found.removing_replicas,
            tiered=_tiered(image, topic),
        )
        for topic, topic_id, number, found in _all_partitions(image)
    ]


def _tiered(image: MetadataImage, topic: str) -> str | None:
    values = image.configs.get((TOPIC_RESOURCE, topic), {})
    return TIERED if values.get(REMOTE_STORAGE_ENABLE) == "true" else None


def _all_partitions(
    image: MetadataImage,
) -> Iterator[tuple[str, uuid.UUID, int, PartitionRegistration]]:
    for topic_id, topic in sorted(image.topics.items(), key=lambda item: (item[1], item[0])):
        for number, found in sorted(image.partitions[topic_id].items()):
            yield topic, topic_id, number, found


def _offline_replicas(image: MetadataImage, partition: PartitionRegistration) -> Iterator[int]:
    unknown = (UNASSIGNED,) * len(partition.replicas)
    directories = (*partition.directories, *unknown)
    for replica, directory in zip(partition.replicas, directories, strict=False):
        broker = image.brokers.get(replica)
        if broker is None or broker.fenced or not broker.directory_works(directory):
            yield replica
