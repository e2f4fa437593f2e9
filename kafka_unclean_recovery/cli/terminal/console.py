"""Stdout carries only the result of a command; everything for people goes to stderr. An existing
file is never overwritten."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import sys
import termios
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, TextIO

from kafka_unclean_recovery.cli.terminal import colour, standard_streams
from kafka_unclean_recovery.cli.terminal.log_format import is_json, log_line
from kafka_unclean_recovery.errors import usage
from kafka_unclean_recovery.files import plain_files
from kafka_unclean_recovery.shown import cut, fitting, shown, width_of
from kafka_unclean_recovery.shutdown import Stop

# Where no line can be rewritten, progress is printed as a new line this often.
_SAID_EVERY_SECONDS = 10.0
_CLEAR_LINE = "\r\x1b[K"
_SHOWN_SECONDS = 0.05
# Larger than any file that a command here writes: a disk image given by mistake is refused at once.
_LARGEST_INPUT = 1 << 30
COMMAND = re.compile(r"[ :]kafka-(?:unclean-recovery|elect-leaders|[a-z-]+\.sh) ")
"""A command of ours or Kafka's in a line, which is to be copied. The name that begins each of our
lines on stderr is none."""


class Console:
    """The console prints sentences, and one line of progress that is rewritten in place on a
    terminal.

    No method but `artefact` waits for the reader of its stream, and none raises
    (standard_streams.py).
    """

    def __init__(self, command: str) -> None:
        self._command = command
        # Progress does not belong in a log.
        self._terminal = standard_streams.is_terminal(sys.stderr) and not is_json()
        self._line = ""

    @property
    def rewrites(self) -> bool:
        """Tell whether `progress` is shown."""
        return self._terminal

    def say(self, sentence: str) -> None:
        """Print a sentence on stderr that stays: a line, on a terminal as many as it takes without
        a word being broken. One with a command stays a line, which can be copied."""
        lines = [log_line(self._command, sentence)]
        if self._terminal:
            lines = _in_window(lines[0], standard_streams.columns_of(sys.stderr))
        self._write("".join(f"{line}\n" for line in lines))

    def lines_of(self, sentence: str, columns: int) -> int:
        """Return how many lines of a terminal of that width `say` takes for the sentence."""
        lines = _in_window(log_line(self._command, sentence), columns)
        return sum(-(-width_of(line) // columns) for line in lines)

    def in_a_line(self, sentence: str, columns: int) -> str:
        """Return as much of a sentence as `say` shows in one line of that width."""
        from kafka_unclean_recovery.report.window import in_one_line

        return in_one_line(sentence, columns - width_of(log_line(self._command, "")))

    def last_words(self, sentence: str) -> None:
        """Print a line on stderr in a signal handler that ends the process."""
        cleared = _CLEAR_LINE if self._line else ""
        standard_streams.last_words(f"{log_line(self._command, sentence)}\n", cleared)

    def progress(self, sentence: str) -> None:
        """Show a line, on a terminal only, until the next line, and as much of it as can be cleared
        again. The line is left out while the terminal accepts no output."""
        if self._terminal and sentence != self._line and not standard_streams.is_waiting():
            self._write(fitting(shown(sentence), standard_streams.columns_of(sys.stderr)))
            self._line = sentence

    def show(self, text: str) -> None:
        """Print text for people on stderr, whose lines are ours: what stands in them from outside
        has no line end any more."""
        self._write(text)

    def show_person(self, text: str) -> bool:
        """Show text to whoever is asked at the terminal, also where stderr goes elsewhere, which
        gets it all the same. Return False when the terminal did not take it."""
        self._write(text)
        return standard_streams.is_terminal(sys.stderr) or (
            standard_streams.write_to_person(text, _paint(sys.stdin))
        )

    def _write(self, text: str) -> None:
        cleared, self._line = (_CLEAR_LINE if self._line else ""), ""
        standard_streams.write_soon(text, cleared, _paint(sys.stderr))

    def artefact(self, text: str) -> None:
        """Print the result, the only output on stdout. When stdout does not take all of it, an exit
        code of 0 becomes 1."""
        self.artefact_of([text])

    def artefact_of(self, parts: Iterable[str], kept: re.Pattern[str] | None = None) -> None:
        """Print a result part by part, so that a large one is never held as a whole. kept: the
        codes of ours that reach the terminal."""
        self._write("")
        self._tell(standard_streams.write_out(parts, kept))

    def reading(self, parts: Iterable[str]) -> None:
        """Print a result for people, in colours where they are wanted. Each part is whole lines."""
        self._write("")
        self._tell(standard_streams.write_out(parts, None, _paint(sys.stdout)))

    def _tell(self, why: str | None) -> None:
        if why is not None:
            self.say(f"stdout: {why}: the result could not be written to it completely")


def _in_window(line: str, columns: int) -> list[str]:
    if width_of(line) <= columns or COMMAND.search(line):
        return [line]
    # Imported for this line alone: most runs say nothing as wide.
    from kafka_unclean_recovery.report.window import wrapped

    return wrapped(line, columns)


class Pulse:
    """A line of progress: rewritten in place on a terminal, elsewhere printed every 10 s."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said: float | None = None

    def __call__(self, text: str, now: float) -> None:
        """Show the text. now: in seconds."""
        self._console.progress(text)
        if self._said is None:
            self._said = now
        if not self._console.rewrites and now - self._said >= _SAID_EVERY_SECONDS:
            self._console.say(text)
            self._said = now


