"""Looking at one copy of a metadata log, against kafka-dump-log.sh printing the same file.

    python -m benchmarks.quorum_inspect [PARTITIONS MIB]

The log has a record for each partition, and changes of them up to its size. `make bench` takes
100,000 partitions and 32 MiB; 1000000 1024 is what a large cluster leaves, and takes minutes.
"""

from __future__ import annotations

import json
import sys
import tempfile
import uuid
from itertools import cycle
from pathlib import Path

from benchmarks.compared import at_most
from benchmarks.installed import told_of_processes
from benchmarks.measure import Cost, jvm_script, ours, run, summary
from kafka_unclean_recovery.log_dir.metadata.encoding import encode_batch
from tests.log_dir.cluster_metadata_encoder import change, ints, leader, partition, topic
from tests.metadata_quorum.disks import METADATA, SEGMENT, TIME_MS, static_log, write_node

PARTITIONS, MIB = 100_000, 32
RUNS = 3
_PER_TOPIC = 1000
_DIRECTORIES = tuple(uuid.UUID(int=900 + number) for number in range(3))


def main(arguments: list[str]) -> None:
    partitions, mib = map(int, arguments) if arguments else (PARTITIONS, MIB)
    with tempfile.TemporaryDirectory() as scratch:
        home = write_node(Path(scratch), 1, static_log())
        segment = home / METADATA / SEGMENT
        records = _fill(segment, partitions, mib << 20)
        dump = ("--cluster-metadata-decoder", "--files", str(segment))
        mine: list[Cost] = []
        theirs: list[Cost] = []
        for _ in range(RUNS if not arguments else 1):
            mine.append(run(ours("kafka-unclean-recovery", "quorum", "inspect", str(home))))
            theirs.append(run(jvm_script("4.3.1", "kafka-dump-log", *dump)))
    print(json.dumps(_result(partitions, mib, records, mine, theirs)))


def _fill(segment: Path, partitions: int, size: int) -> int:
    """Append to the log; return the end offset."""
    end = static_log().end
    topics = [uuid.UUID(int=5000 + number) for number in range(partitions // _PER_TOPIC)]
    with segment.open("ab") as file:
        for number, topic_id in enumerate(topics):
            made = [
                partition(index, (1, 2, 3), topic_id=topic_id, directories=_DIRECTORIES)
                for index in range(_PER_TOPIC)
            ]
            end = _append(file.write, [topic(f"topic-{number}", topic_id), *made], end)
        for topic_id in cycle(topics):
            if file.tell() >= size:
                break
            tags = {0: ints((1, 2)), 1: leader(1)}
            end = _append(
                file.write, [change(index, tags, topic_id) for index in range(_PER_TOPIC)], end
            )
    return end


def _append(write: object, values: list[bytes], base: int) -> int:
    assert callable(write)
    write(encode_batch([(None, value) for value in values], 0, base, 1, TIME_MS))
    return base + len(values)


def _result(
    partitions: int, mib: int, records: int, mine: list[Cost], theirs: list[Cost]
) -> dict[str, object]:
    cost, rival = summary(mine), summary(theirs)
    work = f"a metadata log of {mib:,} MiB, {partitions:,} partitions, inspected"
    against = "`kafka-dump-log.sh` printing it"
    return {
        "benchmark": "quorum_inspect",
        **told_of_processes(),
        "records": records,
        "ours": cost,
        "kafka_dump_log": rival,
        "compared": [
            at_most(1.0, work, against, cost["wall_s"], rival["wall_s"]),
            at_most(None, f"{work}: memory", against, cost["peak_mib"], rival["peak_mib"], "MiB"),
        ],
    }


if __name__ == "__main__":
    main(sys.argv[1:])
