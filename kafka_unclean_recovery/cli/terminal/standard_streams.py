"""A failure of stdout or stderr never changes what a run does, be it a closed pipe, a full disk, a
closed descriptor or a terminal that Ctrl-S has stopped.

No character that a terminal would act on passes, but line ends and the few codes that are ours.

A run never waits for stderr: text that stderr can't take at once is written with the next sentence,
or at the end. For stdout the module remembers that output was lost. One process runs one command,
so the module keeps the state of both for the whole process.
"""

from __future__ import annotations

import os
import re
import select
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any, TextIO, cast

from kafka_unclean_recovery.errors import NOT_ALL, OK
from kafka_unclean_recovery.shown import screened

# A pipe that is ready for writing takes at least this many bytes without waiting.
_PIECE = select.PIPE_BUF
_COLUMNS = 80
_PERSON_SECONDS = 5.0
SET_IN = "  "
"""So a line of Python or of a library begins, that none is taken for one of ours."""

# A part is a line, or a thousand.
_PARTS_AT_ONCE = 100
_FAILURES = (OSError, ValueError)

_waiting = bytearray()
_stdout_lost = _stderr_lost = False
# A second descriptor of stderr, when stderr is a terminal.
_terminal: int | None = None


def hold_descriptors() -> None:
    """Open /dev/null in place of each closed standard descriptor: a journal that got such a
    descriptor would receive what libraries print."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


class Screened:
    """Stderr as Python itself and libraries write to it, who quote texts from outside: the end of a
    thread, a warning, a log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = False

    def write(self, text: str) -> int:
        for line in screened(text).splitlines(keepends=True):
            self._stream.write(line if self._begun else f"{SET_IN}{line}")
            self._begun = not line.endswith("\n")
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def screen_libraries() -> None:
    """Let whatever is written to sys.stderr pass through Screened; what is written here is screened
    already."""
    if sys.stderr is not None:
        sys.stderr = cast(TextIO, Screened(sys.stderr))


Paint = Callable[[str], str]
"""It puts colours into lines that were screened already."""


def _as_it_is(text: str) -> str:
    return text


def begin() -> None:
    """Reset the state that an earlier command left."""
    global _stdout_lost, _stderr_lost, _terminal
    _waiting.clear()
    _stdout_lost = _stderr_lost = False
    if _terminal is not None:
        os.close(_terminal)
    _terminal = _opened_again(sys.stderr)


def write_soon(text: str, before: str = "", paint: Paint = _as_it_is) -> None:
    """Write to stderr without ever waiting or raising. before: a code of ours."""
    global _stderr_lost
    stream = sys.stderr
    text = before + paint(screened(text))
    descriptor = _descriptor(stream)
    if stream is None:
        _stderr_lost = True
    elif descriptor is None:
        _stderr_lost |= not _written(stream, text)
    else:
        _waiting.extend(_encoded(stream, text))
        write_waiting()


def write_to_person(text: str, paint: Paint = _as_it_is) -> bool:
    """Write to the terminal that stdin is, for a person who is asked there and can't see stderr.
    Return False when it did not take all within seconds."""
    terminal = _opened_again(sys.stdin)
    if terminal is None or sys.stdin is None:
        return False
    left = memoryview(_encoded(sys.stdin, paint(screened(text))))
    try:
        while left and _takes(terminal, _PERSON_SECONDS):
            left = left[os.write(terminal, left[:_PIECE]) :]
    except OSError:
        return False
    finally:
        os.close(terminal)
    return not left


def write_waiting(patience: float | None = 0.0) -> None:
    """Write to stderr the pending text that it can take now. patience: seconds to wait for each
    piece, None to wait without limit."""
    global _stderr_lost
    descriptor = _descriptor(sys.stderr) if _terminal is None else _terminal
    while _waiting and descriptor is not None and _takes(descriptor, patience):
        try:
            del _waiting[: os.write(descriptor, _waiting[:_PIECE])]
        except BlockingIOError:
            if patience is not None:
                return
        except OSError:
            _stderr_lost = True
            _waiting.clear()


def is_waiting() -> bool:
    """Tell whether text for stderr is pending."""
    return bool(_waiting)


