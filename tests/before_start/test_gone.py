"""A broker whose disk is lost for good keeps no answer back, and what was read of it counts for
nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.before_start.offline import from_disks
from kafka_unclean_recovery.before_start.outside import of_others
from kafka_unclean_recovery.before_start.verdict import Effect
from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.model import EpochSpan, PartitionInfo, ReplicaInfo
from tests.before_start.test_verdict import (
    LEADER,
    NEW,
    OWN,
    STATE,
    TAIL,
    THIRD,
    WHERE,
    disk,
    log,
    own,
    verdict,
)
from tests.cli.in_process import RECOVERY, invoke

GONE = frozenset({THIRD})


def test_what_only_the_lost_disk_may_have_had_is_not_asked_for() -> None:
    assert verdict(own()).unread == (THIRD,)
    assert verdict(own(), lost=GONE).unread == ()


def test_the_lost_disk_is_not_among_those_that_the_new_leader_cuts() -> None:
    leaderless = replace(STATE, leader=-1, isr=(OWN,), offline_replicas=(OWN, LEADER, THIRD))
    before = verdict(own(), leaderless, logs={LEADER: log(LEADER, *TAIL)}, unclean=False)
    assert before.untold
    after = verdict(own(), leaderless, logs={LEADER: log(LEADER, *TAIL)}, unclean=False, lost=GONE)
    assert (after.effect, after.untold) == (Effect.LEADS, False)


def test_what_was_once_read_of_the_lost_disk_counts_for_nothing() -> None:
    row = PartitionInfo(WHERE, STATE, (log(THIRD, EpochSpan(0, 0, 150), disk=True),))
    assert of_others(OWN, STATE, {}, row).keys() == {THIRD}
    assert of_others(OWN, STATE, {}, row, GONE) == {}


def test_where_the_metadata_log_has_it_as_the_leader_another_one_is_to_come() -> None:
    others = ReplicaInfo(
        *("c-1", "2026-01-01T00:00:00+00:00", (LEADER,)),
        (PartitionInfo(WHERE, STATE, (log(LEADER, *NEW, disk=True),)),),
        *(1, 900),
    )
    assert [v.effect for v in from_disks(disk(own()), others).verdicts] == [Effect.TRUNCATED]
    (found,) = from_disks(disk(own()), others, frozenset({LEADER})).verdicts
    assert found.effect is Effect.UNKNOWN
    assert f"broker {LEADER}, is gone" in found.why
    assert "start-order" in found.why


@pytest.mark.kafka_cluster(brokers=3)
def test_a_live_broker_is_refused_and_the_one_that_starts(
    kafka_cluster: Cluster, tmp_path: Path
) -> None:
    kafka_cluster.kill(1)
    server = ("--bootstrap-server", kafka_cluster.bootstrap_servers)
    own_disk = ("before-start", "--log-dirs", str(kafka_cluster.log_directory(1)), *server)
    live = invoke(RECOVERY, *own_disk, "--gone", "2", cwd=tmp_path)
    assert (live.code, live.stdout) == (2, "")
    assert "--gone: broker 2 is live; leave it out" in live.stderr
    own = invoke(RECOVERY, *own_disk, "--gone", "1,3", cwd=tmp_path)
    assert own.code == 2
    assert "--gone: broker 1 is the one whose disk is given" in own.stderr
