"""A container engine: the one that answers, or a private dockerd for as long as it is needed.

The private one leaves nothing behind: state and socket are in scratch directories, and it has no
bridge and no firewall rules of its own. docker-proxy publishes ports, which needs neither.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
from docker.errors import DockerException

from tests.real.cache import CACHE, scratch_directory
from tests.real.jvm import spawn, tail
from tests.real.waiting import wait_until

SYSTEM_SOCKET = Path("/var/run/docker.sock")
START_TIMEOUT = 60.0
# It stops what runs, and unmounts.
STOP_TIMEOUT = 120.0


class NoEngineError(Exception):
    """Nobody answers, and none can be started here; says what to do."""


@contextmanager
def engine() -> Iterator[str]:
    """Yield the DOCKER_HOST of an engine: the one that is set, or that of this machine."""
    if named := os.environ.get("DOCKER_HOST"):
        yield named
    elif _answers(SYSTEM_SOCKET):
        yield f"unix://{SYSTEM_SOCKET}"
    elif os.geteuid() == 0 and shutil.which("dockerd"):
        with _private_engine() as host:
            yield host
    else:
        raise NoEngineError(
            f"no container engine answers at {SYSTEM_SOCKET}: start Docker, or set DOCKER_HOST;"
            " as root with dockerd (Debian: docker.io) one is started for the tests"
        )


def _answers(path: Path) -> bool:
    """Return whether an engine answers. We ask first, for Docker's client leaves a socket open
    whose connection was refused."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    client = docker.DockerClient(f"unix://{path}")
    try:
        return bool(client.ping())
    except DockerException:
        return False
    finally:
        client.close()


@contextmanager
def _private_engine() -> Iterator[str]:
    # The path of a socket has to be short, and what is run in is no place for images.
    with (
        tempfile.TemporaryDirectory(prefix="kur-docker-") as run,
        scratch_directory(CACHE / "containers") as data,
    ):
        path, log = Path(run) / "docker.sock", Path(run) / "dockerd.log"
        daemon = _start(Path(run), data, path, log)
        try:
            wait_until(
                lambda: daemon.poll() is not None or _answers(path),
                START_TIMEOUT,
                lambda: f"dockerd answers: {tail(log)}",
            )
            if daemon.poll() is not None:
                raise NoEngineError(f"dockerd does not run here:\n{tail(log)}")
            yield f"unix://{path}"
        finally:
            daemon.terminate()
            daemon.wait(STOP_TIMEOUT)
            _unmount_below(Path(run))
            _unmount_below(data)


def _unmount_below(directory: Path) -> None:
    """Unmount what is mounted there: a container on the host's network leaves that of its name."""
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for path in reversed(mounted):
        if directory in Path(path).parents:
            subprocess.run(["umount", path], check=True)


def _start(run: Path, data: Path, path: Path, log: Path) -> subprocess.Popen[bytes]:
    options = {
        "host": f"unix://{path}",
        "data-root": str(data),
        "exec-root": str(run / "exec"),
        "pidfile": str(run / "docker.pid"),
        "bridge": "none",
        "iptables": "false",
        "ip6tables": "false",
        "ip-forward": "false",
        "ip-masq": "false",
    }
    command = ["dockerd", *(f"--{name}={value}" for name, value in options.items())]
    # SIGTERM has it end its containers first.
    return spawn(command, log, signal.SIGTERM)
