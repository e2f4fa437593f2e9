"""Making each fault happen."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import ElectionType, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.chaos.recipe import SURVIVORS
from tests.chaos.scenario import MISLEADING, REASSIGNED, REMADE, Fault, Scenario
from tests.chaos.tapped import TappedCluster
from tests.real.cluster import KafkaCluster
from tests.real.faults import reassign
from tests.real.metadata import QUIETLY, SILENT
from tests.real.watching import Watched

TIMEOUT = 30.0
# For one try of an admin client, and between two.
_TRY_SECONDS, _PAUSE_SECONDS = 5.0, 0.25
STOPPING = "stopping: the step in hand is finished first"
_QUOTA = "consumer_byte_rate"


def inject(tapped: TappedCluster, run: Watched | None, told: Scenario, spare: str) -> None:
    """Make the fault happen. run: who gets signals. `spare`: for what happens to a whole topic."""
    if told.fault in _BY_LINK:
        _BY_LINK[told.fault](tapped, told)
    elif told.fault in _BY_NODE:
        _BY_NODE[told.fault](tapped, told)
    elif told.fault is Fault.QUOTA:
        _quota(tapped, "--add-config", f"{_QUOTA}=100")
    elif told.fault in (Fault.NO_READER, *MISLEADING):
        pass  # As it was started.
    elif told.fault in _BY_SIGNAL:
        assert run is not None
        _signal(run, told.fault)
    else:
        _BY_TOPIC[told.fault](tapped, spare)


def heal_quota(tapped: TappedCluster) -> None:
    """Take the quota away, once the quorum is back."""
    _quota(tapped, "--delete-config", _QUOTA)


def _quota(tapped: TappedCluster, *change: str) -> None:
    """Set a quota for whoever has none of their own: 100 bytes a second, less than one lineage."""
    servers = ("--bootstrap-server", ",".join(map(tapped.cluster.address, SURVIVORS)))
    whose = ("--entity-type", "clients", "--entity-default")
    tapped.cluster.script("kafka-configs", *servers, "--alter", *change, *whose)


def _active(tapped: TappedCluster) -> list[int]:
    """Return the active controller, none when all are dead."""
    return _live_controllers(tapped) and [tapped.active_controller]


def _standby(tapped: TappedCluster) -> list[int]:
    """Return one standby, if any lives."""
    active = _active(tapped)
    return [node for node in _live_controllers(tapped) if node not in active][:1]


def _live_controllers(tapped: TappedCluster) -> list[int]:
    return list(filter(tapped.cluster.alive, tapped.cluster.spec.controller_ids))


def _each(
    do: Callable[[KafkaCluster, int], None], whom: Callable[[TappedCluster], list[int]]
) -> Callable[[TappedCluster, Scenario], None]:
    def to_all(tapped: TappedCluster, _: Scenario) -> None:
        for node in whom(tapped):
            do(tapped.cluster, node)

    return to_all


def _each_control(tapped: TappedCluster, told: Scenario) -> None:
    for tap in tapped.controls[told.broker]:
        if told.fault is Fault.CUT_CONTROL:
            tap.cut()
        else:
            tap.delay = told.delay


def _delay(tapped: TappedCluster, told: Scenario) -> None:
    tapped.clients[told.broker].delay = told.delay


def _return(tapped: TappedCluster, told: Scenario) -> None:
    tapped.cluster.start_node(told.broker, wait=not told.quietly)


def mislead(tapped: TappedCluster, told: Scenario) -> None:
    """Make an address lead astray, before the tool starts: it keeps the connections that it has."""
    if told.fault is Fault.UNLIST:
        tapped.unlist(told.broker)
    elif told.fault is Fault.SWAP_ADDRESSES:
        _swap_addresses(tapped, told)


def _swap_addresses(tapped: TappedCluster, told: Scenario) -> None:
    """Swap two brokers' addresses, or lead only that of one broker to the other."""
    (other,) = {*SURVIVORS} - {told.broker}
    tapped.lead_astray(told.broker, other)
    if not told.quietly:
        tapped.lead_astray(other, told.broker)


def _pause_broker(tapped: TappedCluster, told: Scenario) -> None:
    """Pause a broker, unless another fault has killed it."""
    if tapped.cluster.alive(told.broker):
        tapped.cluster.pause(told.broker)


def _signal(run: Watched, fault: Fault) -> None:
    if run.process.poll() is not None:
        return
    run.signal(_BY_SIGNAL[fault])
    if fault is Fault.SIGKILL:
        run.process.wait(TIMEOUT)
    elif fault is Fault.SECOND_SIGNAL:
        run.wait_for(STOPPING)
        run.signal(signal.SIGINT)
        run.process.wait(TIMEOUT)


