"""The running nodes of a cluster, each a process that only we end."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.real import jvm, security
from tests.real.class_archive import class_archive
from tests.real.properties import ClusterPorts, ClusterSpec, node_directory
from tests.real.waiting import wait_until

STOP_TIMEOUT = 60.0


class Nodes(Protocol):
    """What runs the nodes of a cluster, each from its directory."""

    def spawn(self, node: int) -> None:
        """Start one; it may still be on its way when this returns."""

    def alive(self, node: int) -> bool: ...

    def responsive(self, node: int) -> bool: ...

    def exit_status(self, node: int) -> int | None: ...

    def kill(self, node: int) -> None: ...

    def kill_all(self) -> None: ...

    def stop(self, node: int) -> None: ...

    def pause(self, node: int) -> None: ...

    def resume(self, node: int) -> None: ...


# Once this is over, a broker that no controller answers keeps a core busy until one does: the polls
# of its raft thread don't wait (seen on 4.3.1 and 4.4.0). It turns to another controller without
# it: as soon as one refuses the connection, or lets a request time out.
_CALM_WITHOUT_A_QUORUM = ("--override", "controller.quorum.fetch.timeout.ms=600000")


def output(directory: Path, node: int) -> Path:
    """Return what the node printed, over all its starts."""
    return node_directory(directory, node) / "output.log"


@dataclass(slots=True)
class NodeProcesses:
    """JVMs on this machine, by node id."""

    _spec: ClusterSpec
    _ports: ClusterPorts
    _directory: Path
    _running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    _paused: set[int] = field(default_factory=set)

    def spawn(self, node: int) -> None:
        if self.alive(node):
            raise ValueError(f"node {node} runs already")
        version = self._spec.version
        command = jvm.java_command(
            version,
            "kafka.Kafka",
            str(node_directory(self._directory, node) / "server.properties"),
            *(_CALM_WITHOUT_A_QUORUM if self._never_votes(node) else ()),
            heap_mb=self._spec.heap_mb,
            options=(
                f"-XX:SharedArchiveFile={class_archive(version)}",
                *jvm.NODE_LOGGING,
                *(security.node_options(self._directory) if self._spec.secured else ()),
            ),
        )
        self._running[node] = jvm.spawn(command, output(self._directory, node))

    def _never_votes(self, node: int) -> bool:
        # A controller that a test adds is none of the spec's.
        return node in self._spec.broker_ids and not self._spec.combined

    def alive(self, node: int) -> bool:
        """Return True until it has ended; a paused process is alive."""
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
        """Kill all of them at the same moment, as a power cut would."""
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
        """Pause it; not one of its threads runs any more when this returns."""
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
