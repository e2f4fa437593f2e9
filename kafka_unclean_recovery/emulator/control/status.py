"""A Status shows a cluster at one moment, as frozen values that can be rendered as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import CLIENTS, CONTROLLER, NOWHERE, STOPPED, Link
from kafka_unclean_recovery.emulator.listener.intercepts import Action, Interception
from kafka_unclean_recovery.kraft_rules.records import NO_LEADER, Ids


@dataclass(frozen=True, slots=True)
class BrokerStatus:
    """The status of one broker. process: dead, running, starting or paused. fenced: as the
    controller has it, True while the broker is not registered. epoch: the broker epoch of its
    process, -1 when dead."""

    id: int
    address: str
    process: str
    fenced: bool
    epoch: int


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """The status of one replica, whose broker is alive, paused or not. Offsets are exclusive; an
    epoch of -1 means that the log has no record yet."""

    broker: int
    log_end_offset: int
    high_watermark: int
    last_written_leader_epoch: int


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """The status of one partition as the controller has it, -1 for no leader, with the replicas of
    live brokers."""

    topic: str
    partition: int
    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: Ids
    isr: Ids
    elr: Ids
    last_known_elr: Ids
    logs: tuple[ReplicaStatus, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a cluster. faults: a sentence for each broken link, lag and interception."""

    brokers: tuple[BrokerStatus, ...]
    partitions: tuple[PartitionStatus, ...]
    faults: tuple[str, ...]


def status(
    emulation: Emulation,
    addresses: Mapping[int, tuple[str, int]],
    interceptions: Sequence[Interception],
) -> Status:
    brokers = tuple(
        _broker(emulation, broker, addresses[broker.id]) for broker in emulation.brokers.values()
    )
    partitions = tuple(
        partition_status(emulation, topic.name, number)
        for topic in sorted(emulation.state.topics.values(), key=lambda topic: topic.name)
        for number in topic.partitions
    )
    return Status(brokers, partitions, (*_faults(emulation), *map(_intercept, interceptions)))


def partition_status(emulation: Emulation, topic: str, number: int) -> PartitionStatus:
    """Return the status of one partition. Raises ValueError when there is no such partition."""
    key = emulation.partition_key(topic, number)
    partition = emulation.state.partition(key)
    copies = [
        (id_, emulation.brokers[id_].replicas.get(key))
        for id_ in partition.replicas
        if id_ in emulation.brokers
    ]
    logs = [
        ReplicaStatus(id_, r.log.end_offset, r.high_watermark, r.log.last_written_epoch)
        for id_, r in copies
        if r is not None
    ]
    return PartitionStatus(
        topic,
        number,
        partition.leader,
        partition.leader_epoch,
        partition.partition_epoch,
        partition.replicas,
        partition.isr,
        partition.elr,
        partition.last_known_elr,
        tuple(logs),
    )


def _broker(emulation: Emulation, broker: Broker, address: tuple[str, int]) -> BrokerStatus:
    registration = emulation.state.brokers.get(broker.id)
    fenced = registration is None or registration.fenced
    place = f"{address[0]}:{address[1]}"
    return BrokerStatus(broker.id, place, broker.process.value, fenced, broker.epoch)


def _faults(emulation: Emulation) -> Iterator[str]:
    faults = emulation.faults
    if faults.controller_down:
        yield "controller paused"
    for between, how in faults.dropped.items():
        yield f"link {_ends(between)} dropped how={how}"
    for between, seconds in faults.delays.items():
        yield f"link {_ends(between)} delayed ms={seconds * 1000:g}"
    for (broker, key), records in faults.lags.items():
        topic = None if key is None else emulation.state.topics.get(key.topic_id)
        where = "" if key is None or topic is None else f" partition={topic.name}-{key.partition}"
        yield f"broker {broker} lags records={'all' if records is STOPPED else records}{where}"
    for broker, lag in faults.metadata_lags.items():
        by = "all" if lag is STOPPED else f"{lag * 1000:g}"
        fetched = " fetched=yes" if broker in faults.applies_late else ""
        yield f"metadata of broker {broker} lags ms={by}{fetched}"
    for broker, to in faults.astray.items():
        where = "nowhere" if to == NOWHERE else f"to broker {to}"
        yield f"address of broker {broker} leads {where}"
    for broker in sorted(faults.unlisted):
        yield f"broker {broker} has no listener for clients"


def _ends(between: Link) -> str:
    names = {CONTROLLER: "controller", CLIENTS: "clients"}
    return " ".join(names.get(end, str(end)) for end in sorted(between, reverse=True))


def _intercept(rule: Interception) -> str:
    where = "" if rule.broker is None else f" broker={rule.broker}"
    what = "by a function" if callable(rule.action) else _action(rule.action)
    return f"intercept {rule.api}{where} times={rule.left}: {what}"


def _action(action: Action) -> str:
    """Return an action as text, without the fields that have their defaults."""
    said = [
        f"{f.name}={_written(getattr(action, f.name))}"
        for f in fields(action)
        if f.default is MISSING or getattr(action, f.name) != f.default
    ]
    return f"{type(action).__name__}({', '.join(said)})"


def _written(value: object) -> str:
    return ",".join(sorted(value)) if isinstance(value, frozenset) else str(value)


# The functions from here write a status as text, one line per object, with words and key=value as
# commands have them.


def render(found: Status) -> str:
    lines = [*map(_broker_line, found.brokers), *map(_partition_line, found.partitions)]
    return "\n".join([*lines, *found.faults]) + "\n"


def render_json(found: Status) -> str:
    """Return JSON by schemas/emulator-ctl-1.schema.json, in which an unknown epoch or offset is
    null, and so is no leader."""
    document = asdict(found)
    for each in document["brokers"]:
        each["epoch"] = _known(each["epoch"])
    for each in document["partitions"]:
        each["leader"] = _known(each["leader"])
        for log in each["logs"]:
            log["last_written_leader_epoch"] = _known(log["last_written_leader_epoch"])
    return json.dumps(document) + "\n"


def _known(number: int) -> int | None:
    return None if number < 0 else number


def _broker_line(broker: BrokerStatus) -> str:
    fenced = "fenced" if broker.fenced else "unfenced"
    epoch = "" if broker.epoch < 0 else f" epoch={broker.epoch}"
    return f"broker {broker.id} {broker.process} {fenced} address={broker.address}{epoch}"


def _partition_line(found: PartitionStatus) -> str:
    leader = "none" if found.leader == NO_LEADER else str(found.leader)
    ends = {log.broker: log.log_end_offset for log in found.logs}
    offsets = ",".join(f"{id_}:{ends.get(id_, '?')}" for id_ in found.replicas)
    return (
        f"{found.topic}-{found.partition} leader={leader} leader-epoch={found.leader_epoch}"
        f" replicas={_ids(found.replicas)} isr={_ids(found.isr)} elr={_ids(found.elr)}"
        f" last-known-elr={_ids(found.last_known_elr)} log-end-offsets={offsets}"
    )


def _ids(ids: Ids) -> str:
    return ",".join(map(str, ids))
