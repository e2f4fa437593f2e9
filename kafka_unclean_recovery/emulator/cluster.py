"""An emulated cluster that runs in a thread of its own, for real clients."""

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
from kafka_unclean_recovery.emulator.controller.events import ElectionType
from kafka_unclean_recovery.emulator.core import Core
from kafka_unclean_recovery.emulator.disks.damage import Damage, Damaged
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import STOPPED, Drop
from kafka_unclean_recovery.emulator.listener.intercepts import Action, Decide, Interception
from kafka_unclean_recovery.emulator.options import Options

T = TypeVar("T")

_RECORDS_A_BATCH = 100
_TIMEOUT = 30.0


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
        """Whether it can be looked at: brokers may be starting yet."""
        return self._core is not None

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

    def lag_metadata(self, broker: int, seconds: float | None = STOPPED) -> None:
        """It hears so much later of what the controller decides, though it is in touch with it and
        passes requests on at once: 0 ends it, STOPPED hears nothing from now on."""
        self._call(self._running_core.links.lag_metadata(broker, seconds))

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
