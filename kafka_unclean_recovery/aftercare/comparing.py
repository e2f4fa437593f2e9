"""Live replicas are asked how far their logs go, and are compared with disks that were scanned.

The disks also tell how transactions ended whose markers their leaders lack.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kafka_unclean_recovery.aftercare.by_disks import DiskEnds, by_disks, left_open
from kafka_unclean_recovery.aftercare.reading_disks import DiskReader
from kafka_unclean_recovery.aftercare.result import Aftercare, PartitionCare
from kafka_unclean_recovery.aftercare.returning import led_empty, returning
from kafka_unclean_recovery.aftercare.transactions import Ending
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import (
    Broker,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.log_trust import cross_check
from kafka_unclean_recovery.transport import ReplicaLogSource

_Logs = dict[TopicPartition, dict[int, ReplicaLog]]
_Scanned = Mapping[TopicPartition, PartitionInfo]


async def with_returning(
    found: Aftercare,
    source: ReplicaLogSource,
    brokers: Mapping[int, Broker],
    info: ReplicaInfo | None,
    reader: DiskReader,
    deadline: Deadline,
) -> Aftercare:
    """Add to `found` what is known of replicas that return, and the ends of transactions that their
    disks hold. brokers: the live ones. info: the scanned disks, None without any. reader: reads
    these disks."""
    scanned = {row.topic_partition: row for row in (info.partitions if info else ())}
    led = [row.state for row in found.partitions if not row.state.offline]
    wanted = _whom_to_ask([state for state in led if state.topic_partition in scanned], scanned)
    logs: _Logs = defaultdict(dict)
    unknown = list(found.unknown)

    async def ask(broker: Broker, states: Sequence[PartitionState]) -> None:
        try:
            answer = await source.replica_logs(broker, states, deadline)
        except ConnectionFailed as error:
            unknown.append(f"how far replicas of broker {broker.id} go is unknown: {error}")
            return
        for tp, log in answer.items():
            logs[tp][broker.id] = log

    await asyncio.gather(*(ask(brokers[b], of) for b, of in wanted.items() if b in brokers))
    rows = [
        await _with(row, logs[row.topic_partition], scanned, found.unseen, reader)
        for row in found.partitions
    ]
    return replace(found, partitions=tuple(rows), unknown=tuple(unknown))


def _whom_to_ask(
    states: Sequence[PartitionState], scanned: _Scanned
) -> Mapping[int, list[PartitionState]]:
    """Return the partitions to ask for by broker: by their leaders, and by the live brokers whose
    disks were scanned."""
    found: dict[int, list[PartitionState]] = defaultdict(list)
    for state in states:
        disks = {log.broker for log in scanned[state.topic_partition].replica_logs}
        for broker in {state.leader, *disks.intersection(state.online_replicas)}:
            found[broker].append(state)
    return found


async def _with(
    row: PartitionCare,
    logs: Mapping[int, ReplicaLog],
    scanned: _Scanned,
    unseen: Mapping[int, str],
    reader: DiskReader,
) -> PartitionCare:
    state, part = row.state, scanned.get(row.topic_partition)
    if state.offline:
        return row
    disks = [] if part is None else [d for d in part.replica_logs if d.broker != state.leader]
    leader = logs.get(state.leader)
    checked = cross_check(
        state,
        [*([leader] if leader else []), *disks],
        compacted=part is not None and part.compacted,
        covered=[disk.broker for disk in disks],
    )
    trusted = {log.broker: log for log in checked if log.scanned}
    untold = [
        f"whether broker {disk.broker} has what its disk held is unknown: it {unseen[disk.broker]}"
        for disk in disks
        if disk.broker in unseen
    ]
    back = returning(state, logs, trusted, unseen, row.gone)
    before = part.replica_logs if part is not None else ()
    empty = [] if leader is None else list(led_empty(state, leader, before))
    found = replace(row, returning=back, problems=(*row.problems, *untold, *empty))
    if leader is None or not row.transactions:
        return found
    return await _with_ends(found, leader, trusted, reader)


async def _with_ends(
    row: PartitionCare, leader: ReplicaLog, disks: Mapping[int, ReplicaLog], reader: DiskReader
) -> PartitionCare:
    """Return the row with the ends that disks hold of its transactions; a disk that can't be read
    again is a problem of it while the ending of one is unknown."""
    told: dict[int, DiskEnds] = {}
    problems = list(row.problems)
    for broker, log in disks.items():
        if log.problem is not None:
            continue
        ends = await reader.ends(log, map(left_open, row.transactions))
        if isinstance(ends, str):
            problems.append(f"whether the disk of broker {broker} ends them is unknown: {ends}")
        else:
            told[broker] = DiskEnds(log, ends)
    decided = tuple(by_disks(each, leader, told) for each in row.transactions)
    if all(each.verdict.ending is not Ending.UNKNOWN for each in decided):
        return replace(row, transactions=decided)
    return replace(row, transactions=decided, problems=tuple(problems))
