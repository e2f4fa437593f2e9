"""A quorum that lives is told by the brokers that run, whether they are named or known from the
copies. On the emulator, whose brokers have the metadata log on their disks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.metadata_quorum.led import Led, Running, whether_led
from tests.log_dir.cluster_metadata_encoder import register
from tests.metadata_quorum.disks import CONTROLLERS, METADATA, SEGMENT, static_log, write_node
from tests.metadata_quorum.planning import ALL_LOST, codes, plan


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2)])
        yield cluster


def _asked(cluster: Cluster) -> Led:
    brokers = [Running(address) for address in parse_bootstrap(cluster.bootstrap_servers)]
    return asyncio.run(whether_led(brokers, None, ClientConfig(), Deadline.after(10.0)))


def test_a_quorum_that_answers_through_a_broker_leads(cluster: Cluster) -> None:
    found = _asked(cluster)
    assert len(found.led) == 2
    assert "leads in epoch" in found.led[0]


def test_one_that_is_silent_does_not(cluster: Cluster) -> None:
    cluster.pause_controller()
    try:
        assert _asked(cluster) == Led()
    finally:
        cluster.resume_controller()


def test_metadata_that_goes_on_shows_a_leader_where_nobody_may_ask(cluster: Cluster) -> None:
    for broker in (1, 2):
        cluster.intercept(
            "DescribeQuorum", Fail(Errors.UNKNOWN_SERVER_ERROR), broker=broker, times=99
        )
    over = Event()

    def write() -> None:
        for number in count():
            if over.wait(0.1):
                return
            cluster.alter_configs("orders", {"retention.ms": str(number)})

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            found = _asked(cluster)
        finally:
            over.set()
        writing.result()
    assert len(found.led) == 2
    assert "goes on to apply what a controller writes" in found.led[0]


def test_a_refusal_is_no_answer_where_an_idle_controller_writes_nothing(cluster: Cluster) -> None:
    refusal = Fail(Errors.CLUSTER_AUTHORIZATION_FAILED)
    for broker in (1, 2):
        cluster.intercept("DescribeQuorum", refusal, broker=broker, times=99)
    found = _asked(cluster)
    assert found.led == ()
    assert len(found.not_told) == 2
    assert "CLUSTER_AUTHORIZATION_FAILED" in found.not_told[0]


def test_a_closed_port_is_a_dead_broker_and_a_name_that_leads_nowhere_is_unknown() -> None:
    brokers = [Running(("127.0.0.1", 1), 1), Running(("b2.invalid", 9092), 2)]
    found = asyncio.run(whether_led(brokers, None, ClientConfig(), Deadline.after(10.0)))
    assert found.led == ()
    (why,) = found.not_told
    assert why.startswith("b2.invalid:9092: ")


def test_a_broker_that_speaks_another_protocol_is_not_asked() -> None:
    brokers = [Running(("127.0.0.1", 1), 1, "SASL_SSL")]
    found = asyncio.run(whether_led(brokers, None, ClientConfig(), Deadline.after(10.0)))
    (why,) = found.not_told
    assert "it speaks SASL_SSL" in why


@pytest.mark.parametrize("named", [True, False], ids=["named", "known from the copies"])
def test_a_plan_beside_a_quorum_that_lives_is_refused(
    cluster: Cluster, tmp_path: Path, named: bool
) -> None:
    """Its controller is at a name that leads nowhere from here."""
    disks = tmp_path / "disks"
    for broker in (1, 2):
        home = write_node(disks, broker, static_log(), cluster=cluster.look(lambda e: e.cluster_id))
        at = parse_bootstrap(cluster.bootstrap_servers)
        registered = (register(1 + n, 50 + n, at=address) for n, address in enumerate(at))
        log = static_log().and_then(1, *registered)
        (home / METADATA / SEGMENT).write_bytes(b"".join(log.encoded()))
    voters = ",".join(f"{id_}@c{id_}.invalid:9093" for id_ in CONTROLLERS)
    gone = ("--controller-quorum-voters", voters, "--unreachable-controllers", "101,102,103")
    asked = ("--bootstrap-server", cluster.bootstrap_servers) if named else ()
    done = plan(disks, *ALL_LOST, *gone, *asked)
    assert done.code == 1, done.stderr
    assert "quorum_lives" in codes(done)
    assert not (tmp_path / "plan.json").exists()
