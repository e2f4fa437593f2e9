"""Brokers and controller together: high watermarks, ISRs, truncation, restarts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator.faults import Drop, link
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.log_dir.small_files.checkpoints import (
    parse_leader_epochs,
    parse_offsets,
)
from kafka_unclean_recovery.model import TopicPartition
from tests.emulator.steps import (
    KEY,
    TOPIC,
    create,
    elect_unclean,
    lose,
    opened,
    partition,
    replica,
    segment,
    write,
)


def test_followers_hold_what_the_leader_wrote_byte_for_byte(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3))
    write(emulation, 10)
    write(emulation, 5)
    one, two, three, _ = emulation.brokers.values()
    assert segment(one) == segment(two) == segment(three) != b""
    assert [replica(emulation, id_).high_watermark for id_ in (1, 2, 3)] == [15, 15, 15]


def test_the_high_watermark_stays_while_the_isr_is_below_min_isr(tmp_path: Path) -> None:
    """KIP-966, "Additional High Watermark advancement requirement"."""
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3), min_isr=2)
    write(emulation, 10)
    lose(emulation, 2)
    lose(emulation, 3)
    write(emulation, 5)
    assert (replica(emulation, 1).log.end_offset, replica(emulation, 1).high_watermark) == (15, 10)
    emulation.start(emulation.brokers[3])
    assert set(partition(emulation).isr) == {1, 3}
    assert replica(emulation, 1).high_watermark == 15


def test_what_an_earlier_process_fetched_brings_no_broker_into_the_isr(tmp_path: Path) -> None:
    """KIP-903: the leader has heard of nothing but the fetches of the process that died."""
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3))
    write(emulation, 10)
    emulation.faults.dropped[link(1, 2)] = Drop.SILENCE
    lose(emulation, 2)
    emulation.start(emulation.brokers[2])
    emulation._fetchers.propose(emulation.brokers[1], replica(emulation, 1), [1, 2, 3])
    assert set(partition(emulation).isr) == {1, 3}
    del emulation.faults.dropped[link(1, 2)]
    emulation.settle_all()
    assert set(partition(emulation).isr) == {1, 2, 3}


def test_a_lower_min_isr_lets_the_high_watermark_go_on(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2), min_isr=2)
    lose(emulation, 2)
    write(emulation, 5)
    assert replica(emulation, 1).high_watermark == 0
    emulation.happen(ev.AlterTopicConfig(TOPIC, "min.insync.replicas", "1"))
    assert replica(emulation, 1).high_watermark == 5


def test_a_partition_with_fewer_replicas_than_min_isr_needs_them_all(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2), min_isr=3)
    write(emulation, 5)
    assert replica(emulation, 1).high_watermark == 5


def test_the_longest_log_gives_up_its_tail_to_a_leader_of_a_newer_epoch(tmp_path: Path) -> None:
    """Broker 1 wrote on alone in epoch 0; 2 was elected uncleanly and wrote less, and leads."""
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 4))
    write(emulation, 10)
    for id_ in (2, 4):
        lose(emulation, id_)
    write(emulation, 5)
    lose(emulation, 1)
    emulation.start(emulation.brokers[2])
    elect_unclean(emulation)
    write(emulation, 2)
    assert replica(emulation, 2).log.epochs == [(0, 0), (2, 10)]
    emulation.start(emulation.brokers[1])
    one = replica(emulation, 1)
    assert (one.log.end_offset, one.log.epochs) == (12, [(0, 0), (2, 10)])
    assert segment(emulation.brokers[1]) == segment(emulation.brokers[2])
    checkpoint = (one.directory / "leader-epoch-checkpoint").read_bytes()
    assert parse_leader_epochs(checkpoint) == ((0, 0), (2, 10))


def test_a_leader_that_wrote_nothing_leaves_no_epoch_behind(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    write(emulation, 4)
    lose(emulation, 1)
    assert replica(emulation, 2).log.epochs == [(0, 0), (1, 4)]
    emulation.start(emulation.brokers[1])
    lose(emulation, 2)
    assert partition(emulation).leader == 1
    write(emulation, 1)
    emulation.start(emulation.brokers[2])
    assert replica(emulation, 2).log.epochs == [(0, 0), (2, 4)]


def test_the_first_session_to_end_is_that_of_the_longest_silence(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    session = emulation.settings.session_timeout
    emulation.tick(100.0)
    emulation.pause(emulation.brokers[2])
    emulation.tick(100.1)
    assert emulation.next_session_end() == 100.0 + session
    emulation.tick(100.0 + session + 0.01)
    assert emulation.next_session_end() == 100.0 + session + 0.01 + session


def test_a_hanging_follower_leaves_the_isr_when_it_lags_too_long(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3))
    emulation.tick(100.0)
    emulation.pause(emulation.brokers[2])
    write(emulation, 5)
    emulation.tick(100.1)
    assert replica(emulation, 1).high_watermark == 0
    emulation.tick(100.1 + emulation.settings.session_timeout + 0.1)
    assert set(partition(emulation).isr) == {1, 3}
    assert replica(emulation, 1).high_watermark == 5
    emulation.resume(emulation.brokers[2])
    assert set(partition(emulation).isr) == {1, 2, 3}


def test_a_leader_drops_a_follower_that_lags_while_its_session_lasts(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3))
    lag = emulation.settings.replica_lag_time_max
    emulation.tick(100.0)
    write(emulation, 1)
    # It sends heartbeats and fetches nothing: as with a disk that hangs.
    known = replica(emulation, 1).followers[2]
    known.end_offset, known.caught_up_at = 0, 100.0 - lag - 1
    emulation.tick(100.0 + lag)
    # Out of the ISR, and in again by its next fetch.
    assert partition(emulation).isr == (1, 3, 2)
    assert partition(emulation).partition_epoch == 2


def test_a_fenced_broker_replicates_and_stays_out_of_the_isr(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    emulation.fence(emulation.brokers[2])
    emulation.tick(1.0)
    write(emulation, 3)
    assert partition(emulation).isr == (1,)
    assert replica(emulation, 2).log.end_offset == 3
    emulation.unfence(emulation.brokers[2])
    assert set(partition(emulation).isr) == {1, 2}


def test_a_broker_that_stops_in_order_stays_in_the_elr_and_one_that_is_killed_does_not(
    tmp_path: Path,
) -> None:
    """KIP-966: the clean-shutdown file holds the broker epoch."""
    emulation = opened(tmp_path, brokers=3)
    create(emulation, (1, 2, 3), min_isr=2)
    for id_ in (2, 3):
        emulation.stop(emulation.brokers[id_])
    emulation.expire(2)
    assert (partition(emulation).isr, partition(emulation).elr) == ((1,), (3,))
    clean = emulation.brokers[3].directory / ".kafka_cleanshutdown"
    epoch = emulation.state.brokers[3].epoch
    assert clean.read_text() == f'{{"version":0,"brokerEpoch":{epoch}}}'
    emulation.kill(emulation.brokers[1])
    emulation.expire(1)
    clean.unlink()
    emulation.start(emulation.brokers[3])
    assert 3 not in partition(emulation).elr


def test_what_was_not_synced_is_lost_with_the_machine(tmp_path: Path) -> None:
    emulation = opened(tmp_path, brokers=1)
    create(emulation, (1,))
    write(emulation, 4)
    emulation.brokers[1].flush()
    emulation.brokers[1].checkpoint()
    write(emulation, 3)
    emulation.power_off(emulation.brokers[1])
    emulation.start(emulation.brokers[1])
    assert replica(emulation, 1).log.end_offset == 4


def test_a_killed_broker_has_all_that_it_wrote_and_an_old_high_watermark(tmp_path: Path) -> None:
    emulation = opened(tmp_path, brokers=1)
    create(emulation, (1,))
    write(emulation, 4)
    emulation.checkpoint()
    write(emulation, 3)
    directory = emulation.brokers[1].directory
    marks = parse_offsets("", (directory / "replication-offset-checkpoint").read_bytes())
    assert marks == {TopicPartition(TOPIC, 0): 4}
    emulation.kill(emulation.brokers[1])
    list(emulation.brokers[1].loading({KEY.topic_id: TOPIC}))
    found = emulation.brokers[1].replicas[KEY]
    assert (found.log.end_offset, found.high_watermark) == (7, 4)


def test_a_torn_batch_is_cut_off_when_the_broker_starts(tmp_path: Path) -> None:
    emulation = opened(tmp_path, brokers=1)
    create(emulation, (1,))
    write(emulation, 4)
    write(emulation, 3)
    emulation.kill(emulation.brokers[1])
    path = emulation.brokers[1].directory / f"{TOPIC}-0" / f"{0:020}.log"
    path.write_bytes(path.read_bytes()[:-1])
    emulation.start(emulation.brokers[1])
    assert replica(emulation, 1).log.end_offset == 4
    assert path.stat().st_size == replica(emulation, 1).log.size


def test_a_deleted_topic_is_gone_and_one_that_came_back_under_its_name_is_another(
    tmp_path: Path,
) -> None:
    emulation = opened(tmp_path, brokers=2)
    create(emulation, (1, 2))
    write(emulation, 4)
    lose(emulation, 2)
    emulation.happen(ev.DeleteTopic(TOPIC))
    assert not (emulation.brokers[1].directory / f"{TOPIC}-0").exists()
    emulation.start(emulation.brokers[2])
    kept = [path.name for path in emulation.brokers[2].directory.glob("*-stray")]
    assert len(kept) == 1
    assert not (emulation.brokers[2].directory / f"{TOPIC}-0").exists()


def test_a_replica_that_was_being_created_when_the_emulator_died_begins_anew(
    tmp_path: Path,
) -> None:
    emulation = opened(tmp_path, brokers=2)
    create(emulation, (1, 2))
    lose(emulation, 2)
    directory = emulation.brokers[2].directory
    (directory / f"{TOPIC}-0" / "partition.metadata").unlink()
    emulation.start(emulation.brokers[2])
    write(emulation, 4)
    assert replica(emulation, 2).log.end_offset == 4
    assert len(list(directory.glob("*-stray"))) == 1


def test_a_reassignment_moves_the_records_and_deletes_the_replica_that_leaves(
    tmp_path: Path,
) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    write(emulation, 6)
    assert emulation.happen(ev.AlterReassignment(TOPIC, 0, (3, 2))) == ev.Response()
    assert partition(emulation).replicas == (3, 2)
    assert replica(emulation, 3).log.end_offset == 6
    assert not (emulation.brokers[1].directory / f"{TOPIC}-0").exists()


def test_the_cluster_is_the_same_after_a_restart_from_its_directory(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3), min_isr=2)
    write(emulation, 6)
    lose(emulation, 2)
    write(emulation, 3)
    for id_ in (1, 3, 4):
        emulation.stop(emulation.brokers[id_])
    again = opened(tmp_path, start=())
    assert again.state.topics == emulation.state.topics
    assert again.state.brokers == emulation.state.brokers
    assert again.state.end_offset == emulation.state.end_offset
    again.start(again.brokers[3])
    # It counts for one start only.
    assert not (again.brokers[3].directory / ".kafka_cleanshutdown").exists()
    assert partition(again).leader == 3
    assert (replica(again, 3).log.end_offset, replica(again, 3).high_watermark) == (9, 9)


def test_who_was_alive_when_the_emulator_died_is_fenced_at_first(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    again = opened(tmp_path, start=())
    assert all(found.fenced for found in again.state.brokers.values())
    assert partition(again).leader == -1


def test_a_half_written_last_line_of_the_metadata_counts_for_nothing(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    path = tmp_path / "controller" / "metadata.jsonl"
    path.write_text(path.read_text()[:-10])
    assert opened(tmp_path, start=()).state.topics == {}
    # What is written from then on begins a line of its own.
    create(opened(tmp_path), (1, 2))
    assert list(opened(tmp_path, start=()).state.topics) == [KEY.topic_id]


@pytest.mark.parametrize(
    ("brokers", "release", "said"),
    [
        pytest.param(3, "4.3.1", "brokers [4] too", id="fewer brokers"),
        pytest.param(4, "3.9.1", "a cluster of 4.3.1", id="another release"),
    ],
)
def test_a_directory_of_another_cluster_is_refused(
    tmp_path: Path, brokers: int, release: str, said: str
) -> None:
    opened(tmp_path)
    with pytest.raises(ValueError) as raised:
        opened(tmp_path, brokers, release=release)
    assert said in str(raised.value)


def test_elr_stays_off_after_a_restart_from_the_directory(tmp_path: Path) -> None:
    emulation = opened(tmp_path, brokers=2)
    emulation.happen(ev.UpdateElrVersion(0, ev.SAFE_DOWNGRADE))
    create(emulation, (1, 2), min_isr=2)
    lose(emulation, 2)
    again = opened(tmp_path, brokers=2, start=())
    assert not again.state.release.elr
    assert (partition(again).isr, partition(again).elr) == ((1,), ())
    again.start(again.brokers[1])
    assert partition(again).leader == 1


@pytest.mark.not_emulated("log cleaning")
def test_no_record_is_deleted_or_compacted_and_no_segment_is_rolled(tmp_path: Path) -> None:
    emulation = opened(tmp_path, brokers=1)
    create(emulation, (1,))
    # All records are of one time, long ago, and their batches alike.
    for key, value in (
        ("cleanup.policy", "compact,delete"),
        ("segment.bytes", "100"),
        ("segment.ms", "1"),
        ("retention.bytes", "1"),
        ("retention.ms", "1"),
    ):
        emulation.happen(ev.AlterTopicConfig(TOPIC, key, value))
    for day in range(1, 4):
        write(emulation, 5)
        emulation.tick(day * 86_400.0)
    log = replica(emulation, 1).log
    assert [batch.base_offset for batch in log.batches] == [0, 5, 10]
    directory = emulation.brokers[1].directory / f"{TOPIC}-0"
    assert [path.name for path in directory.glob("*.log")] == [f"{0:020}.log"]
    assert len(segment(emulation.brokers[1])) == log.size
