"""Unclean recovery in kip-966 mode: brokers answer for their logs, and the longest one leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator.emulation import Emulation, Settings
from kafka_unclean_recovery.emulator.faults import CONTROLLER, Drop, link
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.recovery import Strategy
from tests.emulator.steps import (
    KEY,
    TOPIC,
    create,
    lose,
    opened,
    partition,
    replica,
    restart,
    write,
)

TIMEOUT = 300.0
PATIENT = Settings(session_timeout=10 * TIMEOUT)


def outage(directory: Path, strategy: Strategy = Strategy.BALANCED) -> Emulation:
    """Return a cluster killed one by one, while the first wrote on: 1 has 18 records, 2 has 12 and
    3 has 10. All that is acknowledged is in 1 and 2, and 3 comes first in the assignment."""
    emulation = opened(directory, brokers=3, release="kip-966")
    emulation.happen(ev.AlterClusterConfig("unclean.recovery.manager.enabled", "true"))
    emulation.happen(ev.AlterClusterConfig("unclean.recovery.strategy", strategy.value))
    create(emulation, (1, 2, 3), min_isr=2)
    emulation.happen(ev.AlterReassignment(TOPIC, 0, (3, 2, 1)))
    write(emulation, 10)
    lose(emulation, 3)
    write(emulation, 2)
    lose(emulation, 2)
    write(emulation, 6)
    lose(emulation, 1)
    assert partition(emulation).leader == -1
    return emulation


def test_balanced_recovery_elects_the_longest_log_when_the_last_known_elr_is_back(
    tmp_path: Path,
) -> None:
    emulation = outage(tmp_path)
    restart(emulation, 3)
    restart(emulation, 2)
    assert partition(emulation).leader == -1
    restart(emulation, 1)
    # At once, as all three have answered; the others follow it.
    assert partition(emulation).leader == 1
    assert set(partition(emulation).isr) == {1, 2, 3}
    assert [replica(emulation, id_).log.end_offset for id_ in (1, 2, 3)] == [18, 18, 18]
    assert emulation.state.recoveries_finished == 1


def test_a_later_epoch_beats_a_longer_log_in_a_recovery(tmp_path: Path) -> None:
    emulation = outage(tmp_path)
    restart(emulation, 3)
    emulation.happen(ev.ElectLeaders(ev.ElectionType.UNCLEAN, None))
    write(emulation, 1)
    lose(emulation, 3)
    # 1 has more records, given up by the election of 3.
    for id_ in (2, 1, 3):
        restart(emulation, id_)
    assert (partition(emulation).leader, replica(emulation, 3).log.end_offset) == (3, 11)


def test_aggressive_recovery_takes_the_first_that_is_back(tmp_path: Path) -> None:
    emulation = outage(tmp_path, Strategy.AGGRESSIVE)
    restart(emulation, 3)
    assert (partition(emulation).leader, partition(emulation).isr) == (3, (3,))


def test_a_paused_broker_is_waited_for_until_the_time_is_up(tmp_path: Path) -> None:
    emulation = outage(tmp_path, Strategy.AGGRESSIVE)
    # It registers, and hangs before it is asked.
    emulation.happen(ev.AlterTopicConfig(TOPIC, "unclean.recovery.strategy", "None"))
    for id_ in (3, 2):
        restart(emulation, id_)
    emulation.pause(emulation.brokers[2])
    emulation.happen(ev.AlterTopicConfig(TOPIC, "unclean.recovery.strategy", "Aggressive"))
    hung = emulation.state.recoveries[KEY]
    assert (set(hung.answers), hung.timed_out) == ({3}, False)
    emulation.settings = PATIENT
    emulation.tick(100.0)
    emulation.tick(100.0 + TIMEOUT - 1)
    assert partition(emulation).leader == -1
    emulation.tick(100.0 + TIMEOUT)
    assert partition(emulation).leader == 3


def test_a_balanced_recovery_waits_for_a_paused_last_known_elr_member(tmp_path: Path) -> None:
    emulation = outage(tmp_path)
    emulation.settings = PATIENT
    emulation.happen(ev.AlterTopicConfig(TOPIC, "unclean.recovery.strategy", "None"))
    for id_ in (3, 2, 1):
        restart(emulation, id_)
    emulation.pause(emulation.brokers[1])
    emulation.happen(ev.AlterTopicConfig(TOPIC, "unclean.recovery.strategy", "Balanced"))
    emulation.tick(100.0)
    emulation.tick(100.0 + TIMEOUT)
    assert emulation.state.recoveries[KEY].timed_out
    assert partition(emulation).leader == -1
    emulation.resume(emulation.brokers[1])
    assert partition(emulation).leader == 1


def test_the_time_out_is_a_config(tmp_path: Path) -> None:
    emulation = outage(tmp_path, Strategy.NONE)
    emulation.settings = PATIENT
    for id_ in (3, 2):
        restart(emulation, id_)
    emulation.pause(emulation.brokers[2])
    emulation.happen(ev.AlterClusterConfig("unclean.recovery.timeout.ms", "2000"))
    emulation.happen(ev.ElectLeaders(ev.ElectionType.LONGEST_LOG_AGGRESSIVE, None))
    emulation.tick(100.0)
    emulation.tick(101.9)
    assert partition(emulation).leader == -1
    emulation.tick(102.0)
    assert partition(emulation).leader == 3


def test_the_next_controller_begins_recoveries_anew(tmp_path: Path) -> None:
    emulation = outage(tmp_path)
    for id_ in (2, 3):
        restart(emulation, id_)
    again = opened(tmp_path, brokers=3, release="kip-966", start=())
    assert again.state.recoveries == {}
    for id_ in (3, 2, 1):
        restart(again, id_)
    assert partition(again).leader == 1


@pytest.mark.parametrize("release", ["4.3.1", "kip-966"])
def test_without_the_manager_the_last_known_leader_is_elected_with_what_it_has(
    tmp_path: Path, release: str
) -> None:
    """KIP-966, "Delivery plan": here it lost all that was not synced."""
    emulation = opened(tmp_path, brokers=2, release=release)
    create(emulation, (1, 2), min_isr=2)
    write(emulation, 10)
    lose(emulation, 2)
    emulation.power_off(emulation.brokers[1])
    emulation.expire(1)
    restart(emulation, 2)
    assert partition(emulation).leader == -1
    restart(emulation, 1)
    assert partition(emulation).leader == 1
    assert replica(emulation, 2).log.end_offset == 0


def test_a_broker_that_the_controller_can_not_reach_answers_when_it_can(tmp_path: Path) -> None:
    emulation = outage(tmp_path, Strategy.NONE)
    emulation.settings = PATIENT
    for id_ in (3, 2, 1):
        restart(emulation, id_)
    emulation.faults.drop(link(1, CONTROLLER), Drop.SILENCE)
    emulation.happen(ev.AlterTopicConfig(TOPIC, "unclean.recovery.strategy", "Balanced"))
    assert set(emulation.state.recoveries[KEY].answers) == {2, 3}
    emulation.faults.restore(link(1, CONTROLLER))
    emulation.tick(100.0)
    assert partition(emulation).leader == 1
