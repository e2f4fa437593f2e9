"""Making each fault happen, in the event loop of cluster and tool."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import errno
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.broker import Process as BrokerProcess
from kafka_unclean_recovery.emulator.core import Core
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import CLIENTS, CONTROLLER, STOPPED, Drop
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import ControllerFault
from tests.simulation import answers as meddling
from tests.simulation import somebody_else
from tests.simulation.answers import Answers, Meddle, Rule
from tests.simulation.clock import CLOCK, Loop
from tests.simulation.outage import headless
from tests.simulation.scenario import (
    CHANGING,
    AtLine,
    AtRequest,
    AtStart,
    AtTime,
    BeforeRuns,
    BetweenRuns,
    Fault,
    Moment,
)
from tests.simulation.somebody_else import Others
from tests.simulation.tool import Output, Process

HOUR = 3600.0


@dataclass
class Disk:
    """What is under the journal. `room`: bytes that can still be written, None for enough."""

    room: int | None = None
    broken: bool = False
    lines: int = 0
    on_line: list[Callable[[int], None]] = field(default_factory=list)

    def write(self, real: Callable[[int, Any], int], descriptor: int, data: Any) -> int:
        if self.room is None:
            return real(descriptor, data)
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = real(descriptor, bytes(data)[: self.room])
        self.room -= written
        return written

    def sync(self, real: Callable[[int], None], descriptor: int) -> None:
        if self.broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)


@dataclass
class Stage:
    """Where faults happen. stopped: when the tool first got a signal, in seconds since boot."""

    loop: Loop
    core: Core
    answers: Answers
    disk: Disk
    process: Process
    out: Output
    err: Output
    others: Others
    stopped: float | None = None
    happened: list[str] = field(default_factory=list)

    @property
    def readable(self) -> bool:
        """Return True when nothing kept the tool from saying what it had to say."""
        return not (self.out.lost or self.err.lost)

    def set(self, fault: Fault) -> None:
        """Set a fault that happens at its moment."""
        moment = fault.moment
        if isinstance(moment, AtStart):
            self.loop.call_soon(self.begin, fault)
        elif isinstance(moment, AtTime):
            self.loop.call_later(moment.seconds, self.begin, fault)
        elif isinstance(moment, AtLine):
            self._at_line(fault, moment)
        elif isinstance(moment, AtRequest):
            self._at_request(fault, moment)

    async def make(self, faults: Sequence[Fault]) -> None:
        """Make the faults while no tool runs."""
        for fault in faults:
            self.happened.append(f"{CLOCK.boot:.3f} {fault.kind}")
            await self.loop.create_task(self._on_cluster(fault), context=contextvars.Context())

    def _at_line(self, fault: Fault, moment: AtLine) -> None:
        def line(number: int) -> None:
            if number == moment.nth:
                self.begin(fault)

        self.disk.on_line.append(line)

    def _at_request(self, fault: Fault, moment: AtRequest) -> None:
        seen = 0

        def heard(api: str, _: int, done: bool) -> None:
            nonlocal seen
            if (api, done) == (moment.api, moment.done):
                seen += 1
                if seen == moment.nth:
                    self.begin(fault)

        self.answers.heard.append(heard)

    def begin(self, fault: Fault) -> None:
        """Begin a fault; what is no matter of the tool's process goes its own way."""
        if self.process.ended:
            return
        self.happened.append(f"{CLOCK.boot:.3f} {fault.kind}")
        if fault.kind in ON_TOOL:
            ON_TOOL[fault.kind](self, fault)
        elif fault.kind in ANSWERS:
            rule = Rule(_api(fault), ANSWERS[fault.kind](fault), self._some(fault), fault.times)
            self.answers.rules.append(rule)
        else:
            # What the tool does when it begins is not the tool's, and does not end with it.
            self.loop.create_task(self._on_cluster(fault), context=contextvars.Context())

    def _some(self, fault: Fault) -> int | None:
        """Return one broker, or None for all: half of the wrong answers are of all brokers."""
        return self.broker(fault) if fault.seed % 2 else None

    def broker(self, fault: Fault) -> int:
        ids = sorted(self.core.emulation.brokers)
        live = [id_ for id_ in ids if self.core.broker(id_).running] or ids
        return live[fault.broker % len(live)]

    async def _on_cluster(self, fault: Fault) -> None:
        # What can't be done to the cluster as it is by now, is not done.
        with contextlib.suppress(ValueError, TimeoutError, RuntimeError, ControllerFault):
            if fault.kind in somebody_else.WORK:
                await somebody_else.work(fault.kind, self.core, self.others, fault.seed)
            else:
                await ON_CLUSTER[fault.kind](self, fault)

    async def heal(self) -> None:
        """Heal all: answers are right, links carry, and whatever was stopped goes on."""
        self.answers.rules.clear()
        self.answers.heard.clear()
        self.disk.room, self.disk.broken = None, False
        self.disk.on_line.clear()
        await self.core.links.controller_down(False)
        await self.core.links.restore_all()
        for broker in list(self.core.emulation.brokers.values()):
            await self.core.links.lag_metadata(broker.id, 0)
            await self.core.links.lead_astray(broker.id, broker.id)
            await self.core.links.unlist(broker.id, False)
            if broker.process is BrokerProcess.PAUSED:
                await self.core.resume(broker.id)
            elif broker.running and broker.want_fence:
                await self.core.unfence(broker.id)


