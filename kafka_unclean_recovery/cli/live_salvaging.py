"""With --salvage-dir, the tails that live replicas would lose are saved before any leader is
elected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.cli.commands.salvage_work import RAW_ONLY, parquet_records
from kafka_unclean_recovery.cli.session import Session
from kafka_unclean_recovery.cli.terminal.console import check_new_directory
from kafka_unclean_recovery.cli.terminal.output import count_and_first
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.errors import InputError, usage
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.log_dir.watching import Progress, Stopped
from kafka_unclean_recovery.model import Cluster, PartitionPlan, TopicPartition
from kafka_unclean_recovery.recovery.consent import Notes
from kafka_unclean_recovery.recovery.partitions import Plans, not_begun
from kafka_unclean_recovery.recovery.recover import Unsaved, plan_recovery
from kafka_unclean_recovery.recovery.views import QuorumSilent, Wanted
from kafka_unclean_recovery.salvage.designated import Designated, DesignatedLeaders
from kafka_unclean_recovery.salvage.live.clearing import ClearedTail, cleared, tail_text
from kafka_unclean_recovery.salvage.live.losers import Loser, Losers, losers_of
from kafka_unclean_recovery.salvage.live.saving import TailSaver
from kafka_unclean_recovery.salvage.manifest import Manifest, manifest_json
from kafka_unclean_recovery.salvage.output_directory import new_directory, write_manifest
from kafka_unclean_recovery.salvage.replica import OpenRecords, Output
from kafka_unclean_recovery.shutdown import Interrupted, Stop
from kafka_unclean_recovery.wording import count_text

FLAG = "--salvage-dir"
_PATIENCE_SECONDS = 30.0

AllLosers = Mapping[TopicPartition, Losers]


@dataclass(frozen=True, slots=True)
class SalvageFirst:
    """The wishes of --salvage-dir and --allow-loss. records: None with --raw-only."""

    directory: Path
    allow_loss: bool
    records: OpenRecords | None


def salvage_first(
    directory: Path | None, *, allow_loss: bool, raw_only: bool, automated_recovery: bool
) -> SalvageFirst | None:
    """Check the flags against each other. Return None when nothing is to be saved. Raises
    Exit(2)."""
    if directory is None:
        if raw_only:
            raise usage(f"--raw-only is about what {FLAG} saves: give {FLAG} too")
        if allow_loss:
            raise usage(
                f"--allow-loss is about records that {FLAG} could not save: give {FLAG} too"
            )
        return None
    if not automated_recovery:
        raise usage(f"{FLAG} saves what --automated-recovery is about to destroy: give both")
    check_new_directory(directory, FLAG)
    records = None if raw_only else parquet_records(RAW_ONLY)
    return SalvageFirst(directory, allow_loss, records)


def _all_losers(plans: Sequence[PartitionPlan]) -> AllLosers:
    return {plan.state.topic_partition: losers_of(plan) for plan in plans}


def consent_notes(first: SalvageFirst, plans: Sequence[PartitionPlan]) -> tuple[Notes, str]:
    """Return what is to be saved before electing `plans`, for the person who is asked: lines by
    partition, and the total."""
    losers = _all_losers(plans)
    return _notes_of(first, losers), _total_note(first, losers)


def _notes_of(first: SalvageFirst, losers: AllLosers) -> Notes:
    """Return notes on what is to be saved, for the person who is asked for consent."""
    otherwise = "it is lost" if first.allow_loss else "not elected, for want of --allow-loss"
    return {
        partition: [
            *(f"saved first: {tail_text(loser)}" for loser in of_it.known),
            *(f"{_untold(broker, why)}: {otherwise}" for broker, why in of_it.untold.items()),
        ]
        for partition, of_it in losers.items()
    }


def _total_note(first: SalvageFirst, losers: AllLosers) -> str:
    known = [loser for of_it in losers.values() for loser in of_it.known]
    records = count_text(sum(loser.records for loser in known), "record")
    return f"saved first, in {first.directory}: {records} of {_replicas(len(known))}\n"


async def save_tails(
    session: Session,
    first: SalvageFirst,
    cluster: Cluster,
    plans: Sequence[PartitionPlan],
    journal: Journal,
    duration_seconds: float,
) -> Unsaved:
    """Save the records that the elections of `plans` destroy, then observe the partitions again.

    duration_seconds: how long brokers may take to answer the second observation. Raises
    Interrupted, after which nothing may be elected; Exit(2); JournalError; and the exceptions of
    observing.
    """
    losers = _all_losers(plans)
    try:
        tails = await _save(session, first, cluster, plans, losers)
    except Interrupted:
        session.console.say(
            f"{FLAG} {first.directory}: interrupted; what is in {first.directory.name}.partial is"
            " not whole"
        )
        raise
    lines = [_line(tail) for tail in tails]
    journal.write("salvage", directory=str(first.directory.absolute()), partitions=lines)
    _tell(session, tails)
    now: Plans = {plan.state.topic_partition: plan for plan in plans}
    if any(of_it.known or of_it.untold for of_it in losers.values()):
        try:
            now = await _plans_now(session, plans, duration_seconds)
        except (ConnectionFailed, NoBrokerReachable, QuorumSilent, RequestFailed) as error:
            # What was saved stays, and is told in the report: only the elections are off.
            why = f"after saving it could not be looked at again: {error}"
            return Unsaved(not_begun(plans, why), ())
    clear = cleared(plans, now, tails, allow_loss=first.allow_loss)
    return Unsaved(clear.refused, clear.unsaved)


async def _save(
    session: Session,
    first: SalvageFirst,
    cluster: Cluster,
    plans: Sequence[PartitionPlan],
    losers: AllLosers,
) -> list[ClearedTail]:
    wanted = [loser for of_it in losers.values() for loser in of_it.known]
    leaders = _leaders(cluster, plans)
    try:
        with new_directory(first.directory) as building:
            output = Output(building, first.records)
            saver = _saver(session, cluster, leaders, output, len(wanted))
            tails = await session.stop.unless(saver.save(wanted))
            now = datetime.now(UTC).isoformat(timespec="seconds")
            manifest = Manifest(leaders.cluster_id, now, [tail.row for tail in tails])
            write_manifest(building, manifest_json(manifest))
    except InputError as error:
        raise usage(f"{FLAG} {error}") from None
    except Stopped:
        raise Interrupted from None
    except OSError as error:
        why = f"{FLAG} {first.directory}: {error.strerror or error}"
        return [ClearedTail(loser, why) for loser in wanted]
    whole = [tail.loser for tail in tails if tail.why_not is None]
    records = count_text(sum(loser.records for loser in whole), "record")
    session.console.say(f"saved in {first.directory}: {records} of {_replicas(len(whole))}")
    return [ClearedTail(tail.loser, tail.why_not, tuple(tail.row.problems)) for tail in tails]


def _leaders(cluster: Cluster, plans: Sequence[PartitionPlan]) -> DesignatedLeaders:
    rows = {
        plan.state.topic_partition: Designated(
            plan.state.topic_partition, plan.state.topic_id, plan.ranking[0].log
        )
        for plan in plans
    }
    return DesignatedLeaders(cluster.cluster_id, rows)


def _saver(
    session: Session, cluster: Cluster, leaders: DesignatedLeaders, output: Output, wanted: int
) -> TailSaver:
    def progress(done: int, size: int) -> None:
        so_far = f"{done} of {_replicas(wanted)} done, {size >> 20} MiB fetched"
        session.console.progress(f"saving before electing: {so_far}")

    timeout = session.nodes.config.request_timeout_ms
    patience = _PATIENCE_SECONDS if timeout is None else timeout / 1000
    watch = _StopWatch(session.stop)
    brokers = {**cluster.fenced_at, **cluster.brokers}
    return TailSaver(session.nodes, brokers, leaders, output, watch, progress, patience)


@dataclass(frozen=True, slots=True)
class _StopWatch:
    """A Watch that stops the saving when the run is asked to stop."""

    stop: Stop

    def progress(self, so_far: Progress) -> None: ...

    @property
    def stopped(self) -> bool:
        return self.stop.requested


async def _plans_now(
    session: Session, plans: Sequence[PartitionPlan], duration_seconds: float
) -> Plans:
    """Return new plans of the partitions that are still offline, because saving may have taken
    long."""
    wanted = Wanted(tuple(sorted(plan.state.topic_partition for plan in plans)), will_elect=True)
    return plan_recovery(await session.observer().observe(wanted, duration_seconds))


def _tell(session: Session, tails: Sequence[ClearedTail]) -> None:
    left = [f"{_where(t.loser)}: {t.why_not}" for t in tails if t.why_not is not None]
    for line in count_and_first("tail was not saved", "tails were not saved", left):
        session.console.say(line)
    doubts = [f"{_where(t.loser)}: {d}" for t in tails if t.why_not is None for d in t.doubts]
    for line in count_and_first("doubt about a tail", "doubts about tails", doubts):
        session.console.say(line)


def _line(tail: ClearedTail) -> dict[str, Any]:
    loser = tail.loser
    return {
        "topic": loser.topic_partition.topic,
        "partition": loser.topic_partition.partition,
        "broker": loser.broker,
        "start_offset": loser.start_offset,
        "end_offset": loser.end_offset,
        "saved": tail.why_not is None,
        "reason": tail.why_not,
    }


def _where(loser: Loser) -> str:
    return f"{loser.topic_partition} of broker {loser.broker}"


def _untold(broker: int, why: str) -> str:
    return f"what broker {broker} would lose can't be told ({why})"


def _replicas(count: int) -> str:
    return count_text(count, "live replica")
