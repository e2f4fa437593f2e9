"""The Unix-domain socket by which `emulator ctl` talks to a running emulator.

One command a connection: a line of the language of commands.py, and back one JSON object: "answer"
with text, or a sentence as "error", for what can't be meant, or as "not_done". The socket has mode
0600 in a directory of mode 0700.
"""

from __future__ import annotations

import json
import os
import socket
import socketserver
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator.control.commands import BadCommand, NotDone

# A path of sockaddr_un, with the zero that ends it, has 104 bytes on some systems, 108 on Linux.
_LONGEST_PATH = 103
_LONGEST_LINE = 1 << 16
# For a client to send its line, in seconds.
_PATIENCE = 10.0

Answer = Callable[[str], str]
"""A line to what is said about it. Raises BadCommand."""


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, path: Path, answer: Answer) -> None:
        super().__init__(str(path), _Handler)
        path.chmod(0o600)
        self.answer = answer


class _Handler(socketserver.StreamRequestHandler):
    timeout = _PATIENCE

    def handle(self) -> None:
        try:
            line = self.rfile.readline(_LONGEST_LINE)
            if line:
                self.wfile.write(json.dumps(self._reply(line)).encode() + b"\n")
        except OSError:
            pass  # Whoever asked is gone.

    def _reply(self, line: bytes) -> dict[str, str]:
        assert isinstance(self.server, _Server)
        if not line.endswith(b"\n"):
            return {"error": f"a command has at most {_LONGEST_LINE - 1} bytes"}
        try:
            return {"answer": self.server.answer(line.decode())}
        except NotDone as error:
            return {"not_done": str(error)}
        except (BadCommand, UnicodeDecodeError) as error:
            return {"error": str(error)}
        except RuntimeError:
            return {"not_done": "the emulator is stopping"}


@contextmanager
def serving(answer: Answer) -> Iterator[Path]:
    """Where it listens, until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="kafka-emulator-ctl-", dir=_short_place()) as directory:
        path = Path(directory) / "socket"
        with _Server(path, answer) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            thread.start()
            try:
                yield path
            finally:
                server.shutdown()
                thread.join()


def _short_place() -> str:
    """A directory that leaves room for the name in it."""
    for place in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()):
        room = _LONGEST_PATH - len(os.fsencode(place)) - len("/kafka-emulator-ctl-12345678/socket")
        if place and room >= 0 and os.access(place, os.W_OK | os.X_OK):
            return place
    return "/tmp"  # noqa: S108 - the directory made in it is nobody else's


def ask(path: Path, line: str, timeout: float) -> str:
    """The answer to one line. Raises OSError when nobody is there, and BadCommand; NotDone of what
    may have been done, too, as no answer came."""
    deadline = Deadline.after(timeout)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(timeout)
        sock.connect(str(path))
        try:
            sock.sendall(line.encode() + b"\n")
            received = _received(sock, deadline)
        except TimeoutError:
            raise NotDone(
                f"the emulator at {path} has it, and has not answered within {timeout:g} s: it may"
                " be done yet; ask for status"
            ) from None
        except OSError:
            raise NotDone(
                f"the emulator at {path} ended before it answered: whether it was done is unknown"
            ) from None
    reply: dict[str, Any] = json.loads(received)
    if "not_done" in reply:
        raise NotDone(reply["not_done"])
    if "error" in reply:
        raise BadCommand(reply["error"])
    return str(reply["answer"])


def _received(sock: socket.socket, deadline: Deadline) -> bytes:
    """The whole line. Raises OSError, and TimeoutError which is one."""
    received = bytearray()
    while not received.endswith(b"\n"):
        if deadline.expired:
            raise TimeoutError
        sock.settimeout(deadline.remaining())
        chunk = sock.recv(_LONGEST_LINE)
        if not chunk:
            raise ConnectionResetError
        received += chunk
    return bytes(received)