def _api(fault: Fault) -> str:
    """Return the API of a fault: no broker forgets who lives, or lies about a log."""
    fit = _FIT.get(fault.kind)
    return fault.api if fit is None or fault.api in fit else fit[fault.seed % len(fit)]


_FIT = {
    "is throttled": ("Fetch",),
    "says it is done": tuple(CHANGING),
    "answers errors for some": ("ListOffsets", "Fetch", "DescribeTopicPartitions"),
    "leaves rows out": ("ListOffsets", "Fetch", *CHANGING),
}


async def _kill(stage: Stage, fault: Fault) -> None:
    await stage.core.kill(stage.broker(fault))


async def _stop(stage: Stage, fault: Fault) -> None:
    await stage.core.stop(stage.broker(fault))


async def _return(stage: Stage, _: Fault) -> None:
    dead = [b.id for b in stage.core.emulation.brokers.values() if b.process is BrokerProcess.DEAD]
    if dead:
        await stage.core.start(dead[_.broker % len(dead)])


async def _pause(stage: Stage, fault: Fault) -> None:
    broker = stage.broker(fault)
    await stage.core.pause(broker)
    await asyncio.sleep(fault.seconds)
    await stage.core.resume(broker)


async def _fence(stage: Stage, fault: Fault) -> None:
    broker = stage.broker(fault)
    await stage.core.fence(broker)
    await asyncio.sleep(fault.seconds)
    await stage.core.unfence(broker)


def _drop(end: int, how: Drop) -> Callable[[Stage, Fault], Awaitable[None]]:
    async def drop(stage: Stage, fault: Fault) -> None:
        broker = stage.broker(fault)
        await stage.core.links.drop(broker, end, how)
        await asyncio.sleep(fault.seconds)
        await stage.core.links.restore(broker, end)

    return drop


def _delay(end: int) -> Callable[[Stage, Fault], Awaitable[None]]:
    async def delay(stage: Stage, fault: Fault) -> None:
        await stage.core.links.delay(stage.broker(fault), end, min(fault.seconds, 8.0))

    return delay


async def _pause_controller(stage: Stage, fault: Fault) -> None:
    await stage.core.links.controller_down(True)
    await asyncio.sleep(fault.seconds)
    await stage.core.links.controller_down(False)


async def _lead_astray(stage: Stage, fault: Fault) -> None:
    """Let an address lead to a broker that lives, or to one that is dead."""
    ids = sorted(stage.core.emulation.brokers)
    await stage.core.links.lead_astray(stage.broker(fault), ids[fault.seed % len(ids)])


async def _unlist(stage: Stage, fault: Fault) -> None:
    await stage.core.links.unlist(stage.broker(fault), True)


async def _apply_late(stage: Stage, fault: Fault) -> None:
    """Let one broker, or all, apply metadata late. Then what they do not know of happens: a broker
    returns that holds more than any live one, and that no controller makes leader by itself."""
    live = [b.id for b in stage.core.emulation.brokers.values() if b.running]
    seconds = STOPPED if fault.seed % 2 else fault.seconds
    for broker in live if fault.seed % 3 else [stage.broker(fault)]:
        await stage.core.links.lag_metadata(broker, seconds, fetched=True)
    brokers = stage.core.emulation.brokers.values()
    dead = [broker for broker in brokers if broker.process is BrokerProcess.DEAD]
    if dead:
        best = max(dead, key=lambda broker: (_better(stage.core.emulation, broker), broker.id))
        await stage.core.start(best.id)


def _better(emulation: Emulation, broker: Broker) -> int:
    """Return in how many partitions without a leader its log is the best."""
    return sum(
        broker.id not in (*known.isr, *known.elr, *known.last_known_elr)
        and _end(broker, key) > max(_end(b, key) for b in emulation.brokers.values() if b.running)
        for key, known in headless(emulation)
    )


def _end(broker: Broker, key: TopicIdPartition) -> tuple[int, int]:
    """Return the end as logs are ranked; of a broker without a replica it is less than of any."""
    replica = broker.replicas.get(key)
    return (-2, 0) if replica is None else (replica.log.last_written_epoch, replica.log.end_offset)


async def _exchange_disk(stage: Stage, fault: Fault) -> None:
    """Let a broker run with another disk for a while, and with its own one again."""
    broker = stage.broker(fault)
    await _start_on_the_other_disk(stage, broker)
    await asyncio.sleep(fault.seconds / 10)
    await _start_on_the_other_disk(stage, broker)


