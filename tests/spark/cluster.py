"""A Spark cluster of several processes on this machine, from the pip package alone.

The Python of its executors has what Spark needs, and neither this package nor crc32c.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from tests.real.ports import LOOPBACK, PortLease, answers
from tests.real.waiting import wait_until

SPARK_HOME = Path(pyspark.__file__).parent
_PACKAGES = ("pyspark", "py4j", "pyarrow", "numpy", "numpy.libs", "pandas", "dateutil", "pytz")
_MAYBE = ("tzdata", "six.py", "pyarrow.libs")
_START_SECONDS = 60.0
_END_SECONDS = 20.0
JOB_SECONDS = 240.0
_QUICKLY = "-XX:TieredStopAtLevel=1"
DRIVER = (
    *("--conf", "spark.driver.host=127.0.0.1"),
    *("--conf", "spark.driver.bindAddress=127.0.0.1"),
    *("--conf", "spark.executor.memory=512m"),
    # Short lives: the optimizing compiler costs more than it brings.
    *("--conf", f"spark.executor.extraJavaOptions={_QUICKLY}"),
    *("--conf", f"spark.driver.extraJavaOptions={_QUICKLY}"),
    *("--conf", "spark.ui.enabled=false"),
    # A task for each replica: when the first is done, nearly all is still to do.
    *("--conf", "spark.default.parallelism=12"),
)
"""Flags for the drivers of its jobs."""


def bare_python(home: Path, without: str | None = None) -> Path:
    """Return the executable of a virtual environment with nothing but what Spark's workers need."""
    venv.create(home, symlinks=True, with_pip=False)
    (ours,) = {Path(pyspark.__file__).parent.parent}
    (theirs,) = home.glob("lib/python*/site-packages")
    for name in (*_PACKAGES, *_MAYBE):
        if name != without and (ours / name).exists():
            (theirs / name).symlink_to((ours / name).resolve())
    return home / "bin" / "python"


@dataclass(frozen=True, slots=True)
class Daemon:
    """A process that we started; `log` is what it says."""

    process: subprocess.Popen[bytes]
    log: Path

    def wait_for(self, words: str) -> None:
        """Wait until it has said these words."""
        wait_until(
            lambda: words in self.log.read_text(),
            _START_SECONDS,
            lambda: self.log.read_text()[-2000:],
        )

    def kill_all(self) -> None:
        """Kill it and what it started, as if their machine were gone."""
        children = below(self.process.pid)
        self.process.kill()
        _kill(children)
        self.process.wait(_END_SECONDS)

    def kill_below(self) -> int:
        """Kill what it started, and return how many processes that were."""
        return _kill(below(self.process.pid))


@dataclass(frozen=True, slots=True)
class SparkCluster:
    """A standalone master and its workers, of one core each."""

    url: str
    workers: tuple[Daemon, ...]
    python: Path


@contextmanager
def spark_cluster(
    home: Path, workers: int, mounts: Mapping[int, Sequence[str]] = {}
) -> Iterator[SparkCluster]:
    """Yield a cluster. mounts: words for mount(8), by the number of the worker that then has the
    mount alone."""
    lease = PortLease.of(2)
    with ExitStack() as running:
        running.callback(lease.release)
        port, web = lease.ports
        python = bare_python(home / "bare")
        where = ("--host", LOOPBACK, "--port", str(port), "--webui-port", str(web))
        master = ("org.apache.spark.deploy.master.Master", *where)
        running.enter_context(daemon("spark-class", master, home / "master.log", python))
        wait_until(lambda: answers(port), _START_SECONDS, lambda: "the master does not listen")
        url = f"spark://{LOOPBACK}:{port}"
        started = [
            running.enter_context(worker(home, number, url, python, mounts.get(number, ())))
            for number in range(workers)
        ]
        for one in started:
            one.wait_for("Successfully registered")
        yield SparkCluster(url, tuple(started), python)


@contextmanager
def worker(
    home: Path, number: int, url: str, python: Path, mount: Sequence[str] = ()
) -> Iterator[Daemon]:
    """Yield a worker of one core, which may not have registered yet."""
    work = home / f"worker-{number}"
    flags = ("--host", LOOPBACK, "--cores", "1", "--memory", "1g", "--work-dir", str(work))
    # Port 0: any that is free, of the web page too.
    words = ("org.apache.spark.deploy.worker.Worker", *flags, "--webui-port", "0", url)
    first = own_mount(*mount) if mount else ()
    log = home / f"worker-{number}.log"
    with daemon("spark-class", words, log, python, first=first) as started:
        yield started


@contextmanager
def daemon(
    script: str,
    words: Sequence[str],
    log: Path,
    python: Path,
    memory: str = "256m",
    first: Sequence[str] = (),
) -> Iterator[Daemon]:
    """Yield one of Spark's scripts and all that it starts, ended at the end. first: words that run
    the words behind them."""
    command = [*first, str(SPARK_HOME / "bin" / script), *words]
    environ = {**environment(python), "SPARK_DAEMON_MEMORY": memory}
    with _started(command, log, environ) as started:
        yield started


@contextmanager
def started_tool(words: Sequence[str], python: Path, where: Path) -> Iterator[Daemon]:
    """Yield kafka-unclean-recovery at work in `where`, ended at the end. python: as environment has
    it."""
    command = [sys.executable, "-m", "kafka_unclean_recovery", *words]
    with _started(command, where / "tool.log", environment(python)) as started:
        yield started


@contextmanager
def _started(command: Sequence[str], log: Path, environ: Mapping[str, str]) -> Iterator[Daemon]:
    """Yield a process and all that it starts, in the directory of its log, ended at the end."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environ,
            cwd=log.parent,
        )
    started = Daemon(process, log)
    try:
        yield started
    finally:
        if process.poll() is None:
            started.kill_all()


def own_mount(*words: str) -> tuple[str, ...]:
    """Return words that run those behind them with a mount that nobody else sees."""
    return ("unshare", "--mount", "sh", "-c", f'mount {shlex.join(words)} && exec "$@"', "sh")


def why_no_own_mount(scratch: Path) -> str | None:
    """Return why this process may not give another one mounts of its own, None where it may."""
    try:
        done = subprocess.run(
            [*own_mount("-t", "tmpfs", "none", str(scratch)), "true"],
            capture_output=True,
            text=True,
            timeout=_END_SECONDS,
            check=False,
        )
    except OSError as error:
        return str(error)
    return done.stderr.strip() if done.returncode else None


def environment(python: Path) -> dict[str, str]:
    """Return the environment. python: that of Spark's workers; drivers have this process's own."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "JAVA_HOME") if name in os.environ}
    return {
        **kept,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_PUBLIC_DNS": LOOPBACK,
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def run_tool(words: Sequence[str], python: Path, where: Path) -> subprocess.CompletedProcess[str]:
    """Run kafka-unclean-recovery in `where`, and return how it ended. python: as environment has
    it."""
    return subprocess.run(
        [sys.executable, "-m", "kafka_unclean_recovery", *words],
        capture_output=True,
        text=True,
        timeout=JOB_SECONDS,
        cwd=where,
        env=environment(python),
        check=False,
    )


def _kill(pids: Iterable[int]) -> int:
    count = 0
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            count += 1
    return count


def below(pid: int) -> list[int]:
    """Return its children and theirs."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        found += (below := children.get(left.pop(), []))
        left += below
    return found
