"""What is read of the lines of a journal. Older journals lack what has a default here."""

from __future__ import annotations

from typing import Any

from kafka_unclean_recovery.documents.post_mortem import SavedJson
from kafka_unclean_recovery.documents.report import GroupBeyondJson, WaitingJson
from kafka_unclean_recovery.documents.shared import TopicPartitionJson
from kafka_unclean_recovery.documents.values import BrokerId, BrokerIds, Entry, Int32, Int64, OrNone
from kafka_unclean_recovery.model import MoveKind, OutcomeKind


class LineJson(Entry, frozen=True):
    """What every line has. at_ms: ms since the Unix epoch."""

    event: str
    at_ms: Int64


class BeginJson(Entry, frozen=True):
    """A run began. version and command are told as they are, whatever they are."""

    cluster_id: str
    version: Any = None
    command: Any = "a run"


class LiveBrokerJson(Entry, frozen=True):
    """A live broker and its address."""

    id: BrokerId
    host: str
    port: Int32


class ObservedJson(Entry, frozen=True):
    """What was seen before planning. partitions: how many. gone: brokers whose disks are lost for
    good, as a person said."""

    brokers: tuple[LiveBrokerJson, ...]
    fenced: BrokerIds
    silent_brokers: dict[str, Any]
    problems: tuple[str, ...]
    groups_asked: bool
    unknown: tuple[str, ...]
    partitions: Int32
    missing: tuple[Any, ...]
    gone: BrokerIds = ()


class WaveJson(Entry, frozen=True):
    """One wave of a run begins. partitions: how many."""

    number: Int32
    of: Int32
    partitions: Int32


class SurpriseJson(Entry, frozen=True):
    """No further wave is begun."""

    reason: str


class SalvageJson(Entry, frozen=True):
    """The tails that were saved before electing, or not."""

    partitions: tuple[SavedJson, ...]
    directory: str


class ReorderRowJson(Entry, frozen=True):
    """A replica set and the order that it is written in."""

    topic: str
    partition: Int32
    topic_id: str
    original: BrokerIds
    written: BrokerIds


class ReorderJson(Entry, frozen=True):
    """Replica orders are about to be written."""

    partitions: tuple[ReorderRowJson, ...]


class ReduceRowJson(Entry, frozen=True):
    """A replica set whose registered replicas alone are written."""

    topic: str
    partition: Int32
    topic_id: str
    original: BrokerIds
    written: BrokerIds
    unregistered: BrokerIds


class ReduceJson(Entry, frozen=True):
    """Replica sets are about to lose their unregistered brokers for good."""

    partitions: tuple[ReduceRowJson, ...]


class MoveRowJson(Entry, frozen=True):
    """A partition that gets other replicas before its election. written: these."""

    topic: str
    partition: Int32
    topic_id: str
    original: BrokerIds
    written: BrokerIds
    kind: MoveKind


class MoveJson(Entry, frozen=True):
    """Partitions are about to get other replicas."""

    partitions: tuple[MoveRowJson, ...]


class ElectRowJson(Entry, frozen=True):
    """A partition that is about to be elected."""

    topic: str
    partition: Int32
    designated_leader: Int32


class ElectJson(Entry, frozen=True):
    """Elections are about to be made. method: "designated" when not by reorder."""

    partitions: tuple[ElectRowJson, ...]
    method: Any = None


class SentJson(Entry, frozen=True):
    """A request is about to be sent. partitions: how many. broker: its address."""

    request: str
    partitions: Int32
    broker: str


class RestoredJson(Entry, frozen=True):
    """Replica orders are back. left_alone: sentences on those that are not put back, and why."""

    partitions: tuple[TopicPartitionJson, ...]
    left_alone: tuple[str, ...] = ()


class OutcomeRowJson(Entry, frozen=True):
    """What became of one election; the outcome is null where nothing was to be done.

    unweighed: Brokers whose replicas may have been live at the election and were not weighed.
    in_doubt: Whether a leader may have been elected, or was, and what became of that is not known.
    lost: Records that brokers told of in the run and that whoever leads in the end lacks.
    """

    topic: str
    partition: Int32
    outcome: OutcomeKind | None
    reason: str | None = None
    unweighed: BrokerIds = ()
    in_doubt: bool = False
    lost: Int64 = 0


class OutcomeJson(Entry, frozen=True):
    """What was read back."""

    partitions: tuple[OutcomeRowJson, ...]


