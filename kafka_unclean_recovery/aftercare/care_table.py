"""The result of an aftercare is shown as tables and lines for a terminal. Unknown is "unknown",
never 0. This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.aftercare.result import Aftercare, PartitionCare
from kafka_unclean_recovery.aftercare.returning import Returning
from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging
from kafka_unclean_recovery.model import GroupBeyond
from kafka_unclean_recovery.report.table import columns, page, table
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import count_text, ids_text, number_text, one_line

_PARTITIONS = columns(
    *("topic", ">partition", ">leader", "ISR", "not back|in the ISR", ">log end|offset"),
    *(">hanging|transactions", ">groups|beyond"),
)
_TRANSACTIONS = columns(
    *("topic", ">partition", ">replica", ">first|offset", ">producer|id", ">producer|epoch"),
    *("transactional|id", "ending", "why"),
)
_GROUPS = columns(
    *("group", "topic", ">partition", ">committed|offset", ">log ends, or|parts, at", ""),
)
_RETURNING = columns("topic", ">partition", ">broker", "back", ">records", ">from|offset", "why")
_PRODUCERS = columns("topic", ">partition", ">idempotent|producers", ">transactional|producers")


def render_aftercare(found: Aftercare, width: int | None = None) -> str:
    """Return tables of the partitions with something left, of transactions, groups, returning
    replicas and producers, then a line for each unknown, then the totals. width: of a terminal,
    where tables may be cut: what is gravest comes first in each."""
    rows = found.partitions if width is None else sorted(found.partitions, key=_gravity)
    left = [row for row in rows if not row.over]
    back = [(row, each) for row in rows for each in row.returning]
    if width is not None:
        back.sort(key=lambda each: _gravity_of_return(each[1]))
    return page(
        table(_PARTITIONS, list(map(_partition, left)), width),
        table(
            _TRANSACTIONS,
            [_transaction(t) for row in rows for t in row.transactions],
            width,
        ),
        table(_GROUPS, [_group(group) for row in rows for group in row.groups], width),
        table(_RETURNING, [_returning(row, each) for row, each in back], width),
        table(_PRODUCERS, [_producers(row) for row in rows if row.producers], width),
        shown_lines(_unknown(found)),
        summary(found),
    )


def _gravity(row: PartitionCare) -> tuple[object, ...]:
    """Return the key that sorts the gravest first: nobody leads, writes are refused, something is
    not known, transactions hang, groups read beyond the end, and replicas that are not back."""
    return (
        not row.leaderless,
        not row.refuses_acks_all,
        not (row.problems or row.led_unseen),
        -len(row.hanging),
        -len(row.groups),
        -len(row.awaited),
    )


def _gravity_of_return(found: Returning) -> tuple[object, ...]:
    """Return the key that sorts first what can still be saved, an unknown number before any."""
    return found.back or found.gone, found.records is not None, -(found.records or 0)


def _partition(row: PartitionCare) -> Sequence[str]:
    state = row.state
    seen = row.log_end_offset is not None
    return (
        state.topic,
        str(state.partition),
        _leader(row),
        ids_text(state.isr),
        ids_text(row.awaited),
        number_text(row.log_end_offset),
        str(len(row.hanging)) if seen or row.hanging else "unknown",
        str(len(row.groups)) if seen else "unknown",
    )


def _leader(row: PartitionCare) -> str:
    if row.led_unseen:
        return "unknown"
    return "none" if row.state.offline else str(row.state.leader)


def _transaction(found: Hanging) -> Sequence[str]:
    here, told = found.transaction, found.told
    return (
        here.topic_partition.topic,
        str(here.topic_partition.partition),
        str(found.replica),
        str(here.start_offset),
        str(here.producer_id),
        str(here.producer_epoch),
        "unknown" if told is None else one_line(told.transactional_id),
        str(found.verdict.ending),
        found.verdict.reason,
    )


def _group(found: GroupBeyond) -> Sequence[str]:
    where = found.commit.topic_partition
    return (
        one_line(found.commit.group),
        where.topic,
        str(where.partition),
        str(found.commit.offset),
        str(found.resume),
        "; ".join(_group_notes(found)),
    )


def _group_notes(found: GroupBeyond) -> Iterator[str]:
    if found.commit.share_done_to is not None:
        yield "a share group"
    if found.refilled:
        yield "! new records follow there, which it may skip"


def _returning(row: PartitionCare, found: Returning) -> Sequence[str]:
    where = f" ({one_line(found.directory)})" if found.directory else ""
    return (
        row.topic_partition.topic,
        str(row.topic_partition.partition),
        str(found.broker),
        "yes" if found.back else "no",
        number_text(found.records),
        number_text(found.offset),
        f"{one_line(found.why)}{where}",
    )


def _producers(row: PartitionCare) -> Sequence[str]:
    every = row.producers or ()
    transactional = sum(each.transactional for each in every)
    return (
        row.topic_partition.topic,
        str(row.topic_partition.partition),
        str(len(every) - transactional),
        str(transactional),
    )


def _unknown(found: Aftercare) -> Iterator[str]:
    for sentence in found.unknown:
        yield f"unknown: {one_line(sentence)}"
    for row in found.partitions:
        for problem in row.problems:
            yield f"unknown: {row.topic_partition}: {one_line(problem)}"


def summary(found: Aftercare) -> str:
    """Return one line that says how much is left of each kind."""
    rows = found.partitions
    hanging = list(found.hanging())
    unsure = sum(each.verdict.ending is Ending.UNKNOWN for each in hanging)
    behind = sum(bool(row.awaited) for row in rows)
    gone = sum(bool(row.gone) for row in rows)
    refused = sum(row.refuses_acks_all for row in rows)
    return (
        f"{count_text(len(rows), 'partition')}:"
        f" {sum(row.leaderless for row in rows)} without a leader,"
        f" {behind} with replicas out of the ISR,"
        f"{f' {gone} with replicas on disks that are gone,' if gone else ''}"
        f"{f' {refused} that refuse acks=all,' if refused else ''}"
        f" {count_text(len(hanging), 'hanging transaction')} ({unsure} of unknown ending),"
        f" {count_text(sum(1 for _ in found.groups()), 'group')} beyond the end;"
        f" it is {'over' if found.over else 'not over'}"
    )
