"""The checks of room look at this machine, for journal and salvage, and at the brokers' log
directories. This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.doctor import words
from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.facts import Facts, Space
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.wording import count_text

_JOURNAL = "what can't be noted in the journal is not done: nothing is elected"
_SALVAGE = (
    "a salvage writes what replicas hold beyond the elected logs, as segments and as Parquet; how"
    " much that is of dead ones, only their disks tell"
)
_DISK = "a broker whose log directory fails or is full loses its replicas, or dies"
# A partition takes a line of some 300 bytes in each step.
_JOURNAL_BYTES = 64 << 20
_FULL = 0.05


def room_checks(facts: Facts) -> Iterator[Check]:
    yield _journal(facts.room.journal)
    yield from _unfinished(facts)
    yield _salvage(facts)
    yield from _log_directories(facts)


def _journal(space: Space) -> Check:
    code = "room_journal"
    if not space.writable:
        to_do = "set XDG_STATE_HOME to a directory that can be written to"
        what = f"{space.path} can't be written to"
        return Check(code, Status.FAILURE, what, _JOURNAL, to_do)
    if space.free_bytes is None:
        what = f"room in {space.path} is not known"
        to_do = "look at the volume that it is on"
        return Check(code, Status.WARNING, what, _JOURNAL, to_do, untold=True)
    status = Status.OK if space.free_bytes >= _JOURNAL_BYTES else Status.FAILURE
    to_do = "" if status is Status.OK else f"free {words.size(_JOURNAL_BYTES)} there"
    return Check(code, status, f"{_free(space)} for the journal", _JOURNAL, to_do)


def _unfinished(facts: Facts) -> Iterator[Check]:
    for path in facts.room.unfinished:
        yield Check(
            "unfinished_journal",
            Status.WARNING,
            f"an earlier run left replica orders to be put back: {path}",
            "until then partitions have their replicas in an order of this tool's",
            f"run kafka-unclean-recovery --resume {path}",
        )
    for complaint in facts.room.unreadable:
        yield Check(
            "journal_unreadable",
            Status.FAILURE,
            complaint,
            "what its run left half done is not known, so nothing is elected",
            "restore it, or move it away when the replica orders are known to be as before",
        )


def _salvage(facts: Facts) -> Check:
    code, space = "room_salvage", facts.room.salvage
    if not space.writable or space.free_bytes is None:
        to_do = "name another directory with --salvage-dir"
        what = f"{space.path} can't be written to"
        if space.writable:
            what = f"room in {space.path} is not known"
        return Check(code, Status.WARNING, what, _SALVAGE, to_do, untold=space.writable)
    held = _live_bytes(facts)
    what = f"{_free(space)} for a salvage"
    if facts.offline:
        offline = count_text(len(facts.offline), "offline partition")
        what += f"; live replicas of {offline} hold {words.size(held)}"
    if held > space.free_bytes:
        to_do = "make room where their tails may be long, or name another with --salvage-dir"
        what += ", so whether their tails fit is not known"
        return Check(code, Status.UNKNOWN, what, _SALVAGE, to_do)
    return Check(code, Status.OK, what, _SALVAGE)


def _live_bytes(facts: Facts) -> int:
    """Return the bytes that live replicas of offline partitions hold: no salvage of these has
    longer segments."""
    offline = {p.topic_partition for p in facts.offline}
    directories = [d for broker in facts.brokers for d in broker.log_dirs.value or ()]
    return sum(d.sizes[tp] for d in directories for tp in offline & d.sizes.keys())


def _free(space: Space) -> str:
    return f"{words.size(space.free_bytes or 0)} free in {space.path}"


def _log_directories(facts: Facts) -> Iterator[Check]:
    sound = 0
    for broker in facts.brokers:
        for directory in broker.log_dirs.value or ():
            where = f"{PurePath(directory.path)} of broker {broker.id}"
            usable, total = directory.usable_bytes, directory.total_bytes
            if directory.error != Errors.NONE:
                what = f"log directory {where} failed: {error_name(directory.error)}"
                to_do = "replace the disk; copy what can be read of it first, it can be scanned"
                yield Check("log_directory_failed", Status.WARNING, what, _DISK, to_do)
            elif usable is not None and total and usable < _FULL * total:
                what = f"log directory {where} has {words.size(usable)} of {words.size(total)} left"
                to_do = "make room before producers resume"
                yield Check("log_directory_full", Status.WARNING, what, _DISK, to_do)
            else:
                sound += 1
    if sound:
        what = f"log directories that work, and are not nearly full where brokers tell: {sound}"
        yield Check("log_directories", Status.OK, what, _DISK)
