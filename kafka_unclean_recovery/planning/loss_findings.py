"""Find what is lost under the designated leader, and what tells of it. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.model import (
    Candidate,
    Finding,
    GroupBeyond,
    PartitionState,
    ReplicaLog,
    Severity,
)
from kafka_unclean_recovery.planning.committed_offsets import weighs
from kafka_unclean_recovery.planning.disk_findings import Rule
from kafka_unclean_recovery.planning.reach import ends_further, forgotten, truncated
from kafka_unclean_recovery.wording import count_text, number_text


def _longer_log_lost_to_newer_epoch(
    _: PartitionState, __: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    for best, other in ((ranking[0].log, c.log) for c in ranking[1:]):
        assert best.log_end_offset is not None
        assert other.log_end_offset is not None
        if best.suspect is not None or other.suspect is not None:
            continue
        if other.last_written_leader_epoch is None or best.last_written_leader_epoch is None:
            continue
        older = other.last_written_leader_epoch < best.last_written_leader_epoch
        if older and other.log_end_offset > best.log_end_offset:
            yield Finding(
                "longer_log_lost_to_newer_epoch",
                Severity.LOSS,
                f"broker {other.broker} has the longer log (log end offset {other.log_end_offset}"
                f" against {best.log_end_offset}), but wrote last in leader epoch"
                f" {other.last_written_leader_epoch}; broker {best.broker} wrote in epoch"
                f" {best.last_written_leader_epoch}: the longer tail was given up by an earlier"
                " election. Copy it from its disk first if it may be wanted",
            )


def _live_records_lost(
    _: PartitionState, __: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    for divergence in ranking[0].divergences if ranking else ():
        yield Finding(
            "live_records_truncated",
            Severity.LOSS,
            f"broker {divergence.broker} would truncate {divergence.records} records from offset"
            f" {divergence.offset} on",
        )


def _committed_records_lost(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    kept = truncated(logs, ranking)
    for log in logs:
        end = kept.get(log.broker)
        if end is None or log.high_watermark is None:
            continue
        begin = max(end, log.log_start_offset or 0)
        if log.high_watermark > begin:
            yield Finding(
                "committed_records_lost",
                Severity.LOSS,
                f"offsets {begin} to {log.high_watermark} (exclusive) lie below the high watermark"
                f" that broker {log.broker} knew: consumers may have read them",
            )


def _high_watermark_beyond_leader(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    """Find committed offsets beyond the best live log: a witness for what dead replicas held."""
    if not ranking or not ranking[0].log.sure:
        return
    end, cut = ranking[0].log.log_end_offset, truncated(logs, ranking)
    if end is None:
        return
    known = [
        (log.high_watermark - max(end, log.log_start_offset or 0), log.high_watermark, log.broker)
        for log in logs
        if log.high_watermark is not None and log.sure and log.broker not in cut
    ]
    missing, high_watermark, broker = max(known, default=(0, 0, 0))
    if missing > 0:
        yield Finding(
            "high_watermark_beyond_log_end",
            Severity.LOSS,
            f"broker {broker} knew high watermark {high_watermark}, and the designated log ends at"
            f" {end}: at least {missing} committed records are not in it",
        )


def _emptied_log_ends_further(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    best = ranking[0].log if ranking else None
    for log in logs:
        if best is not None and forgotten(log) and ends_further(log, best):
            yield Finding(
                "emptied_log_ends_further",
                Severity.UNKNOWN,
                f"broker {log.broker} holds no record, but its log goes to {log.log_end_offset},"
                f" beyond the end of broker {best.broker} ({best.log_end_offset}): what lay there"
                " was deleted after it was committed, and the leader epochs are forgotten. Unless"
                f" an unclean election made broker {best.broker} leader since, it is stale: it"
                " would bring deleted records back, and give their offsets out again",
            )


def _commits_beyond(
    state: PartitionState, _: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    """Name the group that tells of the most records beyond the designated log."""
    groups = ranking[0].groups if ranking else ()
    evident = [found for found in groups if weighs(found.commit, state.leader_epoch)]
    if evident:
        most = evident[0]
        yield Finding(
            "commits_beyond_the_best_log",
            Severity.UNKNOWN,
            f"{_told(most)}: at least {count_text(most.gone, 'record')} that it read"
            f" {'are' if most.gone > 1 else 'is'} not there{_and_others(evident)}. This is"
            " evidence, not proof: Kafka takes any offset that a group commits",
        )
    elif groups:
        yield Finding(
            "commits_beyond_the_best_log",
            Severity.NOTICE,
            f"{_told(groups[0])}{_and_others(groups)}; no loss is counted by it: it came without a"
            " leader epoch that this partition has had, as offsets that were set by hand do",
        )


def _told(found: GroupBeyond) -> str:
    commit = found.commit
    epoch = number_text(commit.leader_epoch)
    who = f"group {commit.group} committed offset {commit.offset}"
    if commit.share_done_to is not None:
        who = f"share group {commit.group} was done with records up to offset {commit.offset}"
    return (
        f"{who} (leader epoch {epoch}), and the"
        f" designated log {'left that epoch' if found.refilled else 'ends'} at {found.resume}"
    )


def _and_others(found: Sequence[GroupBeyond]) -> str:
    return f" ({count_text(len(found) - 1, 'more group')} too)" if len(found) > 1 else ""


def _records_below_log_start(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    start = ranking[0].log.log_start_offset if ranking else None
    for log in logs:
        if start is None or log.log_start_offset is None or log.log_start_offset >= start:
            continue
        if log.empty:
            continue
        end = start if log.log_end_offset is None else min(start, log.log_end_offset)
        yield Finding(
            "records_below_log_start",
            Severity.NOTICE,
            f"broker {log.broker} still holds offsets {log.log_start_offset} to {end}"
            " (exclusive), below the log start of the designated leader; they will be deleted",
        )


def _only_candidate_is_empty(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    if not ranking or not ranking[0].log.empty:
        return
    if not all(_ends_no_later(log, ranking[0].log) for log in logs):
        yield Finding(
            "designated_leader_is_empty",
            Severity.LOSS,
            f"broker {ranking[0].log.broker} holds no record (its log starts and ends at"
            f" {ranking[0].log.log_end_offset}) and no live replica ranks higher: what the others"
            " hold is lost, that of the dead when they come back",
        )


def _ends_no_later(log: ReplicaLog, emptied: ReplicaLog) -> bool:
    """Return True when the log is empty, or ends at or below the emptied one: the records below
    that end were deleted on purpose."""
    end, known = emptied.log_end_offset, log.log_end_offset
    return log.sure and (log.empty or (None not in (known, end) and (known or 0) <= (end or 0)))


LOSS_RULES: tuple[Rule, ...] = (
    _longer_log_lost_to_newer_epoch,
    _live_records_lost,
    _committed_records_lost,
    _high_watermark_beyond_leader,
    _emptied_log_ends_further,
    _commits_beyond,
    _records_below_log_start,
    _only_candidate_is_empty,
)
