"""Commands that only ask, run in this process: it takes a tenth of the time of a new one.

tests/real/test_in_process.py holds each of them against a process.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

from kafka_unclean_recovery.signals import stopping_signals
from tests.cli import in_process
from tests.cli.in_process import Done


class Overdue(BaseException):
    """No part of a command takes it for one of its own errors."""


def suits(arguments: Sequence[str]) -> bool:
    """Return whether they change nothing and read no disks, which is done by processes that are
    forked: no process with threads may do that."""
    if threading.current_thread() is not threading.main_thread():
        # stdout and signals are of the whole process.
        return False
    command = arguments[0]
    looks = "--show-replica-info" in arguments
    reads_files = command == "plan" and "--log-dirs" not in arguments
    return looks or reads_files or command == "ok-to-stop"


def invoke(
    command: str, arguments: Sequence[str], environment: Mapping[str, str], timeout: float
) -> Done:
    """Run the command. environment: beside what this process has. Signal handlers come back."""
    with _signals_kept(), at_most(timeout):
        return in_process.invoke(command, *arguments, env=environment)


@contextmanager
def _signals_kept() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in stopping_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End a run that takes longer where it is, which is a failure."""

    def over(number: int, frame: FrameType | None) -> None:
        raise Overdue(f"not done within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