async def _come_back_slowly(stage: Stage, fault: Fault) -> None:
    """Run a broker with another disk for a while; then it takes its time to start with its own one,
    refuses connections, and fetches the controllers' metadata meanwhile."""
    broker = stage.broker(fault)
    await _start_on_the_other_disk(stage, broker)
    await asyncio.sleep(fault.seconds / 10)
    await stage.core.links.drop(broker, CLIENTS, Drop.RESET)
    await _start_on_the_other_disk(stage, broker)
    await stage.core.fence(broker)
    await asyncio.sleep(fault.seconds / 4)
    await stage.core.links.restore(broker, CLIENTS)
    await stage.core.unfence(broker)


async def _start_on_the_other_disk(stage: Stage, broker: int) -> None:
    await stage.core.kill(broker)
    await stage.core.exchange_disk(broker, 0)
    await stage.core.start(broker)


def _signal(stage: Stage, fault: Fault) -> None:
    if stage.stopped is None:
        stage.stopped = CLOCK.boot
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    number = getattr(signal, names[fault.seed % len(names)])
    if signal.getsignal(number) is signal.SIG_DFL:
        stage.process.die(-number)  # the tool, and not the simulation around it
    else:
        os.kill(os.getpid(), number)


def _kill_tool(stage: Stage, _: Fault) -> None:
    stage.process.kill()


def _fill_disk(stage: Stage, fault: Fault) -> None:
    """Leave so many bytes free; room comes back with what heals."""
    stage.disk.room = fault.seed % 400


def _break_disk(stage: Stage, _: Fault) -> None:
    stage.disk.broken = True


def _jump(stage: Stage, fault: Fault) -> None:
    CLOCK.wall_ahead += HOUR if fault.seed % 2 else -HOUR


ON_TOOL: Mapping[str, Callable[[Stage, Fault], None]] = {
    "the tool gets a signal": _signal,
    "the tool is killed": _kill_tool,
    "stdout is full": lambda stage, _: stage.out.fill_disk(),
    "nobody reads stdout": lambda stage, _: stage.out.lose_reader(),
    "stderr is full": lambda stage, _: stage.err.fill_disk(),
    "nobody reads stderr": lambda stage, _: stage.err.lose_reader(),
    "the disk is full": _fill_disk,
    "the disk is broken": _break_disk,
    "the wall clock jumps": _jump,
}
ANSWERS: Mapping[str, Callable[[Fault], Meddle]] = {
    "answers an error": lambda f: meddling.fails(f.error),
    "answers errors for some": lambda f: meddling.fails_some(f.error, f.seed),
    "leaves rows out": lambda f: meddling.leaves_out(f.seed),
    "is throttled": lambda f: meddling.throttles(int(min(f.seconds, 8.0) * 1000)),
    "is silent": lambda f: meddling.is_silent(f.seed % 3 == 0),
    "hangs up": lambda f: meddling.hangs_up(f.seed % 3 == 0),
    "is slow": lambda f: meddling.is_slow(f.seconds, f.seed % 3 == 0),
    "says it is done": lambda _: meddling.says_done(),
}
ON_CLUSTER: Mapping[str, Callable[[Stage, Fault], Awaitable[None]]] = {
    "a broker is killed": _kill,
    "a broker is stopped": _stop,
    "a broker returns": _return,
    "a broker hangs": _pause,
    "a broker is fenced": _fence,
    "a broker is silent to clients": _drop(CLIENTS, Drop.SILENCE),
    "a broker refuses clients": _drop(CLIENTS, Drop.RESET),
    "a broker is slow": _delay(CLIENTS),
    "a broker is cut off from the controller": _drop(CONTROLLER, Drop.SILENCE),
    "a broker's metadata lags": _delay(CONTROLLER),
    "the controller hangs": _pause_controller,
    "an address leads elsewhere": _lead_astray,
    "a broker has no listener": _unlist,
    "metadata is applied late": _apply_late,
    "a disk is exchanged": _exchange_disk,
    "a broker comes back slowly": _come_back_slowly,
}
USUAL: Mapping[str, Moment] = {
    "an address leads elsewhere": BeforeRuns(),
    "a broker has no listener": BeforeRuns(),
    "metadata is applied late": BeforeRuns(),
    **dict.fromkeys(somebody_else.WORK, BetweenRuns()),
}
"""Some faults are often there before the tool begins, or come when it has ended halfway."""

KINDS = {
    **dict.fromkeys(ON_TOOL, 1),
    "the tool gets a signal": 4,
    "the tool is killed": 4,
    **dict.fromkeys(ANSWERS, 3),
    **{kind: 2 for kind in ON_CLUSTER if kind != "a broker comes back slowly"},
    **dict.fromkeys(somebody_else.WORK, 2),
    "a topic is deleted": 1,
    # It came after the seeds of docs/found-bugs.md, which mean the same as before: name it.
    "a broker comes back slowly": 0,
}
"""With how often each is taken."""
