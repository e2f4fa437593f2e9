"""Links that drop or delay, followers that lag, a controller that hangs."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from kafka.protocol.admin.topics import CreateTopicsRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.emulator.control.status import render
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import CLIENTS, CONTROLLER, STOPPED, Drop, link
from tests.emulator.asking import address, ask
from tests.emulator.steps import create, opened, partition, replica, write

TOPIC = "orders"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        running.create_topic(TOPIC, assignment=[(1, 2, 3)])
        yield running


def _ends(cluster: Cluster) -> dict[int, int]:
    return {log.broker: log.log_end_offset for log in cluster.partition(TOPIC, 0).logs}


def _leader_by(cluster: Cluster, broker: int) -> int:
    """Return the leader as the metadata of one broker have it."""
    answer = ask(cluster, broker, MetadataRequest, 9, {"topics": [{"name": TOPIC}]})
    return int(answer.topics[0].partitions[0].leader_id)


def _fenced(broker: int) -> Callable[[Emulation], bool]:
    return lambda emulation: emulation.state.brokers[broker].fenced


def test_a_follower_that_is_cut_off_from_its_leader_gets_nothing_until_the_link_is_back(
    cluster: Cluster,
) -> None:
    cluster.drop_link(2, 1)
    cluster.produce(TOPIC, 0, 10, acks="1")
    assert _ends(cluster) == {1: 10, 2: 0, 3: 10}
    cluster.restore_link(1, 2)
    assert _ends(cluster) == {1: 10, 2: 10, 3: 10}


def test_a_leader_that_is_cut_off_from_the_controller_is_replaced_and_does_not_know(
    cluster: Cluster,
) -> None:
    """What it takes with acks=1 is lost: the classic of network partitions."""
    cluster.produce(TOPIC, 0, 10)
    cluster.drop_link(1, CONTROLLER)
    cluster.wait_until(_fenced(1))
    assert (cluster.partition(TOPIC, 0).leader, _leader_by(cluster, 1)) == (2, 1)
    assert _leader_by(cluster, 3) == 2
    cluster.produce(TOPIC, 0, [b"for nobody"], broker=1, acks="1")
    cluster.produce(TOPIC, 0, 2)
    assert _ends(cluster) == {1: 11, 2: 12, 3: 12}
    cluster.restore_link(1, CONTROLLER)
    assert _leader_by(cluster, 1) == 2
    assert _ends(cluster) == {1: 12, 2: 12, 3: 12}
    assert set(cluster.partition(TOPIC, 0).isr) == {1, 2, 3}


def test_who_has_not_heard_of_a_new_leader_goes_on_following_the_old_one(
    cluster: Cluster,
) -> None:
    for broker in (1, 3):
        cluster.drop_link(broker, CONTROLLER)
    cluster.wait_until(_fenced(1))
    cluster.produce(TOPIC, 0, 4, broker=1, acks="1")
    assert (cluster.partition(TOPIC, 0).leader, _ends(cluster)) == (2, {1: 4, 2: 0, 3: 4})


def test_sessions_begin_anew_when_the_controller_is_back(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    session = emulation.settings.session_timeout
    emulation.tick(100.0)
    emulation.faults.controller_down = True
    emulation.kill(emulation.brokers[2])
    emulation.tick(200.0)
    emulation.faults.controller_down = False
    emulation.tick(200.0 + session / 2)
    assert not emulation.state.brokers[2].fenced
    emulation.tick(200.0 + session * 2)
    assert emulation.state.brokers[2].fenced


def test_a_leader_without_the_controller_can_not_have_all_acknowledge(cluster: Cluster) -> None:
    cluster.drop_link(1, CONTROLLER)
    cluster.wait_until(_fenced(1))
    with pytest.raises(ValueError, match="REQUEST_TIMED_OUT"):
        cluster.produce(TOPIC, 0, 1, broker=1, timeout=0.1)


def test_a_broker_that_reaches_no_controller_does_not_start(cluster: Cluster) -> None:
    cluster.stop(4)
    cluster.drop_link(4, CONTROLLER)
    with pytest.raises(ValueError, match="reaches no controller"):
        cluster.start(4)
    cluster.restore_links()
    cluster.start(4)
    assert cluster.status().brokers[3].process == "running"


def test_what_was_deleted_meanwhile_is_gone_from_a_broker_that_is_back(cluster: Cluster) -> None:
    cluster.drop_link(3, CONTROLLER)
    cluster.delete_topic(TOPIC)
    directory = cluster.log_directory(3) / f"{TOPIC}-0"
    assert directory.exists()
    cluster.restore_link(3, CONTROLLER)
    assert not directory.exists()


def test_a_request_for_the_controller_is_carried_out_when_it_is_reached_again(
    cluster: Cluster,
) -> None:
    """Though whoever sent it is long gone: no time-out proves that nothing was done."""
    cluster.drop_link(4, CONTROLLER)
    content = struct.pack(">hhih", 19, 2, 1, -1) + struct.pack(">i", 1)
    content += struct.pack(">h4s", 4, b"late") + struct.pack(">ihii", 1, 1, 0, 0)
    content += struct.pack(">i?", 100, False)
    with socket.create_connection(address(cluster, 4)) as sock:
        sock.sendall(struct.pack(">i", len(content)) + content)
        sock.settimeout(0.2)
        with pytest.raises(TimeoutError):
            sock.recv(1)
    assert cluster.look(lambda e: e.state.topic("late")) is None
    cluster.restore_link(4, CONTROLLER)
    cluster.wait_until(lambda e: e.state.topic("late"), 10)


def test_while_the_controller_hangs_nobody_is_fenced_and_nothing_is_carried_out(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "kafka_unclean_recovery.emulator.listener.carrying_out.FORWARDING_SECONDS"
    monkeypatch.setattr(place, 0.1)
    cluster.pause_controller()
    topics = {"topics": [{"name": "more", "num_partitions": 1, "replication_factor": 1}]}
    answer = ask(cluster, 1, CreateTopicsRequest, 7, topics)
    assert (answer.topics[0].name, answer.topics[0].error_code) == ("more", 7)
    cluster.kill(2)
    session = cluster.options.settings.session_timeout
    begin = cluster.look(lambda e: e.now)
    cluster.wait_until(lambda e: e.now > begin + 2 * session)
    assert not any(broker.fenced for broker in cluster.status().brokers)
    assert _leader_by(cluster, 1) == 1
    cluster.resume_controller()
    cluster.wait_until(_fenced(2))
    assert not cluster.status().brokers[0].fenced
    assert set(cluster.partition(TOPIC, 0).isr) == {1, 3}


def test_a_slow_link_to_the_controller_keeps_old_metadata_for_that_long(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3))
    late: list[tuple[float, Callable[[], None]]] = []
    emulation.later = lambda seconds, do: late.append((seconds, do))
    emulation.faults.delay(link(3, CONTROLLER), 2.0)
    emulation.kill(emulation.brokers[1])
    emulation.expire(1)
    topic = emulation.seen_by(3).topic(TOPIC)
    assert topic is not None
    assert (topic.partitions[0].leader, partition(emulation).leader) == (1, 2)
    assert replica(emulation, 3).leader == 1
    ((seconds, deliver),) = late
    deliver()
    assert (seconds, replica(emulation, 3).leader) == (2.0, 2)
    assert emulation.seen_by(3) is emulation.state


def test_a_fetch_over_a_slow_link_brings_what_there_is_when_it_arrives(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    late: list[tuple[float, Callable[[], None]]] = []
    emulation.later = lambda seconds, do: late.append((seconds, do))
    emulation.faults.delay(link(1, 2), 0.5)
    write(emulation, 3)
    write(emulation, 4)
    assert (len(late), late[0][0]) == (1, 0.5)
    assert replica(emulation, 2).log.end_offset == 0
    late.pop()[1]()
    assert replica(emulation, 2).log.end_offset == 7
    # The next one tells the leader, and the one after it the follower.
    assert replica(emulation, 1).high_watermark == 0
    late.pop()[1]()
    assert (replica(emulation, 1).high_watermark, replica(emulation, 2).high_watermark) == (7, 0)
    late.pop()[1]()
    assert replica(emulation, 2).high_watermark == 7
    while late:
        late.pop()[1]()
    assert emulation.faults.in_flight == emulation.faults.arrived == set()


def test_a_fetch_that_finds_its_follower_dead_lets_no_later_one_pass(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    late: list[Callable[[], None]] = []
    emulation.later = lambda _, do: late.append(do)
    emulation.faults.delay(link(1, 2), 0.5)
    write(emulation, 3)
    emulation.kill(emulation.brokers[2])
    late.pop()()
    emulation.start(emulation.brokers[2])
    assert replica(emulation, 2).log.end_offset == 0
    late.pop()()
    assert replica(emulation, 2).log.end_offset == 3


def test_a_delay_is_as_long_as_it_says(cluster: Cluster) -> None:
    # The first fetch is on its way from then on, and brings what was written meanwhile.
    begin = time.monotonic()
    cluster.delay_link(1, 2, 0.3)
    cluster.produce(TOPIC, 0, 1, acks="1")
    cluster.wait_until(lambda e: [r for r in e.brokers[2].replicas.values() if r.log.end_offset])
    assert time.monotonic() - begin >= 0.3


def test_a_lagging_follower_stays_behind_by_whole_batches_and_catches_up(
    cluster: Cluster,
) -> None:
    cluster.lag(2, 25)
    cluster.produce(TOPIC, 0, 100, batch=10, acks="1")
    assert _ends(cluster) == {1: 100, 2: 70, 3: 100}
    cluster.lag(2, 0)
    assert _ends(cluster)[2] == 100


def test_a_follower_that_stops_fetching_one_partition_fetches_the_others(
    cluster: Cluster,
) -> None:
    cluster.create_topic("other", assignment=[(1, 2)])
    cluster.lag(2, STOPPED, TOPIC, 0)
    for topic in (TOPIC, "other"):
        cluster.produce(topic, 0, 10, acks="1")
    assert _ends(cluster)[2] == 0
    assert [log.log_end_offset for log in cluster.partition("other", 0).logs] == [10, 10]


def test_a_lagging_follower_leaves_the_isr_after_replica_lag_time_max(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3))
    emulation.tick(100.0)
    emulation.faults.lags[2, None] = STOPPED
    write(emulation, 5)
    assert replica(emulation, 1).high_watermark == 0
    emulation.tick(101.0 + emulation.settings.replica_lag_time_max)
    assert partition(emulation).isr == (1, 3)
    assert replica(emulation, 1).high_watermark == 5


def test_clients_that_lose_their_packets_get_their_answer_when_the_link_is_back(
    cluster: Cluster,
) -> None:
    cluster.drop_link(2, CLIENTS)
    with socket.create_connection(address(cluster, 2), timeout=0.2) as sock:
        sock.sendall(struct.pack(">ihhih", 10, 18, 0, 7, -1))
        with pytest.raises(TimeoutError):
            sock.recv(1)
        # A pause that ends meanwhile is no way around it.
        cluster.pause(2)
        cluster.resume(2)
        with pytest.raises(TimeoutError):
            sock.recv(1)
        cluster.restore_link(2, CLIENTS)
        sock.settimeout(10)
        assert sock.recv(4) != b""
    cluster.produce(TOPIC, 0, 1)
    assert _ends(cluster)[2] == 1


def test_clients_are_reset_and_refused_while_the_broker_replicates(cluster: Cluster) -> None:
    with socket.create_connection(address(cluster, 2), timeout=10) as sock:
        cluster.drop_link(2, CLIENTS, Drop.RESET)
        with suppress(ConnectionResetError):
            assert sock.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address(cluster, 2), timeout=10)
    cluster.produce(TOPIC, 0, 1)
    assert _ends(cluster)[2] == 1
    cluster.restore_link(2, CLIENTS)
    assert ask(cluster, 2, ApiVersionsRequest, 3, {}).error_code == 0


def test_a_link_to_clients_stays_down_over_a_restart(cluster: Cluster) -> None:
    cluster.drop_link(2, CLIENTS, Drop.RESET)
    cluster.kill(2)
    cluster.start(2)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address(cluster, 2), timeout=10)


def test_a_slow_link_to_clients_delays_answers(cluster: Cluster) -> None:
    cluster.delay_link(1, CLIENTS, 0.3)
    with ThreadPoolExecutor() as pool:
        begin = time.monotonic()
        slow = pool.submit(ask, cluster, 1, ApiVersionsRequest, 3, {})
        assert ask(cluster, 2, ApiVersionsRequest, 3, {}).error_code == 0
        assert slow.result().error_code == 0
    assert time.monotonic() - begin >= 0.3


def test_the_status_names_every_fault(cluster: Cluster) -> None:
    cluster.drop_link(1, CONTROLLER)
    cluster.drop_link(2, CLIENTS, Drop.RESET)
    cluster.delay_link(2, 3, 0.25)
    cluster.lag(3, 7, TOPIC, 0)
    cluster.lag(4)
    cluster.pause_controller()
    said = render(cluster.status()).splitlines()
    assert {
        "controller paused",
        "link 1 controller dropped how=silence",
        "link 2 clients dropped how=reset",
        "link 3 2 delayed ms=250",
        "broker 3 lags records=7 partition=orders-0",
        "broker 4 lags records=all",
    } <= set(said)
    cluster.resume_controller()
    cluster.restore_links()
    for broker in (3, 4):
        cluster.lag(broker, 0)
    cluster.lag(3, 0, TOPIC, 0)
    assert cluster.status().faults == ()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        pytest.param(lambda c: c.drop_link(1, 1), "something else", id="to itself"),
        pytest.param(lambda c: c.drop_link(CLIENTS, CONTROLLER), "something", id="no broker"),
        pytest.param(lambda c: c.drop_link(1, 9), "no broker 9", id="unknown broker"),
        pytest.param(lambda c: c.drop_link(1, 2, Drop.RESET), "only links to", id="reset"),
        pytest.param(lambda c: c.delay_link(1, 2, -1), "0 to 600", id="negative delay"),
        pytest.param(lambda c: c.lag(1, -1), "-1 records", id="negative lag"),
        pytest.param(lambda c: c.lag(9), "no broker 9", id="lag of nobody"),
        pytest.param(lambda c: c.lag(1, 1, "no", 0), "no partition no-0", id="lag of nothing"),
        pytest.param(lambda c: c.produce("no", 0, 1), "no partition no-0", id="no topic"),
        pytest.param(lambda c: c.produce(TOPIC, 0, 1, broker=2), "2 does not lead", id="follower"),
        pytest.param(lambda c: c.produce(TOPIC, 0, 1, acks="2"), "acks", id="acks"),
        pytest.param(lambda c: c.create_topic(TOPIC), "TOPIC_ALREADY_EXISTS", id="there"),
        pytest.param(lambda c: c.delete_topic("no"), "UNKNOWN_TOPIC", id="not there"),
        pytest.param(
            lambda c: c.elect_leaders("designated", TOPIC, 0, designated_leader=1),
            "start it as kip-966",
            id="designated",
        ),
        pytest.param(
            lambda c: c.alter_configs(TOPIC, {"min.insync.replicas": "x"}), "INVALID", id="config"
        ),
    ],
)
def test_what_can_not_be_is_refused(
    cluster: Cluster, wrong: Callable[[Cluster], None], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        wrong(cluster)
    assert cluster.status().faults == ()
