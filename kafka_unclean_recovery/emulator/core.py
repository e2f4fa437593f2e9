"""A Core runs in a cluster's thread: the emulation, its listeners, and the clock that moves it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kafka_unclean_recovery.emulator.announced import announced
from kafka_unclean_recovery.emulator.apis.api import Api, Context
from kafka_unclean_recovery.emulator.apis.supported import apis
from kafka_unclean_recovery.emulator.broker.broker import Broker, Process
from kafka_unclean_recovery.emulator.control.running import Control
from kafka_unclean_recovery.emulator.disks.damage import Damage, Damaged, corrupt
from kafka_unclean_recovery.emulator.disks.data_directory import open_cluster
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import CLIENTS, Drop, link
from kafka_unclean_recovery.emulator.links import Links
from kafka_unclean_recovery.emulator.listener.intercepts import Interceptions
from kafka_unclean_recovery.emulator.listener.server import Listener
from kafka_unclean_recovery.emulator.options import Options
from kafka_unclean_recovery.emulator.security.entrance import Entrance
from kafka_unclean_recovery.kraft_rules.releases import RELEASES
from kafka_unclean_recovery.kraft_rules.state import ControllerFault

HOST = "127.0.0.1"
# The clock ticks so many times a session, as a broker sends heartbeats.
_TICKS_A_SESSION = 5
# A tick that fails leaves due what was due: it is tried again so many seconds later.
_LEAST_PAUSE = 0.01
# Long work is done in slices of so many seconds.
_SLICE = 0.02


class Core:
    """A cluster's thread, made by `open` with no broker running. A method raises ValueError when
    the broker's state does not allow the call."""

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
    async def open(cls, options: Options, directory: Path) -> Core:
        ids = options.broker_ids
        emulation = open_cluster(
            directory, ids, options.release, options.settings, options.log_directories
        )
        emulation.tick(time.monotonic())
        table = apis(RELEASES[options.release], options.dialect)
        entrance, idle = Entrance(options.security), options.connections_max_idle
        core = cls(emulation, {id_: Listener(HOST, 0, entrance, idle) for id_ in ids}, table)
        emulation.settled = core._announce
        emulation.later = core._later
        return core

    async def start_all(self, running: Sequence[int] | None) -> None:
        """Start the given brokers, or all that can start."""
        can_start = [id_ for id_, broker in self.emulation.brokers.items() if broker.can_start]
        for id_ in can_start if running is None else running:
            await self.start(id_)

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
        return self.emulation.broker(id_)

    def _context(self, broker: Broker) -> Context:
        versions = {key: (api.lowest, api.highest) for key, api in self._table.items()}
        versions |= dict.fromkeys(announced(self.emulation.state.release.name), (0, 0))
        return Context(
            broker,
            self.emulation,
            self.addresses,
            versions,
            self._await_move,
            self.interceptions,
        )

    async def _listen(self, id_: int) -> None:
        """Bring a broker's listener in line with its process and its link to clients."""
        broker, listener = self.broker(id_), self._listeners[id_]
        dropped = self.emulation.faults.dropped.get(link(id_, CLIENTS))
        listener.delay = self.emulation.faults.delays.get(link(id_, CLIENTS), 0.0)
        if broker.running and dropped is None:
            listener.resumed.set()
        else:
            listener.resumed.clear()
        closed = dropped is Drop.RESET or id_ in self.emulation.faults.unlisted
        if broker.process in (Process.DEAD, Process.STARTING) or closed:
            await listener.close()
        elif not listener.listening:
            listener.open(self._contexts[id_], self._table)

    async def start(self, id_: int) -> None:
        """Start a broker in slices, between which everything else goes on."""
        broker = self.emulation.broker_that_is(Process.DEAD, id_)
        slice_ends = time.monotonic() + _SLICE
        for _ in self.emulation.starting(broker):
            if time.monotonic() >= slice_ends:
                await asyncio.sleep(0)
                slice_ends = time.monotonic() + _SLICE
        if not broker.running:
            raise ValueError(f"broker {id_} was killed while it started")
        await self._listen(id_)

    async def kill(self, id_: int) -> None:
        self.emulation.kill(self.broker(id_))
        await self._listen(id_)

    async def power_off(self, ids: Sequence[int]) -> None:
        """Nothing happens between the one and the other."""
        for id_ in ids:
            self.emulation.power_off(self.broker(id_))
        for id_ in ids:
            await self._listen(id_)

    async def stop(self, id_: int) -> None:
        self.emulation.stop(self.emulation.broker_that_is(Process.RUNNING, id_))
        await self._listen(id_)

    async def drain(self, id_: int) -> None:
        self.emulation.drain(self.emulation.broker_that_is(Process.RUNNING, id_))
        await self._listen(id_)

    async def pause(self, id_: int) -> None:
        self.emulation.pause(self.emulation.broker_that_is(Process.RUNNING, id_))
        await self._listen(id_)

    async def resume(self, id_: int) -> None:
        self.emulation.resume(self.emulation.broker_that_is(Process.PAUSED, id_))
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
        broker = self.emulation.broker_that_is(Process.RUNNING, id_)
        if not self.emulation.faults.reaches_controller(id_):
            raise ValueError(f"broker {id_} can't be unfenced: it reaches no controller")
        self.emulation.unfence(broker)

    async def unregister_broker(self, id_: int) -> None:
        self.emulation.unregister(self.emulation.broker_that_is(Process.DEAD, id_))

    async def flush(self, id_: int) -> None:
        self.broker(id_).flush()
        self.broker(id_).checkpoint()

    async def lose_disk(self, id_: int, index: int) -> None:
        broker = self._broker_with_disk(id_, index)
        if broker.process in (Process.PAUSED, Process.STARTING):
            raise ValueError(f"broker {id_} is {broker.process.value}, and would not notice")
        self.emulation.lose_disk(broker, index)
        if not broker.running:
            await self._listeners[id_].close()

    async def wipe(self, id_: int, index: int) -> None:
        self.emulation.broker_that_is(Process.DEAD, id_)
        self.emulation.wipe(self._broker_with_disk(id_, index), index)

    async def exchange_disk(self, id_: int, index: int) -> None:
        self.emulation.broker_that_is(Process.DEAD, id_)
        self.emulation.exchange_disk(self._broker_with_disk(id_, index), index)

    async def corrupt_disk(
        self, id_: int, damage: Damage, seed: int, only: tuple[str, int] | None
    ) -> Damaged:
        broker = self.emulation.broker_that_is(Process.DEAD, id_)
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
            # A session ends on time, not at the tick after it.
            due = self.emulation.next_session_end() - time.monotonic()
            await asyncio.sleep(min(pause, max(due, _LEAST_PAUSE)))
            # A controller that fails resigns; the next one finds the state as it was.
            with contextlib.suppress(ControllerFault):
                self.emulation.tick(time.monotonic())
            for id_, listener in self._listeners.items():
                listener.close_idle()
                if listener.listening and self.broker(id_).process is Process.DEAD:
                    await self._listen(id_)
