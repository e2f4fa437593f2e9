"""A marker on a disk that was given ends a transaction that the leader leaves open, and only that
one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from kafka_unclean_recovery.aftercare.comparing import with_returning
from kafka_unclean_recovery.aftercare.reading_disks import DiskReader
from kafka_unclean_recovery.aftercare.result import Aftercare, PartitionCare
from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging, Unclean, hanging
from kafka_unclean_recovery.cluster.requests.transactions import OpenTransaction, ToldTransaction
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.log_dir.watching import Unwatched
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Broker,
    EpochSpan,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    TopicPartition,
)
from tests.log_dir.replica_directories import (
    CLUSTER,
    TOPIC_ID,
    Log,
    Segment,
    write_log_directory,
)
from tests.salvage.batches import marker, numbered

WHERE = TopicPartition("orders", 0)
LEADER, DEAD, ALSO_DEAD = 3, 1, 2
PRODUCER, EPOCH = 7, 4
HELD = 30
"""The leader has plain records up to 10, the transaction up to here, and then nothing."""
# numbered() gives the record at an offset the time 1000 + offset.
OPEN = OpenTransaction(WHERE, PRODUCER, EPOCH, -1, 10, 1000 + HELD - 1, HELD - 11)
LOG = ReplicaLog(
    LEADER,
    live=True,
    last_written_leader_epoch=0,
    log_start_offset=0,
    log_end_offset=HELD,
    epochs=(EpochSpan(0, 0, HELD),),
)
LONGER = structs.replace(
    LOG,
    last_written_leader_epoch=1,
    log_end_offset=HELD + 9,
    epochs=(EpochSpan(0, 0, HELD), EpochSpan(1, HELD, HELD + 9)),
)
"""The leader has gone on in its own epoch."""
SHARED = (
    numbered(0, 10),
    numbered(10, 15, producer=(PRODUCER, EPOCH, 0), transactional=True),
    numbered(25, 5, producer=(PRODUCER, EPOCH, 15), transactional=True),
)
COMMITTED = marker(HELD, commit=True, producer=(PRODUCER, EPOCH))
ABORTED = marker(HELD, commit=False, producer=(PRODUCER, EPOCH))


@dataclass
class _Source:
    """Answers for the leader."""

    log: ReplicaLog

    async def replica_logs(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        return {WHERE: self.log}


def _disk(tmp_path: Path, node: int, *batches: bytes) -> Path:
    log = Log(WHERE.topic, (Segment(0, batches),), ((0, 0),))
    return write_log_directory(tmp_path / str(node), node, [log])


def _scan(*paths: Path) -> ReplicaInfo:
    return scan_log_directories(
        [LocalLocation(path) for path in paths],
        ScanMode.RECOVER,
        wanted=lambda _: True,
        workers=1,
        watch=Unwatched(),
    )


def _care(
    info: ReplicaInfo,
    *told: ToldTransaction,
    leader: ReplicaLog = LOG,
    here: OpenTransaction = OPEN,
    unclean: Unclean = Unclean(),  # noqa: B008 - a frozen value
) -> PartitionCare:
    state = PartitionState(
        WHERE.topic, str(TOPIC_ID), 0, LEADER, 1, (DEAD, ALSO_DEAD, LEADER), (LEADER,)
    )
    state = structs.replace(state, offline_replicas=(DEAD, ALSO_DEAD))
    row = PartitionCare(state, HELD, (hanging(LEADER, here, told, unclean, False),))
    source: Any = _Source(leader)
    found = asyncio.run(
        with_returning(
            Aftercare(CLUSTER, (row,), ()),
            source,
            {LEADER: Broker(LEADER, "h", 1)},
            info,
            DiskReader(),
            Deadline.after(30),
        )
    )
    (row,) = found.partitions
    return row


def _verdict(info: ReplicaInfo, *told: ToldTransaction, **how: Any) -> Hanging:
    (found,) = _care(info, *told, **how).transactions
    return found


def test_the_marker_on_a_dead_disk_tells_what_every_coordinator_has_forgotten(
    tmp_path: Path,
) -> None:
    assert _verdict(_scan(_disk(tmp_path, DEAD, *SHARED))).verdict.ending is Ending.UNKNOWN
    for node, end, ending in ((DEAD, COMMITTED, Ending.COMMIT), (ALSO_DEAD, ABORTED, Ending.ABORT)):
        found = _verdict(_scan(_disk(tmp_path / "ended", node, *SHARED, end))).verdict
        assert (found.ending, found.witness) == (ending, node)
        assert found.reason == f"the disk of broker {node} holds its {ending.upper()} marker"


def test_a_marker_that_raised_the_producers_epoch_is_its_end_too(tmp_path: Path) -> None:
    end = marker(HELD, commit=True, producer=(PRODUCER, EPOCH + 1))
    assert _verdict(_scan(_disk(tmp_path, DEAD, *SHARED, end))).verdict.ending is Ending.COMMIT


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(marker(HELD, commit=True, producer=(PRODUCER, EPOCH - 1)), id="older epoch"),
        pytest.param(marker(HELD, commit=True, producer=(PRODUCER + 1, EPOCH)), id="another's"),
    ],
)
def test_the_marker_of_something_else_tells_nothing(tmp_path: Path, end: bytes) -> None:
    assert _verdict(_scan(_disk(tmp_path, DEAD, *SHARED, end))).verdict.ending is Ending.UNKNOWN


def test_the_first_marker_is_the_transactions_whatever_came_later(tmp_path: Path) -> None:
    later = (
        numbered(HELD + 1, 5, producer=(PRODUCER, EPOCH, 20), transactional=True),
        marker(HELD + 6, commit=False, producer=(PRODUCER, EPOCH)),
    )
    disk = _scan(_disk(tmp_path, DEAD, *SHARED, COMMITTED, *later))
    assert _verdict(disk).verdict.ending is Ending.COMMIT


def test_a_marker_behind_the_damage_is_none(tmp_path: Path) -> None:
    torn = bytearray(SHARED[2])
    torn[-1] ^= 1
    disk = _scan(_disk(tmp_path, DEAD, *SHARED[:2], bytes(torn), COMMITTED))
    assert _verdict(disk).verdict.ending is Ending.UNKNOWN


def test_what_the_leader_wrote_since_keeps_the_verdict_only_while_none_of_it_is_the_producers(
    tmp_path: Path,
) -> None:
    disk = _scan(_disk(tmp_path, DEAD, *SHARED, COMMITTED))
    assert _verdict(disk, leader=LONGER).verdict.ending is Ending.COMMIT
    # A producer of before KIP-890 began its next transaction, which the leader takes for this one.
    gone_on = replace(OPEN, last_timestamp_ms=9_999, last_sequence=24)
    assert _verdict(disk, leader=LONGER, here=gone_on).verdict.ending is Ending.UNKNOWN


def test_a_transaction_that_began_behind_where_the_logs_part_is_another(tmp_path: Path) -> None:
    since = replace(OPEN, start_offset=HELD)
    disk = _scan(_disk(tmp_path, DEAD, *SHARED, COMMITTED))
    assert _verdict(disk, leader=LONGER, here=since).verdict.ending is Ending.UNKNOWN


def test_disks_that_tell_different_ends_are_not_believed(tmp_path: Path) -> None:
    disks = _scan(
        _disk(tmp_path, DEAD, *SHARED, COMMITTED), _disk(tmp_path, ALSO_DEAD, *SHARED, ABORTED)
    )
    found = _verdict(disks).verdict
    assert found.ending is Ending.UNKNOWN
    assert "disks hold different ends of it: COMMIT on that of broker 1 and ABORT" in found.reason


def test_a_disk_is_believed_before_a_coordinator_that_was_elected_uncleanly(tmp_path: Path) -> None:
    told = ToldTransaction("pay", PRODUCER, EPOCH, "CompleteAbort", 0)
    unclean = Unclean(frozenset(range(50)), 50)
    disk = _scan(_disk(tmp_path, DEAD, *SHARED, COMMITTED))
    assert _verdict(disk, told, unclean=unclean).verdict.ending is Ending.COMMIT


def test_a_later_transaction_that_is_under_way_here_would_be_ended_too(tmp_path: Path) -> None:
    disk = _scan(_disk(tmp_path, DEAD, *SHARED, COMMITTED))
    ongoing = ToldTransaction("pay", PRODUCER, EPOCH, "Ongoing", 0, frozenset({WHERE}))
    found = _verdict(disk, ongoing).verdict
    assert found.ending is Ending.UNKNOWN
    assert "holds its COMMIT marker, but a later transaction" in found.reason
    # Elsewhere it hurts nothing here, and what is being ended is ended by its coordinator.
    assert _verdict(disk, replace(ongoing, partitions=frozenset())).verdict.sure
    ending = replace(ongoing, state="PrepareCommit")
    assert _verdict(disk, ending).verdict.ending is Ending.OPEN


def test_a_disk_that_is_not_here_any_more_is_named(tmp_path: Path) -> None:
    path = _disk(tmp_path, DEAD, *SHARED, COMMITTED)
    info = _scan(path)
    path.rename(tmp_path / "elsewhere")
    row = _care(info)
    (problem,) = row.problems
    assert problem.startswith("whether the disk of broker 1 ends them is unknown: ")
    assert not row.over
    # The disk of another broker at the same path tells nothing.
    _disk(tmp_path, ALSO_DEAD, *SHARED, COMMITTED).rename(path)
    assert "is not here the log directory that was scanned" in _care(info).problems[0]
