"""The control socket is the Unix-domain socket by which `emulator ctl` talks to a running emulator.

A connection carries one command, a line of the language of commands.py. One JSON object comes back:
"answer" with text, or a sentence as "error", for a command that is wrong, or as "not_done". The
socket has mode 0600 in a directory of mode 0700.
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
# A client has so many seconds to send its line.
_PATIENCE = 10.0

Answer = Callable[[str], str]
"""An Answer carries out a line and returns the text to reply. It raises BadCommand."""


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
            pass  # The client is gone.

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
    """Serve a socket until the end of the block, and yield its path."""
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
    """Return a directory whose path leaves room for the socket's name."""
    for place in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()):
        room = _LONGEST_PATH - len(os.fsencode(place)) - len("/kafka-emulator-ctl-12345678/socket")
        if place and room >= 0 and os.access(place, os.W_OK | os.X_OK):
            return place
    return "/tmp"  # noqa: S108 - the directory made in it is nobody else's


def ask(path: Path, line: str, timeout: float) -> str:
    """Return the answer to one line. Raises OSError when no emulator listens, and BadCommand;
    NotDone also when no answer came to a command that may have been carried out."""
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
    """Return the whole line. Raises OSError, and its subclass TimeoutError when time is up."""
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
