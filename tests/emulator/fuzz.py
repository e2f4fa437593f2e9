"""Torment an emulated cluster: `python -m tests.emulator.fuzz --frames N --seed S`.

Whatever is sent is answered or hung up on; nothing is left of it; and who asks sanely meanwhile
and afterwards is answered.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import random
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kafka.protocol.admin.topics import CreateTopicsRequest, DeleteTopicsRequest
from kafka.protocol.consumer.fetch import FetchRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.producer.produce import ProduceRequest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.apis.supported import apis
from kafka_unclean_recovery.kraft_rules.releases import KIP_966
from kafka_unclean_recovery.mechanisms import Dialect
from tests.emulator.fuzz_frames import Frame, frames
from tests.fidelity.wire import Wire
from tests.log_dir.segments import v2
from tests.messages.building import build
from tests.real.waiting import wait_until

Address = tuple[str, int]

TIMEOUT = 60.0
SANE = "sane-topic"
# Frames of a connection; those after one that closes it are never looked at.
_LENGTHS = (1, 1, 1, 2, 4, 20)
_RESETS_PERCENT = 10
_SANE_EVERY = 1000
# Decoding half a million elements takes some hundred megabytes for a moment.
MOST_GROWTH_BYTES = 600 << 20
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Result:
    frames: int
    connections: int
    answers: int
    seconds: float
    peak_growth_bytes: int


@dataclass(frozen=True, slots=True)
class Held:
    """What a process has of what can leak."""

    files: int
    tasks: int


def torment(frame_count: int, seed: int, seconds: float = float("inf")) -> Result:
    """Send as many frames, or as fit into the seconds. Raises AssertionError."""
    chance = random.Random(seed)
    options = Options(brokers=3, release="kip-966", dialect=Dialect.KIP_966)
    with _no_complaint() as complaints, Cluster(options) as cluster:
        addresses = _addresses(cluster)
        before, begun = held(cluster), time.monotonic()
        check_sanity(cluster)
        rss = _peak_bytes()
        sent = connections = answers = 0
        source = frames(chance, list(apis(KIP_966, Dialect.KIP_966).values()))
        while sent < frame_count and time.monotonic() - begun < seconds:
            batch = list(islice(source, min(chance.choice(_LENGTHS), frame_count - sent)))
            reset = chance.randrange(100) < _RESETS_PERCENT
            answers += _converse(chance.choice(addresses), _until_open(batch), reset)
            sent, connections = sent + len(batch), connections + 1
            assert not complaints, (seed, sent, complaints[0])
            if sent // _SANE_EVERY != (sent - len(batch)) // _SANE_EVERY:
                check_sanity(cluster)
        check_sanity(cluster)
        wait_until_nothing_leaked(cluster, before)
        took, growth = time.monotonic() - begun, _peak_bytes() - rss
    assert not complaints, complaints
    assert growth < MOST_GROWTH_BYTES, growth
    return Result(sent, connections, answers, took, growth)


def _addresses(cluster: Cluster) -> list[Address]:
    parted = (server.rpartition(":") for server in cluster.bootstrap_servers.split(","))
    return [(host, int(port)) for host, _, port in parted]


def _until_open(batch: Sequence[Frame]) -> list[Frame]:
    """Return the frames up to one that is not whole: what follows would be taken for its rest."""
    for place, frame in enumerate(batch):
        if frame.open:
            return list(batch[: place + 1])
    return list(batch)


def _converse(address: Address, batch: Sequence[Frame], reset: bool) -> int:
    """Return the number of answers: each to a frame that was sent, in order, and then the end."""
    with socket.create_connection(address, timeout=TIMEOUT) as sock:
        try:
            sock.sendall(b"".join(frame.data for frame in batch))
            if reset:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                return 0
            sock.shutdown(socket.SHUT_WR)
            received = b"".join(iter(lambda: sock.recv(1 << 20), b""))
        except TimeoutError:
            raise AssertionError(f"neither answered nor closed: {batch}") from None
        except OSError:  # Reset, because more came than was read.
            return 0
    return _count_answers(received, batch)


def _count_answers(received: bytes, batch: Sequence[Frame]) -> int:
    asked = iter([frame.correlation_id for frame in batch])
    count = at = 0
    while at < len(received):
        length, correlation_id = struct.unpack_from(">ii", received, at)
        assert at + 4 + length <= len(received), "an answer that is cut short"
        assert correlation_id in asked, "an answer to what was not asked"
        at, count = at + 4 + length, count + 1
    return count


@contextmanager
def _no_complaint() -> Iterator[list[str]]:
    """Yield what asyncio logs of exceptions that nobody expected."""
    found: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(self.format(record))

    keep, logger = Keep(logging.WARNING), logging.getLogger("asyncio")
    logger.addHandler(keep)
    try:
        yield found
    finally:
        logger.removeHandler(keep)


def check_sanity(cluster: Cluster) -> None:
    """Delete what others made, and check that a record goes in and comes out."""
    for address in _addresses(cluster):
        with Wire(*address) as wire:
            assert wire.ask(ApiVersionsRequest(), 3).error_code == 0
    with Wire(*_addresses(cluster)[0]) as wire:
        topics = wire.ask(build(MetadataRequest, {"topics": None}), 9).topics
        doomed = [{"name": topic.name, "topic_id": None} for topic in topics]
        gone = wire.ask(build(DeleteTopicsRequest, {"topics": doomed, "timeout_ms": 1000}), 6)
        assert {each.error_code for each in gone.responses} <= {0}
        assignment = [{"partition_index": 0, "broker_ids": [1]}]
        new = {
            "name": SANE,
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": assignment,
        }
        made = wire.ask(build(CreateTopicsRequest, {"topics": [new], "timeout_ms": 1000}), 7)
        assert made.topics[0].error_code == 0, made
        records = v2(count=5)
        data = {"name": SANE, "partition_data": [{"index": 0, "records": records}]}
        values = {"acks": 1, "timeout_ms": 1000, "topic_data": [data]}
        written = wire.ask(build(ProduceRequest, values), 9).responses[0].partition_responses[0]
        assert (written.error_code, written.base_offset) == (0, 0)
        partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
        values = {"replica_id": -3, "max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 20}
        topics = [{"topic": SANE, "partitions": [partition]}]
        fetch = build(FetchRequest, values | {"topics": topics, "rack_id": ""})
        read = wire.ask(fetch, 12).responses[0].partitions[0]
        assert (read.error_code, len(read.records)) == (0, len(records))


def held(cluster: Cluster) -> Held:
    tasks = cluster.look(lambda _: len(asyncio.all_tasks()))
    return Held(len(list(Path("/proc/self/fd").iterdir())), tasks)


def wait_until_nothing_leaked(cluster: Cluster, before: Held) -> None:
    def back() -> bool:
        gc.collect()
        now = held(cluster)
        return now.files <= before.files and now.tasks <= before.tasks

    wait_until(back, TIMEOUT, lambda: f"{before} again; it is {held(cluster)}")


def _peak_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return int(peak) << 10


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    print(torment(flags.frames, flags.seed))
