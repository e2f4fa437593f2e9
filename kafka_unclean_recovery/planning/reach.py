"""Compare how far logs reach, and how much one log keeps under another; no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_unclean_recovery.model import Candidate, PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.lineage import count_once, tail_of, truncation_offset


def written_epoch(log: ReplicaLog) -> int:
    return -1 if log.last_written_leader_epoch is None else log.last_written_leader_epoch


def reach(log: ReplicaLog) -> tuple[int, int]:
    """Return the pair that logs are ranked by; the greater is the better."""
    return written_epoch(log), -1 if log.log_end_offset is None else log.log_end_offset


def forgotten(log: ReplicaLog) -> bool:
    """Return True for a log that retention or DeleteRecords emptied, once its broker has forgotten
    the epochs with the records: whether an election gave it up can't be told."""
    return log.empty and log.log_end_offset != 0 and log.last_written_leader_epoch is None


def ends_further(log: ReplicaLog, leader: ReplicaLog) -> bool:
    """Return True when `log` is longer than `leader`, and its place in a ranking is not known: it
    may be the better one. A disk that can't be used never counts."""
    if log.suspect is not None or (log.problem is not None and log.scanned is not None):
        return False
    if log.log_end_offset is None or leader.log_end_offset is None:
        return False
    unplaced = log.problem is not None or log.last_written_leader_epoch is None
    return unplaced and log.log_end_offset > leader.log_end_offset


def kept_under(log: ReplicaLog, leader: ReplicaLog) -> int | None:
    """Return the exclusive end of what `log` keeps under `leader`; None where that is not sure."""
    if not log.sure or not leader.sure:
        return None
    if log.log_end_offset is None or leader.log_end_offset is None:
        return None
    if log.epochs is None or leader.epochs is None:
        return None
    return truncation_offset(log.epochs, log.log_end_offset, leader.epochs, leader.log_end_offset)


def records_beyond(log: ReplicaLog, leader: ReplicaLog) -> int | None:
    """Return how many records `log` would truncate under `leader`; None where it is not sure."""
    kept = kept_under(log, leader)
    return None if kept is None else count_once([tail_of(log.epochs or (), kept)])


def committed_beyond(log: ReplicaLog, leader: ReplicaLog, deleted: int) -> int:
    """Return how many committed records `leader` lacks, by the high watermark that `log` knew; 0
    where that tells of none. deleted: offsets below it were deleted on purpose."""
    end, known = leader.log_end_offset, log.high_watermark
    if end is None or known is None or not log.sure or not leader.sure:
        return 0
    kept = kept_under(log, leader)
    cut = kept is not None and log.log_end_offset is not None and kept < log.log_end_offset
    there = kept if cut and kept is not None else end
    return max(0, known - max(there, deleted, _start(log)))


def deleted_below(logs: Iterable[ReplicaLog]) -> int:
    """Return the highest log start: retention and DeleteRecords reach no further than a high
    watermark, so all below was committed, and is wanted no more.

    A log that parts from the furthest one below its own start counts for nothing: an election gave
    it up, and what was deleted from it lies at the offsets of other records.
    """
    sure = [log for log in logs if log.sure]
    furthest = max(sure, key=reach, default=None)
    trimmed = [log for log in sure if _start(log) > 0]
    return max((_start(t) for t in trimmed if not _parts_below_its_start(t, furthest)), default=0)


def _parts_below_its_start(log: ReplicaLog, furthest: ReplicaLog | None) -> bool:
    kept = None if furthest is None or forgotten(log) else kept_under(log, furthest)
    return kept is not None and kept < _start(log)


def _start(log: ReplicaLog) -> int:
    return log.log_start_offset or 0


def chosen_by_hand(ranking: Sequence[Candidate]) -> bool:
    """Return True when a trusted log reaches further than the log of the first candidate."""
    trusted = [c.log for c in ranking[1:] if c.log.suspect is None]
    return any(reach(log) > reach(ranking[0].log) for log in trusted)


def truncated(logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]) -> dict[int, int]:
    """Return the brokers that would truncate records (dead brokers when they come back), each with
    the exclusive end of what it keeps."""
    if not ranking:
        return {}
    leader = ranking[0].log
    dead = {log.broker: kept_under(log, leader) for log in logs if not log.live}
    ends = {log.broker: log.log_end_offset for log in logs}
    return {
        **{d.broker: d.offset for d in ranking[0].divergences},
        **{b: end for b, end in dead.items() if end is not None and end < (ends[b] or 0)},
    }


def may_have_led(state: PartitionState) -> tuple[int, ...]:
    return (*state.isr, *state.elr, *state.last_known_elr)