def clocked(pulse: Pulse, clock: Callable[[], float] = time.monotonic) -> Callable[[str], None]:
    """Return a function that shows a text at the time of the clock, which tells seconds."""
    return lambda text: pulse(text, clock())


def is_terminal() -> bool:
    """Tell whether stdin is a terminal, so that a person can be asked."""
    return standard_streams.is_terminal(sys.stdin)


def _paint(stream: TextIO | None) -> standard_streams.Paint:
    return colour.painted if colour.wanted(stream) and not is_json() else str


async def ask(console: Console, question: str, stop: Stop) -> str:
    """Return the line that is typed on the terminal, without surrounding blanks. Raises Interrupted
    when asked to stop.

    Input from before the question is discarded. When the question, or any sentence before it, can't
    be shown, nobody is asked and the answer is empty.
    """
    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except termios.error:
        return ""  # The terminal is gone.
    if not console.show_person(shown(cut(question))):
        return ""
    while standard_streams.is_waiting():
        standard_streams.write_waiting()
        await stop.unless(asyncio.sleep(_SHOWN_SECONDS))
    if not standard_streams.said_all():
        return ""
    return (await stop.unless(_read_line())).strip()


async def _read_line() -> str:
    """Read a line from the terminal without a thread, which could not be ended."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()
    descriptor = sys.stdin.fileno()

    def readable() -> None:
        if not line.done():
            line.set_result(_typed(descriptor))

    loop.add_reader(descriptor, readable)
    try:
        return await line
    finally:
        loop.remove_reader(descriptor)


def _typed(descriptor: int) -> str:
    """Return what was typed; an empty text when the terminal is gone."""
    try:
        return os.read(descriptor, 4096).decode(errors="replace")
    except OSError:
        return ""


def read_input(path: Path, flag: str, *, torn: bool = False) -> str:
    """Return the text of a plain file that the user named. Raises Exit(2).

    No text that is read here has a NUL: a disk image, or a file with a hole, is refused before all
    of it is in memory. torn: a power cut may have left NULs at the end, which do not count.
    """
    try:
        with open_plain(path, flag) as file:
            return plain_files.whole_text(file, _LARGEST_INPUT, torn=torn).decode("utf-8")
    except OSError as error:
        raise usage(f"{flag} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise usage(f"{flag} {path}: not UTF-8 text") from None


def read_bytes(path: Path, flag: str) -> bytes:
    """Return the bytes of a plain file that the user named. Raises Exit(2)."""
    try:
        with open_plain(path, flag) as file:
            return plain_files.whole(file, _LARGEST_INPUT)
    except OSError as error:
        raise usage(f"{flag} {path}: {error.strerror}") from None


def open_plain(path: Path, flag: str) -> BinaryIO:
    """Open a plain file for reading. Raises Exit(2) when it is not a plain file or is too large,
    OSError."""
    try:
        file = plain_files.open_plain(path)
    except OSError as error:
        if error.errno == errno.EINVAL:
            why = "not a plain file; write what it holds to one first"
            raise usage(f"{flag} {path}: {why}") from None
        raise
    size = os.fstat(file.fileno()).st_size
    if size > _LARGEST_INPUT:
        file.close()
        raise usage(f"{flag} {path}: {size} bytes is too large for such a file")
    return file


def check_output(path: Path | None, flag: str) -> None:
    """Check, before the cluster is asked anything, that a new file can be created there and that
    it is outside of log directories. Raises Exit(2)."""
    if path is None:
        return
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise usage(f"{flag} {path}: {error.strerror}") from None
    else:
        raise usage(f"{flag} {path}: the file exists and is never overwritten; name a new one")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise usage(
            f"{flag} {path}: {path.parent} is no directory that can be written to; make it"
            " first, or name another"
        )
    check_outside_log_directories(path, flag)


def check_new_directory(path: Path, flag: str) -> None:
    """Check, before anything is read, that the name is new and outside of log directories. Raises
    Exit(2)."""
    if path.name in ("", ".."):
        raise usage(f"{flag} {path}: name a new directory")
    if not path.absolute().parent.is_dir():
        raise usage(f"{flag} {path}: {path.parent} is no directory; make it first")
    if os.path.lexists(path):
        raise usage(f"{flag} {path}: it exists and nothing is ever overwritten; name a new one")
    check_outside_log_directories(path, flag)


def check_outside_log_directories(path: Path | None, flag: str) -> None:
    """Refuse a path in a log directory, which has a meta.properties. Raises Exit(2)."""
    if path is None:
        return
    parent = Path(os.path.realpath(path.parent))
    for above in (parent, *parent.parents):
        if (above / "meta.properties").exists():
            raise usage(f"{flag} {path}: lies in log directory {above}; name a place elsewhere")
