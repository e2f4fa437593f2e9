"""Ports for brokers: below the ephemeral range, and one owner each on this machine.

A port that the kernel may hand to an outgoing connection is lost to a broker that is down for a
moment, so the range ends before 32768. A lock file per port keeps clusters of parallel runs apart
also while none of their brokers listens; the lock dies with the process that holds it.
"""

from __future__ import annotations

import fcntl
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

LOOPBACK = "127.0.0.1"
FIRST_PORT = 20_000
END_PORT = 32_768


@dataclass(slots=True)
class PortLease:
    """Ports that are ours until `release`."""

    ports: tuple[int, ...]
    _locks: list[IO[str]] = field(repr=False)

    @classmethod
    def of(cls, count: int) -> PortLease:
        locks: list[IO[str]] = []
        ports: list[int] = []
        for port in _candidates():
            lock = _try_lock(port)
            if lock is None:
                continue
            locks.append(lock)
            ports.append(port)
            if len(ports) == count:
                return cls(tuple(ports), locks)
        raise RuntimeError(f"no {count} free ports in {FIRST_PORT}-{END_PORT}")

    def release(self) -> None:
        for lock in self._locks:
            lock.close()
        self._locks.clear()


def answers(port: int) -> bool:
    """Return whether anyone listens there."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((LOOPBACK, port)) == 0


def _candidates() -> Iterator[int]:
    """Yield every port of the range once, from a random one on."""
    span = END_PORT - FIRST_PORT
    start = random.randrange(span)
    return (FIRST_PORT + (start + step) % span for step in range(span))


def _try_lock(port: int) -> IO[str] | None:
    directory = Path(tempfile.gettempdir()) / "kafka-unclean-recovery-ports"
    # Shared by all users of the machine; a lock file of somebody else is a port of theirs.
    with suppress(FileExistsError):
        directory.mkdir()
        directory.chmod(0o1777)
    try:
        lock = (directory / str(port)).open("a")
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    if not _can_bind(port):
        lock.close()
        return None
    return lock


def _can_bind(port: int) -> bool:
    with socket.socket() as probe:
        # As Kafka binds: a connection of an earlier broker in TIME_WAIT is no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True
