"""What a start will do is shown as a table and lines for a terminal. Unknown is "unknown", never 0.
This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.before_start.commands import commands
from kafka_unclean_recovery.before_start.result import BeforeStart, summary
from kafka_unclean_recovery.before_start.verdict import Effect, Verdict
from kafka_unclean_recovery.report.table import columns, page, table
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import ids_text, number_text, one_line

_COLUMNS = columns(
    *("topic", ">partition", "the start", ">from|offset", ">records|deleted", ">nobody else|has"),
    *(">log end|offset", "why"),
)
SAYS = {
    Effect.KEPT: "keeps it",
    Effect.LEADS: "keeps it: it leads",
    Effect.WAITS: "keeps it: no leader",
    Effect.TRUNCATED: "truncates it",
    Effect.EMPTIED: "empties it",
    Effect.STRAY: "puts it aside",
    Effect.DELETED: "deletes it",
    Effect.OFFLINE: "takes its directory offline",
    Effect.REFUSED: "is refused",
    Effect.EPOCH_FELL_BACK: "can't be told",
    Effect.UNKNOWN: "can't be told",
    Effect.BEGINS_EMPTY: "begins it empty",
}
CUTS = ", and cuts others"


def render_before_start(found: BeforeStart) -> str:
    """Return a table of the replicas, a line for each unknown, the totals and the commands."""
    return page(
        table(_COLUMNS, list(map(_row, found.verdicts))),
        shown_lines(f"unknown: {one_line(sentence)}" for sentence in found.unknown),
        shown_lines(totals(found)),
        shown_lines(commands(found)),
    )


def _row(verdict: Verdict) -> Sequence[str]:
    where, log = verdict.replica.topic_partition, verdict.replica.log
    told = verdict.deletes
    return (
        where.topic,
        str(where.partition),
        SAYS[verdict.effect] + (CUTS if verdict.destroys_others else ""),
        number_text(verdict.offset) if told else "",
        number_text(verdict.records) if told else "",
        f"{number_text(verdict.unique)}{_unread(verdict)}" if told else "",
        "" if log is None else number_text(log.log_end_offset),
        one_line(verdict.why),
    )


def _unread(verdict: Verdict) -> str:
    return f" ({ids_text(verdict.unread)} unread)" if verdict.unread and verdict.unique else ""


def totals(found: BeforeStart) -> Iterator[str]:
    """Yield the lines below the table."""
    yield summary(found)
    if found.rests_on is not None:
        yield f"this rests on {found.rests_on}, and not on a controller"