def _ask_admin(
    tapped: TappedCluster, ask: Callable[[AdminClient], Future[Any]], done: Collection[int] = ()
) -> None:
    """Ask until it is done: a client asks some live broker, which may be cut off from the
    controllers. done: errors that a second try gets where the first was carried out after all."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        # To be kept until its answer is there.
        admin = AdminClient({**tapped.cluster.connection(), **QUIETLY}, logger=SILENT)
        try:
            ask(admin).result(_TRY_SECONDS)
        except (KafkaException, TimeoutError) as error:
            if isinstance(error, KafkaException) and error.args[0].code() in done:
                return
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _delete(tapped: TappedCluster, topic: str) -> None:
    _ask_admin(
        tapped,
        lambda admin: admin.delete_topics([topic], request_timeout=_TRY_SECONDS)[topic],
        (KafkaError.UNKNOWN_TOPIC_OR_PART,),
    )


def _remake(tapped: TappedCluster, topic: str) -> None:
    """Make the topic anew with other replicas: it shows when somebody writes the old ones."""
    _delete(tapped, topic)
    made = NewTopic(topic, 1, replica_assignment=[list(REMADE)])
    _ask_admin(
        tapped,
        lambda admin: admin.create_topics([made], request_timeout=_TRY_SECONDS)[topic],
        (KafkaError.TOPIC_ALREADY_EXISTS,),
    )


def _elect(tapped: TappedCluster, topic: str) -> None:
    """Elect whoever lives and comes first."""
    wanted = [TopicPartition(topic, 0)]
    _ask_admin(tapped, lambda admin: admin.elect_leaders(ElectionType.UNCLEAN, wanted))


def _configure(tapped: TappedCluster, topic: str, name: str, value: str) -> None:
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])

    def alter(admin: AdminClient) -> Future[None]:
        return admin.incremental_alter_configs([resource], request_timeout=_TRY_SECONDS)[resource]

    _ask_admin(tapped, alter)


def _add_partitions(tapped: TappedCluster, topic: str) -> None:
    more = NewPartitions(topic, 2, replica_assignment=[[3, 4, 2]])
    _ask_admin(
        tapped,
        lambda admin: admin.create_partitions([more], request_timeout=_TRY_SECONDS)[topic],
        (KafkaError.INVALID_PARTITIONS,),
    )


_BY_LINK: Mapping[Fault, Callable[[TappedCluster, Scenario], None]] = {
    Fault.CUT_LINK: lambda tapped, told: tapped.clients[told.broker].cut(),
    Fault.SEVER_LINK: lambda tapped, told: tapped.clients[told.broker].sever(),
    Fault.DELAY_LINK: _delay,
    Fault.CUT_CONTROL: _each_control,
    Fault.DELAY_CONTROL: _each_control,
}
_BY_NODE: Mapping[Fault, Callable[[TappedCluster, Scenario], None]] = {
    Fault.KILL_BROKER: lambda tapped, told: tapped.cluster.kill(told.broker),
    Fault.PAUSE_BROKER: _pause_broker,
    Fault.KILL_ACTIVE: _each(KafkaCluster.kill, _active),
    Fault.PAUSE_ACTIVE: _each(KafkaCluster.pause, _active),
    Fault.KILL_STANDBY: _each(KafkaCluster.kill, _standby),
    Fault.PAUSE_STANDBY: _each(KafkaCluster.pause, _standby),
    Fault.LOSE_QUORUM: lambda tapped, told: tapped.cluster.lose_quorum(
        active_survives=told.quietly
    ),
    Fault.RETURN_KILLED: _return,
    Fault.RETURN_STOPPED: _return,
}
_BY_SIGNAL = {
    Fault.SIGKILL: signal.SIGKILL,
    Fault.SIGTERM: signal.SIGTERM,
    Fault.SIGINT: signal.SIGINT,
    Fault.SECOND_SIGNAL: signal.SIGTERM,
    Fault.SIGHUP: signal.SIGHUP,
    Fault.SIGQUIT: signal.SIGQUIT,
}
_BY_TOPIC: Mapping[Fault, Callable[[TappedCluster, str], None]] = {
    Fault.DELETE_TOPIC: _delete,
    Fault.ALTER_CONFIG: lambda t, topic: _configure(t, topic, "max.message.bytes", "2000000"),
    Fault.UNCLEAN_CONFIG: lambda t, topic: _configure(
        t, topic, "unclean.leader.election.enable", "true"
    ),
    Fault.ADD_PARTITIONS: _add_partitions,
    Fault.REASSIGN: lambda tapped, topic: reassign(tapped.cluster, topic, REASSIGNED),
    Fault.ELECT: _elect,
    Fault.REMAKE_TOPIC: _remake,
}
