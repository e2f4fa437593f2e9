"""The spark commands share this module: it starts a Spark session and shows its progress."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kafka_unclean_recovery.cli.spark_failures import no_session
from kafka_unclean_recovery.cli.terminal.console import Console, Pulse
from kafka_unclean_recovery.cli.terminal.scan_watch import ProgressLine, Signals
from kafka_unclean_recovery.errors import NOT_ALL, Exit, InputError, usage
from kafka_unclean_recovery.log_dir.watching import Progress

if TYPE_CHECKING:
    from kafka_unclean_recovery.spark.result_paths import ResultPath

_EVERY_SECONDS = 0.2
_CONNECT_SECONDS = 60.0
_STOPPED = "stopped while the Spark session began; nothing was done"
_NEEDED = ("pyspark", "pyarrow", "pandas")


class SparkWatch:
    """The Watch of a Spark job, which shows progress and takes signals.

    again: the words that say how to go on after a stop. clock: in seconds.
    """

    def __init__(
        self, console: Console, again: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._line = ProgressLine(console, clock)
        self._show = Pulse(console)
        self._clock = clock
        self._begun: dict[str, tuple[float, int]] = {}
        self.signals = Signals(
            console,
            "stopping: Spark's jobs are cancelled (a second signal stops at once)",
            f"stopped at once; {again}",
        )

    def progress(self, so_far: Progress) -> None:
        self._line(so_far)
        self.signals.tell()

    def tasks(self, what: str, done: int, count: int) -> None:
        now = self._clock()
        begun, before = self._begun.setdefault(what, (now, done))
        left = ""
        if before < done < count:
            left = f", {(now - begun) * (count - done) / (done - before):.0f} s left"
        self._show(f"{what}: {done} of {count} tasks{left}", now)
        self.signals.tell()

    def begins(self, seconds: float) -> None:
        """Show that the session is starting. seconds: how long it has been starting."""
        self._show(f"waiting for the Spark session ({seconds:.0f} s)", self._clock())
        self.signals.tell()

    @property
    def stopped(self) -> bool:
        return self.signals.stopped


def summaries_of(texts: Sequence[str], store: Mapping[str, str]) -> list[ResultPath]:
    """Return where the summaries lie that --summaries names. Raises InputError."""
    from kafka_unclean_recovery.spark.result_paths import result_path

    return [result_path(text, store) for text in texts]


def check_installed() -> None:
    """Check that the libraries for Spark are installed. Raises Exit(2)."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise usage(f"this needs {', '.join(missing)}: pip install 'kafka-unclean-recovery[spark]'")


@contextmanager
def session_for(master: str | None, conf: Sequence[str], watch: SparkWatch) -> Iterator[Any]:
    """Start the Spark session that the flags ask for, and take signals from the start on.

    Raises Exit(2), and Exit(130 or 143) when a signal came before the session was there.
    """
    settings = dict(_setting(word) for word in conf)
    # Else py4j prints a traceback, by the root logger, when the JVM has gone.
    logging.getLogger().addHandler(logging.NullHandler())
    from kafka_unclean_recovery.spark.session import NoSession, session

    with watch.signals.taken(), ExitStack() as begun:
        is_connect = master is not None and master.startswith("sc://")
        starting = _Starting(session(master, settings), begun, is_connect=is_connect)
        try:
            spark = starting.wait(watch)
        except NoSession as error:
            raise no_session(error, conf, master) from None
        yield spark


class _Starting:
    """A session that starts in a thread of its own: the main thread must receive signals, and
    Spark takes over SIGINT only when it starts in the main thread."""

    def __init__(
        self, session: AbstractContextManager[Any], begun: ExitStack, *, is_connect: bool
    ) -> None:
        self._session = session
        self._is_connect = is_connect
        self._begun = begun
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def wait(self, watch: SparkWatch) -> Any:
        """Wait for the session and return it.

        Raises InputError when a Spark Connect server is silent, because its client would go on for
        ten minutes. A session of another kind is waited for without limit: it may have to queue
        for hours.
        """
        limit = _CONNECT_SECONDS if self._is_connect else math.inf
        began = time.monotonic()
        self._thread.start()
        while self._thread.is_alive():
            self._thread.join(_EVERY_SECONDS)
            seconds = time.monotonic() - began
            watch.begins(seconds)
            if self._thread.is_alive() and (watch.stopped or seconds > limit):
                self._give_up()
                if watch.stopped:
                    raise Exit(watch.signals.exit_code or NOT_ALL, _STOPPED)
                raise InputError(f"no Spark session within {limit:.0f} s: the server is silent")
        if self._error is not None:
            raise self._error
        self._begun.push(self._session)
        return self._result

    def _give_up(self) -> None:
        from kafka_unclean_recovery.spark.session import give_up

        if self._is_connect:
            give_up()

    def _run(self) -> None:
        try:
            self._result = self._session.__enter__()
        except BaseException as error:  # noqa: BLE001 - `wait` raises it
            self._error = error


def _setting(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise usage(f"--conf {word}: give a setting of Spark as KEY=VALUE")
    return key, value


def store_flags(endpoint: str | None, region: str | None) -> list[str]:
    """Return the flags of the same store, for a command that is printed."""
    given = (("--store-endpoint", endpoint), ("--store-region", region))
    return [word for flag, value in given if value is not None for word in (flag, value)]


def store_options(endpoint: str | None, region: str | None) -> dict[str, str]:
    """Return the given settings, by the names that object stores use for them."""
    given = (("endpoint", endpoint), ("region", region))
    return {name: value for name, value in given if value is not None}
