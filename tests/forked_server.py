"""A process that has loaded the package and forks itself for each command asked for: what a new
interpreter takes longest for, its imports, is done once.

    python -m tests.forked_server SOCKET

SOCKET is the descriptor of a Unix socket. A request is its length and a JSON object, with four
descriptors: stdin, stdout, stderr, and the socket that is told the process id and then the status.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, cast

import kafka_unclean_recovery

LENGTH = struct.Struct("!I")
DESCRIPTORS = 4
# The parts that import libraries which start threads: a process with threads must not fork.
_NOT_LOADED = ("emulator", "salvage", "spark", "stores", "__main__")
# What modules of the package import where they need it.
_LATE = ("json", "shutil", "tabulate", "tempfile", "textwrap", "traceback", "typing", "uuid")
_PR_SET_PDEATHSIG = 1


def load() -> None:
    """Import the package, which starts no thread and opens nothing."""
    root = f"{kafka_unclean_recovery.__name__}."
    for found in pkgutil.walk_packages(kafka_unclean_recovery.__path__, root, lambda _: None):
        if not any(part in found.name for part in _NOT_LOADED):
            importlib.import_module(found.name)
    for name in _LATE:
        importlib.import_module(name)
    if (threads := len(list(Path("/proc/self/task").iterdir()))) > 1:
        raise RuntimeError(f"{threads} threads after the imports: leave out what starts them")


def serve(asked: socket.socket) -> dict[str, Any] | None:
    """Return a request in each child, and None in this process once nobody asks any more."""
    woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    told: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([asked.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _tell_ends(told)
        if asked.fileno() in ready:
            request, descriptors = _receive(asked)
            if request is None:
                return None
            *streams, status = descriptors
            child = os.fork()
            if not child:
                signal.set_wakeup_fd(-1)
                # All descriptors are closed by number, none once more by who held it.
                for held in (asked, *told.values()):
                    held.detach()
                _become(request, streams)
                return request
            for stream in streams:
                os.close(stream)
            told[child] = socket.socket(fileno=status)
            try:
                told[child].sendall(LENGTH.pack(child))
            except BrokenPipeError:
                # Who asked for it gave up before it could be told whom to kill.
                os.kill(child, signal.SIGKILL)


def _receive(asked: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    head, descriptors, _, _ = socket.recv_fds(asked, LENGTH.size, DESCRIPTORS)
    if not head:
        return None, []
    (left,) = LENGTH.unpack(head)
    text = bytearray()
    while len(text) < left:
        text += asked.recv(left - len(text))
    return json.loads(text), descriptors


def _tell_ends(told: dict[int, socket.socket]) -> None:
    """Tell of each child that has ended how it ended."""
    while told:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        # Who gave up waiting does not listen any more.
        with told.pop(child) as of_it, suppress(BrokenPipeError):
            of_it.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status)))


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Be as a new process that was started by this request: streams, variables, place, signals."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 1024)
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["variables"])
    time.tzset()
    sys.argv[:] = request["arguments"]
    sys.stdin = _new(0, "r", sys.stdin)
    sys.stdout = _new(1, "w", sys.stdout)
    sys.stderr = _new(2, "w", sys.stderr, buffering=1)


def _new(descriptor: int, mode: str, old: TextIO, buffering: int = -1) -> TextIO:
    encoding, errors = old.encoding, old.errors
    return cast(TextIO, open(descriptor, mode, buffering, encoding, errors, closefd=False))


if __name__ == "__main__":
    load()
    gc.freeze()
    wanted = serve(socket.socket(fileno=int(sys.argv[1])))
    if wanted is not None:
        from kafka_unclean_recovery.cli import start

        sys.exit(getattr(start, wanted["function"])())
