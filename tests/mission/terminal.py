"""A terminal emulator of a given size in which a command runs: pyte makes its window."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import termios
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import pyte

from tests.cli.run import RECOVERY, command_line
from tests.real.waiting import wait_until

TIMEOUT = 60.0
# The line of progress that is rewritten in place.
_COLOUR = re.compile(r"\x1b\[(?:0|1;31|32|33)m")
_REWRITTEN = re.compile(r"[^\n]*\r\x1b\[K")


@dataclass(frozen=True, slots=True)
class Screen:
    """What was printed below the line of progress, and the exit code. printed: all of it."""

    code: int
    text: str
    colours: frozenset[str]
    size: tuple[int, int]
    printed: bytes

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @property
    def window(self) -> tuple[str, ...]:
        """Return the rows that the terminal shows in the end. Only who asks waits for them: of many
        lines they take a second."""
        return _window(self.size, self.printed)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was printed up to a question, and the rows that the terminal showed then."""

    text: str
    window: tuple[str, ...]


class Terminal:
    """A command in a window of its own, with all three streams."""

    def __init__(self, size: tuple[int, int], *words: str, seconds: float = TIMEOUT) -> None:
        self._seconds = seconds
        self._read = bytearray()
        self._ours, its = os.openpty()
        self._size = size
        columns, lines = size
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        self._process = subprocess.Popen(
            command_line(RECOVERY, *words), stdin=its, stdout=its, stderr=its, env=env
        )
        os.close(its)
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()

    def _follow(self) -> None:
        try:
            while data := os.read(self._ours, 65536):
                self._read += data
        except OSError:
            pass  # It has ended.

    @property
    def text(self) -> str:
        """Return what was shown, without its colours."""
        text = _COLOUR.sub("", self._read.decode())
        return _REWRITTEN.sub("", text.replace("\r\n", "\n"))

    @property
    def window(self) -> tuple[str, ...]:
        """Return the rows that are to be seen now."""
        return _window(self._size, bytes(self._read))

    @property
    def progress(self) -> list[str]:
        """Return each line that was rewritten in place."""
        return self._read.decode().split("\r\x1b[K")[:-1]

    def answer(self, question: str, text: str) -> Asked:
        """Type the text once the question is there, and return all that was shown until then."""
        wait_until(
            lambda: self.text.endswith(question), TIMEOUT, lambda: f"{question}: {self.text}"
        )
        asked = Asked(self.text, self.window)
        os.write(self._ours, text.encode())
        return asked

    def finish(self) -> Screen:
        try:
            code = self._process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        self._reader.join(TIMEOUT)
        os.close(self._ours)
        assert "\x1b" not in self.text
        colours = frozenset(_COLOUR.findall(self._read.decode()))
        return Screen(code, self.text, colours, self._size, bytes(self._read))


def _window(size: tuple[int, int], printed: bytes) -> tuple[str, ...]:
    """Return the rows that a terminal shows of what was printed, without blanks at their ends."""
    screen = pyte.Screen(*size)
    pyte.ByteStream(screen).feed(printed)
    return tuple(row.rstrip() for row in screen.display)


def shows(window: Sequence[str], lines: Sequence[str]) -> bool:
    """Return whether all the lines are in the window at once, wrapped or not."""
    return _without_blanks(lines) in _without_blanks(window)


def assert_fits(screen: Screen, lines: Sequence[str]) -> None:
    """Check that the window shows all these lines at once, and that none is wider but commands,
    which are to be copied, and what is said: those are wrapped by the terminal."""
    laid_out = [line for line in lines if RECOVERY not in line]
    assert [line for line in laid_out if len(line) > screen.size[0]] == []
    assert shows(screen.window, lines), screen.text


def _without_blanks(lines: Sequence[str]) -> str:
    return "".join("".join(lines).split())
