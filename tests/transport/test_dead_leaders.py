"""Brokers that are not Apache's may list a leader that does not live: that is said."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.cli.terminal.output import exit_code_of
from kafka_unclean_recovery.errors import NOT_ALL
from kafka_unclean_recovery.model import OutcomeKind, TopicPartition
from kafka_unclean_recovery.recovery.observe import Observer
from kafka_unclean_recovery.recovery.partitions import observed, outcomes_of, report_on
from kafka_unclean_recovery.recovery.views import Wanted
from kafka_unclean_recovery.shutdown import Stop
from kafka_unclean_recovery.transport.list_offsets import ListOffsetsSource
from tests.cluster.fake_node import in_loop
from tests.transport.scripted import Scripted, offline, reached

DEAD, LIVE = 9, 2
LED_BY_THE_DEAD, LED = TopicPartition("orders", 0), TopicPartition("orders", 1)


@pytest.mark.parametrize("wanted", [None, (LED_BY_THE_DEAD, LED)])
@in_loop
async def test_a_leader_that_is_not_live_is_a_problem_and_never_nothing_offline(
    wanted: tuple[TopicPartition, ...] | None,
) -> None:
    states = {0: replace(offline(0), leader=DEAD), 1: replace(offline(1), leader=LIVE)}
    async with reached(Scripted(states=states)) as cluster:
        source, stop = ListOffsetsSource(cluster.nodes), Stop(print)
        observer = Observer(cluster.nodes, cluster.reader, source, stop, print, print)
        seen = await observer.observe(Wanted(wanted), 30.0)
    (problem,) = [p for p in seen.problems if "led by" in p]
    assert problem.startswith(
        "1 partition led by brokers that are not live: orders-0 by broker 9, which is not live"
    )
    rows = observed(seen)
    assert exit_code_of(report_on(seen, rows)) == NOT_ALL
    outcomes = outcomes_of(rows)
    if wanted is not None:
        assert outcomes[LED_BY_THE_DEAD].kind is OutcomeKind.FAILED
        assert outcomes[LED].kind is OutcomeKind.ALREADY_ONLINE
