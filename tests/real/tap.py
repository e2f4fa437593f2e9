"""A tap between a client and one node: it stops requests or answers of a kind, so that a test
can act exactly then, or everything, or slows it down. Plaintext only; the client must keep to the
address of the tap.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

LOOPBACK = "127.0.0.1"
TIMEOUT = 30.0

# API keys.
DESCRIBE_TOPIC_PARTITIONS = 75
LIST_PARTITION_REASSIGNMENTS = 46
ALTER_PARTITION_REASSIGNMENTS = 45
ELECT_LEADERS = 43


@dataclass(slots=True)
class Gate:
    """Holds the nth request of a kind, or the answer to it, until it is opened."""

    api_key: int
    nth: int = 1
    answer: bool = False
    _reached: threading.Event = field(default_factory=threading.Event)
    _open: threading.Event = field(default_factory=threading.Event)
    _correlation_id: int | None = None
    _seen: int = 0

    def wait(self) -> None:
        """Until something is held."""
        if not self._reached.wait(TIMEOUT):
            raise TimeoutError(f"no request of kind {self.api_key} came by ({self._seen} seen)")

    @property
    def reached(self) -> bool:
        """Something is held, or was."""
        return self._reached.is_set()

    def open(self) -> None:
        self._open.set()

    def request(self, frame: bytes) -> None:
        if int.from_bytes(frame[0:2]) != self.api_key:
            return
        self._seen += 1
        if self._seen != self.nth:
            return
        self._correlation_id = int.from_bytes(frame[4:8])
        if not self.answer:
            self._hold()

    def response(self, frame: bytes) -> None:
        if self.answer and int.from_bytes(frame[0:4]) == self._correlation_id:
            self._hold()

    def _hold(self) -> None:
        self._reached.set()
        self._open.wait()


class Tap:
    """Listens on `address` and hands everything on to the broker, gate by gate.

    What is held when the tap is closed never arrives. `delay` is how many seconds each frame takes
    from now on.
    """

    def __init__(self, broker: str, *gates: Gate) -> None:
        host, _, port = broker.rpartition(":")
        self._broker = (host, int(port))
        self._gates = gates
        self._closed = False
        self._severed = False
        self._flowing = threading.Event()
        self._flowing.set()
        self.delay = 0.0
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server((LOOPBACK, 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def watch(self, *gates: Gate) -> None:
        """These from now on."""
        self._gates = gates

    def cut(self) -> None:
        """Nothing passes, as when a cable is pulled; what was sent arrives once it is mended."""
        self._flowing.clear()

    def sever(self) -> None:
        """Connections end, and new ones too, until it is mended."""
        self._severed = True
        self._shut(*self._sockets)

    def mend(self) -> None:
        self._severed = False
        self.delay = 0.0
        self._flowing.set()

    def close(self) -> None:
        self._closed = True
        sockets = tuple(self._sockets)
        self._shut(self._listener, *sockets)
        for each in (self._listener, *sockets):
            each.close()
        self._flowing.set()
        for gate in self._gates:
            gate.open()

    @staticmethod
    def _shut(*sockets: socket.socket) -> None:
        """A thread that waits in recv or accept is woken by this, not by closing."""
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            if self._severed:
                raise ConnectionRefusedError
            broker = socket.create_connection(self._broker, TIMEOUT)
        except OSError:
            client.close()
            return
        broker.settimeout(None)
        self._sockets += [client, broker]
        threading.Thread(target=self._carry, args=(client, broker), daemon=True).start()

    def _carry(self, client: socket.socket, broker: socket.socket) -> None:
        """Both ways, until both have ended."""
        answers = threading.Thread(target=self._pump, args=(broker, client, False), daemon=True)
        answers.start()
        self._pump(client, broker, True)
        answers.join()
        for each in (client, broker):
            self._sockets.remove(each)
            each.close()

    def _pump(self, source: socket.socket, sink: socket.socket, requests: bool) -> None:
        with suppress(OSError, EOFError):
            while True:
                frame = _read(source, int.from_bytes(_read(source, 4)))
                for gate in self._gates:
                    (gate.request if requests else gate.response)(frame)
                self._flowing.wait()
                if self.delay:
                    time.sleep(self.delay)
                if self._closed:
                    return
                sink.sendall(len(frame).to_bytes(4) + frame)
        self._shut(source, sink)


def _read(source: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = source.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
