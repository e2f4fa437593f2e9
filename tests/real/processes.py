"""The running nodes of a cluster, each a process that only we end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.real import jvm
from tests.real.waiting import wait_until

STOP_TIMEOUT = 60.0


@dataclass(slots=True)
class NodeProcesses:
    """Process by node id."""

    _running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    _paused: set[int] = field(default_factory=set)

    def spawn(self, node: int, command: Sequence[str], log: Path) -> None:
        if self.alive(node):
            raise ValueError(f"node {node} runs already")
        self._running[node] = jvm.spawn(command, log)

    def alive(self, node: int) -> bool:
        """It has not ended; a paused process is alive."""
        process = self._running.get(node)
        return process is not None and process.poll() is None

    def responsive(self, node: int) -> bool:
        return self.alive(node) and node not in self._paused

    def exit_status(self, node: int) -> int | None:
        return self._running[node].poll()

    def kill(self, node: int) -> None:
        self._paused.discard(node)
        jvm.kill(self._running.pop(node))

    def kill_all(self) -> None:
        """All of them at the same moment, as a power cut would."""
        for process in self._running.values():
            process.kill()
        for node in tuple(self._running):
            self.kill(node)

    def stop(self, node: int) -> None:
        process = self._running[node]
        process.terminate()
        process.wait(STOP_TIMEOUT)
        del self._running[node]

    def pause(self, node: int) -> None:
        """Not one of its threads runs any more when this returns."""
        process = self._running[node]
        process.send_signal(signal.SIGSTOP)
        stopped = os.WSTOPPED | os.WNOWAIT | os.WNOHANG
        wait_until(
            lambda: os.waitid(os.P_PID, process.pid, stopped) is not None,
            STOP_TIMEOUT,
            lambda: f"node {node} stopped",
        )
        self._paused.add(node)

    def resume(self, node: int) -> None:
        self._running[node].send_signal(signal.SIGCONT)
        self._paused.discard(node)
