"""Plans with nothing alive."""

from __future__ import annotations

import json
from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    NO_LEADER,
    Cluster,
    Finding,
    OutcomeKind,
    PartitionInfo,
    PartitionPlan,
    PartitionReport,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Report,
    Severity,
)
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.report.document import render_json
from kafka_unclean_recovery.report.table import render_table
from tests.infos import any_infos
from tests.planning.test_merged_scans import ORDERS, STATE, STRAY, disk
from tests.report.test_document import REPORT_SCHEMA

# The outage of the README, 3 in neither ISR nor ELR.
OUTAGE = replace(STATE, replicas=(1, 2, 4, 3), elr=(1, 2), leader=1, offline_replicas=(4, 3))
DISKS = (
    disk(1, (0, 0, 2500)),
    disk(2, (0, 0, 2000)),
    disk(3, (0, 0, 1500)),
    disk(4, (0, 0, 1000)),
)


def scan(
    *logs: ReplicaLog,
    state: PartitionState | None = OUTAGE,
    brokers: tuple[int, ...] | None = None,
    findings: tuple[Finding, ...] = (),
) -> ReplicaInfo:
    scanned = tuple(log.broker for log in logs) if brokers is None else brokers
    part = PartitionInfo(ORDERS, state, logs, findings)
    return ReplicaInfo("cluster-1", "2026-01-02T03:04:05+00:00", scanned, (part,))


def row_of(info: ReplicaInfo, excluded: Collection[int] = ()) -> PartitionReport:
    (row,) = plan_from_disks(info, excluded)
    return row


def plan_of(info: ReplicaInfo, excluded: Collection[int] = ()) -> PartitionPlan:
    plan = row_of(info, excluded).plan
    assert plan is not None
    return plan


def codes(plan: PartitionPlan) -> list[str]:
    return [found.code for found in plan.findings]


def test_a_partition_that_the_newest_metadata_does_not_have_was_deleted() -> None:
    deleted = replace(scan(*DISKS, state=None), metadata_epoch=3, metadata_end_offset=100)
    assert row_of(deleted) == PartitionReport(ORDERS, None)
    older = Finding("not_in_newest_metadata", Severity.UNKNOWN, "an older one has it")
    (part,) = deleted.partitions
    known_before = replace(deleted, partitions=(replace(part, findings=(older,)),))
    outcome = row_of(known_before).outcome
    assert outcome
    assert outcome.kind is OutcomeKind.NO_CANDIDATE


def test_every_scanned_replica_may_lead_whoever_led_last() -> None:
    plan = plan_of(scan(*DISKS))
    assert (plan.state.leader, plan.state.offline_replicas) == (NO_LEADER, ())
    assert plan.state.leader_epoch == OUTAGE.leader_epoch
    assert (plan.designated_leader, plan.order) == (1, (1, 2, 3, 4))
    assert plan.ranking[0].loss.possible == 0
    assert plan.findings[-1].code == "eligible_replica_is_back"
    assert "starting it first brings the partition back without loss" in plan.findings[-1].message


def test_the_report_shows_the_state_that_was_planned_on() -> None:
    row = row_of(scan(*DISKS))
    assert row.plan is not None
    assert row.state == row.plan.state


def test_excluded_brokers_do_not_lead_and_their_disks_tell_what_is_lost() -> None:
    plan = plan_of(scan(*DISKS), excluded=(1, 2))
    assert (plan.designated_leader, plan.order) == (3, (3, 4, 1, 2))
    assert plan.state.offline_replicas == (1, 2)
    assert (plan.ranking[0].loss.certain, plan.ranking[0].loss.possible) == (0, 1000)
    more = [found.message for found in plan.findings if found.code == "dead_disk_holds_more"]
    assert len(more) == 2
    assert more[0].startswith(
        "broker 1 is excluded; its disk holds 1000 records beyond the designated replica"
    )


