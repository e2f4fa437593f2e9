"""Commands as processes that need not import first: forked from one that has the package.

Each pytest process has a server of its own (forked_server.py). A command gets the streams, the
variables, the directory and the signals of a new process, and ends as one does;
tests/test_forked.py holds them against each other. What is about the start of Python itself, its
variables among it, is a new process's matter.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kafka_unclean_recovery.cli import ELECTION, RECOVERY
from kafka_unclean_recovery.deadline import Deadline
from tests.forked_server import LENGTH

_FUNCTIONS = {RECOVERY: "unclean_recovery", ELECTION: "elect_leaders"}
# Read by Python when it starts, or by the C library.
_OF_THE_START = ("PYTHON", "LC_", "LANG", "MALLOC", "LD_")
_ASKING = threading.Lock()
_ENDS_WITHIN = 60.0
_STATUS = struct.Struct("!i")


def run(
    program: str,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    directory: Path | None = None,
    timeout: float,
    stdin: int = 0,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. variables: all that it has, those of this process by default.
    Raises TimeoutError with what it said, once it is killed."""
    environment = dict(os.environ if variables is None else variables)
    where = str(directory or Path.cwd())
    words = [str(Path(sys.executable).with_name(program)), *arguments]
    if not _as_at_the_start(environment):
        return subprocess.run(
            words,
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            cwd=where,
            env=environment,
        )
    request = {
        "function": _FUNCTIONS[program],
        "arguments": words,
        "directory": where,
        "variables": environment,
    }
    return _finish(words, *_begin(request, stdin), timeout)


def _as_at_the_start(variables: Mapping[str, str]) -> bool:
    return _of_the_start(variables) == _of_the_start(_server().variables)


def _of_the_start(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in variables.items() if name.startswith(_OF_THE_START)}


@dataclass(frozen=True, slots=True)
class _Server:
    """variables: those that it was started with."""

    process: subprocess.Popen[bytes]
    asked: socket.socket
    variables: Mapping[str, str]

    def end(self) -> None:
        """Close our end of the socket, by which it ends, as it does when this process is killed."""
        self.asked.close()
        self.process.wait(_ENDS_WITHIN)


@cache
def _server() -> _Server:
    ours, theirs = socket.socketpair()
    variables = dict(os.environ)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked_server", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
            cwd=Path(__file__).parent.parent,
        )
    server = _Server(process, ours, variables)
    atexit.register(server.end)
    return server


def _begin(request: Mapping[str, object], stdin: int) -> tuple[socket.socket, int, int]:
    """Return (who tells its id and its end, its stdout, its stderr)."""
    text = json.dumps(request).encode()
    ours, status = socket.socketpair()
    (out, its_out), (err, its_err) = os.pipe(), os.pipe()
    null = os.open(os.devnull, os.O_RDONLY) if stdin == subprocess.DEVNULL else None
    its = [stdin if null is None else null, its_out, its_err, status.fileno()]
    try:
        with _ASKING:
            asked = _server().asked
            socket.send_fds(asked, [LENGTH.pack(len(text))], its)
            asked.sendall(text)
    finally:
        for descriptor in (its_out, its_err, *(() if null is None else (null,))):
            os.close(descriptor)
        status.close()
    return ours, out, err


def _finish(
    words: Sequence[str], status: socket.socket, out: int, err: int, timeout: float
) -> subprocess.CompletedProcess[str]:
    until = Deadline.after(timeout)
    said: dict[int, bytearray] = {status.fileno(): bytearray(), out: bytearray(), err: bytearray()}
    with status, selectors.DefaultSelector() as ready:
        for descriptor in said:
            ready.register(descriptor, selectors.EVENT_READ)
        try:
            while ready.get_map():
                if until.expired:
                    left = _text(said[out]) + _text(said[err])
                    raise TimeoutError(f"{words} not done within {timeout:g} s: {left}")
                for key, _ in ready.select(until.remaining()):
                    if data := os.read(key.fd, 65536):
                        said[key.fd] += data
                    else:
                        ready.unregister(key.fd)
        finally:
            told = said[status.fileno()]
            if len(told) == LENGTH.size:
                os.kill(LENGTH.unpack(told)[0], signal.SIGKILL)
            os.close(out)
            os.close(err)
    if len(told) < LENGTH.size + _STATUS.size:
        raise RuntimeError(f"the server of forked commands ended beside {words}: see its stderr")
    (code,) = _STATUS.unpack(told[LENGTH.size :])
    return subprocess.CompletedProcess(words, code, _text(said[out]), _text(said[err]))


def _text(said: bytearray) -> str:
    """Return it as `text=True` of subprocess does."""
    return said.decode().replace("\r\n", "\n").replace("\r", "\n")
