"""What changes between the plan and the election, while the tool asks whether to elect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from confluent_kafka.admin import AdminClient

from tests.real.cluster import KafkaCluster
from tests.real.faults import Trouble, state_of
from tests.real.metadata import QUIETLY
from tests.real.outages import Outage, last_replica_standing
from tests.real.recipes import TOPIC
from tests.real.records import consume_all, create_topic
from tests.real.releases import TESTED
from tests.real.tap import ELECT_LEADERS, Gate
from tests.real.test_wait_for_brokers import BY_ITSELF, EITHER
from tests.real.trouble_recipe import ON_3, ON_4, REBORN, SHORT_LIVED
from tests.real.waiting import wait_until
from tests.real.watching import PROMPT, Commands, Watched, outcomes


def at_the_prompt(commands: Commands, server: str, wanted: Mapping[str, Sequence[int]]) -> Watched:
    path = str(commands.partitions_file(wanted))
    which = ("--path-to-json-file", path, "--automated-recovery", "--format", "json")
    run = commands.start("--bootstrap-server", server, *which, terminal=True)
    run.wait_for(PROMPT)
    return run


@pytest.mark.parametrize("noticed", [False, True], ids=["unnoticed", "fenced"])
def test_a_designated_broker_that_died_meanwhile_is_not_elected_nor_is_another(
    troubled: Trouble, commands: Commands, noticed: bool
) -> None:
    cluster = troubled.cluster
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    run = at_the_prompt(commands, cluster.address(4), {TOPIC: partitions})
    cluster.kill(3)
    if noticed:
        cluster.wait_until_fenced({3})
    run.agree()
    done = run.finish()
    assert done.code == 1
    for outcome, reason in outcomes(done, TOPIC).values():
        assert outcome == "refused"
        assert reason is not None
        assert ("dead or fenced" if noticed else "broker 3 does not answer any more") in reason
    assert troubled.leaders(partitions) == {-1}
    troubled.wait_for_orders(before)


def test_a_designated_broker_that_dies_in_the_last_moment_is_never_reported_as_elected(
    troubled: Trouble, commands: Commands
) -> None:
    cluster = troubled.cluster
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    gate = Gate(ELECT_LEADERS)
    with troubled.tapped(4, gate) as address:
        wanted = str(commands.partitions_file({TOPIC: partitions}))
        which = ("--path-to-json-file", wanted, "--automated-recovery", "--format", "json")
        run = commands.start("--bootstrap-server", address, *which)
        gate.wait(lambda: run.stderr)
        cluster.kill(3)
        cluster.wait_until_fenced({3})
        gate.open()
        done = run.finish()
    assert done.code == 1
    instead = "broker 4 leads instead of the designated 3"
    lacks = f"{ON_3 - ON_4} records that brokers told of in this run are not in the log of broker 4"
    found = outcomes(done, TOPIC)
    assert found.keys() == set(partitions)
    for outcome, reason in found.values():
        assert outcome == "failed"
        assert (reason or "").startswith(f"{instead}; {lacks}")
    assert instead in done.stderr
    troubled.wait_for_orders(before)


@pytest.mark.parametrize("version", TESTED)
def test_a_partition_whose_last_leader_returned_meanwhile_is_already_online(
    restored: Callable[[Outage], KafkaCluster], commands: Commands, version: str
) -> None:
    cluster = restored(last_replica_standing(version))
    partitions = range(24)
    run = at_the_prompt(commands, cluster.address(3), {TOPIC: partitions})
    cluster.start_node(1)
    cluster.wait_until_partitions(TOPIC, lambda p: p.leader == 1)
    orders = {n: p.replicas for n, p in cluster.view(3).topics[TOPIC].items()}
    run.agree()
    done = run.finish()
    assert done.code == 0, done.stderr
    # Without ELR the last leader stays in the ISR; in kip-966 mode a member of the ELR is not the
    # last known leader, too.
    by_itself = {BY_ITSELF} if version == "3.9.1" else {BY_ITSELF, EITHER}
    found = outcomes(done, TOPIC)
    assert found.keys() == set(partitions)
    assert set(found.values()) <= by_itself
    seen = cluster.view(3).topics[TOPIC]
    assert {partition.leader for partition in seen.values()} == {1}
    assert {number: partition.replicas for number, partition in seen.items()} == orders
    assert len(consume_all(cluster.connection(), TOPIC, 0)) == 2500


def test_a_last_leader_that_an_unclean_start_took_out_of_the_elr_comes_back_all_the_same(
    restored: Callable[[Outage], KafkaCluster], commands: Commands
) -> None:
    cluster = restored(last_replica_standing())
    cluster.start_node(1, wait=False)
    wait_until(lambda: not state_of(cluster, TOPIC, 0).elr, 30, lambda: "broker 1 registered")
    cluster.kill(1)
    cluster.wait_until_partitions(TOPIC, lambda p: p.offline)
    assert state_of(cluster, TOPIC, 0).last_known_elr == (1,)
    run = at_the_prompt(commands, cluster.address(3), {TOPIC: [0]})
    cluster.start_node(1)
    cluster.wait_until_partitions(TOPIC, lambda p: p.leader == 1)
    run.agree()
    done = run.finish()
    assert done.code == 0, done.stderr
    by_itself = "came back by itself: the controller elected the last known leader"
    assert outcomes(done, TOPIC) == {0: ("already_online", by_itself)}


def test_topics_deleted_or_made_anew_meanwhile_are_refused_and_the_others_elected(
    troubled: Trouble, commands: Commands
) -> None:
    cluster = troubled.cluster
    partitions = troubled.take(2)
    wanted = {TOPIC: partitions, SHORT_LIVED: [0], REBORN: [0]}
    run = at_the_prompt(commands, cluster.address(4), wanted)
    client = AdminClient({**cluster.connection(), **QUIETLY})
    for deleted in client.delete_topics([SHORT_LIVED, REBORN]).values():
        deleted.result(10)
    create_topic(cluster.connection(), REBORN, [[4, 3]])
    cluster.wait_until_partitions(REBORN, lambda p: p.leader == 4)
    run.agree()
    done = run.finish()
    assert done.code == 1
    assert outcomes(done, SHORT_LIVED) == {0: ("refused", "it no longer exists")}
    anew = "its topic was deleted and created again"
    assert outcomes(done, REBORN) == {0: ("refused", anew)}
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("elected", None))
    assert troubled.leaders([0], REBORN) == {4}
    troubled.wait_for_leader(partitions, 3)
    connection = cluster.connection(brokers=[3])
    assert ON_4 < len(consume_all(connection, TOPIC, partitions[0])) == ON_3
