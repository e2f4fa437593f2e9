"""Reports to render: one partition or many as a test wants them, and any at all."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
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
    PartitionPlan,
    PartitionReport,
    PartitionState,
    ReplicaLog,
    Report,
    Scanned,
    Severity,
    TopicPartition,
    Waiting,
)

CLUSTER = Cluster("cluster-1", {})
NO_KNOWN_LOSS = Loss(0, None)
WAIT = Finding("dead_replica_may_hold_more", Severity.UNKNOWN, "wait for\nbroker 1")


def state(partition: int = 0, leader: int = -1, **fields: Any) -> PartitionState:
    given: dict[str, Any] = {"leader_epoch": 7, "replicas": (1, 4, 3), "elr": (1,)} | fields
    return PartitionState("orders", "t-1", partition, leader, **given)


def log(broker: int, end: int) -> ReplicaLog:
    return ReplicaLog(broker, True, 0, 0, end - 1, end, (EpochSpan(0, 0, end),))


OFFLINE = state()
DEAD = ReplicaLog(1, live=False, problem="broker is\ndown\x1b[31m")


def plan(
    partition: int = 0, designated: int | None = 3, loss: Loss = NO_KNOWN_LOSS, **fields: Any
) -> PartitionPlan:
    other = Candidate(log(4, 1000), Loss(500, None), (Divergence(3, 1000, 500),))
    return PartitionPlan(
        state=state(partition),
        replica_logs=(DEAD, log(4, 1000), log(3, 1500)),
        ranking=(Candidate(log(3, 1500), loss), other),
        designated_leader=designated,
        order=(3, 4, 1),
        findings=(WAIT,),
        **fields,
    )


def row(
    partition: int = 0,
    state: PartitionState | None = OFFLINE,
    plan: PartitionPlan | None = None,
    outcome: Outcome | None = None,
) -> PartitionReport:
    return PartitionReport(TopicPartition("orders", partition), state, plan, outcome)


def elected(partition: int = 0, loss: Loss = NO_KNOWN_LOSS) -> PartitionReport:
    after = state(partition, leader=3, leader_epoch=8, isr=(3,), elr=())
    return row(partition, after, plan(partition, loss=loss), Outcome(OutcomeKind.ELECTED))


def report(*rows: PartitionReport, **fields: Any) -> Report:
    return Report(CLUSTER, rows, **fields)


count = st.integers(0, 2**63 - 1)
unknown = st.none() | count
epoch = st.integers(-1, 2**31 - 1)
broker = st.integers(0, 5)
ids = st.lists(broker, max_size=4, unique=True).map(tuple)
spans = st.builds(EpochSpan, count, count, count)
texts = st.text(max_size=20)
scans = st.builds(
    Scanned,
    st.sampled_from(ScanMode),
    texts,
    st.none() | texts,
    st.none() | texts,
    unknown,
    count,
    unknown,
    st.none() | texts,
)
logs = st.builds(
    ReplicaLog,
    broker,
    st.booleans(),
    st.none() | epoch,
    unknown,
    unknown,
    unknown,
    st.none() | st.lists(spans, max_size=8).map(tuple),
    texts,
    st.none() | texts,
    st.none() | texts,
    unknown,
    st.none() | scans,
    unknown,
)
losses = st.builds(Loss, unknown, unknown, st.none() | st.integers(1, 2**63 - 1))
divergences = st.builds(Divergence, broker, count, count)
where = st.builds(TopicPartition, st.sampled_from(["foo", "orders"]), count)
commits = st.builds(Commit, texts, where, count, st.none() | st.integers(0, 2**31 - 1))
groups = st.builds(GroupBeyond, commits, count, st.booleans())
candidates = st.builds(
    Candidate,
    logs,
    losses,
    st.lists(divergences, max_size=2).map(tuple),
    st.lists(groups, max_size=2).map(tuple),
)
evidence = st.lists(st.sampled_from(Evidence), max_size=2).map(tuple)
waitings = st.builds(Waiting, broker, st.sampled_from(Effect), unknown, texts, evidence)
findings = st.builds(Finding, st.sampled_from(["a", "b"]), st.sampled_from(Severity), texts)
topics = st.sampled_from(["foo", "a.b-c_D", "orders"])
states = st.builds(
    PartitionState, topics, texts, count, st.integers(-1, 5), epoch, ids, ids, ids, ids, ids
)
any_plans = st.builds(
    PartitionPlan,
    states.map(lambda given: replace(given, leader=-1)),
    st.lists(logs, max_size=3).map(tuple),
    st.lists(candidates, max_size=3).map(tuple),
    st.none() | broker,
    ids,
    st.lists(findings, max_size=2).map(tuple),
    st.none() | texts,
    st.lists(waitings, max_size=2).map(tuple),
)
rows = st.builds(
    PartitionReport,
    st.builds(TopicPartition, topics, count),
    st.none() | states,
    st.none() | any_plans,
    st.none() | st.builds(Outcome, st.sampled_from(OutcomeKind), st.none() | texts),
)
any_reports = st.builds(
    Report,
    st.builds(Cluster, texts, st.just({})),
    st.lists(rows, max_size=4).map(tuple),
    st.lists(texts, max_size=2).map(tuple),
    st.dictionaries(broker, texts, max_size=2),
    st.booleans(),
    st.lists(texts, max_size=2).map(tuple),
)
