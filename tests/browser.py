"""A headless Chromium, driven by its DevTools protocol through a pipe."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WHY_NOT = "no chromium on the PATH: install it to have the pages looked at"
# Generous: two cores are shared with brokers.
TIMEOUT = 60.0
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
Json = dict[str, Any]


@dataclass(slots=True)
class Opened:
    """A page that was opened. ms: from the navigation until its first frame after the load event.
    requests: every URL that was asked for. complaints: of the console and of the policy."""

    ms: float = 0.0
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


class Browser:
    """One process with one tab. To be closed."""

    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self._process = process
        self._write, self._read = write, read
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self._opened = Opened()
        self._loaded = False
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")

    def show(self, width: int, scheme: str) -> None:
        """Show pages from now on on a screen of so many pixels, "light" or "dark"."""
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self._ask("Emulation.setDeviceMetricsOverride", **screen)
        scheme_wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        self._ask("Emulation.setEmulatedMedia", features=scheme_wanted)

    def open(self, path: Path) -> Opened:
        self._opened, self._loaded = Opened(), False
        begun = time.perf_counter()
        self._ask("Page.navigate", url=path.absolute().as_uri())
        while not self._loaded:
            self._hear(time.monotonic() + TIMEOUT)
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        self._opened.ms = (time.perf_counter() - begun) * 1000
        return self._opened

    def evaluate(self, script: str) -> Any:
        """Return what an expression of JavaScript, or its promise, comes to."""
        done = self._ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """Save a picture of the whole page."""
        taken = self._ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def _ask(self, method: str, **parameters: Any) -> Json:
        self._number += 1
        message: Json = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        deadline = time.monotonic() + TIMEOUT
        while (answer := self._hear(deadline)).get("id") != self._number:
            pass
        assert "error" not in answer, (method, answer["error"])
        result: Json = answer["result"]
        return result

    def _hear(self, deadline: float) -> Json:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(deadline - time.monotonic(), 0))
            assert ready, "the browser does not answer"
            data = os.read(self._read, 1 << 20)
            assert data, "the browser ended"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: Json = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, told: Json) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self._opened.requests.append(told["request"]["url"])
        elif method in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self._opened.complaints.append(json.dumps(told))

    def close(self) -> None:
        os.close(self._write)
        os.close(self._read)
        self._process.terminate()
        try:
            self._process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def browser() -> Iterator[Browser]:
    """Yield a browser with a profile of its own, which is thrown away."""
    assert CHROMIUM is not None, WHY_NOT
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        commands, write = _pipe()
        read, answers = _pipe()
        # It reads 3 and writes 4.
        script = f'exec "$0" "$@" 3<&{commands} 4>&{answers}'
        process = subprocess.Popen(
            ["bash", "-c", script, CHROMIUM, *_FLAGS, f"--user-data-dir={home}"],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": home},
        )
        os.close(commands)
        os.close(answers)
        running = Browser(process, write, read)
        try:
            yield running
        finally:
            running.close()


def _pipe() -> tuple[int, int]:
    """Return (to read, to write), both beyond the numbers that the browser wants."""
    ends = os.pipe()
    kept = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return kept[0], kept[1]
