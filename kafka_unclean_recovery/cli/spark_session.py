"""What the spark commands have in common: a session, and somebody at a terminal who watches it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import Any

from kafka_unclean_recovery.cli.console import Console
from kafka_unclean_recovery.cli.exits import usage
from kafka_unclean_recovery.cli.scan_watch import ProgressLine, Signals
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.watching import Progress

_NEEDED = ("pyspark", "pyarrow", "pandas")


class SparkWatch:
    """What a Spark job wants of a Watch. again: what to say on how to go on. `clock` is in
    seconds."""

    def __init__(
        self, console: Console, again: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._line = ProgressLine(console, clock)
        self.signals = Signals(
            console,
            "stopping: Spark's jobs are cancelled (a second signal stops at once)",
            f"stopped at once; {again}",
        )

    def progress(self, so_far: Progress) -> None:
        self._line(so_far)
        self.signals.tell()

    def tasks(self, what: str, done: int, count: int) -> None:
        self._console.progress(f"{what}: {done} of {count} tasks")
        self.signals.tell()

    @property
    def stopped(self) -> bool:
        return self.signals.stopped


def check_installed() -> None:
    """Raises Exit(2)."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise usage(f"this needs {', '.join(missing)}: pip install 'kafka-unclean-recovery[spark]'")


@contextmanager
def session_for(master: str | None, conf: Sequence[str], watch: SparkWatch) -> Iterator[Any]:
    """A Spark session as the flags have it; signals are taken. Raises Exit(2)."""
    settings = dict(_setting(word) for word in conf)
    from kafka_unclean_recovery.spark.session import session

    with watch.signals.taken(), ExitStack() as begun:
        with _sigint_held_back():
            try:
                spark = begun.enter_context(session(master, settings))
            except InputError as error:
                raise usage(str(error)) from None
            begun.enter_context(watch.signals.taken())
        yield spark


@contextmanager
def _sigint_held_back() -> Iterator[None]:
    """Spark takes it over when a session begins; what comes meanwhile is for us all the same."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _setting(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise usage(f"--conf {word}: give a setting of Spark as KEY=VALUE")
    return key, value
