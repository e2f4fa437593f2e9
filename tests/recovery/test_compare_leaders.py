"""Whom the run elected is asked whether all of its own log is there still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    Broker,
    Cluster,
    Outcome,
    OutcomeKind,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.recovery.compare_leaders import compare_leaders
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.partitions import Partition, Stage
from kafka_unclean_recovery.transport.led_logs import LedLog, NextEpoch
from tests.cluster.fake_node import in_loop
from tests.reports import log, plan, state

TP = TopicPartition("orders", 0)
LEADER, EPOCH = 3, 8


@dataclass
class Leader:
    """It answers by the ends of its leader epochs, and notes which it was asked for."""

    ends: dict[int, tuple[int, int]]
    asked: list[int] = field(default_factory=list)

    def throttled(self, _: int) -> bool:
        return False

    async def ask(
        self, _: Broker, wanted: Mapping[TopicPartition, NextEpoch], __: object
    ) -> Mapping[TopicPartition, LedLog]:
        told: dict[int, tuple[int, int]] = {}
        while (epoch := wanted[TP](told)) is not None:
            self.asked.append(epoch)
            told[epoch] = self.ends[epoch]
        return {TP: LedLog(told)}


def _outcome(leader: Leader, own: ReplicaLog) -> Outcome:
    """Return the outcome of the election of a leader that had this log."""
    planned = plan()
    dead, other, _ = planned.replica_logs
    planned = replace(planned, replica_logs=(dead, other, own))
    now = state(leader=LEADER, leader_epoch=EPOCH, isr=(LEADER,), elr=())
    row = Partition(Stage.VERIFIED, now, planned, Outcome(OutcomeKind.ELECTED))
    seen = Observation(Cluster("c", {LEADER: Broker(LEADER, "h", 1)}), {TP: now}, {}, {})
    found: list[Outcome] = []

    @in_loop
    async def go() -> None:
        _, rows = await compare_leaders(cast(Any, None), cast(Any, leader), seen, {TP: row})
        outcome = rows[TP].outcome
        assert outcome is not None
        found.append(outcome)

    go()
    return found[0]


def test_one_answer_tells_that_all_of_it_is_there() -> None:
    leader = Leader({0: (0, 1500)})
    assert _outcome(leader, log(LEADER, 1500)) == Outcome(OutcomeKind.ELECTED)
    assert leader.asked == [0]


@pytest.mark.parametrize(
    ("ends", "lost"),
    [
        ({0: (0, 1200), 7: (0, 1200), EPOCH: (EPOCH, 1200)}, 300),
        ({0: (0, 1200), 7: (0, 1200), EPOCH: (EPOCH, 4000)}, 300),
    ],
    ids=["shorter", "grown again"],
)
def test_what_is_gone_from_it_is_lost(ends: dict[int, tuple[int, int]], lost: int) -> None:
    outcome = _outcome(Leader(ends), log(LEADER, 1500))
    assert (outcome.kind, outcome.lost) == (OutcomeKind.FAILED, lost)


@pytest.mark.parametrize(("end", "kind"), [(1500, "elected"), (1499, "failed")])
def test_a_log_that_told_no_leader_epochs_is_compared_by_its_end(end: int, kind: str) -> None:
    own = replace(log(LEADER, 1500), epochs=None)
    outcome = _outcome(Leader({EPOCH: (EPOCH, end)}), own)
    assert outcome.kind == kind
    assert outcome.in_doubt == (kind == "failed")
