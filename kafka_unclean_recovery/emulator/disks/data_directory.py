"""A data directory holds a cluster: the controller's records, and a log directory for each broker.

<data directory>/controller/metadata.jsonl
<data directory>/controller/__cluster_metadata-0/    the same, as Kafka writes it
<data directory>/broker-<id>/                a Kafka broker's layout; see log_directories
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.disks.log_directories import log_directories
from kafka_unclean_recovery.emulator.disks.log_files import format_directory
from kafka_unclean_recovery.emulator.disks.metadata_log import MetadataLog
from kafka_unclean_recovery.emulator.disks.metadata_replicas import (
    CONTROLLER_ID,
    MetadataReplicas,
    first_offset,
)
from kafka_unclean_recovery.emulator.emulation import Emulation, Settings
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.records import BrokerContact
from kafka_unclean_recovery.kraft_rules.releases import RELEASES
from kafka_unclean_recovery.kraft_rules.replay import replay
from kafka_unclean_recovery.kraft_rules.state import State
from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid


def open_cluster(
    directory: Path, brokers: Sequence[int], release: str, settings: Settings, disks: int = 1
) -> Emulation:
    """Return the cluster in the directory, or a new one, with no broker running.

    `disks`: the number of log directories per broker, which may grow. `brokers` and `release` are
    those of a new cluster, and must match those of an existing one. Raises ValueError.
    """
    log = MetadataLog(directory / "controller" / "metadata.jsonl")
    header = log.header()
    if header is None:
        header = {"cluster_id": kafka_uuid(uuid4()), "release": release}
        log.create(header["cluster_id"], release)
    elif header["release"] != release:
        raise ValueError(f"{directory} holds a cluster of {header['release']}, not of {release}")
    state = State(RELEASES[release], end_offset=first_offset(RELEASES[release]))
    records = log.replayed(state)
    if missing := state.brokers.keys() - set(brokers):
        raise ValueError(f"{directory} holds a cluster that has brokers {sorted(missing)} too")
    cluster_id = header["cluster_id"]
    opened = [Broker(id_, log_directories(directory, id_, disks, cluster_id)) for id_ in brokers]
    format_directory(directory / "controller", CONTROLLER_ID, cluster_id)
    metadata = MetadataReplicas(directory / "controller", RELEASES[release])
    metadata.open(records)
    emulation = Emulation(state, log, metadata, cluster_id, opened, settings)
    _end_sessions(emulation)
    return emulation


def _end_sessions(emulation: Emulation) -> None:
    """End all sessions, because the controller has heard from no broker since it died."""
    for id_, registration in list(emulation.state.brokers.items()):
        if not registration.fenced:
            replay(emulation.state, BrokerContact(id_, registration.epoch))
            emulation.happen(ev.SessionExpired(id_))