def said_all() -> bool:
    """Tell whether stderr has taken all text so far."""
    return not _waiting and not _stderr_lost


def last_words(text: str, before: str = "") -> None:
    """Write to stderr in a signal handler, which may have interrupted another write. before: a code
    of ours."""
    stream = sys.stderr
    with suppress(*_FAILURES):
        if stream is not None and _takes(stream.fileno(), 0.0):
            os.write(stream.fileno(), _encoded(stream, before + screened(text))[:_PIECE])


def write_out(
    parts: Iterable[str], kept: re.Pattern[str] | None = None, paint: Paint = _as_it_is
) -> str | None:
    """Write all parts to stdout, however long that takes; raise only what making a part raises.
    Return why stdout did not take all, None when it did. kept: codes of ours. Each part is whole
    lines where they are painted."""
    global _stdout_lost
    left = iter(parts)
    while some := list(islice(left, _PARTS_AT_ONCE)):
        try:
            _write_out(paint(screened("".join(some), kept)))
        except _FAILURES as error:
            _stdout_lost = True
            return getattr(error, "strerror", None) or str(error)
    return None


def _write_out(text: str) -> None:
    """Write the whole text to stdout. Raises OSError, ValueError."""
    stream = sys.stdout
    if stream is None:
        raise OSError(None, "it is closed")
    stream.flush()
    descriptor = _descriptor(stream)
    if descriptor is None:
        stream.write(text)
        return
    left = memoryview(_encoded(stream, text))
    while left:
        try:
            _takes(descriptor, None)
            left = left[os.write(descriptor, left[:_PIECE]) :]
        except BlockingIOError:
            continue


def exit_code(code: int) -> int:
    """Return the code, but 1 instead of 0 when stdout lost output."""
    return NOT_ALL if code == OK and _stdout_lost else code


def end(code: int) -> int:
    """Write all pending output at the end of the process, and return the exit code. Otherwise the
    interpreter would flush the streams, print an error and exit with 120."""
    global _stdout_lost
    write_waiting(None)
    for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except _FAILURES:
            _stdout_lost |= stream is sys.stdout
            os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    return exit_code(code)


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether the stream is a terminal; a closed stream is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def columns_of(stream: TextIO) -> int:
    """Return how wide the stream's terminal is, or most of them."""
    size = _told_size(stream)
    return _COLUMNS if size is None else size.columns


def size_of(stream: TextIO | None) -> os.terminal_size | None:
    """Return the size of the stream's window; None where it is no terminal, or one that does not
    tell. A narrower one than most counts as wide as they: it wraps lines, and no number is cut."""
    size = _told_size(stream)
    return size and os.terminal_size((max(size.columns, _COLUMNS), size.lines))


def _told_size(stream: TextIO | None) -> os.terminal_size | None:
    with suppress(*_FAILURES):
        if stream is not None:
            size = os.get_terminal_size(stream.fileno())
            return size if size.columns and size.lines else None
    return None


def _opened_again(stream: TextIO | None) -> int | None:
    """Open the stream's terminal again without blocking; None when the stream is no terminal.

    A terminal that is ready may still take less than one piece, and a write would then wait. The
    given descriptor can't be made non-blocking, because other processes share its mode.
    """
    with suppress(*_FAILURES):
        if stream is not None and stream.isatty():
            mode = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
            return os.open(os.ttyname(stream.fileno()), mode)
    return None


def _descriptor(stream: TextIO | None) -> int | None:
    """Return the stream's descriptor; None without a stream, or for a stream without one, as in
    tests."""
    try:
        return None if stream is None else stream.fileno()
    except _FAILURES:
        return None


def _takes(descriptor: int, patience: float | None) -> bool:
    """Tell whether a write would not wait: it succeeds or fails at once. patience: seconds."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(None if patience is None else patience * 1000))


def _encoded(stream: TextIO, text: str) -> bytes:
    return text.encode(stream.encoding or "utf-8", "backslashreplace")


def _written(stream: TextIO, text: str) -> bool:
    try:
        stream.write(text)
        stream.flush()
    except _FAILURES:
        return False
    return True
