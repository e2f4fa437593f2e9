"""The small texts of tables and of the consent. An unknown number is "unknown", never 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_unclean_recovery.model import (
    EpochLineage,
    EpochSpan,
    Loss,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
)
from kafka_unclean_recovery.shown import reason

_SPANS_SHOWN = 4
_NAME_WIDTH = 60
_UNKNOWN = "unknown"

INTERRUPTED = frozenset(
    {
        "interrupted before its election began",
        "its election was not begun: interrupted",
    }
)
"""These reasons say that a signal left a partition untried."""

NO_CANDIDATE = "no replica that could be elected is known well enough"
"""The reason why a plan that was not refused has no designated leader."""


def loss_text(records: int | None, of: PartitionState | None = None) -> str:
    """Return text such as "500 records", "unknown", or "unknown: tiered". of: the partition whose
    loss it is; None for more than one."""
    if records is not None:
        return count_text(records, "record")
    return _UNKNOWN if of is None or of.tiered is None else f"{_UNKNOWN}: tiered"


def loss_texts(loss: Loss, of: PartitionState | None = None) -> tuple[str, str]:
    return loss_text(loss.certain, of), loss_text(loss.possible, of)


def election_text(loss: Loss, of: PartitionState) -> str:
    """Return text such as "certain loss 500 records, possible loss unknown" for one election."""
    return _with_witnesses(*loss_texts(loss, of), [loss])


def total_text(losses: Sequence[Loss]) -> str:
    """Return the losses of many elections together as text. Witnesses are named where they tell of
    more than the certain loss."""
    certain = _total([loss.certain for loss in losses])
    return _with_witnesses(certain, _total([loss.possible for loss in losses]), losses)


def _with_witnesses(certain: str, possible: str, losses: Sequence[Loss]) -> str:
    text = f"certain loss {certain}, possible loss {possible}"
    known = sum(loss.certain or 0 for loss in losses)
    least = sum(max(loss.at_least or 0, loss.certain or 0) for loss in losses)
    return f"{text} (witnesses: at least {loss_text(least)} in all)" if least > known else text


def _total(records: Sequence[int | None]) -> str:
    """Return the known sum even if some are unknown: "500 records, and unknown for 3
    partitions"."""
    known = [count for count in records if count is not None]
    unknown = len(records) - len(known)
    if not unknown:
        return loss_text(sum(known))
    if not known:
        return _UNKNOWN
    return f"{loss_text(sum(known))}, and unknown for {count_text(unknown, 'partition')}"


def why_not(plan: PartitionPlan) -> str:
    """Return in one line why a plan has no designated leader."""
    return one_line(plan.refusal or NO_CANDIDATE)


def trust_text(log: ReplicaLog) -> str:
    """Return why a log can't be used ("! ..."), may be another broker's ("? unproven: ...") or may
    be corrupt ("? suspect: ..."), or ""."""
    if log.problem is not None:
        return f"! {one_line(log.problem)}"
    if log.unproven is not None:
        return f"? unproven: {one_line(log.unproven)}"
    if log.suspect is None:
        return ""
    certain = number_text(log.certain_end_offset)
    return f"? suspect: {one_line(log.suspect)} (certain to {certain})"


def below_high_watermark(log: ReplicaLog) -> str:
    """Return the sentence on a log that has lost committed records."""
    return f"its log ends at {log.log_end_offset}, below its high watermark {log.high_watermark}"


def count_text(number: int, noun: str) -> str:
    """Return text such as "1 record" or "2 records"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def and_more(named: Sequence[object]) -> str:
    """Return " (and 2 more)" to follow the first of three, "" to follow the only one."""
    others = len(named) - 1
    return f" (and {others} more)" if others > 0 else ""


def one_line(text: str) -> str:
    """Return one line without terminal escapes, because reasons come from brokers and libraries."""
    return reason(text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean a or b?" where some known names are alike, else ""."""
    # For a mistake alone: nobody else waits for it.
    from difflib import get_close_matches

    alike = get_close_matches(name, known)
    return f"; did you mean {' or '.join(alike)}?" if alike else ""


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return short forms of the names that are too long for a column; no two look alike."""
    short: dict[str, str] = {}
    taken: set[str] = set()
    next_alike: dict[str, int] = {}
    for name in dict.fromkeys(names):
        if len(name) > _NAME_WIDTH:
            first = middle_left_out(name, _NAME_WIDTH)
            alike = next_alike.get(first, 0)
            while (fits := middle_left_out(name, _NAME_WIDTH, _mark(alike))) in taken:
                alike += 1
            next_alike[first] = alike + 1
            taken.add(fits)
            short[name] = fits
    return short


def _mark(alike: int) -> str:
    return f"...{alike}..." if alike else "..."


def middle_left_out(name: str, width: int, mark: str = "...") -> str:
    """Return the name, or its beginning and its end with the mark between them."""
    if len(name) <= width:
        return name
    kept = max(2, width - len(mark))
    return f"{name[: kept - kept // 2]}{mark}{name[len(name) - kept // 2 :]}"


def number_text(value: int | None) -> str:
    return _UNKNOWN if value is None else str(value)


def ids_text(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers)) or "none"


def brokers_text(ids: Sequence[int]) -> str:
    """Return "broker 1" or "brokers 1, 2"."""
    return f"broker{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"


def lineage_text(epochs: EpochLineage | None) -> str:
    """Return text such as `0:[0,1500) 2:[1500,1510)`: epoch, start inclusive, end exclusive. Only
    the newest spans are shown: there the replicas differ, and the JSON has all."""
    if epochs is None:
        return _UNKNOWN
    older = len(epochs) - _SPANS_SHOWN
    if older <= 1:  # "1 older" is no shorter than the span itself
        return " ".join(map(_span, epochs)) or "none"
    return f"({older} older) " + " ".join(map(_span, epochs[older:]))


def _span(span: EpochSpan) -> str:
    return f"{span.epoch}:[{span.start_offset},{span.end_offset})"
