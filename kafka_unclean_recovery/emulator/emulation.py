"""An Emulation is a cluster that moves step by step: a controller and its brokers, without sockets.

Metadata reaches every running broker at once, and a step ends only when followers have fetched all
that they can. So the next request sees every change, except where `faults` keep it away. Times are
seconds of a clock that the caller reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count

from kafka_unclean_recovery.emulator.broker.broker import Broker, Process
from kafka_unclean_recovery.emulator.broker.groups import Group
from kafka_unclean_recovery.emulator.broker.metadata_publisher import MetadataPublisher
from kafka_unclean_recovery.emulator.broker.recoveries import Recoveries
from kafka_unclean_recovery.emulator.broker.replica import lagging
from kafka_unclean_recovery.emulator.broker.replica_fetchers import Later, ReplicaFetchers
from kafka_unclean_recovery.emulator.broker.share_groups import ShareGroup
from kafka_unclean_recovery.emulator.disks.log_directories import exchanged, wiped
from kafka_unclean_recovery.emulator.disks.metadata_log import MetadataLog
from kafka_unclean_recovery.emulator.disks.metadata_replicas import MetadataReplicas
from kafka_unclean_recovery.emulator.election_counts import ElectionCounts
from kafka_unclean_recovery.emulator.faults import STOPPED, Faults
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules import records as rec
from kafka_unclean_recovery.kraft_rules.fencing_order import order_by_hash
from kafka_unclean_recovery.kraft_rules.machine import handle
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import (
    State,
    snapshot,
)

# The number is ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE.
_PRODUCER_ID_BLOCK = 1000
# This is the default of broker.session.timeout.ms, in seconds.
_KAFKAS_SESSION = 9.0


@dataclass(frozen=True, slots=True)
class Settings:
    """The cluster's intervals in seconds. session_timeout: broker.session.timeout.ms (Kafka: 9).
    replica_lag_time_max: replica.lag.time.max.ms. checkpoint_interval: how often offsets are
    checkpointed. election_interval: unclean.leader.election.interval.ms and
    leader.imbalance.check.interval.seconds, which are both 300."""

    session_timeout: float = 0.5
    replica_lag_time_max: float = 30.0
    checkpoint_interval: float = 5.0
    election_interval: float = 300.0


class Emulation:
    """A cluster that moves step by step. It is not thread-safe: one thread owns it.

    `now`: the time of the last `tick`. `settled` is called when records or metadata may have moved.
    `later` calls a function after so many seconds; a caller that delays a link must set it.
    `fetched`: when each broker was last seen to have the metadata, and its end offset then,
    exclusive.
    """

    def __init__(
        self,
        state: State,
        log: MetadataLog,
        metadata: MetadataReplicas,
        cluster_id: str,
        brokers: Iterable[Broker],
        settings: Settings,
    ) -> None:
        self.state = state
        self.cluster_id = cluster_id
        self.brokers: Mapping[int, Broker] = {broker.id: broker for broker in brokers}
        self.settings = settings
        self.now = 0.0
        self.groups: dict[str, Group] = {}
        self.share_groups: dict[str, ShareGroup] = {}
        self.elections = ElectionCounts()
        # These ids differ from the ids that were given out before a restart, because the restart's
        # own records raise the end offset in between.
        self._producer_ids = count(_PRODUCER_ID_BLOCK * state.end_offset)
        self._log = log
        self._metadata = metadata
        self.settled: Callable[[], None] = lambda: None
        self._heard: dict[int, float] = {}
        self.fetched: dict[int, tuple[float, int]] = {}
        self._shrunk = 0.0
        self._checkpointed = 0.0
        self._elected = 0.0
        self.faults = Faults()
        self.later: Later = _no_clock
        # This is the metadata that a broker goes by while the controller's decisions do not reach
        # it.
        self._stale: dict[int, State] = {}
        reaches = self.faults.reaches_controller
        self._recoveries = Recoveries(state, self.brokers, self._commit, reaches)
        self._publisher = MetadataPublisher(
            state, self.brokers, self._stale, lambda: self.now, self.elections
        )
        self._fetchers = ReplicaFetchers(
            state,
            self.brokers,
            self.faults,
            self._stale,
            self._commit,
            now=lambda: self.now,
            later=lambda seconds, do: self.later(seconds, do),
            settle=self.replicate,
        )

    # The methods from here are about the controller.

    def happen(self, event: ev.Event) -> ev.AnyResponse:
        """Let an event happen and return its answer, after the brokers have done all that follows
        from it. Raises ControllerFault."""
        response = self._commit(event)
        self._recoveries.go_on()
        self._settle()
        return response

    def would_happen(self, event: ev.Event) -> ev.AnyResponse:
        """Return the answer that `happen` would give. Nothing changes."""
        return handle(self.state, event)[1]

    def _commit(self, event: ev.Event) -> ev.AnyResponse:
        records, response = handle(self.state, event)
        late = self.faults.delays or self.faults.metadata_lags
        if late and any(not isinstance(r, rec.IN_MEMORY) for r in records):
            self._hold_back()
        self._log.append(records)
        self._metadata.note(records)
        for record in records:
            self._publisher.publish(record)
        return response

    def new_producer_id(self) -> int:
        return next(self._producer_ids)

    # The methods from here are about brokers.

    def start(self, broker: Broker) -> None:
        """Start a broker as `starting` does, at once."""
        for _ in self.starting(broker):
            pass

    def starting(self, broker: Broker) -> Iterator[None]:
        """Start a broker: a new incarnation registers, reads its log directories, one replica per
        step, and is unfenced, unless it is killed before.

        If the controller still believes that the last incarnation is alive, its session ends first;
        a real broker waits for that.
        """
        if not self.faults.reaches_controller(broker.id):
            raise ValueError(f"broker {broker.id} can't register: it reaches no controller")
        self._stale.pop(broker.id, None)
        previous = broker.boot()
        if not broker.can_start:
            raise ValueError(
                f"broker {broker.id} can't start without {broker.directory}, which was lost and"
                " holds its metadata log: wipe it first"
            )
        registration = ev.RegisterBroker(
            broker.id, broker.incarnation_id, previous, broker.online_directory_ids()
        )
        response = self.happen(registration)
        if response.error == Errors.DUPLICATE_BROKER_REGISTRATION:
            self.happen(ev.SessionExpired(broker.id))
            response = self.happen(registration)
        if not isinstance(response, ev.RegisterBrokerResponse) or response.error:
            raise RuntimeError(f"broker {broker.id} can't register: {response}")
        broker.epoch = response.broker_epoch
        broker.process = Process.STARTING
        yield from broker.loading({id_: topic.name for id_, topic in self.state.topics.items()})
        if broker.process is Process.STARTING and broker.epoch == response.broker_epoch:
            self._resume(broker)

    def resume(self, broker: Broker) -> None:
        """Resume a broker (SIGCONT), which catches up on what it missed."""
        self._resume(broker)

    def _resume(self, broker: Broker) -> None:
        broker.process = Process.RUNNING
        self._catch_up(broker)
        self._heartbeat(broker)
        self._settle()

    def _catch_up(self, broker: Broker) -> None:
        """Let a broker apply all metadata that it missed, unless a fault keeps it away."""
        if broker.id in self._stale:
            return
        self._metadata.catch_up(broker.directory)
        self._publisher.catch_up(broker)

    def pause(self, broker: Broker) -> None:
        broker.process = Process.PAUSED

    def kill(self, broker: Broker) -> None:
        """Kill a broker (SIGKILL). All that was written is in the page cache, and so on the disk;
        its memory is gone."""
        broker.die()

    def power_off(self, broker: Broker) -> None:
        """Kill a broker's machine, which loses all that was not synced."""
        broker.lose_unflushed()
        broker.die()

    def lose_disk(self, broker: Broker, index: int) -> None:
        """Let a log directory fail. The controller hears of it by the next heartbeat."""
        broker.lose_directory(index)
        if broker.running:
            self._heartbeat(broker)

    def wipe(self, broker: Broker, index: int) -> None:
        """Replace a disk of a broker that is down by an empty one."""
        broker.directories[index] = wiped(broker.directories[index], broker.id, self.cluster_id)

    def exchange_disk(self, broker: Broker, index: int) -> None:
        """Exchange a disk of a broker that is down with its spare one."""
        broker.directories[index] = exchanged(broker.directories[index], broker.id, self.cluster_id)

    def stop(self, broker: Broker) -> None:
        """Stop a broker by a controlled shutdown. It waits for the other brokers, unless one of
        them is stuck: then it gives up waiting as a real broker does, only sooner. Without a
        controller its leaders don't move."""
        for _ in range(2):
            response = self._heartbeat(broker, want_shut_down=True)
            if response.should_shut_down:
                break
            for other in self.brokers.values():
                if other.running and other is not broker:
                    self._heartbeat(other)
        if broker.running:
            broker.shut_down()
            broker.die()

    def drain(self, broker: Broker) -> None:
        """Begin a controlled shutdown, which ends as soon as the controller lets the broker go:
        every other active broker must know of the leaders that moved. Until then it runs, is
        listed as live, and can't be elected."""
        broker.want_shut_down = True
        self._heartbeat(broker)

    def fence(self, broker: Broker) -> None:
        """Fence a broker, which goes on running, and asks to be fenced until `unfence`."""
        broker.want_fence = True
        self._heartbeat(broker)

    def unfence(self, broker: Broker) -> None:
        broker.want_fence = False
        self._heartbeat(broker)

    def _heartbeat(self, broker: Broker, *, want_shut_down: bool = False) -> ev.HeartbeatResponse:
        """Send a heartbeat and return the answer, an error if the controller is out of reach."""
        if not self.faults.reaches_controller(broker.id):
            return ev.HeartbeatResponse(Errors.NOT_CONTROLLER)
        self._heard[broker.id] = self.now
        response = self.happen(
            ev.Heartbeat(
                broker.id,
                broker.epoch,
                self.seen_by(broker.id).end_offset - 1,
                broker.want_fence,
                want_shut_down or broker.want_shut_down,
                broker.failed_directory_ids(),
            )
        )
        assert isinstance(response, ev.HeartbeatResponse)
        self.fetched[broker.id] = self.now, self.seen_by(broker.id).end_offset
        if broker.want_shut_down and response.should_shut_down:
            broker.shut_down()
            broker.die()
        return response

    def expire(self, broker: int) -> None:
        """End a broker's session, as if no heartbeat and no fetch had come for a session's length,
        and for that of Kafka where this cluster's is shorter."""
        self._heard.pop(broker, None)
        silent = max(self.settings.session_timeout, _KAFKAS_SESSION)
        _, end_offset = self.fetched.get(broker, (0.0, 0))
        self.fetched[broker] = self.now - silent, end_offset
        self.happen(ev.SessionExpired(broker))

    def unregister(self, broker: Broker) -> None:
        """Unregister a broker that is down. Raises ValueError when it is not registered."""
        self._heard.pop(broker.id, None)
        self.fetched.pop(broker.id, None)
        response = self.happen(ev.UnregisterBroker(broker.id))
        if getattr(response, "error", Errors.NONE) is not Errors.NONE:
            raise ValueError(f"broker {broker.id} is not registered")

    # The methods from here are about time.

    def tick(self, now: float) -> None:
        """Do everything that is due because time has passed. The caller calls this several times
        per session."""
        self.now = now
        if now - self._checkpointed >= self.settings.checkpoint_interval:
            self._checkpointed = now
            self.checkpoint()
        if self.faults.controller_down:
            # Sessions begin anew when the controller is back.
            self._heard = dict.fromkeys(self._heard, now)
            return
        for broker in self.brokers.values():
            if broker.running:
                self._heartbeat(broker)
        for id_ in self._ended():
            self.expire(id_)
        if now - self._shrunk >= self.settings.replica_lag_time_max / 2:
            self._shrunk = now
            self._shrink_isrs()
        if now - self._elected >= self.settings.election_interval:
            self._elected = now
            self.happen(ev.ElectUncleanLeaders())
            self.happen(ev.BalanceLeaders())
        self._recoveries.tick(now)
        self._settle()

    def _ended(self) -> list[int]:
        """Return the brokers whose sessions are over, in the order in which they are fenced."""
        timeout = self.settings.session_timeout
        ended = [id_ for id_, heard in self._heard.items() if self.now - heard > timeout]
        if not self.state.release.session_outlives_fencing:
            return ended
        tracked = order_by_hash(self.state.contacts.items())
        return sorted(ended, key=lambda id_: tracked.index(id_) if id_ in tracked else -1)

    def next_session_end(self) -> float:
        """Return when the next session ends, unless its broker is heard of before."""
        return min(self._heard.values(), default=float("inf")) + self.settings.session_timeout

    def checkpoint(self) -> None:
        for broker in self.brokers.values():
            if broker.running:
                broker.checkpoint()

    def _shrink_isrs(self) -> None:
        for broker in self.brokers.values():
            if broker.running:
                self._shrink(broker)

    def _shrink(self, broker: Broker) -> None:
        for replica in list(broker.replicas.values()):
            if not replica.leads or len(replica.isr) == 1:
                continue
            lost = lagging(replica, self.now, self.settings.replica_lag_time_max)
            if lost:
                isr = [member for member in replica.isr if member not in lost]
                self._fetchers.propose(broker, replica, isr)
                self._settle()

    # The methods from here look up brokers and partitions.

    def broker(self, id_: int) -> Broker:
        """Return a broker. Raises ValueError when it does not exist."""
        if id_ not in self.brokers:
            raise ValueError(f"there is no broker {id_}")
        return self.brokers[id_]

    def broker_that_is(self, process: Process, id_: int) -> Broker:
        """Return a broker. Raises ValueError unless its process is in this state."""
        broker = self.broker(id_)
        if broker.process is not process:
            raise ValueError(f"broker {id_} is {broker.process.value}, not {process.value}")
        return broker

    def partition_key(self, topic: str, partition: int) -> TopicIdPartition:
        """Return the key of a partition. Raises ValueError when it does not exist."""
        found = self.state.topic(topic)
        if found is None or partition not in found.partitions:
            raise ValueError(f"there is no partition {topic}-{partition}")
        return TopicIdPartition(found.topic_id, partition)

    # The methods from here are about the metadata that reaches a broker.

    def seen_by(self, broker: int) -> State:
        """Return the metadata that a broker goes by."""
        return self._stale.get(broker, self.state)

    def _hold_back(self) -> None:
        """Let brokers behind a slow link, or with a metadata lag, learn later of the records that
        are about to be committed."""
        for broker in self.brokers.values():
            seconds = self.faults.metadata_delay(broker.id)
            if seconds != 0 and broker.running and broker.id not in self._stale:
                self._stale[broker.id] = snapshot(self.state)
                if seconds is not STOPPED:
                    self.later(seconds, partial(self.hear, broker))

    def lose_sight(self, broker: Broker) -> None:
        """Cut a broker off from what the controller decides from now on."""
        self._stale.setdefault(broker.id, snapshot(self.state))

    def hear(self, broker: Broker) -> None:
        """Let a broker catch up, if the metadata that it missed reaches it now."""
        lags = self.faults.metadata_delay(broker.id) is STOPPED
        if lags or not self.faults.reaches_controller(broker.id):
            return
        self._stale.pop(broker.id, None)
        if broker.running:
            self._catch_up(broker)
            self._heartbeat(broker)
            self._settle()

    def settle_all(self) -> None:
        """Let followers of every partition fetch all they can, because a fault may have ended."""
        self._publisher.unsettled |= dict.fromkeys(self._publisher.partitions(None))
        self._settle()

    # The methods from here are about replication.

    def replicate(self, key: TopicIdPartition) -> None:
        """Let the followers of a partition fetch what there is, with all that follows from it."""
        self._publisher.unsettled[key] = None
        self._settle()

    def _settle(self) -> None:
        self._tell_directories()
        unsettled = self._publisher.unsettled
        moved = bool(unsettled)
        while unsettled:
            key = next(iter(unsettled))
            del unsettled[key]
            self._fetchers.replicate(key)
            self._tell_directories()
        reached = (b for b in self.brokers.values() if b.running and b.id not in self._stale)
        self._metadata.write(broker.directory for broker in reached)
        if moved:
            self.settled()

    def _tell_directories(self) -> None:
        while self._publisher.elsewhere:
            (id_, key), directory = self._publisher.elsewhere.popitem()
            topic = self.state.topics.get(key.topic_id)
            if topic is not None:
                epoch = self.brokers[id_].epoch
                self._commit(
                    ev.AssignReplicaToDir(id_, epoch, topic.name, key.partition, directory)
                )


def _no_clock(_: float, __: Callable[[], None]) -> None:
    raise RuntimeError("something is delayed, and nobody has said how to wait")
