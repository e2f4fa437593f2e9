"""A dead member of the ELR is waited for: what it brings back is not elected, the rest is."""

from __future__ import annotations

from collections.abc import Callable

from kafka.protocol.admin.configs import IncrementalAlterConfigsRequest

from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.cluster import KafkaCluster
from tests.real.faults import state_of, trouble
from tests.real.outages import Outage
from tests.real.recipes import TOPIC
from tests.real.trouble_recipe import LEAVING, REBORN
from tests.real.waiting import wait_until
from tests.real.watching import Commands, outcomes

# Of IncrementalAlterConfigs.
_TOPIC, _SET = 2, 0
BY_ITSELF = ("already_online", "came back by itself: its leader was in the ISR or ELR")
# What the look before tells of one that was killed: its start takes it out of the ELR.
EITHER = (
    "already_online",
    "came back by itself: its leader was in the ELR, or is the last known leader",
)
# Where the last look before fell between broker 1's registration, which takes it out of the ELR,
# and its election.
LAST_KNOWN = (
    "already_online",
    "came back by itself: the controller elected the last known leader",
)


def _forget_who_was_eligible(cluster: KafkaCluster, topic: str) -> None:
    """Change min.insync.replicas, after which the last leader's return elects nobody."""
    resource = {
        "resource_type": _TOPIC,
        "resource_name": topic,
        "configs": [{"name": "min.insync.replicas", "config_operation": _SET, "value": "2"}],
    }
    host, _, port = cluster.address(cluster.live_brokers[0]).rpartition(":")
    with Wire(host, int(port)) as wire:
        answer = wire.ask(build(IncrementalAlterConfigsRequest, {"resources": [resource]}), 1)
    assert [response.error_code for response in answer.responses] == [0]
    wait_until(lambda: not state_of(cluster, topic, 0).elr, 30, lambda: f"no ELR of {topic}")


def test_what_comes_back_cleanly_needs_no_election_and_the_rest_gets_one(
    restored: Callable[[Outage], KafkaCluster], commands: Commands
) -> None:
    cluster = restored(trouble())
    _forget_who_was_eligible(cluster, LEAVING)
    wanted = str(commands.partitions_file({TOPIC: [0, 1], LEAVING: [0], REBORN: [0]}))
    which = ("--path-to-json-file", wanted, "--automated-recovery", "--format", "json")
    wait = ("--wait-for-brokers", "1", "--recovery-duration-ms", "120000")
    run = commands.start("--bootstrap-server", cluster.bootstrap_servers, *which, *wait)
    run.wait_for(
        "waiting for broker 1: could make 3 partitions lossless, 1 unknown, if its log is whole\n"
    )
    cluster.start_node(1)
    done = run.finish()
    assert done.code == 0, done.stderr
    assert "broker 1 is back\n" in done.stderr
    assert "3 partitions have a leader again without an election here; 1 left\n" in done.stderr
    back = outcomes(done, TOPIC) | {REBORN: outcomes(done, REBORN)[0]}
    assert back.keys() == {0, 1, REBORN}
    assert set(back.values()) <= {BY_ITSELF, EITHER, LAST_KNOWN}
    assert outcomes(done, LEAVING) == {0: ("elected", None)}
    # Planned on what is there now: the one that came back is among those that answered.
    (row,) = done.partitions(LEAVING).values()
    assert {log["broker"]: log["live"] for log in row["replica_logs"]} == {
        1: True,
        2: False,
        4: True,
        3: True,
    }
    assert [waiting["broker"] for waiting in row["waiting"]] == [2]
    assert {row["leader"] for row in done.partitions(TOPIC).values()} == {1}
