"""From nothing to a client that has the metadata of four brokers: ours, and JVMs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

from kafka.protocol.metadata.metadata import MetadataRequest

from benchmarks.emulated_cluster import emulated
from benchmarks.installed import told_of_processes
from benchmarks.measure import JVM_DEFAULTS
from tests.fidelity.wire import Wire
from tests.real import jvm
from tests.real.cache import CACHE, quick_scratch
from tests.real.class_archive import class_archive
from tests.real.cluster import KafkaCluster
from tests.real.jars import class_path
from tests.real.jvm import NODE_LOGGING, java_command
from tests.real.properties import node_directory

VERSION = "4.3.1"
BROKERS = 4
TIMEOUT = 120.0
HEAP_MB = 384
# What bin/kafka-server-start.sh passes unless told otherwise (4.3.1); its heap replaces the tools'.
SERVER_DEFAULTS = ("-Xmx1G", "-Xms1G", *JVM_DEFAULTS[1:-1])
AIM = 1 / 50

Figures = dict[str, float]
Command = Callable[[Path], list[str]]
"""Of a node, by its server.properties."""


def measure(runs: int) -> dict[str, object]:
    """Measure each in turn, in memory where there is room, so that a slow moment falls on all."""
    ways: dict[str, Callable[[Path], Figures]] = {
        "emulator": _emulator,
        "JVMs as the tests start them": lambda scratch: _jvms(scratch, _quick),
        "JVMs as kafka-server-start.sh does": lambda scratch: _jvms(scratch, _stock),
    }
    found: dict[str, list[Figures]] = {name: [] for name in ways}
    with quick_scratch(CACHE) as scratch:
        _emulator(scratch)  # Compiled by now, as the jars are.
    for _ in range(runs):
        for name, once in ways.items():
            with quick_scratch(CACHE) as scratch:
                found[name].append(once(scratch))
    figures = {name: _medians(each) for name, each in found.items()}
    return {
        "benchmark": "emulator-startup",
        **told_of_processes(),
        "brokers": BROKERS,
        "runs": runs,
        "figures": figures,
        "emulator over": {
            name: _ratios(figures["emulator"], figure)
            for name, figure in figures.items()
            if name != "emulator"
        },
        "aim": AIM,
    }


def _ratios(mine: Figures, theirs: Figures) -> Figures:
    """Return ours by theirs; the emulator formats its directories as it starts."""
    return {
        "start": round(mine["start_s"] / theirs["start_s"], 4),
        "format and start": round(mine["start_s"] / (theirs["format_s"] + theirs["start_s"]), 4),
        "cpu of the start": round(mine["cpu_s"] / theirs["cpu_s"], 4),
        "memory": round(mine["resident_mib"] / theirs["resident_mib"], 4),
    }


def _medians(found: Sequence[Figures]) -> Figures:
    return {name: round(median(each[name] for each in found), 3) for name in found[0]}


def _emulator(scratch: Path) -> Figures:
    """Measure the emulator, which formats its directories as it starts."""
    begun = time.perf_counter()
    with emulated(3.0, scratch / "cluster") as cluster:
        _wait_for_metadata(cluster.addresses)
        seconds = time.perf_counter() - begun
        return {"format_s": 0.0, "start_s": seconds, **_used([cluster.process.pid])}


def _jvms(scratch: Path, command: Command) -> Figures:
    """Measure a controller and the brokers, formatted as the tests do: tools at once, and quick."""
    begun = time.perf_counter()
    with KafkaCluster.create(scratch / "cluster", VERSION, BROKERS) as cluster:
        formatted = time.perf_counter()
        with _running(cluster, command) as processes:
            _wait_for_metadata([cluster.address(broker) for broker in cluster.spec.broker_ids])
            seconds = time.perf_counter() - formatted
            used = _used([process.pid for process in processes])
    return {"format_s": formatted - begun, "start_s": seconds, **used}


@contextmanager
def _running(cluster: KafkaCluster, command: Command) -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for node in cluster.node_ids:
            home = node_directory(cluster.directory, node)
            processes.append(jvm.spawn(command(home / "server.properties"), cluster.output(node)))
        yield processes
    finally:
        for process in processes:
            jvm.kill(process)


def _quick(properties: Path) -> list[str]:
    options = (f"-XX:SharedArchiveFile={class_archive(VERSION)}", *NODE_LOGGING)
    return java_command(VERSION, "kafka.Kafka", str(properties), heap_mb=HEAP_MB, options=options)


def _stock(properties: Path) -> list[str]:
    return [
        "java",
        *SERVER_DEFAULTS,
        *NODE_LOGGING,
        "-cp",
        class_path(VERSION),
        "kafka.Kafka",
        str(properties),
    ]


def _wait_for_metadata(addresses: Sequence[str]) -> None:
    """Wait until one answers with all of them: as many as there are addresses."""
    give_up = time.monotonic() + TIMEOUT
    while time.monotonic() < give_up:
        for address in addresses:
            with suppress(OSError):
                if _brokers_seen(address) == len(addresses):
                    return
        time.sleep(0.002)
    raise TimeoutError(f"no metadata of {len(addresses)} brokers within {TIMEOUT} s")


def _brokers_seen(address: str) -> int:
    host, _, port = address.rpartition(":")
    with Wire(host, int(port)) as wire:
        return len(wire.ask(MetadataRequest(topics=[]), 12).brokers)


def _used(pids: Sequence[int]) -> Figures:
    """Return the processor seconds since their start, and proportional set sizes: a page that
    several share counts once."""
    return {
        "cpu_s": sum(map(_cpu_seconds, pids)),
        "resident_mib": sum(map(_proportional_kib, pids)) / 1024,
    }


def _cpu_seconds(pid: int) -> float:
    """Return user and system time, fields 14 and 15 of proc(5); field 2 has brackets."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _proportional_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise ValueError(f"no Pss of process {pid}")