class VerifiedRowJson(Entry, frozen=True, kw_only=True):
    """One partition in the end; what the cluster says of it is null where it is not there.

    unweighed: Brokers whose replicas may have been live at the election and were not weighed.
    in_doubt: Whether a leader may have been elected, or was, and what became of that is not known.
    lost: Records that brokers told of in the run and that whoever leads in the end lacks.
    """

    topic: str
    partition: Int32
    outcome: OutcomeKind | None
    reason: str | None = None
    unweighed: BrokerIds = ()
    in_doubt: bool = False
    lost: Int64 = 0
    leader: OrNone | None
    leader_epoch: OrNone | None
    isr: BrokerIds | None


class VerifiedJson(Entry, frozen=True):
    """What the run found in the end."""

    problems: tuple[str, ...]
    partitions: tuple[VerifiedRowJson, ...]
    interrupted: bool


class MarkersJson(Entry, frozen=True):
    """Hanging transactions are about to be ended."""

    partitions: tuple[Any, ...]


class MarkedRowJson(Entry, frozen=True):
    """A transaction that was to be ended, or a share group to be set back; the problem is null
    where it was."""

    problem: str | None


class MarkedJson(Entry, frozen=True):
    """What became of hanging transactions, or of share groups."""

    partitions: tuple[MarkedRowJson, ...]


class ResetsJson(Entry, frozen=True):
    """Share groups are about to be set back."""

    partitions: tuple[Any, ...]


class TransactionRowJson(Entry, frozen=True):
    """A transaction without its end."""

    ending: str


class GroupRowJson(Entry, frozen=True):
    """A group that has read what is gone."""

    group: str
    committed_offset: Int64
    resume_offset: Int64
    refilled: bool
    share_done_to: Int64 | None = None


class CareRowJson(Entry, frozen=True):
    """What is left of one partition's election."""

    topic: str
    partition: Int32
    transactions: tuple[TransactionRowJson, ...]
    groups: tuple[GroupRowJson, ...]
    out_of_sync: BrokerIds
    problems: tuple[str, ...]


class AftercareJson(Entry, frozen=True):
    """What is left after the run. looked_at: how many partitions. gone: brokers whose disks are
    lost for good, as a person said."""

    over: bool
    unknown: tuple[str, ...]
    partitions: tuple[CareRowJson, ...]
    looked_at: Int32
    gone: BrokerIds = ()


class NewControllerJson(Entry, frozen=True):
    """A controller that is to be made, and where it is to listen."""

    id: Int32
    host: str
    port: Int32


class SeedJson(Entry, frozen=True):
    """The log directory of a new controller is to be written."""

    directory: str
    plan_digest: str
    source: str
    epoch: Int32
    end_offset: Int64 | None = None
    new_controller: NewControllerJson | None = None
    lost: tuple[Int32, ...] = ()
    steps_left: tuple[str, ...] = ()


class SeededJson(Entry, frozen=True):
    """What became of it."""

    exit_code: Int32
    reason: str | None = None


class StartRowJson(Entry, frozen=True):
    """What the start of a broker does to one replica. beyond: records that it deletes because the
    leader lacks them; null is unknown."""

    topic: str
    partition: Int32
    effect: str
    beyond: Int64 | None


class BeforeStartJson(Entry, frozen=True):
    """What the start of a broker was foretold to do."""

    broker: BrokerId
    partitions: tuple[StartRowJson, ...]


class SalvagedRowJson(Entry, frozen=True):
    """What a replica held beyond the elected leader's log, and how much of it was saved.

    beyond: Records, counted by offsets; null is unknown.
    at_least: Whether there may be more.
    """

    topic: str
    partition: Int32
    broker: BrokerId
    beyond: Int64 | None
    at_least: bool
    saved: Int64


class SalvagedJson(Entry, frozen=True):
    """What was saved from the disks of dead brokers, after the elections."""

    directory: str
    partitions: tuple[SalvagedRowJson, ...]


class ReplayedRowJson(Entry, frozen=True):
    """How many saved records of a partition were produced again, and to which topic."""

    topic: str
    partition: Int32
    target: str
    produced: Int64


class ReplayedJson(Entry, frozen=True):
    """What was saved was produced again, or, where it is not whole, some of it."""

    directory: str
    partitions: tuple[ReplayedRowJson, ...]
    whole: bool = False


class CommitsJson(Entry, frozen=True):
    """Commits of consumer groups were brought back."""

    directory: str
    brought_back: Int64


class EndJson(Entry, frozen=True):
    """A run ended."""

    exit_code: Int32


class DecisionJson(Entry, frozen=True):
    """What the decision knew beside the entry of the rich plan that stands in the same line."""

    leader: OrNone
    offline_replicas: BrokerIds
    adding_replicas: BrokerIds
    removing_replicas: BrokerIds
    waiting: tuple[WaitingJson, ...]
    groups_beyond: tuple[GroupBeyondJson, ...]
