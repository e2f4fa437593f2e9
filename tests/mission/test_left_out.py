"""Brokers that leave partitions out of their answers, as Kafka's do where a quota is used up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from kafka_unclean_recovery.emulator.listener.intercepts import LeaveOut, Throttle
from tests.mission.cluster import EmulatedCluster
from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.watching import Commands, outcomes

BEST = 3
FOR_AS_LONG_AS_IT_TAKES = 1000


@pytest.fixture
def intercepted(troubled: Trouble) -> Iterator[EmulatedCluster]:
    cluster = cast(EmulatedCluster, troubled.cluster)
    yield cluster
    cluster.running.clear_intercepts()


def test_the_best_replica_is_elected_though_its_broker_is_over_quota_for_a_while(
    troubled: Trouble, intercepted: EmulatedCluster, commands: Commands
) -> None:
    held_back = intercepted.running.intercept("Fetch", Throttle(0.5), broker=BEST, times=3)
    _elect(troubled, commands, troubled.take(3))
    assert len(held_back.requests) == 3


@pytest.mark.parametrize("api", ["Fetch", "ListOffsets", "GetReplicaLogInfo"])
def test_the_best_replica_is_elected_though_an_answer_left_its_partition_out(
    troubled: Trouble, intercepted: EmulatedCluster, commands: Commands, api: str
) -> None:
    if api == "GetReplicaLogInfo" and "list-offsets" in commands.mechanism.flags:
        pytest.skip("it is not asked")
    (partition, _) = partitions = troubled.take(2)
    one = LeaveOut(frozenset({f"{TOPIC}-{partition}"}))
    intercepted.running.intercept(api, one, broker=BEST)
    _elect(troubled, commands, partitions)


def test_nobody_is_elected_under_a_loss_limit_while_the_best_broker_is_over_quota(
    troubled: Trouble, intercepted: EmulatedCluster, commands: Commands
) -> None:
    lasting = Throttle(3600)
    intercepted.running.intercept("Fetch", lasting, broker=BEST, times=FOR_AS_LONG_AS_IT_TAKES)
    partitions = troubled.take(2)
    done = commands.run(*_flags(troubled, commands, partitions))
    assert done.code == 1
    assert {outcome for outcome, _ in outcomes(done, TOPIC).values()} == {"refused"}
    for row in done.partitions(TOPIC).values():
        assert row["loss"]["certain"] is None
    assert troubled.leaders(partitions) == {-1}


def _elect(troubled: Trouble, commands: Commands, partitions: list[int]) -> None:
    done = commands.run(*_flags(troubled, commands, partitions))
    assert done.code == 0, done.stderr
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("elected", None))
    assert troubled.leaders(partitions) == {BEST}


def _flags(troubled: Trouble, commands: Commands, partitions: list[int]) -> list[str]:
    wanted = ("--path-to-json-file", str(commands.partitions_file({TOPIC: partitions})))
    how = ("--automated-recovery", "--accept-loss", "*:0", "--format", "json")
    return ["--bootstrap-server", troubled.cluster.address(4), *wanted, *how]
