"""Where a cluster lives on disk: the controller's records, and a log directory for each broker.

<data directory>/controller/metadata.jsonl
<data directory>/controller/__cluster_metadata-0/    the same, as Kafka writes it
<data directory>/broker-<id>/                as a broker of Kafka's has it
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID, uuid4

from kafka_unclean_recovery.emulator.broker import Broker
from kafka_unclean_recovery.emulator.controller import events as ev
from kafka_unclean_recovery.emulator.controller.records import BrokerContact
from kafka_unclean_recovery.emulator.controller.releases import RELEASES
from kafka_unclean_recovery.emulator.controller.replay import replay
from kafka_unclean_recovery.emulator.controller.state import State
from kafka_unclean_recovery.emulator.emulation import Emulation, Settings
from kafka_unclean_recovery.emulator.log_files import format_directory, uuid_text
from kafka_unclean_recovery.emulator.metadata_log import MetadataLog
from kafka_unclean_recovery.emulator.metadata_replicas import (
    CONTROLLER_ID,
    MetadataReplicas,
    first_offset,
)


def open_cluster(
    directory: Path, brokers: Sequence[int], release: str, settings: Settings
) -> Emulation:
    """The cluster that is there, or a new one, with no broker running.

    `brokers` and `release` are those of a new one, and have to be those of an old one. Raises
    ValueError.
    """
    log = MetadataLog(directory / "controller" / "metadata.jsonl")
    header = log.header()
    if header is None:
        header = {"cluster_id": uuid_text(uuid4()), "release": release}
        log.create(header["cluster_id"], release)
    elif header["release"] != release:
        raise ValueError(f"{directory} holds a cluster of {header['release']}, not of {release}")
    state = State(RELEASES[release], end_offset=first_offset(RELEASES[release]))
    records = list(log.records())
    for record in records:
        replay(state, record)
    if missing := state.brokers.keys() - set(brokers):
        raise ValueError(f"{directory} holds a cluster that has brokers {sorted(missing)} too")
    opened = [_broker(directory / f"broker-{id_}", id_, header["cluster_id"]) for id_ in brokers]
    format_directory(directory / "controller", CONTROLLER_ID, header["cluster_id"])
    metadata = MetadataReplicas(directory / "controller", state.release)
    metadata.open(records)
    emulation = Emulation(state, log, metadata, header["cluster_id"], opened, settings)
    _end_sessions(emulation)
    return emulation


def _broker(directory: Path, id_: int, cluster_id: str) -> Broker:
    found = format_directory(directory, id_, cluster_id)
    if found.node_id != id_ or found.cluster_id != cluster_id or found.directory_id is None:
        raise ValueError(f"{directory} is not that of broker {id_} of this cluster")
    return Broker(id_, directory, UUID(found.directory_id))


def _end_sessions(emulation: Emulation) -> None:
    """Nobody has been heard of since the controller died."""
    for id_, registration in list(emulation.state.brokers.items()):
        if not registration.fenced:
            replay(emulation.state, BrokerContact(id_, registration.epoch))
            emulation.happen(ev.SessionExpired(id_))
