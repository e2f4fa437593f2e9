"""Stdout and stderr: no failure of theirs changes what a run does, be it a reader that is gone, a
full disk, a closed descriptor or a terminal that Ctrl-S holds up.

Stderr is never waited for while a run goes on: what it can't take at once it gets with the next
sentence, or in the end. Of stdout it is remembered that it did not get all. One process runs one
command, so both are kept here for all of it.
"""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress
from typing import TextIO

from kafka_unclean_recovery.cli.exits import NOT_ALL, OK

# A pipe that takes anything takes so much without waiting.
_PIECE = select.PIPE_BUF
_FAILURES = (OSError, ValueError)

_waiting = bytearray()
_stdout_lost = _stderr_lost = False
# Stderr opened once more, where it is a terminal.
_terminal: int | None = None


def hold_descriptors() -> None:
    """Where one of them is closed nothing else may be opened in its place: what libraries print
    would end up in a journal."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def begin() -> None:
    """Forget what a command before this one left."""
    global _stdout_lost, _stderr_lost, _terminal
    _waiting.clear()
    _stdout_lost = _stderr_lost = False
    if _terminal is not None:
        os.close(_terminal)
    _terminal = _opened_again(sys.stderr)


def write_soon(text: str) -> None:
    """To stderr; never waits, and never raises."""
    global _stderr_lost
    stream = sys.stderr
    descriptor = _descriptor(stream)
    if stream is None:
        _stderr_lost = True
    elif descriptor is None:
        _stderr_lost |= not _written(stream, text)
    else:
        _waiting.extend(_encoded(stream, text))
        write_waiting()


def write_waiting(patience: float | None = 0.0) -> None:
    """What stderr was to get and can take now. patience: for each piece, None to wait on."""
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
    """Whether stderr still has to get something."""
    return bool(_waiting)


def said_all() -> bool:
    """Whether stderr got all that it was to get by now."""
    return not _waiting and not _stderr_lost


def last_words(text: str) -> None:
    """To stderr in a signal handler, which may have come in the middle of something else."""
    stream = sys.stderr
    with suppress(*_FAILURES):
        if stream is not None and _takes(stream.fileno(), 0.0):
            os.write(stream.fileno(), _encoded(stream, text)[:_PIECE])


def write_out(text: str) -> str | None:
    """All of it to stdout, however long that takes; never raises. Why it did not get all, if so."""
    global _stdout_lost
    try:
        _write_out(text)
    except _FAILURES as error:
        _stdout_lost = True
        return getattr(error, "strerror", None) or str(error)
    return None


def _write_out(text: str) -> None:
    """Raises OSError, ValueError."""
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
    """The same, but no success where stdout did not get all."""
    return NOT_ALL if code == OK and _stdout_lost else code


def end(code: int) -> int:
    """The exit code, once all that can be written is. For the end of the process: the interpreter
    flushes what is left, and would complain and end with 120."""
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
    """Not of one that is closed."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _opened_again(stream: TextIO | None) -> int | None:
    """A terminal that takes anything may take less than a piece of a pipe, and one that is held up
    would be waited for then: unless it is our own, for others share the mode of what we were given.
    """
    with suppress(*_FAILURES):
        if stream is not None and stream.isatty():
            mode = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
            return os.open(os.ttyname(stream.fileno()), mode)
    return None


def _descriptor(stream: TextIO | None) -> int | None:
    """None without a stream, or of one that is none of the system's, as in a test."""
    try:
        return None if stream is None else stream.fileno()
    except _FAILURES:
        return None


def _takes(descriptor: int, patience: float | None) -> bool:
    """Whether it can be written to without waiting, or fails at once. patience: seconds."""
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
