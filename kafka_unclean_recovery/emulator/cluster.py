"""A Cluster is an emulated cluster that runs in a thread of its own, for real clients."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from kafka_unclean_recovery.emulator import administration
from kafka_unclean_recovery.emulator.control.metrics import Metrics, metrics
from kafka_unclean_recovery.emulator.control.status import (
    PartitionStatus,
    Status,
    partition_status,
    status,
)
from kafka_unclean_recovery.emulator.core import Core
from kafka_unclean_recovery.emulator.disks.damage import Damage, Damaged
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import STOPPED, Drop
from kafka_unclean_recovery.emulator.listener.intercepts import Action, Decide, Interception
from kafka_unclean_recovery.emulator.options import Options
from kafka_unclean_recovery.kraft_rules.events import ElectionType

T = TypeVar("T")

_RECORDS_A_BATCH = 100
_TIMEOUT = 30.0


class Cluster:
    """An emulated cluster, as a context manager. Methods may be called from any thread, and return
    when their work is done.

    Brokers are numbered from 1. At the end every broker that still runs is stopped in order. A
    method raises ValueError for a broker that does not exist or whose state does not allow the
    call, and for a request that the cluster refuses. Times are seconds.
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="emulated cluster", daemon=True
        )
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._core: Core | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._core = self._call(Core.open(self.options, self._data_dir()))
            self._call(self._core.start_all(self.options.running))
        except BaseException:
            self._end_thread()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._call(self._running_core.close())
        finally:
            self._end_thread()

    @property
    def opened(self) -> bool:
        """Return whether the cluster can be looked at. Brokers may still be starting."""
        return self._core is not None

    @property
    def bootstrap_servers(self) -> str:
        """Return the HOST:PORT of every broker, also of dead ones, with commas between them."""
        addresses = self._running_core.addresses.values()
        return ",".join(f"{host}:{port}" for host, port in addresses)

    def log_directory(self, broker: int) -> Path:
        """Return the broker's first log directory, whether the broker is alive or not."""
        return self._running_core.broker(broker).directory

    def log_directories(self, broker: int) -> list[Path]:
        """Return all log directories of the broker; the first also holds the metadata log."""
        return [each.path for each in self._running_core.broker(broker).directories]

    def kill(self, broker: int) -> None:
        """Kill the broker (SIGKILL), uncleanly: all that was written stays on the disk."""
        self._call(self._running_core.kill(broker))

    def power_off(self, *brokers: int) -> None:
        """Kill the brokers' machines at once, which lose records that were never synced. Brokers
        sync when they stop in order, or by `flush`. Their sessions end together, and the controller
        fences them in the order in which a real one does."""
        self._call(self._running_core.power_off(brokers))

    def stop(self, broker: int) -> None:
        """Stop the broker by a controlled shutdown, which leaves a clean-shutdown file."""
        self._call(self._running_core.stop(broker))

    def drain(self, broker: int) -> None:
        """Begin a controlled shutdown of the broker, and do not wait: it runs, and can't be
        elected, until every other broker has heard of the leaders that moved away from it."""
        self._call(self._running_core.drain(broker))

    def start(self, broker: int) -> None:
        self._call(self._running_core.start(broker))

    def pause(self, broker: int) -> None:
        """Pause the broker (SIGSTOP). It hangs, and counts as alive until its session ends."""
        self._call(self._running_core.pause(broker))

    def resume(self, broker: int) -> None:
        self._call(self._running_core.resume(broker))

    def fence(self, broker: int) -> None:
        """Fence the broker at once. The session of a dead or paused broker ends; a running broker
        stays fenced until `unfence`."""
        self._call(self._running_core.fence(broker))

    def unfence(self, broker: int) -> None:
        self._call(self._running_core.unfence(broker))

    def unregister_broker(self, broker: int) -> None:
        """Unregister a broker that is down, as one that is lost for good: the controller refuses
        every list of replicas that names it, until it starts again."""
        self._call(self._running_core.unregister_broker(broker))

    def flush(self, broker: int) -> None:
        """Sync the broker's records and checkpoint its offsets."""
        self._call(self._running_core.flush(broker))

    def lose_disk(self, broker: int, index: int = 0) -> None:
        """Let a log directory fail with all that is on it, whether the broker runs or is down.
        Without the first one, which holds the metadata log, a broker dies, and starts again only
        after that directory is wiped."""
        self._call(self._running_core.lose_disk(broker, index))

    def wipe(self, broker: int, index: int = 0) -> None:
        """Replace a disk of a broker that is down by a new, empty one."""
        self._call(self._running_core.wipe(broker, index))

    def exchange_disk(self, broker: int, index: int = 0) -> None:
        """Exchange a disk of a broker that is down with its spare one, which is empty at first. To
        do it again puts the first disk back, with all that it held then."""
        self._call(self._running_core.exchange_disk(broker, index))

    def corrupt_disk(
        self,
        broker: int,
        topic: str | None = None,
        partition: int = 0,
        *,
        damage: Damage = Damage.FLIP,
        seed: int = 0,
    ) -> Damaged:
        """Flip one bit, or cut off the end, in the segment of a replica of a broker that is down,
        and return what was damaged. Without a topic any replica that holds records is damaged; the
        seed chooses. After an unclean stop the broker that starts cuts the log at the damage."""
        only = None if topic is None else (topic, partition)
        return self._call(self._running_core.corrupt_disk(broker, damage, seed, only))

    # The methods from here make topics, records and elections.

    def create_topic(
        self,
        name: str,
        partitions: int | None = None,
        replication_factor: int | None = None,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """Create a topic, by default with one partition on one broker. `assignment` gives the
        replicas of each partition, the preferred leader first, instead of the two numbers."""
        numbers = (partitions, replication_factor)
        core = self._running_core
        self._call(
            administration.create_topic(
                core.control.anyone(), name, *numbers, assignment, configs or {}
            )
        )

    def delete_topic(self, name: str) -> None:
        self._call(administration.delete_topic(self._running_core.control.anyone(), name))

    def alter_configs(self, topic: str | None, configs: Mapping[str, str | None]) -> None:
        """Set configs of a topic, or of all brokers if it is None. A None value removes one."""
        self._call(
            administration.alter_configs(self._running_core.control.anyone(), topic, configs)
        )

    def produce(
        self,
        topic: str,
        partition: int,
        records: int | Sequence[bytes],
        *,
        acks: str = "all",
        batch: int = _RECORDS_A_BATCH,
        broker: int | None = None,
        timeout: float = _TIMEOUT,
    ) -> int:
        """Write values through the leader, `batch` at a time, and return their first offset.

        If `records` is a number, so many values are made that tell their offset and leader: b"7 led
        by 1". acks: all, 1 or 0. `broker` names a broker that believes it leads, though the
        controller may have another leader.
        """
        wanted = self._running_core.control.produce(
            topic, partition, records, acks, batch, broker, timeout
        )
        return self._call(wanted)

    def share_group(
        self,
        group: str,
        topic: str,
        partition: int,
        start: int,
        done: tuple[int, int] = (0, 0),
    ) -> None:
        """Put a share group where it is done with all up to `start`, exclusive, and beyond that
        with `done`, [first, end), as the partition's leader would have noted it."""
        context = self._running_core.control.anyone()
        self._call(administration.share_group(context, group, (topic, partition), start, done))

    def elect_leaders(
        self,
        kind: ElectionType | str,
        topic: str | None = None,
        partition: int = 0,
        *,
        designated_leader: int | None = None,
    ) -> None:
        """Elect leaders. kind: preferred, unclean or designated. Without a topic every partition in
        need gets an election."""
        which = None if topic is None else (topic, partition)
        context = self._running_core.control.anyone()
        chosen = ElectionType(kind)
        self._call(administration.elect(context, chosen, which, designated_leader))

    def reassign(self, topic: str, partition: int, replicas: Sequence[int] | None) -> None:
        """Give a partition other replicas, or another order of them, the preferred leader first.
        None cancels a reassignment that is in progress."""
        context = self._running_core.control.anyone()
        self._call(administration.reassign(context, (topic, partition), replicas))

    # The methods from here make faults. A link may also end at CONTROLLER or CLIENTS of the module
    # faults.

    def drop_link(self, one: int, other: int, how: Drop = Drop.SILENCE) -> None:
        """Drop a link, so that nothing passes either way between two brokers, or a broker and
        CONTROLLER or CLIENTS. Only links to clients can be reset. A broker without the controller
        is fenced when its session ends, and goes by the metadata that it had."""
        self._call(self._running_core.links.drop(one, other, how))

    def delay_link(self, one: int, other: int, seconds: float) -> None:
        """Delay a link: fetches between brokers, metadata from the CONTROLLER and requests
        forwarded to it, or answers to CLIENTS take that much longer."""
        self._call(self._running_core.links.delay(one, other, seconds))

    def restore_link(self, one: int, other: int) -> None:
        self._call(self._running_core.links.restore(one, other))

    def restore_links(self) -> None:
        """Restore all links."""
        self._call(self._running_core.links.restore_all())

    def pause_controller(self) -> None:
        """Pause the controller, as when its quorum is lost. Requests forwarded to it wait for a
        minute, then time out; no broker is fenced, and no ISR changes."""
        self._call(self._running_core.links.controller_down(True))

    def resume_controller(self) -> None:
        self._call(self._running_core.links.controller_down(False))

    def lag(
        self,
        broker: int,
        records: int | None = STOPPED,
        topic: str | None = None,
        partition: int = 0,
    ) -> None:
        """Let the broker, as a follower, stay at least so many records behind, in whole batches;
        with a topic only in one partition. 0 ends the lag; with STOPPED the broker fetches nothing
        at all."""
        self._call(self._running_core.control.lag(broker, records, topic, partition))

    def lag_metadata(
        self, broker: int, seconds: float | None = STOPPED, *, fetched: bool = False
    ) -> None:
        """Let the broker hear so much later what the controller decides, though it stays in touch
        with the controller and passes requests on at once. 0 ends the lag; with STOPPED the broker
        hears nothing from now on. fetched: the controller takes it for up to date, because it
        fetches all, and only applies it late."""
        self._call(self._running_core.links.lag_metadata(broker, seconds, fetched=fetched))

    def lead_astray(self, broker: int, to: int) -> None:
        """Let the address that the broker advertises lead clients to the broker `to`, as a load
        balancer or an old DNS name does, or NOWHERE; its own id ends that."""
        self._call(self._running_core.links.lead_astray(broker, to))

    def unlist(self, broker: int) -> None:
        """Take from the broker the listener that clients come in by: it lives and replicates, and
        no client sees it."""
        self._call(self._running_core.links.unlist(broker, True))

    def list_again(self, broker: int) -> None:
        """Give the broker its listener back."""
        self._call(self._running_core.links.unlist(broker, False))

    def intercept(
        self,
        api: str | int,
        action: Action | Decide,
        *,
        broker: int | None = None,
        times: int = 1,
    ) -> Interception:
        """Change what happens to the next requests of an API, given by name ("ElectLeaders") or
        key.

        `action` is a value of the module intercepts, or a function that sees the request and
        returns such a value, or None to let it pass. The returned Interception lists the `requests`
        that it took.
        """
        wanted = self._running_core.control.intercept(api, action, broker, times)
        return self._call(wanted)

    def clear_intercepts(self) -> None:
        self._call(self._running_core.control.clear_intercepts())

    # The methods from here look at the cluster.

    def status(self) -> Status:
        """Return the status of the whole cluster at one moment."""
        core = self._running_core
        return self.look(lambda e: status(e, core.addresses, core.interceptions.open()))

    def partition(self, topic: str, partition: int) -> PartitionStatus:
        """Return a partition as the controller has it, with the log ends of its live replicas."""
        return self.look(lambda emulation: partition_status(emulation, topic, partition))

    def wait_until(self, question: Callable[[Emulation], T], timeout: float = _TIMEOUT) -> T:
        """Return the first true answer to `question`, which is asked whenever something has moved.
        Raises TimeoutError."""
        return self._call(self._running_core.control.wait_until(question, timeout))

    def metrics(self) -> Metrics:
        """Return the metrics of the controller and of each running broker. `prometheus_text` of the
        module `metrics` renders them."""
        return self.look(metrics)

    def look(self, question: Callable[[Emulation], T]) -> T:
        """Ask `question` about the emulation, in its own thread, and return the answer."""

        async def ask() -> T:
            return question(self._running_core.emulation)

        return self._call(ask())

    @property
    def _running_core(self) -> Core:
        if self._core is None:
            raise RuntimeError("the cluster is not running: use it in a with statement")
        return self._core

    def _data_dir(self) -> Path:
        if self.options.data_dir is not None:
            return self.options.data_dir
        self._temporary = tempfile.TemporaryDirectory(prefix="kafka-emulator-")
        return Path(self._temporary.name)

    def _call(self, doing: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        if self._temporary is not None:
            self._temporary.cleanup()
