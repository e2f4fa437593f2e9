"""Tails are fetched and salvaged from several brokers at a time, one replica of each."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.requests.transactions import open_transactions
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.log_dir.directory_names import (
    DirectoryKind,
    PartitionDirectory,
    parse_partition_directory,
)
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.replica_scan import Replica
from kafka_unclean_recovery.log_dir.watching import Watch
from kafka_unclean_recovery.model import Broker, ReplicaLog
from kafka_unclean_recovery.salvage.designated import DesignatedLeaders
from kafka_unclean_recovery.salvage.live.fetched_log import FetchedLog
from kafka_unclean_recovery.salvage.live.fetching import TailLost, fetch_tail
from kafka_unclean_recovery.salvage.live.losers import Loser
from kafka_unclean_recovery.salvage.output_directory import move_into
from kafka_unclean_recovery.salvage.ranges import lost_under
from kafka_unclean_recovery.salvage.replica import Output, Salvaged
from kafka_unclean_recovery.salvage.salvage_disks import find_replicas, salvage_replicas
from kafka_unclean_recovery.salvage.tail import within

BROKERS_AT_ONCE = 4
# Decoding records keeps Python busy, and each tail needs the memory of a row group.
_DECODED_AT_ONCE = 2
LONGEST_SECONDS = 24 * 3600.0
"""The time for all tails of a run; each step forward has a bound of its own, far below."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The result for one tail. row: its row of the manifest. why_not: why it was not saved whole,
    None if it was. silent: whether the broker did not answer any more."""

    loser: Loser
    row: Salvaged
    why_not: str | None = None
    silent: bool = False


@dataclass(slots=True)
class TailSaver:
    """Fetches the tails and salvages them. output: its root exists. patience_seconds: the time for
    each step forward.

    `progress` is told how many tails are done and how many bytes were fetched. When `watch` stops
    the run, a thread that still writes stops too.
    """

    nodes: Nodes
    brokers: Mapping[int, Broker]
    leaders: DesignatedLeaders
    output: Output
    watch: Watch
    progress: Callable[[int, int], None]
    patience_seconds: float
    _done: int = 0
    _bytes: int = 0
    _silent_leaders: set[int] = field(default_factory=set)
    _decoding: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_DECODED_AT_ONCE)
    )

    async def save(self, losers: Sequence[Loser]) -> list[Tail]:
        """Save the tails, and return the results in the order of `losers`. Raises Stopped."""
        by_broker: dict[int, list[Loser]] = {}
        for loser in losers:
            by_broker.setdefault(loser.broker, []).append(loser)
        deadline = Deadline.after(LONGEST_SECONDS)
        free = asyncio.Semaphore(BROKERS_AT_ONCE)
        tails: dict[Loser, Tail] = {}

        async def of_broker(held: Sequence[Loser]) -> None:
            """Save the tails of one broker one after the other. A broker that fell silent is not
            waited for again."""
            silent: str | None = None
            async with free:
                for loser in held:
                    tail = self._nothing(loser, silent) if silent else None
                    tails[loser] = tail = tail or await self._save(loser, deadline)
                    silent = tail.why_not if tail.silent else silent
                    self._done += 1
                    self._came(0)

        await asyncio.gather(*map(of_broker, by_broker.values()))
        return [tails[loser] for loser in losers]

    def _came(self, size: int) -> None:
        self._bytes += size
        self.progress(self._done, self._bytes)

    async def _save(self, loser: Loser, deadline: Deadline) -> Tail:
        kept_as = PartitionDirectory(loser.topic_partition, DirectoryKind.LIVE)
        if parse_partition_directory(str(loser.topic_partition)) != kept_as:
            return self._nothing(loser, "its topic's name is none that Kafka gives")
        scratch = self.output.root / f"fetching-from-broker-{loser.broker}"
        try:
            log = FetchedLog(scratch / "fetched", loser, self.leaders.cluster_id)
            why_not, silent = await self._fetch(loser, log, deadline)
            begun, doubt = await self._open_at_the_cut(loser, log, deadline)
            salvaging = (loser, log, begun, scratch / "salvaged")
            async with self._decoding:
                row = await asyncio.to_thread(self._salvage, *salvaging)
        except OSError as error:
            return self._nothing(loser, f"it could not be written: {error.strerror or error}")
        finally:
            await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
        tail = _judged(loser, log, row, why_not, silent)
        for problem in (doubt, self.nodes.unproven(loser.broker)):
            if problem is not None:
                row.problem(problem)
        return tail

    async def _fetch(
        self, loser: Loser, log: FetchedLog, deadline: Deadline
    ) -> tuple[str | None, bool]:
        """Return (why the tail is not whole, whether its broker fell silent). Raises OSError."""
        broker = self.brokers[loser.broker]
        try:
            patience = self.patience_seconds
            await fetch_tail(self.nodes, broker, log, deadline, patience, self._came)
        except ConnectionFailed as error:
            return str(error), True
        except TailLost as error:
            return str(error), False
        finally:
            log.close()
        return None, False

    async def _open_at_the_cut(
        self, loser: Loser, log: FetchedLog, deadline: Deadline
    ) -> tuple[Mapping[int, int], str | None]:
        """Return (first offsets of transactions by producer id, why they are not known). A
        transaction that is open in the log of the designated leader and began before the cut was
        open at the cut already."""
        if not log.transactional:
            return {}, None
        leader = self.brokers[self._leader_log(loser).broker]
        unknown = "which transactions had begun before the cut is not known"
        if leader.id in self._silent_leaders:
            return {}, f"{unknown}: broker {leader.id} did not tell"
        patience = deadline.within(self.patience_seconds)
        try:
            connection = await self.nodes.broker(leader, patience)
            found = await open_transactions(connection, loser.topic_partition, patience)
        except (ConnectionFailed, RequestFailed) as error:
            if isinstance(error, ConnectionFailed):
                self._silent_leaders.add(leader.id)
            return {}, f"{unknown}: {error}"
        return {id_: first for id_, first in found.items() if first < loser.start_offset}, None

    def _salvage(
        self, loser: Loser, log: FetchedLog, open_before: Mapping[int, int], scratch: Path
    ) -> Salvaged:
        """Salvage the fetched log, in a thread. The files take their places only when all of them
        are written."""
        if log.size == 0:
            return self._row(loser)
        sources, problems = find_replicas([LocalLocation(log.root)], self.leaders, lambda _: True)
        if len(sources) != 1:
            return self._nothing(loser, f"it could not be read back: {problems}").row
        (source,) = sources
        row = source.row
        row.replica = replace(row.replica, directory=self._where(loser), compacted=log.gaps)
        row.open_before = open_before
        scratch.mkdir(mode=0o700)
        salvage_replicas([source], replace(self.output, root=scratch), self.watch)
        move_into(scratch, self.output.root)
        return row

    def _nothing(self, loser: Loser, why_not: str) -> Tail:
        row = self._row(loser)
        row.problem(why_not)
        return Tail(loser, row, why_not)

    def _row(self, loser: Loser) -> Salvaged:
        replica = Replica(loser.broker, loser.topic_partition, self._where(loser))
        designated = self.leaders.partitions[loser.topic_partition]
        missing = tuple((span.start_offset, span.end_offset) for span in loser.lost)
        lost = lost_under(loser.log, self._leader_log(loser))
        return Salvaged(replica, designated, loser.log, lost, missing=missing)

    def _leader_log(self, loser: Loser) -> ReplicaLog:
        log = self.leaders.partitions[loser.topic_partition].log
        assert log is not None
        return log

    def _where(self, loser: Loser) -> str:
        broker = self.brokers[loser.broker]
        return f"fetched from broker {broker.id} at {broker.host}:{broker.port}"


def _judged(
    loser: Loser, log: FetchedLog, row: Salvaged, why_not: str | None, silent: bool
) -> Tail:
    """Decide whether the tail is whole, which takes every batch to be in the segment files. These
    files were written as those of any disk. The manifest has the batches that are odd or can't be
    decoded."""
    kept = sum(segment.size for segment in row.segments)
    if why_not is None and not log.whole:
        why_not = f"it was fetched up to offset {log.next_offset} only"
    elif why_not is None and kept != log.tail_size:
        why_not = "; ".join([f"{kept} of {log.tail_size} bytes were kept", *row.problems[:1]])
    if why_not is not None:
        row.problems.insert(0, why_not)
    if log.size:
        left = within(loser.lost, log.next_offset, loser.end_offset)
        row.missing += tuple((span.start_offset, span.end_offset) for span in left)
    # The row describes the replica, not the piece of it that was fetched.
    assert row.designated.log is not None
    row.log, row.lost = loser.log, lost_under(loser.log, row.designated.log)
    return Tail(loser, row, why_not, silent)
