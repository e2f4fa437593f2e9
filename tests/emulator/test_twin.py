"""A twin has the metadata and the logs of the cluster whose plan it is made by, so that whatever is
asked of it gets the answers that were given there; what it can't imitate it says."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.disks.twin_disks import Origin, write_twin
from kafka_unclean_recovery.emulator.twin import Configs, Twin, twin_of
from kafka_unclean_recovery.model import (
    NO_LEADER,
    EpochSpan,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
)
from tests.cli.in_process import RECOVERY, invoke

CLUSTER_ID = "mzpOjM8TQAODl-wwdtEq4A"
RELEASE = "4.3.1"
LIVE, DEAD = (7, 12, 301), (2, 40)
HUGE = 3 * 2**31


def _epochs(seed: random.Random, largest: int) -> tuple[EpochSpan, ...]:
    """Return any lineage, down to an empty one: few epochs and few offsets, so that many are the
    same in several logs."""
    starts = sorted({0, *(seed.randrange(0, largest) for _ in range(seed.randrange(4)))})
    epochs = sorted(seed.sample(range(9), len(starts)))
    ends = [*starts[1:], starts[-1] + seed.randrange(0, largest)]
    return tuple(
        EpochSpan(epoch, start, end)
        for epoch, start, end in zip(epochs, starts, ends, strict=True)
        if start < end
    )


def _log(broker: int, epochs: tuple[EpochSpan, ...]) -> ReplicaLog:
    return ReplicaLog(
        broker,
        live=True,
        last_written_leader_epoch=epochs[-1].epoch if epochs else -1,
        log_start_offset=0,
        log_end_offset=epochs[-1].end_offset if epochs else 0,
        epochs=epochs,
    )


def _plan(
    number: int, logs: Sequence[ReplicaLog], topic: str = "t", **changes: Any
) -> PartitionPlan:
    dead = [ReplicaLog(id_, live=False, problem="broker is down") for id_ in DEAD]
    replicas = tuple(log.broker for log in (*logs, *dead))
    state = PartitionState(
        topic, str(UUID(int=2**100)), number, -1, 10 + number, replicas, elr=(2,), **changes
    )
    return PartitionPlan(state, (*logs, *dead), (), None, replicas, ())


def _made(directory: Path, twin: Twin) -> Iterator[Cluster]:
    write_twin(directory, twin, Origin(CLUSTER_ID, 1_700_000_000_000, RELEASE))
    options = Options(
        ids=twin.brokers,
        running=twin.running,
        log_directories=twin.log_directories,
        data_dir=directory,
        release=RELEASE,
    )
    with Cluster(options) as cluster:
        yield cluster


def _looked_at(cluster: Cluster) -> list[dict[str, Any]]:
    flags = ("--all-offline-partitions", "--show-replica-info", "--format", "json")
    done = invoke(RECOVERY, "--bootstrap-server", cluster.bootstrap_servers, *flags)
    assert done.stdout, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["partitions"]
    return found


@pytest.mark.parametrize("largest", [4, 50, HUGE])
def test_a_look_at_it_finds_each_log_and_all_metadata_of_the_plan(
    tmp_path: Path, largest: int
) -> None:
    seed = random.Random(largest)
    plans = [_plan(n, [_log(id_, _epochs(seed, largest)) for id_ in LIVE]) for n in range(40)]
    for cluster in _made(tmp_path, twin_of(plans, {}, RELEASE)):
        rows = _looked_at(cluster)
    for plan, row in zip(plans, rows, strict=True):
        state = plan.state
        assert (row["topic_id"], row["leader"]) == (state.topic_id, -1)
        assert row["leader_epoch"] == state.leader_epoch
        members = {key: tuple(row[key]) for key in ("replicas", "isr", "elr", "last_known_elr")}
        assert members == {key: getattr(state, key) for key in members}
        logs = {log["broker"]: log for log in row["replica_logs"]}
        for log in plan.replica_logs:
            found = logs[log.broker]
            assert found["live"] == log.live
            if log.live:
                spans = tuple(EpochSpan(**span) for span in found["epochs"])
                assert (found["log_end_offset"], spans) == (log.log_end_offset, log.epochs)


def test_a_log_that_is_cut_ends_where_the_real_one_would(tmp_path: Path) -> None:
    short = (EpochSpan(0, 0, 1000), EpochSpan(3, 1000, 1234))
    long = (EpochSpan(0, 0, 1900), EpochSpan(1, 1900, 1950))
    plan = _plan(0, [_log(7, short), _log(12, long)])
    for cluster in _made(tmp_path, twin_of([plan], {}, RELEASE)):
        cluster.elect_leaders("unclean", "t", 0)
        found = cluster.partition("t", 0)
        assert found.leader == 7
        assert {log.broker: log.log_end_offset for log in found.logs} == {7: 1234, 12: 1234}


def test_brokers_that_were_down_are_down_and_cannot_be_started_with_a_disk_nobody_has_read(
    tmp_path: Path,
) -> None:
    plan = _plan(0, [_log(7, (EpochSpan(0, 0, 5),))])
    for cluster in _made(tmp_path, twin_of([plan], {}, RELEASE)):
        processes = {each.id: each.process for each in cluster.status().brokers}
        assert processes == {7: "running", 2: "dead", 40: "dead"}
        with pytest.raises(ValueError, match="can't start"):
            cluster.start(2)


def test_a_live_replica_that_was_not_read_is_not_read_here_either(tmp_path: Path) -> None:
    good = _log(12, (EpochSpan(0, 0, 5),))
    for unread in (
        replace(_log(7, ()), problem="log directory failed"),
        replace(_log(7, ()), epochs=None, log_end_offset=9),
        replace(_log(7, ()), log_start_offset=9, log_end_offset=9),
    ):
        twin = twin_of(
            [_plan(0, [unread, good]), _plan(1, [_log(7, good.epochs or ())])], {}, RELEASE
        )
        assert any("broker 7's of t-0: their disks" in each for each in twin.not_imitated)
        for cluster in _made(tmp_path / str(unread.problem or unread.epochs), twin):
            one, other = _looked_at(cluster)
        logs = {log["broker"]: log for log in one["replica_logs"]}
        assert logs[7]["problem"] is not None
        assert logs[12]["log_end_offset"] == 5
        assert other["replica_logs"][0]["log_end_offset"] == 5


@pytest.mark.parametrize(
    ("changes", "configs", "said"),
    [
        ({"log_start_offset": 3}, {}, "whose beginning was deleted: broker 7's of t-0"),
        ({"suspect": "its CRC"}, {}, "that were doubted: broker 7's of t-0"),
        ({"unproven": "who answered"}, {}, "that were doubted: broker 7's of t-0"),
        (
            {},
            {"t": {"unclean.leader.election.enable": "true"}},
            "unclean.leader.election.enable=true of topic t",
        ),
    ],
)
def test_what_it_cannot_imitate_is_said(
    changes: dict[str, Any], configs: dict[str, Configs], said: str
) -> None:
    log = _log(7, (EpochSpan(0, 3, 9),))
    always = twin_of([_plan(0, [log])], {}, RELEASE).not_imitated
    told = twin_of([_plan(0, [replace(log, **changes)])], configs, RELEASE).not_imitated
    (more,) = set(told) - set(always)
    assert said in more


def test_it_has_the_configs_of_its_topics_but_elects_nobody_by_itself(tmp_path: Path) -> None:
    plan = _plan(0, [_log(7, (EpochSpan(0, 0, 5),))])
    wanted = {"min.insync.replicas": "2", "unclean.leader.election.enable": "true"}
    twin = twin_of([plan], {"t": wanted, "other": wanted}, RELEASE)
    for cluster in _made(tmp_path, twin):
        assert cluster.partition("t", 0).leader == NO_LEADER
        topics = cluster.look(lambda e: {t.name: dict(t.configs) for t in e.state.topics.values()})
        assert topics == {"t": {"min.insync.replicas": "2"}}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (replace(_plan(1, []).state, topic_id=str(UUID(int=7))), "has two ids"),
        (replace(_plan(1, []).state, topic="u"), "two topics have the same id"),
        (replace(_plan(1, []).state, topic="u", topic_id="?"), "is none"),
    ],
)
def test_what_cannot_be_one_cluster_is_refused(other: PartitionState, why: str) -> None:
    plans = [_plan(0, [_log(7, ())]), replace(_plan(1, []), state=other)]
    with pytest.raises(ValueError, match=why):
        twin_of(plans, {}, RELEASE)


@pytest.mark.parametrize("value", ["many", "0", "-1", "2.5", str(2**31), "٣"])
def test_a_min_isr_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"min\.insync\.replicas of topic t is no number"):
        twin_of([_plan(0, [])], {"t": {"min.insync.replicas": value}}, RELEASE)


def test_more_brokers_than_an_emulated_cluster_has_are_refused() -> None:
    logs = [_log(id_, ()) for id_ in range(1000, 2000)]
    with pytest.raises(ValueError, match="names 1002 brokers"):
        twin_of([_plan(0, logs)], {}, RELEASE)


def test_a_broker_that_was_unregistered_is_so_here(tmp_path: Path) -> None:
    plan = _plan(0, [_log(7, (EpochSpan(0, 0, 5),))], unregistered_replicas=(2,))
    for cluster in _made(tmp_path, twin_of([plan], {}, RELEASE)):
        assert cluster.look(lambda e: sorted(e.state.brokers)) == [7, 40]
        (row,) = _looked_at(cluster)
        assert row["replicas"] == [7, 2, 40]


def test_where_nobody_with_a_replica_lives_there_is_nothing_to_rehearse() -> None:
    with pytest.raises(ValueError, match="nobody can be elected"):
        twin_of([_plan(0, [])], {}, RELEASE)


def test_a_release_without_elr_cannot_have_one() -> None:
    with pytest.raises(ValueError, match=r"3\.9\.1 has neither; give another --release"):
        twin_of([_plan(0, [])], {}, "3.9.1")


def test_a_directory_with_a_cluster_is_left_alone(tmp_path: Path) -> None:
    twin = twin_of([_plan(0, [_log(7, ())])], {}, RELEASE)
    origin = Origin(CLUSTER_ID, 0, RELEASE)
    write_twin(tmp_path, twin, origin)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match="holds a cluster already"):
        write_twin(tmp_path, twin, origin)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