def test_replicas_that_nobody_scanned_leave_the_possible_loss_unknown() -> None:
    plan = plan_of(scan(DISKS[2], DISKS[3]))
    assert plan.designated_leader == 3
    assert plan.ranking[0].loss.possible is None
    assert [log.problem for log in plan.replica_logs] == ["was not scanned"] * 2 + [None] * 2
    assert "dead_replica_may_hold_more" in codes(plan)


def test_a_scanned_broker_without_the_directory_is_told_apart() -> None:
    plan = plan_of(scan(DISKS[2], brokers=(1, 3)))
    problems = {log.broker: log.problem for log in plan.replica_logs}
    assert problems[1] == "has no directory for this partition among those that were scanned"
    assert problems[2] == "was not scanned"
    assert plan.state.online_replicas == (3,)


def test_a_disk_that_could_not_be_read_is_no_candidate() -> None:
    broken = replace(DISKS[0], epochs=None, log_end_offset=None, problem="Input/output error")
    plan = plan_of(scan(broken, *DISKS[1:]))
    assert plan.designated_leader == 2
    assert plan.ranking[0].loss.possible is None
    assert "disk_not_readable" in codes(plan)


def test_suspects_alone_are_designated_by_nobody() -> None:
    suspects = [replace(log, suspect="a gap", certain_end_offset=5) for log in DISKS]
    plan = plan_of(scan(*suspects))
    assert plan.designated_leader is None
    assert plan.refusal is not None
    assert plan.refusal.startswith("every replica that could lead is suspect")
    assert plan_of(scan(*suspects[:3], DISKS[3])).designated_leader == 4


def test_a_disk_that_is_assigned_no_replica_is_left_out_and_told() -> None:
    plan = plan_of(scan(*DISKS, disk(9, (0, 0, 9000))))
    assert plan.designated_leader == 1
    (found,) = [found for found in plan.findings if found.code == "not_assigned"]
    assert found.severity is Severity.NOTICE
    assert "broker 9 holds this partition too (log end offset 9000)" in found.message


def test_findings_of_the_scan_stand_among_those_of_the_plan_gravest_first() -> None:
    unknown = Finding("replica_in_two_directories", Severity.UNKNOWN, "in two")
    plan = plan_of(scan(*DISKS, findings=(STRAY, unknown)), excluded=(1,))
    assert codes(plan)[:2] == ["dead_disk_holds_more", "replica_in_two_directories"]
    assert "stray_directory" in codes(plan)


def test_a_partition_that_no_metadata_log_has_gets_no_plan_and_says_why() -> None:
    row = row_of(scan(*DISKS, state=None))
    assert (row.plan, row.state) == (None, None)
    assert row.outcome is not None
    assert row.outcome.kind is OutcomeKind.NO_CANDIDATE
    report = Report(Cluster("cluster-1", {}), (row,))
    (found,) = json.loads(render_json(report))["partitions"]
    assert found["reason"].startswith("no metadata log that was scanned has this partition")
    table = render_table(report)
    assert "no metadata log that was scanned has this partition" in table
    assert "no such topic" not in table
    assert table.endswith("1 partition: 0 online, 0 offline, 1 not found; 1 no_candidate\n")


@given(any_infos(), st.lists(st.integers(0, 5), max_size=2))
def test_any_scan_is_planned_and_reported(info: ReplicaInfo, excluded: list[int]) -> None:
    rows = plan_from_disks(info, excluded)
    assert [row.topic_partition for row in rows] == [p.topic_partition for p in info.partitions]
    for row in rows:
        if row.plan and row.plan.designated_leader is not None:
            assert row.plan.designated_leader not in excluded
            leader = row.plan.ranking[0].log
            assert leader.problem is leader.suspect is None
    report = Report(Cluster("cluster-1", {}), rows)
    REPORT_SCHEMA.validate(json.loads(render_json(report)))
    render_table(report)
