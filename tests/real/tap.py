"""A tap between a client and one node: it stops requests or answers of a kind, so that a test
can act exactly then, or everything, or slows it down. It reads plaintext;
tests.real.tls takes TLS off before it and puts it on behind it.

A client goes on to addresses that it was told of, and past a tap: `tapped` has one at each broker.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

from tests.real.tls import TlsEnds

LOOPBACK = "127.0.0.1"
TIMEOUT = 30.0
_TICK = 0.02

# API keys.
LIST_OFFSETS = 2
DESCRIBE_TOPIC_PARTITIONS = 75
LIST_PARTITION_REASSIGNMENTS = 46
ALTER_PARTITION_REASSIGNMENTS = 45
ELECT_LEADERS = 43
DESCRIBE_QUORUM = 55

_FOR_THE_CONTROLLER = {ALTER_PARTITION_REASSIGNMENTS, ELECT_LEADERS, DESCRIBE_QUORUM}


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """One connection through a tap."""

    broker: str


@dataclass(slots=True)
class Gate:
    """Holds the nth request of a kind, or the answer to it, until it is opened; of one broker, by
    its address, or of any."""

    api_key: int
    nth: int = 1
    answer: bool = False
    broker: str | None = None
    _reached: threading.Event = field(default_factory=threading.Event)
    _open: threading.Event = field(default_factory=threading.Event)
    _held: tuple[Link, bytes] | None = None
    _seen: int = 0

    def wait(self, said: Callable[[], str] = str) -> None:
        """Wait until something is held. said: returns what the command has said."""
        if not self._reached.wait(TIMEOUT):
            seen = f"no request of kind {self.api_key} came by ({self._seen} seen)"
            raise TimeoutError(f"{seen}; {said()}")

    @property
    def reached(self) -> bool:
        """Return True once something is held, or was."""
        return self._reached.is_set()

    def open(self) -> None:
        self._open.set()

    def request(self, link: Link, frame: bytes) -> None:
        if _api_key(frame) != self.api_key or self.broker not in (None, link.broker):
            return
        self._seen += 1
        if self._seen != self.nth:
            return
        self._held = (link, frame[4:8])
        if not self.answer:
            self._hold()

    def response(self, link: Link, frame: bytes) -> None:
        if self.answer and self._held == (link, frame[0:4]):
            self._hold()

    def _hold(self) -> None:
        self._reached.set()
        self._open.wait()


@dataclass(frozen=True, slots=True)
class _Mute:
    """Holds what is for the controller until each of these gates has held something."""

    gates: tuple[Gate, ...]

    def request(self, link: Link, frame: bytes) -> None:
        deadline = time.monotonic() + TIMEOUT
        while (
            _api_key(frame) in _FOR_THE_CONTROLLER
            and not all(gate.reached for gate in self.gates)
            and time.monotonic() < deadline
        ):
            time.sleep(_TICK)

    def response(self, link: Link, frame: bytes) -> None: ...

    def open(self) -> None: ...


class Tap:
    """Listens on `address` and hands everything on to the broker, gate by gate.

    What is held when the tap is closed never arrives. `delay` is how many seconds each frame takes
    from now on. `renamed`: what answers hold, and what the client reads instead, of one length.
    """

    def __init__(self, broker: str, *gates: Gate | _Mute) -> None:
        self._own = self._broker = _host_and_port(broker)
        self._gates = gates
        self._closed = False
        self._severed = False
        self._flowing = threading.Event()
        self._flowing.set()
        self.delay = 0.0
        self.renamed: Mapping[bytes, bytes] = {}
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
        """Watch these gates from now on."""
        self._gates = gates

    def cut(self) -> None:
        """Let nothing pass, as when a cable is pulled; what was sent arrives once it is mended."""
        self._flowing.clear()

    def sever(self) -> None:
        """End connections, and new ones too, until it is mended."""
        self._severed = True
        self._shut(*self._sockets)

    def lead_to(self, broker: str) -> None:
        """Let new connections go elsewhere, as by an old name server, until it is mended."""
        self._broker = _host_and_port(broker)

    def mend(self) -> None:
        self._severed = False
        self._broker = self._own
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
        """Shut it down, which wakes a thread that waits in recv or accept; closing does not."""
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        where = self._broker
        try:
            if self._severed:
                raise ConnectionRefusedError
            broker = socket.create_connection(where, TIMEOUT)
        except OSError:
            client.close()
            return
        broker.settimeout(None)
        self._sockets += [client, broker]
        link = Link("{}:{}".format(*where))
        threading.Thread(target=self._carry, args=(link, client, broker), daemon=True).start()

    def _carry(self, link: Link, client: socket.socket, broker: socket.socket) -> None:
        """Carry both ways, until both have ended."""
        answers = threading.Thread(
            target=self._pump, args=(link, broker, client, False), daemon=True
        )
        answers.start()
        self._pump(link, client, broker, True)
        answers.join()
        for each in (client, broker):
            self._sockets.remove(each)
            each.close()

    def _pump(self, link: Link, source: socket.socket, sink: socket.socket, requests: bool) -> None:
        with suppress(OSError, EOFError):
            while True:
                frame = _read(source, int.from_bytes(_read(source, 4)))
                for gate in self._gates:
                    (gate.request if requests else gate.response)(link, frame)
                for told, instead in () if requests else self.renamed.items():
                    frame = frame.replace(told, instead)
                self._flowing.wait()
                if self.delay:
                    time.sleep(self.delay)
                if self._closed:
                    return
                sink.sendall(len(frame).to_bytes(4) + frame)
        self._shut(source, sink)


@contextmanager
def tapped(brokers: Sequence[str], *gates: Gate, tls: TlsEnds | None = None) -> Iterator[str]:
    """Yield the address of a tap at the first of these brokers. A client that begins there goes
    through a tap whichever of them it asks, and has the first pass on to the controller what comes
    before all gates have held something."""
    with ExitStack() as stack:
        reached = brokers
        if tls is not None:
            reached = [stack.enter_context(tls.plain(broker)) for broker in brokers]
        first, *others = reached
        taps = [Tap(first, *gates), *(Tap(broker, _Mute(gates), *gates) for broker in others)]
        for tap in taps:
            stack.enter_context(tap)
        told = [tap.address for tap in taps]
        if tls is not None:
            told = [stack.enter_context(tls.secured(address)) for address in told]
        renamed = dict(zip(map(_as_told, brokers), map(_as_told, told), strict=True))
        for tap in taps:
            tap.renamed = renamed
        yield told[0]


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def _as_told(address: str) -> bytes:
    """Return a host and a port, as answers of whatever kind hold them."""
    host, port = _host_and_port(address)
    return host.encode() + port.to_bytes(4)


def _api_key(frame: bytes) -> int:
    return int.from_bytes(frame[0:2])


def _read(source: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = source.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
