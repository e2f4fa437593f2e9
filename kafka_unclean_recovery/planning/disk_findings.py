"""The findings about logs read from disks, one function per finding; no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import Candidate, Finding, PartitionState, ReplicaLog, Severity
from kafka_unclean_recovery.planning.reach import (
    chosen_by_hand,
    may_have_led,
    reach,
    records_beyond,
)
from kafka_unclean_recovery.planning.started_replica import GONE
from kafka_unclean_recovery.wording import number_text

Rule = Callable[[PartitionState, Sequence[ReplicaLog], Sequence[Candidate]], Iterator[Finding]]


def _dead_disk_holds_more(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    if not ranking:
        return
    leader = ranking[0].log
    for log in logs:
        records = None if log.live else records_beyond(log, leader)
        if records:
            yield Finding(
                "dead_disk_holds_more",
                Severity.LOSS,
                f"broker {log.broker} {_why_no_leader(leader)}; its disk holds {records}"
                f" records beyond {_first_named(ranking)}: {_before_it_returns(log, leader)}",
            )


def _why_no_leader(leader: ReplicaLog) -> str:
    """Return why a broker that is not live does not lead; when all are dead, it was excluded."""
    return "is down" if leader.scanned is None else "is excluded"


def _first_named(ranking: Sequence[Candidate]) -> str:
    by_hand = ranking[0].log.scanned is not None or chosen_by_hand(ranking)
    return "the designated replica" if by_hand else "the best live replica"


def _before_it_returns(log: ReplicaLog, leader: ReplicaLog) -> str:
    if reach(log) > reach(leader):
        return (
            "start it with that disk if possible, and let it lead; else salvage them before it"
            " returns, since it will truncate them"
        )
    return (
        "they were given up by an earlier election; if they may be wanted, salvage them before it"
        " returns, since it will truncate them"
    )


def _suspect_logs(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    trusted = [candidate.log for candidate in ranking[:1] if candidate.log.suspect is None]
    for log in logs:
        if log.suspect is None or log.problem is not None:
            continue
        further = any(reach(log) > reach(designated) for designated in trusted)
        what = _COMPARE if not trusted else _COPY if further else _NOT_NEEDED
        if trusted and not further and _may_be_longer(log, trusted[0]):
            what = _UNRANKED
        yield Finding(
            "suspect_log",
            _GRAVITY.get(what, Severity.NOTICE),
            f"the log of broker {log.broker} may be corrupt: {log.suspect}. It goes to log end"
            f" offset {number_text(log.log_end_offset)} in leader epoch"
            f" {number_text(log.last_written_leader_epoch)}, and {_certain(log)}. {what}",
        )


_COMPARE = "No trusted log is there: compare its records with the others' before you choose by hand"
_COPY = (
    "It seems to rank higher than the designated log: copy it before it is truncated, and compare"
    " the records"
)
_UNRANKED = (
    "It is longer than the designated log, and how it ranks is not known: copy it before it is"
    " truncated, and compare the records"
)
_NOT_NEEDED = (
    "The designated log ranks at least as high: copy this one first only if it may be wanted"
)
_GRAVITY = {_COPY: Severity.LOSS, _UNRANKED: Severity.UNKNOWN}


def _may_be_longer(log: ReplicaLog, leader: ReplicaLog) -> bool:
    """Return True when the log's last written leader epoch is unknown and it may end further."""
    if log.last_written_leader_epoch is not None or leader.log_end_offset is None:
        return False
    return log.log_end_offset is None or log.log_end_offset > leader.log_end_offset


def _certain(log: ReplicaLog) -> str:
    end = log.certain_end_offset
    if end is None:
        return "how much of it is certain is not known"
    return f"is certain up to offset {end} (exclusive)"


def _fast_scans(
    _: PartitionState, logs: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    fast = [f"broker {log.broker}" for log in logs if _scanned_fast(log)]
    if fast:
        yield Finding(
            "fast_scan_only",
            Severity.UNKNOWN,
            f"known from a fast scan only, which checks no records: {', '.join(fast)}. To know what"
            " is lost, scan with --mode recover or deep",
        )


def _scanned_fast(log: ReplicaLog) -> bool:
    fast = log.scanned is not None and log.scanned.mode is ScanMode.FAST
    return fast and log.problem is None


def _damaged_logs(
    _: PartitionState, logs: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    for log in logs:
        if log.scanned is None or log.scanned.damage is None:
            continue
        if log.suspect is None and log.problem is None:
            yield Finding(
                "damaged_log",
                Severity.NOTICE,
                f"the log of broker {log.broker} ends at {number_text(log.log_end_offset)} because"
                f" of damage ({log.scanned.damage}); its own recovery would end it there too. Copy"
                " the files before it starts, if what follows may be wanted",
            )


def _dead_disks_unsure(
    state: PartitionState, logs: Sequence[ReplicaLog], _: Sequence[Candidate]
) -> Iterator[Finding]:
    for log in logs:
        why = None if log.live or log.scanned is None else _why_unsure(log)
        if why is None:
            continue
        eligible = " It is in the ISR, ELR or last known ELR: every committed record may be there."
        yield Finding(
            "dead_disk_not_sure",
            Severity.UNKNOWN,
            f"the disk of broker {log.broker}, which is not live, does not tell for sure what it"
            f" holds beyond the elected log: {why}."
            f"{eligible if log.broker in may_have_led(state) else ''}",
        )


def _why_unsure(log: ReplicaLog) -> str | None:
    if log.problem == GONE:
        return None
    if log.problem is not None:
        return log.problem
    if log.suspect is not None:
        return log.suspect
    if not log.sure:
        return "it was only scanned fast"
    return "its lineage is not known" if log.epochs is None else None


def _disks_not_readable(
    _: PartitionState, logs: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    for log in logs:
        if log.problem == GONE:
            continue
        if log.live and log.problem is not None and log.scanned is not None:
            yield Finding(
                "disk_not_readable",
                Severity.UNKNOWN,
                f"the disk of broker {log.broker} can't be used ({log.problem}): its log may be the"
                " better one",
            )


def _newer_than_the_metadata(
    state: PartitionState, logs: Sequence[ReplicaLog], _: Sequence[Candidate]
) -> Iterator[Finding]:
    for log in logs:
        epoch = log.last_written_leader_epoch
        if log.scanned is None or log.problem or log.suspect or epoch is None:
            continue
        if epoch > state.leader_epoch:
            yield Finding(
                "newer_than_the_metadata",
                Severity.UNKNOWN,
                f"broker {log.broker} wrote in leader epoch {epoch}, and the metadata log that was"
                f" found only goes to {state.leader_epoch}: it is too old, so ISR and ELR may be"
                " others, or the log is corrupt; scan a newer __cluster_metadata-0 too",
            )


DISK_RULES: tuple[Rule, ...] = (
    _newer_than_the_metadata,
    _dead_disk_holds_more,
    _suspect_logs,
    _fast_scans,
    _damaged_logs,
    _dead_disks_unsure,
    _disks_not_readable,
)
