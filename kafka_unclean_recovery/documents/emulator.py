"""What the emulator prints when it is ready, and what ctl prints of an answer."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.values import Entry, Int32, Int64, published

HostPort = Annotated[str, Meta(description="Address as HOST:PORT.")]
EmulatedId = Annotated[int, Meta(ge=1)]
Process = Annotated[
    str, Meta(extra_json_schema={"enum": ["dead", "starting", "running", "paused"]})
]


@published("kafka-unclean-recovery emulator --format json, format 1")
class EmulatorJson(Entry, frozen=True, kw_only=True):
    """Where a running emulator listens.

    bootstrap_servers: Addresses of its brokers, as --bootstrap-server takes them.
    control_socket: Path, for ctl --socket.
    """

    format_version: Literal[1] = 1
    kind: Literal["emulator"] = "emulator"
    bootstrap_servers: tuple[HostPort, ...]
    control_socket: str


class BrokerJson(Entry, frozen=True):
    """One emulated broker.

    id: Id of the broker.
    address: Address of the broker, as HOST:PORT.
    process: What the process of the broker does.
    fenced: True while the controller has it fenced, or it is not registered.
    epoch: The broker epoch; null of a dead process.
    """

    id: EmulatedId
    address: HostPort
    process: Process
    fenced: bool
    epoch: Int64 | None


class LogJson(Entry, frozen=True):
    """The log of one replica.

    broker: Id of the broker with this log.
    log_end_offset: The offset that the replica's next record gets.
    high_watermark: High watermark that the replica knows, exclusive.
    last_written_leader_epoch: Null: no record yet.
    """

    broker: EmulatedId
    log_end_offset: Int64
    high_watermark: int
    last_written_leader_epoch: Int32 | None


class PartitionJson(Entry, frozen=True):
    """One partition as the controller has it.

    leader: Null: none.
    partition_epoch: Partition epoch, which grows with each change of the partition.
    logs: Logs of the replicas whose process is alive, paused or not.
    """

    topic: str
    partition: Int32
    leader: Int32 | None
    leader_epoch: Int32
    partition_epoch: Int32
    replicas: tuple[EmulatedId, ...]
    isr: tuple[EmulatedId, ...]
    elr: tuple[EmulatedId, ...]
    last_known_elr: tuple[EmulatedId, ...]
    logs: tuple[LogJson, ...]


class StatusJson(Entry, frozen=True):
    """An emulated cluster at one moment.

    brokers: The emulated brokers.
    partitions: The partitions that the emulated brokers have.
    faults: A sentence for each link, lag and interception that is not as it should be.
    """

    brokers: tuple[BrokerJson, ...]
    partitions: tuple[PartitionJson, ...]
    faults: tuple[str, ...]


@published("kafka-unclean-recovery emulator ctl --format json, format 1")
class EmulatorCtlJson(Entry, frozen=True, kw_only=True):
    """The answer to one command. ctl itself imports no codec, so a golden file holds it to this.

    command: The words of the command as they were given.
    answer: What the command says: an object for `status`, a text for every other.
    """

    format_version: Literal[1] = 1
    kind: Literal["emulator-ctl"] = "emulator-ctl"
    command: tuple[str, ...]
    answer: str | StatusJson
