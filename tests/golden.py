"""Values that fill every field of every file, and what is written of them.

What version 1 wrote of them is in testdata/formats. Those files are never made anew: plans,
approvals, scans and journals of the field must be read by every version to come.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from msgspec.structs import replace

from kafka_unclean_recovery.aftercare.report import render_json as aftercare_json
from kafka_unclean_recovery.aftercare.result import Aftercare, PartitionCare
from kafka_unclean_recovery.aftercare.returning import Returning
from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging, Judgement
from kafka_unclean_recovery.before_start.replica import OwnReplica
from kafka_unclean_recovery.before_start.report import render_json as before_start_json
from kafka_unclean_recovery.before_start.result import BeforeStart
from kafka_unclean_recovery.before_start.verdict import Effect as StartEffect
from kafka_unclean_recovery.before_start.verdict import Verdict as StartVerdict
from kafka_unclean_recovery.bundle.archive import Archive, Of
from kafka_unclean_recovery.cli.commands.elect_leaders import elections_json
from kafka_unclean_recovery.cli.commands.emulator_ctl import ctl_json
from kafka_unclean_recovery.cli.commands.emulator_scenarios import scenarios_json
from kafka_unclean_recovery.cli.commands.emulator_work import emulator_json
from kafka_unclean_recovery.cli.commands.explain import explained_json
from kafka_unclean_recovery.cli.commands.spark_salvage import totals_json
from kafka_unclean_recovery.cli.commands.unclean_recovery_work import resumed_json
from kafka_unclean_recovery.cluster.requests.controller_requests import PartitionResult
from kafka_unclean_recovery.cluster.requests.transactions import (
    OpenTransaction,
    ProducerState,
    ToldTransaction,
)
from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.diagnosis import Diagnosis
from kafka_unclean_recovery.doctor.diagnosis import render_json as doctor_json
from kafka_unclean_recovery.documents.approval import Approval, approval_json
from kafka_unclean_recovery.documents.bundle import ConfigJson, LibraryJson, TopicConfigsJson
from kafka_unclean_recovery.documents.journal_lines import Reordered
from kafka_unclean_recovery.documents.manual_recovery import manual_recovery_json
from kafka_unclean_recovery.documents.plan import plan_json
from kafka_unclean_recovery.documents.replica_info import TableRowsJson, replica_info_json
from kafka_unclean_recovery.emulator.control.status import (
    BrokerStatus,
    PartitionStatus,
    ReplicaStatus,
)
from kafka_unclean_recovery.emulator.control.status import (
    Status as ClusterStatus,
)
from kafka_unclean_recovery.emulator.control.status import (
    render_json as status_json,
)
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.replica_scan import Replica
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Broker,
    Candidate,
    Cluster,
    Commit,
    Divergence,
    Effect,
    EpochSpan,
    Evidence,
    Finding,
    GroupBeyond,
    Loss,
    Outcome,
    OutcomeKind,
    PartitionInfo,
    PartitionPlan,
    PartitionReport,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Report,
    Scanned,
    Severity,
    TopicPartition,
    Waiting,
    WholeDisk,
)
from kafka_unclean_recovery.planning.led_on_return import LedOnReturn
from kafka_unclean_recovery.planning.self_election import ByItself
from kafka_unclean_recovery.planning.start_cuts import Cuts
from kafka_unclean_recovery.report.document import render_json as report_json
from kafka_unclean_recovery.report.loss_by_topic import RecordCount, TopicLoss, render_loss_json
from kafka_unclean_recovery.runbook import Entry
from kafka_unclean_recovery.salvage.designated import Designated
from kafka_unclean_recovery.salvage.layout import ReplicaPlace
from kafka_unclean_recovery.salvage.manifest import Manifest, manifest_json
from kafka_unclean_recovery.salvage.offsets.commits import SavedCommit
from kafka_unclean_recovery.salvage.offsets.commits_table import render_offsets_json
from kafka_unclean_recovery.salvage.offsets.resets import Decision, Reset
from kafka_unclean_recovery.salvage.ranges import NO_EPOCH, Lost
from kafka_unclean_recovery.salvage.raw_segments import RawSegment
from kafka_unclean_recovery.salvage.replay.replay_partition import Work
from kafka_unclean_recovery.salvage.replay.replay_table import refusals
from kafka_unclean_recovery.salvage.replay.replay_table import render_json as replay_json
from kafka_unclean_recovery.salvage.replay.saved import SavedPartition
from kafka_unclean_recovery.salvage.replay.target import TargetCounts
from kafka_unclean_recovery.salvage.replica import Salvaged
from kafka_unclean_recovery.salvage.transactions import Ending as Ended
from kafka_unclean_recovery.salvage.transactions import Transaction
from kafka_unclean_recovery.spark.summaries import ScanHead, head_json
from kafka_unclean_recovery.start_order.report import render_json as start_order_json
from kafka_unclean_recovery.start_order.result import (
    Gone,
    Harm,
    PartitionEnd,
    Start,
    StartOrder,
)
from tests.metadata_quorum.golden import QUORUM_WRITTEN
from tests.ok_to_stop.golden import OK_TO_STOP_WRITTEN

FORMATS = Path(__file__).parent / "testdata" / "formats"
AT = "2026-01-02T03:04:05+00:00"
CLUSTER = Cluster("cluster-1", {3: Broker(3, "b3", 9092), 4: Broker(4, "b4", 9092)}, (1,))
WHERE = TopicPartition("orders", 0)
SPANS = (EpochSpan(0, 5, 1000), EpochSpan(6, 1000, 1500))
SCANNED = Scanned(
    ScanMode.DEEP, "/data/orders-0", "t-1", "d-1", 1400, 2**40, 1495, "bad CRC at 1500", True
)
ON_DISK = ReplicaLog(
    1, False, 6, 5, 1490, 1500, SPANS, "log-dirs", None, "a gap, é \x1b", 1200, SCANNED, 17
)
LIVE = ReplicaLog(3, True, 5, 5, 990, 1400, SPANS[:1], "replica-log-info", broker_epoch=2**62)
SHORT = ReplicaLog(4, True, -1, 0, 0, 0, ())
UNSEEN = ReplicaLog(2, live=False, problem='broker is "down"')
STATE = PartitionState("orders", "t-1", 0, -1, 7, (1, 4, 3, 2), (1,), (3,), (2,), (1, 2), (4,))
FINDINGS = (
    Finding("dead_replica_may_hold_more", Severity.UNKNOWN, "wait for\nbroker 1"),
    Finding("commits_beyond", Severity.LOSS, "group"),
)
GROUP = GroupBeyond(Commit("billing", WHERE, 1450, 5), 1400, refilled=True)
SHARED = GroupBeyond(Commit("workers", WHERE, 1500, None, 1390), 1400, refilled=False)
PLAN = PartitionPlan(
    STATE,
    (ON_DISK, UNSEEN, LIVE, SHORT),
    (
        Candidate(LIVE, Loss(0, 100, 50), (Divergence(4, 0, 0),), (GROUP,)),
        Candidate(SHORT, Loss(1395, None), (Divergence(3, 0, 1400),)),
    ),
    3,
    (3, 4, 1, 2),
    FINDINGS,
    None,
    (
        Waiting(1, Effect.BETTER, 100, "its disk says so", (Evidence.ISR, Evidence.DISK)),
        Waiting(2, Effect.UNKNOWN, None, "nothing is known"),
    ),
)
REFUSED = PartitionPlan(
    PartitionState("audit", "t-2", 12, -1, -1, (2,)), (UNSEEN,), (), None, (2,), (), "reassigning"
)
ELECTED = replace(STATE, leader=3, leader_epoch=8, isr=(3,), elr=())
REPORT = Report(
    CLUSTER,
    (
        PartitionReport(WHERE, ELECTED, PLAN, Outcome(OutcomeKind.ELECTED)),
        PartitionReport(
            REFUSED.state.topic_partition,
            REFUSED.state,
            REFUSED,
            Outcome(OutcomeKind.REFUSED, "reassigning"),
        ),
        PartitionReport(TopicPartition("gone", 1), None, None, Outcome(OutcomeKind.FAILED, "none")),
        PartitionReport(TopicPartition("next", 0), replace(STATE, topic="next"), PLAN),
    ),
    ("no right to describe x",),
    {10: "timed out", 2: "refused"},
    interrupted=True,
    unknown=("groups of broker 2",),
)
INFO = ReplicaInfo(
    "cluster-1",
    AT,
    (1, 2),
    (
        PartitionInfo(TopicPartition("audit", 12), None, ()),
        PartitionInfo(WHERE, STATE, (ON_DISK, UNSEEN), FINDINGS, compacted=True),
    ),
    3,
    812,
    ("/data2: left out",),
    interrupted=True,
    whole=(WholeDisk(1, "/data", stopped_clean=True),),
    unclean_topics=("orders",),
)
APPROVAL = Approval("sha256:" + "0" * 64, "cluster-1", "alice", AT)
MANIFEST = Manifest(
    "cluster-1",
    AT,
    [
        Salvaged(
            Replica(1, WHERE, "/data/orders-0", "d-1"),
            Designated(WHERE, "t-1", LIVE),
            ON_DISK,
            Lost((EpochSpan(6, 1000, 1500),), (EpochSpan(NO_EPOCH, 0, 5),)),
            ReplicaPlace(WHERE, 1),
            [RawSegment("00000000000000001000.log", 1000, 1500, 5, 4096, "ab" * 32, SPANS[1:])],
            495,
            5,
            ((1100, 1105),),
            {Ended.COMMITTED: 2},
            (Transaction(7, 0, 900, 1200, Ended.ABORTED),),
            (Transaction(8, 1, None, None, Ended.OPEN),),
            AT,
            problems=["a gap"],
        ),
        Salvaged(Replica(2, WHERE, "/data2/orders-0"), Designated(WHERE, "t-1", None, "not known")),
    ],
    ["/data3: Input/output error"],
)
HANGING = Hanging(
    3,
    OpenTransaction(WHERE, 7, 0, -1, 4, 1_600_000_000_000),
    ToldTransaction("pay", 7, 0, "CompleteCommit", 5),
    Judgement(Ending.COMMIT, "so it is"),
)
UNTOLD = Hanging(3, OpenTransaction(WHERE, 9, 0, -1, 4, None), None, Judgement(Ending.UNKNOWN, "?"))
AFTERCARE = Aftercare(
    "cluster-1",
    (
        PartitionCare(
            ELECTED,
            1400,
            (HANGING, UNTOLD),
            (GROUP, SHARED),
            ("its leader is silent",),
            (Returning(1, False, "it held more", 100, 1400, "/data/orders-0"),),
            (ProducerState(7, 0, 41, 1_600_000_000_000, True),),
        ),
        PartitionCare(REFUSED.state, producers=None),
    ),
    ("groups of broker 2",),
)
OWN = OwnReplica(WHERE, DirectoryKind.LIVE, "/data/orders-0", "t-1", None, ON_DISK)
CUTS = Cuts(1, 0, (Divergence(3, 0, 1400),), (Divergence(4, 0, 1500),), 1500, better=True)
BEFORE_START = BeforeStart(
    "cluster-1",
    1,
    False,
    (
        StartVerdict(OWN, StartEffect.TRUNCATED, "it holds more", 1400, 100, 60, 0, 3, (4,)),
        StartVerdict(
            OwnReplica(WHERE, DirectoryKind.FUTURE, "/data/orders-0.1-future"),
            StartEffect.UNKNOWN,
            "a copy",
        ),
        StartVerdict(
            OwnReplica(WHERE, DirectoryKind.LIVE, "/data/orders-0", gone="it is not there"),
            StartEffect.BEGINS_EMPTY,
            "it leads by itself",
            leader=1,
            led=LedOnReturn(1, ByItself(1, "it is in the ISR"), CUTS, "it is not there"),
            may_lead=True,
        ),
    ),
    ("/data3: Input/output error",),
    "the metadata log up to offset 812 (epoch 3)",
)
DIAGNOSIS = Diagnosis(
    "cluster-1",
    AT,
    (
        Check("rights", Status.FAILURE, "no right to\nalter", "it must be put back", "grant it"),
        Check("versions", Status.OK, "4.3 everywhere", "older ones lack APIs"),
    ),
)
LOSSES = (
    TopicLoss("audit", 2, 0, {"state_unknown": 1, "only_suspects": 1}),
    TopicLoss("orders", 2, 2, {}, RecordCount(500), RecordCount(100, 1)),
)
ANSWERS = {
    WHERE: PartitionResult(0),
    TopicPartition("gone", 1): PartitionResult(3, "no such topic"),
}
PUT_BACK = (Reordered(WHERE, "t-1", (1, 4, 3, 2), (3, 4, 1, 2), 5),)
EMULATED = ClusterStatus(
    (
        BrokerStatus(1, "localhost:9092", "running", False, 12),
        BrokerStatus(2, "", "dead", True, -1),
    ),
    (
        PartitionStatus(
            "orders",
            0,
            -1,
            7,
            9,
            (1, 2),
            (1,),
            (),
            (2,),
            (ReplicaStatus(1, 1500, 1490, 6), ReplicaStatus(2, 0, 0, -1)),
        ),
    ),
    ("controller paused",),
)
REPLAYED = (
    Work(
        "cluster-1",
        SavedPartition(WHERE, "t-1", ()),
        "orders.salvaged",
        None,
        False,
        TargetCounts(to_produce=10, done=2, copies=3, open=4, aborted=5, control=6),
        there=1,
        produced=9,
    ),
)
TOO_EARLY = Harm((WHERE,), 150, 100, 3, 250)
START_ORDER = StartOrder(
    cluster_id="cluster-1",
    starts=(Start(3, 1), Start(1, 2, TOO_EARLY)),
    gone=(Gone(2, TOO_EARLY, 4),),
    partitions=(PartitionEnd(WHERE, 3, True, 1, 0), PartitionEnd(WHERE, None, False, None, None)),
    worst=150,
    tried_all=True,
    unknown=("a disk could not be read",),
    rests_on="the metadata log up to offset 100 (epoch 2)",
)
LOST_COMMITS = (
    Reset(SavedCommit("readers", WHERE, 500, 3, "me", 1000, 7, "id"), 100, Decision.BRING_BACK),
    Reset(SavedCommit("writers", WHERE, None, None, "", None, 8), None, Decision.DELETED),
)
WHOLE = (WholeDisk(1, "/data", stopped_clean=True),)
HEAD = ScanHead(
    *("cluster-1", AT, ScanMode.RECOVER, (1, 2), 3, 812, ("/data2: left out",), WHOLE),
    rows=TableRowsJson(5, 2),
)


def _spark_salvage() -> str:
    # Imported for this document alone: it imports pyspark.
    from kafka_unclean_recovery.spark.salvage.salvage_replicas import Totals

    return totals_json(Totals(3, 2, 4096, 500, 1, "the log ends early", ["left out"]), "cluster-1")


def _bundle() -> str:
    of = Of("cluster-1", AT, (LibraryJson("Python", "3.12.1 on linux"),))
    topic = TopicConfigsJson("orders", (ConfigJson("retention.ms", "1"), ConfigJson("x", None)))
    with tarfile.open(fileobj=BytesIO(), mode="w") as tar:
        archive = Archive(tar, 1)
        archive.add("look.json", "what was seen", b"{}")
        archive.lacks("doctor.json", "no answer")
        return archive.finish(of, (topic,))


EXPLAINED = (
    Entry("a_code", "finding", "It is so.\n", "It costs.\n", "There.\n", "This.\n", "loss"),
    Entry("a_word", "word", "It is so.", "None.", "Nowhere.", "Nothing."),
)

WRITTEN: dict[str, Callable[[], str]] = {
    "plan": lambda: plan_json(CLUSTER, [PLAN, REFUSED], AT),
    "manual-recovery": lambda: manual_recovery_json([PLAN, REFUSED]),
    "replica-info": lambda: replica_info_json(INFO),
    "approval": lambda: approval_json(APPROVAL),
    "report": lambda: report_json(REPORT),
    "salvage": lambda: manifest_json(MANIFEST),
    "aftercare": lambda: aftercare_json(AFTERCARE),
    "before-start": lambda: before_start_json(BEFORE_START),
    "start-order": lambda: start_order_json(START_ORDER),
    "doctor": lambda: doctor_json(DIAGNOSIS),
    "loss-by-topic": lambda: render_loss_json(LOSSES, "cluster-1", ("left out",)),
    **QUORUM_WRITTEN,
    **OK_TO_STOP_WRITTEN,
    "elections": lambda: elections_json("unclean", ANSWERS),
    "resume": lambda: resumed_json("cluster-1", Path("dir/journal"), PUT_BACK),
    "salvage-offsets": lambda: render_offsets_json(LOST_COMMITS, 1),
    "salvage-replay": lambda: replay_json(
        REPLAYED, True, refusals(REPLAYED, ["--bootstrap-server", "localhost:9092"])
    ),
    "spark-scan": lambda: head_json(HEAD),
    "spark-salvage": _spark_salvage,
    "emulator": lambda: emulator_json("localhost:9092,localhost:9093", Path("dir/socket")),
    "bundle": _bundle,
    "explain": lambda: explained_json(EXPLAINED),
    "emulator-scenarios": lambda: scenarios_json({"a-b": "# Two\n# lines.\n\nkill 1\n"}),
    "emulator-ctl": lambda: ctl_json(["status"], json.loads(status_json(EMULATED))),
}
