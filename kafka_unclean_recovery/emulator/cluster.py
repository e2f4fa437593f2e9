"""An emulated cluster that runs in a thread of its own, for real clients."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from kafka_unclean_recovery.choices import Dialect
from kafka_unclean_recovery.emulator import administration
from kafka_unclean_recovery.emulator.apis.api import Api, Context
from kafka_unclean_recovery.emulator.apis.table import apis
from kafka_unclean_recovery.emulator.broker import Broker, Process
from kafka_unclean_recovery.emulator.control import Control
from kafka_unclean_recovery.emulator.controller.events import ElectionType
from kafka_unclean_recovery.emulator.controller.releases import RELEASES
from kafka_unclean_recovery.emulator.controller.state import ControllerFault
from kafka_unclean_recovery.emulator.damage import Damage, Damaged, corrupt
from kafka_unclean_recovery.emulator.data_directory import open_cluster
from kafka_unclean_recovery.emulator.emulation import Emulation, Settings
from kafka_unclean_recovery.emulator.entrance import Entrance
from kafka_unclean_recovery.emulator.faults import CLIENTS, STOPPED, Drop, link
from kafka_unclean_recovery.emulator.intercepts import (
    Action,
    Decide,
    Interception,
    Interceptions,
)
from kafka_unclean_recovery.emulator.links import Links
from kafka_unclean_recovery.emulator.metrics import Metrics, metrics
from kafka_unclean_recovery.emulator.security import Security
from kafka_unclean_recovery.emulator.server import MAX_IDLE_SECONDS, Listener
from kafka_unclean_recovery.emulator.status import (
    PartitionStatus,
    Status,
    partition_status,
    status,
)

T = TypeVar("T")

HOST = "127.0.0.1"
_DEFAULT_SETTINGS = Settings()
_PLAINTEXT = Security()
# So many ticks a session, as a broker sends heartbeats.
_TICKS_A_SESSION = 5
_RECORDS_A_BATCH = 100
_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Options:
    """What a cluster is. `running`: the brokers that are started with it, None for all
    that can start: the first disk of a broker may be lost. `log_directories`: disks a broker.

    A data directory that holds a cluster goes on with it; without one, a temporary directory is
    used and removed. `connections_max_idle`: connections.max.idle.ms, in seconds.
    """

    brokers: int = 4
    release: str = "4.3.1"
    data_dir: Path | None = None
    running: tuple[int, ...] | None = None
    dialect: Dialect | None = None
    log_directories: int = 1
    settings: Settings = _DEFAULT_SETTINGS
    security: Security = _PLAINTEXT
    connections_max_idle: float = MAX_IDLE_SECONDS


class Cluster:
    """A context manager. Methods may be called from any thread, and return when it is done.

    Brokers are numbered from 1. What is still running at the end is stopped in order. What a
    broker can't do as it is, or one that is not there, raises ValueError, and so does what the
    cluster refuses. Times are seconds.
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="emulated cluster", daemon=True
        )
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._core: _Core | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._core = self._call(_Core.open(self.options, self._data_dir()))
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
    def bootstrap_servers(self) -> str:
        """HOST:PORT of every broker, dead ones too, comma-separated."""
        addresses = self._running_core.addresses.values()
        return ",".join(f"{host}:{port}" for host, port in addresses)

    def log_directory(self, broker: int) -> Path:
        """Where its replicas are, whether it lives or not."""
        return self._running_core.broker(broker).directory

    def log_directories(self, broker: int) -> list[Path]:
        """All of them; the first holds the metadata log too."""
        return [each.path for each in self._running_core.broker(broker).directories]

    def kill(self, broker: int) -> None:
        """SIGKILL: an unclean shutdown, after which all that was written is on the disk."""
        self._call(self._running_core.kill(broker))

    def power_off(self, broker: int) -> None:
        """The machine dies: records that were never synced are lost. Brokers sync when they stop
        in order, or by `flush`."""
        self._call(self._running_core.power_off(broker))

    def stop(self, broker: int) -> None:
        """A controlled shutdown, which leaves a clean-shutdown file."""
        self._call(self._running_core.stop(broker))

    def start(self, broker: int) -> None:
        self._call(self._running_core.start(broker))

    def pause(self, broker: int) -> None:
        """SIGSTOP: it hangs, until its session ends it is taken for alive."""
        self._call(self._running_core.pause(broker))

    def resume(self, broker: int) -> None:
        self._call(self._running_core.resume(broker))

    def fence(self, broker: int) -> None:
        """The controller fences it at once. A dead or paused one has its session ended; one that
        runs stays fenced until `unfence`."""
        self._call(self._running_core.fence(broker))

    def unfence(self, broker: int) -> None:
        self._call(self._running_core.unfence(broker))

    def flush(self, broker: int) -> None:
        """Its records are synced and its offsets are checkpointed."""
        self._call(self._running_core.flush(broker))

    def lose_disk(self, broker: int, index: int = 0) -> None:
        """A log directory fails with all that is on it, whether the broker runs or is down. Without
        the first, where the metadata log is, a broker dies, and starts only when that is wiped."""
        self._call(self._running_core.lose_disk(broker, index))

    def wipe(self, broker: int, index: int = 0) -> None:
        """A new, empty disk in the place of one of a broker that is down."""
        self._call(self._running_core.wipe(broker, index))

    def corrupt_disk(
        self,
        broker: int,
        topic: str | None = None,
        partition: int = 0,
        *,
        damage: Damage = Damage.FLIP,
        seed: int = 0,
    ) -> Damaged:
        """One bit is flipped, or the end is cut off, in the segment of a replica of a broker that
        is down: of any that holds records, if no topic is named. The seed chooses, and what was
        done comes back. After an unclean stop the broker that starts cuts the log there."""
        only = None if topic is None else (topic, partition)
        return self._call(self._running_core.corrupt_disk(broker, damage, seed, only))

    # Topics, records and elections.

    def create_topic(
        self,
        name: str,
        partitions: int | None = None,
        replication_factor: int | None = None,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """One partition on one broker if nothing else is said. `assignment`: the replicas of each
        partition, the preferred leader first, instead of the two numbers."""
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
        """Of a topic, or with None of all brokers. None as a value removes the config."""
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
        """Write values through the leader, `batch` at a time; the first offset.

        A number stands for values that say their offset and who led: b"7 led by 1". acks: all, 1 or
        0. `broker` takes itself for the leader, though the controller may have another.
        """
        wanted = self._running_core.control.produce(
            topic, partition, records, acks, batch, broker, timeout
        )
        return self._call(wanted)

    def elect_leaders(
        self,
        kind: ElectionType | str,
        topic: str | None = None,
        partition: int = 0,
        *,
        designated_leader: int | None = None,
    ) -> None:
        """kind: preferred, unclean or designated. Without a topic, every partition in need."""
        which = None if topic is None else (topic, partition)
        context = self._running_core.control.anyone()
        chosen = ElectionType(kind)
        self._call(administration.elect(context, chosen, which, designated_leader))

    # Faults. CONTROLLER and CLIENTS of the module faults are ends of links, too.

    def drop_link(self, one: int, other: int, how: Drop = Drop.SILENCE) -> None:
        """Nothing passes, either way, between two brokers, or a broker and CONTROLLER or CLIENTS;
        only links to clients can be reset. A broker without the controller is fenced when its
        session ends, and goes by the metadata that it had."""
        self._call(self._running_core.links.drop(one, other, how))

    def delay_link(self, one: int, other: int, seconds: float) -> None:
        """Fetches between brokers, metadata from the CONTROLLER and what is forwarded to it, or
        answers to CLIENTS take that much longer."""
        self._call(self._running_core.links.delay(one, other, seconds))

    def restore_link(self, one: int, other: int) -> None:
        self._call(self._running_core.links.restore(one, other))

    def restore_links(self) -> None:
        """All of them."""
        self._call(self._running_core.links.restore_all())

    def pause_controller(self) -> None:
        """As when its quorum is lost: what is forwarded to it waits for a minute, then times
        out; nobody is fenced, and no ISR changes."""
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
        """Its followers stay at least so many records behind, in whole batches: 0 ends it, STOPPED
        fetches nothing at all. Those of one partition if a topic is named."""
        self._call(self._running_core.control.lag(broker, records, topic, partition))

    def intercept(
        self,
        api: str | int,
        action: Action | Decide,
        *,
        broker: int | None = None,
        times: int = 1,
    ) -> Interception:
        """What happens to the next requests of an API, by its name ("ElectLeaders") or key.

        `action` is a value of the module intercepts, or a function that sees the request and
        returns one, or None to let it pass. The `requests` that it took are in what is returned.
        """
        wanted = self._running_core.control.intercept(api, action, broker, times)
        return self._call(wanted)

    def clear_intercepts(self) -> None:
        self._call(self._running_core.control.clear_intercepts())

    # Looking.

    def status(self) -> Status:
        """Everything, at one moment."""
        core = self._running_core
        return self.look(lambda e: status(e, core.addresses, core.interceptions.open()))

    def partition(self, topic: str, partition: int) -> PartitionStatus:
        """As the controller has it, and how far the logs of its live replicas go."""
        return self.look(lambda emulation: partition_status(emulation, topic, partition))

    def wait_until(self, question: Callable[[Emulation], T], timeout: float = _TIMEOUT) -> T:
        """The first answer to `question` that is true, asked whenever something has moved. Raises
        TimeoutError."""
        return self._call(self._running_core.control.wait_until(question, timeout))

    def metrics(self) -> Metrics:
        """Of the controller and of each running broker, as they are now; `prometheus_text` of
        the module `metrics` renders them."""
        return self.look(metrics)

    def look(self, question: Callable[[Emulation], T]) -> T:
        """What `question` says of the emulation, asked in its own thread."""

        async def ask() -> T:
            return question(self._running_core.emulation)

        return self._call(ask())

    @property
    def _running_core(self) -> _Core:
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


class _Core:
    """What runs in the cluster's thread."""

    def __init__(
        self, emulation: Emulation, listeners: dict[int, Listener], table: dict[int, Api]
    ) -> None:
        self.emulation = emulation
        self.addresses = {id_: listener.address for id_, listener in listeners.items()}
        self.interceptions = Interceptions()
        self.links = Links(emulation, self._listen)
        self._listeners = listeners
        self._table = table
        self._moved = asyncio.Event()
        self._contexts = {id_: self._context(broker) for id_, broker in emulation.brokers.items()}
        self.control = Control(
            emulation,
            self._contexts,
            table,
            self.interceptions,
            self.links,
            self._await_move,
        )
        self._ticking = asyncio.create_task(self._tick())

    @classmethod
    async def open(cls, options: Options, directory: Path) -> _Core:
        ids = range(1, options.brokers + 1)
        emulation = open_cluster(
            directory, ids, options.release, options.settings, options.log_directories
        )
        emulation.tick(time.monotonic())
        table = apis(RELEASES[options.release], options.dialect)
        entrance, idle = Entrance(options.security), options.connections_max_idle
        core = cls(emulation, {id_: Listener(HOST, 0, entrance, idle) for id_ in ids}, table)
        emulation.settled = core._announce
        emulation.later = core._later
        can_start = [id_ for id_ in ids if emulation.brokers[id_].can_start]
        for id_ in can_start if options.running is None else options.running:
            await core.start(id_)
        return core

    async def close(self) -> None:
        self._ticking.cancel()
        await asyncio.gather(self._ticking, return_exceptions=True)
        for id_, listener in self._listeners.items():
            broker = self.broker(id_)
            if broker.running:
                await self.stop(id_)
            await listener.close()
            listener.release()

    def broker(self, id_: int) -> Broker:
        if id_ not in self.emulation.brokers:
            raise ValueError(f"there is no broker {id_}")
        return self.emulation.brokers[id_]

    def _broker_that_is(self, process: Process, id_: int) -> Broker:
        broker = self.broker(id_)
        if broker.process is not process:
            raise ValueError(f"broker {id_} is {broker.process.value}, not {process.value}")
        return broker

    def _context(self, broker: Broker) -> Context:
        versions = {key: (api.lowest, api.highest) for key, api in self._table.items()}
        return Context(
            broker,
            self.emulation,
            self.addresses,
            versions,
            self._await_move,
            self.interceptions,
        )

    async def _listen(self, id_: int) -> None:
        """The listener becomes what the process and the link to clients let it be."""
        broker, listener = self.broker(id_), self._listeners[id_]
        dropped = self.emulation.faults.dropped.get(link(id_, CLIENTS))
        listener.delay = self.emulation.faults.delays.get(link(id_, CLIENTS), 0.0)
        if broker.running and dropped is None:
            listener.resumed.set()
        else:
            listener.resumed.clear()
        if broker.process is Process.DEAD or dropped is Drop.RESET:
            await listener.close()
        elif not listener.listening:
            listener.open(self._contexts[id_], self._table)

    async def start(self, id_: int) -> None:
        self.emulation.start(self._broker_that_is(Process.DEAD, id_))
        await self._listen(id_)

    async def kill(self, id_: int) -> None:
        self.emulation.kill(self.broker(id_))
        await self._listen(id_)

    async def power_off(self, id_: int) -> None:
        self.emulation.power_off(self.broker(id_))
        await self._listen(id_)

    async def stop(self, id_: int) -> None:
        self.emulation.stop(self._broker_that_is(Process.RUNNING, id_))
        await self._listen(id_)

    async def pause(self, id_: int) -> None:
        self.emulation.pause(self._broker_that_is(Process.RUNNING, id_))
        await self._listen(id_)

    async def resume(self, id_: int) -> None:
        self.emulation.resume(self._broker_that_is(Process.PAUSED, id_))
        await self._listen(id_)

    async def fence(self, id_: int) -> None:
        broker = self.broker(id_)
        if self.emulation.faults.controller_down:
            raise ValueError(f"broker {id_} can't be fenced: the controller is paused")
        if broker.running and self.emulation.faults.reaches_controller(id_):
            self.emulation.fence(broker)
        else:
            self.emulation.expire(id_)

    async def unfence(self, id_: int) -> None:
        broker = self._broker_that_is(Process.RUNNING, id_)
        if not self.emulation.faults.reaches_controller(id_):
            raise ValueError(f"broker {id_} can't be unfenced: it reaches no controller")
        self.emulation.unfence(broker)

    async def flush(self, id_: int) -> None:
        self.broker(id_).flush()
        self.broker(id_).checkpoint()

    async def lose_disk(self, id_: int, index: int) -> None:
        broker = self._broker_with_disk(id_, index)
        if broker.process is Process.PAUSED:
            raise ValueError(f"broker {id_} is paused, and would not notice")
        self.emulation.lose_disk(broker, index)
        if not broker.running:
            await self._listeners[id_].close()

    async def wipe(self, id_: int, index: int) -> None:
        self._broker_that_is(Process.DEAD, id_)
        self.emulation.wipe(self._broker_with_disk(id_, index), index)

    async def corrupt_disk(
        self, id_: int, damage: Damage, seed: int, only: tuple[str, int] | None
    ) -> Damaged:
        broker = self._broker_that_is(Process.DEAD, id_)
        paths = [each.path for each in broker.directories if each.path.is_dir()]
        return corrupt(paths, damage, seed, only)

    def _broker_with_disk(self, id_: int, index: int) -> Broker:
        broker = self.broker(id_)
        if not 0 <= index < len(broker.directories):
            raise ValueError(f"broker {id_} has no log directory {index}, counted from 0")
        return broker

    def _later(self, seconds: float, do: Callable[[], None]) -> None:
        def then() -> None:
            with contextlib.suppress(ControllerFault):
                do()

        asyncio.get_running_loop().call_later(seconds, then)

    def _announce(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def _await_move(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._moved.wait()

    async def _tick(self) -> None:
        pause = self.emulation.settings.session_timeout / _TICKS_A_SESSION
        while True:
            await asyncio.sleep(pause)
            # A controller that fails resigns; the next one finds the state as it was.
            with contextlib.suppress(ControllerFault):
                self.emulation.tick(time.monotonic())
            for listener in self._listeners.values():
                listener.close_idle()
