"""Java processes: their command line, their start and their end."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.real.jars import class_path

# Quick to start and small, at the price of peak speed: nothing here runs for long. The JVM's own
# warnings go to stdout, which belongs to the tools.
JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xlog:disable")
NODE_LOGGING = (
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss,SSS",
    # A line per partition and state change would be most of the output of a big cluster.
    "-Dorg.slf4j.simpleLogger.log.state.change.logger=warn",
)
# Kafka has a bean that sets levels of logging. It starts log4j, a twentieth of what a node's start
# takes; here slf4j-simple logs, and nobody asks the bean.
_NO_LOG4J = (
    "-Dlog4j2.loggerContextFactory=org.apache.logging.log4j.simple.SimpleLoggerContextFactory"
)
TOOL_LOGGING = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",)
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def java_command(
    version: str, main: str, *arguments: str, heap_mb: int, options: Sequence[str] = ()
) -> list[str]:
    """Return the command that runs a class of this Kafka."""
    jvm = ["java", f"-Xmx{heap_mb}m", *JVM_OPTIONS, _NO_LOG4J, *options]
    return [*jvm, "-cp", class_path(version), main, *arguments]


def spawn(
    command: Sequence[str], log: Path, at_our_end: signal.Signals = signal.SIGKILL
) -> subprocess.Popen[bytes]:
    """Start a process that writes to `log` and dies with the thread that called this.

    It has a session of its own, so that Ctrl-C reaches pytest and not the brokers under it.
    """
    parent = os.getpid()
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: _die_with(parent, at_our_end),
        )


def run(command: Sequence[str], timeout: float) -> subprocess.CompletedProcess[str]:
    """Run a tool to its end, or kill it at the time-out."""
    parent = os.getpid()
    return subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        preexec_fn=lambda: _die_with(parent),
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """Send SIGKILL, which a stopped process obeys too."""
    process.kill()
    process.wait()


def tail(log: Path, lines: int = 40) -> str:
    """Return the end of a log, for a message."""
    if not log.exists():
        return f"({log} does not exist)"
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def _die_with(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Make this child, before exec, die with its parent, however pytest ends."""
    _LIBC.prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)  # The parent was gone before we asked to follow it.
