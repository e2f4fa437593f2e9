"""A shell on a terminal of its own, typed at: what TAB makes of a line."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.real.waiting import wait_until

TIMEOUT = 60.0
_READY = "ready> "
# Where the line begins: what is typed there runs another command with the same words.
_HOME = "\x01"
_SHOW = "printf 'word=%s\\n' "
_WORD = re.compile(r"^word=(.*)$", re.MULTILINE)
_ESCAPES = re.compile(r"[\0\r]|\x1b(\[[0-9;?]*[a-zA-Z]|[=>])")


class TypedShell:
    """`command` starts it, `setup` are lines for it, of which the last makes the prompt."""

    def __init__(
        self, command: Sequence[str], setup: Sequence[str], cwd: Path, env: Mapping[str, str]
    ) -> None:
        self._read = bytearray()
        self._terminal, theirs = os.openpty()
        # Wide: nothing is wrapped.
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 1000, 0, 0))
        self._process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=cwd,
            env={**os.environ, **env, "TERM": "vt100"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()
        for line in setup:
            self._type(f"{line}\r")
        # Not as it is echoed, in quotes.
        self._type(f"PS1='{_READY[:2]}''{_READY[2:]}'\r")
        self._wait_for(_READY, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        os.close(self._terminal)

    def words_after_tab(self, line: str) -> list[str]:
        """Return the words of the line as the shell has them once TAB was pressed behind it."""
        start = len(self._read)
        self._type(f"{line}\t{_HOME}{_SHOW}\r")
        self._wait_for(rf"\nword=(.*\n)+ *{_READY}", start)
        return _WORD.findall(self.screen(start))

    def screen(self, start: int = 0) -> str:
        return _ESCAPES.sub("", self._read[start:].decode(errors="replace"))

    def _follow(self) -> None:
        # A terminal whose other end is closed fails to be read.
        with suppress(OSError):
            while data := os.read(self._terminal, 65536):
                self._read += data

    def _type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def _wait_for(self, pattern: str, start: int) -> None:
        wait_until(
            lambda: re.search(pattern, self.screen(start)) is not None,
            TIMEOUT,
            lambda: f"{pattern!r} on {self.screen(start)!r}",
        )
