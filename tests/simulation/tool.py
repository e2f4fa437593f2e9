"""The tool as a process of its own would run, in the event loop of the emulated cluster: with a
stdout and a stderr that are files, pipes or full disks, real signals, and a death without a word.
"""

from __future__ import annotations

import asyncio
import collections.abc
import contextlib
import contextvars
import io
import os
import signal
import traceback
from collections.abc import Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kafka_unclean_recovery.cli import entry
from tests.cli.in_process import prepared
from tests.simulation.clock import Loop

_PROCESS: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)
_open_connection = asyncio.open_connection


class Died(BaseException):
    """The process is gone; what is still on its stack does nothing any more."""


@dataclass(eq=False)
class Process:
    """One run of the tool. `code` once it has ended: minus the signal that killed it."""

    loop: Loop
    home: Path
    code: int | None = None
    stdout: str = ""
    stderr: str = ""
    dead: bool = False
    on_write: list[Callable[[int, bytes], None]] = field(default_factory=list)
    _gone: asyncio.Future[None] | None = None
    _streams: list[asyncio.StreamWriter] = field(default_factory=list)
    _never: list[object] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return self.dead or self.code is not None

    def die(self, code: int) -> None:
        """End the process; nothing that it holds is put in order."""
        if self.ended:
            return
        self.dead, self.code = True, code
        self._close_files()
        for stream in self._streams:
            stream.transport.abort()
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)

    def kill(self) -> None:
        self.die(-signal.SIGKILL)

    def _close_files(self) -> None:
        """Close its journal and locks. Their numbers stay taken: others may close them."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for link in list(Path("/proc/self/fd").iterdir()):
            with contextlib.suppress(OSError):
                if link.readlink().is_relative_to(self.home):
                    os.dup2(nowhere, int(link.name))
        os.close(nowhere)

    def run_until_complete(self, main: Coroutine[Any, Any, Any], **_: object) -> Any:
        """Stand in for asyncio.run."""
        self._gone = self.loop.create_future()
        context = contextvars.copy_context()
        context.run(_PROCESS.set, self)
        task = self.loop.create_task(main, context=context)
        self.loop.run_until_complete(
            asyncio.wait({task, self._gone}, return_when=asyncio.FIRST_COMPLETED)
        )
        if self.dead:
            self._never.append(task)
            raise Died
        return task.result()

    async def connect(self, *args: Any, **named: Any) -> Any:
        """Stand in for asyncio.open_connection."""
        reader, writer = await _open_connection(*args, **named)
        self._streams.append(writer)
        return reader, writer

    async def in_a_thread(self, work: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Stand in for asyncio.to_thread. A thread would end at another moment in each run."""
        await asyncio.sleep(0)
        return work(*args, **named)

    def hang(self) -> Any:
        """Yield what a coroutine yields that is not to go on."""
        never = self.loop.create_future()
        never._asyncio_future_blocking = True
        self._never.append(never)
        return never


class _Mortal(collections.abc.Coroutine[Any, Any, Any]):
    """A coroutine that stops where it stands when its process dies."""

    def __init__(self, work: Coroutine[Any, Any, Any], process: Process) -> None:
        self._work = work
        self._process = process

    def send(self, value: Any) -> Any:
        return self._process.hang() if self._process.dead else self._work.send(value)

    def throw(self, *error: Any) -> Any:
        return self._process.hang() if self._process.dead else self._work.throw(*error)

    def close(self) -> None:
        if self._process.dead:
            self._process._never.append(self._work)
        else:
            self._work.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise AssertionError("tasks send")


def make_task(
    loop: asyncio.AbstractEventLoop, work: Any, context: contextvars.Context | None = None
) -> asyncio.Task[Any]:
    """Make a task, as a task factory: those of the tool die with it."""
    process = (context or contextvars.copy_context()).get(_PROCESS)
    if process is None:
        return asyncio.Task(work, loop=loop, context=context)
    task = asyncio.Task(_Mortal(work, process), loop=loop, context=context)
    # Whoever is killed complains of nothing, so nothing of it may be collected.
    process._never.append(task)
    return task


class Output:
    """Where a stream goes: to a file, or what is put in its place later."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lost = False
        self.descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)

    def fill_disk(self) -> None:
        self.lost = True
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, self.descriptor)
        os.close(full)

    def lose_reader(self) -> None:
        self.lost = True
        reading, writing = os.pipe()
        os.dup2(writing, self.descriptor)
        os.close(reading)
        os.close(writing)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.descriptor)

    def text(self) -> str:
        return self._path.read_text(errors="replace")


def run(process: Process, name: str, args: Sequence[str], out: Output, err: Output) -> None:
    """Run the tool to its end, one way or another."""
    loop = process.loop
    before = {
        number: signal.signal(number, lambda number, _: process.die(-number)) for number in _SIGNALS
    }
    broken, code = "", None
    streams = [io.TextIOWrapper(io.FileIO(o.descriptor, "w", closefd=False)) for o in (out, err)]

    def leave(code: int) -> None:
        process.die(code)
        # A signal may come while a broker is at work, which goes on.
        if _PROCESS.get() is process or not loop.is_running():
            raise Died

    with (
        patch("sys.stdin", io.StringIO()),
        patch.object(entry, "prepared", prepared),
        patch("sys.stdout", streams[0]),
        patch("sys.stderr", streams[1]),
        patch("asyncio.run", process.run_until_complete),
        patch("asyncio.open_connection", process.connect),
        patch("asyncio.to_thread", process.in_a_thread),
        patch("os._exit", leave),
        patch.dict(os.environ, {"XDG_STATE_HOME": str(process.home), "HOME": str(process.home)}),
    ):
        try:
            code = entry.run(name, args)
            for stream in streams:
                stream.flush()
        except Died:
            code = process.code
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except Exception:  # noqa: BLE001 - as Python tells of it
            code, broken = 1, traceback.format_exc()
        process.code = code
    for number, handler in before.items():
        with contextlib.suppress(ValueError):
            loop.remove_signal_handler(number)
        signal.signal(number, handler)
    for stream, output in zip(streams, (out, err), strict=True):
        with contextlib.suppress(OSError, ValueError):
            stream.detach()
        output.close()
    process.stdout, process.stderr = out.text(), err.text() + broken


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
