"""The lines of a journal, read again: what its run left to be finished.

The table in `journal` says what stands in them, and what a later run does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kafka_unclean_recovery.boot_clock import BootTime
from kafka_unclean_recovery.documents.journal import VERSION, Later, later
from kafka_unclean_recovery.model import MoveKind, Outcome, TopicPartition

LARGEST_JOURNAL = 1 << 30
"""In bytes; what is longer is no journal of ours."""
_ORDERS = (Later.PUT_BACK, Later.END_MOVE)
_KINDS = tuple(MoveKind)
# The numbers of lines that are reckoned with.
_NUMBERS = ("at_ms", "number", "boot_ms")
_LINE_BEGINS = '{"v":1,"at":"'


class JournalError(Exception):
    """A journal can't be used; the message names the file and what to do."""


class Reordered(Struct, frozen=True):
    """A replica set that was to be written as `written` and belongs back to `original`. move: why
    `written` has other replicas; None where only their order differs."""

    topic_partition: TopicPartition
    topic_id: str
    original: tuple[int, ...]
    written: tuple[int, ...]
    at_ms: int
    move: MoveKind | None = None


def outcome_fields(outcome: Outcome) -> dict[str, Any]:
    """Return the fields of a line that tell of one outcome."""
    seldom = {
        "unweighed": outcome.unweighed,
        "in_doubt": outcome.in_doubt,
        "lost": outcome.lost,
    }
    told = {name: value for name, value in seldom.items() if value}
    return {"outcome": outcome.kind.value, "reason": outcome.reason, **told}


def untorn(text: str) -> str:
    """Return the lines of a journal without the beginnings of lines that another line is glued to.

    A full disk left such a part behind, and nothing was done on its account. A line begins as no
    value within one can: quotes in texts are escaped, and nothing in a line has a version.
    """
    return "".join(map(_without_torn, text.splitlines(keepends=True)))


def _without_torn(line: str) -> str:
    glued = line.rfind(_LINE_BEGINS)
    if glued < 1 or not line.startswith("{"):
        return line
    try:
        json.loads(line[:glued])
    except RecursionError:
        return line  # nothing of ours goes so deep
    except ValueError:
        return line[glued:]
    return line  # what came before is whole, so it was no write that failed


def parse(text: str, source: str) -> list[dict[str, Any]]:
    """Return the lines of a journal. Raises JournalError, which names a line that is none."""
    lines = []
    for number, line in enumerate(untorn(text).splitlines(), 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or "event" not in value:
            raise JournalError(f"{source}, line {number}: not a line of a journal; restore it")
        if value.get("v") != VERSION:
            raise JournalError(
                f"{source}, line {number}: journal version {value.get('v')!r}, this tool reads"
                f" {VERSION}"
            )
        if not _is_whole(value):
            raise JournalError(f"{source}, line {number}: not as it was written; restore the file")
        lines.append(value)
    return lines


def _is_whole(line: Mapping[str, Any]) -> bool:
    """Return whether all that a later run goes by is in the line and can be true: replica orders,
    elections and the numbers of requests."""
    event = line["event"]
    if not isinstance(event, str):
        return False
    if any(not _is_int64(line[key]) for key in _NUMBERS if line.get(key) is not None):
        return False
    does = later(line)
    if does not in (*_ORDERS, Later.LEAVE, Later.LOOK_AFTER):
        return True
    partitions = line.get("partitions")
    if not isinstance(partitions, list) or (does in _ORDERS and line.get("at_ms") is None):
        return False
    return all(
        isinstance(p, dict)
        and isinstance(p.get("topic"), str)
        and _is_int32(p.get("partition"))
        and (does not in _ORDERS or _is_order(p, does))
        for p in partitions
    )


def _is_order(p: Mapping[str, Any], does: Later) -> bool:
    """Return True where both orders have brokers, each once, and the same ones unless a move
    replaces them."""
    orders = (p.get("original"), p.get("written"))
    brokers = [
        sorted(order) for order in orders if isinstance(order, list) and all(map(_is_int32, order))
    ]
    if len(brokers) < 2 or any(each != sorted(set(each)) for each in brokers):
        return False
    fits = p.get("kind") in _KINDS if does is Later.END_MOVE else brokers[0] == brokers[1]
    return fits and isinstance(p.get("topic_id"), str)


def _is_int32(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _is_int64(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def unfinished(lines: Iterable[Mapping[str, Any]]) -> tuple[Reordered, ...]:
    """Return the reordered partitions that are not known to have their order back, by topic and
    partition.

    The first `original` of several reorders of one topic id counts: a later one may have seen our
    own order.
    """
    open_steps: dict[TopicPartition, Reordered] = {}
    for line in lines:
        does = later(line)
        if does in _ORDERS:
            for p in line["partitions"]:
                step = _reordered(p, line["at_ms"])
                before = open_steps.get(step.topic_partition)
                same = before is not None and before.topic_id == step.topic_id
                original = before.original if before is not None and same else step.original
                open_steps[step.topic_partition] = replace(step, original=original)
        elif does is Later.LEAVE:
            for p in line["partitions"]:
                open_steps.pop(TopicPartition(p["topic"], p["partition"]), None)
    return tuple(open_steps[tp] for tp in sorted(open_steps))


@dataclass(frozen=True, slots=True)
class Outstanding:
    """A request that may still be carried out, as far as its journal knows. broker: its address;
    at: when it was sent. None is not known."""

    broker: str | None
    at: BootTime | None


def outstanding(lines: Iterable[Mapping[str, Any]]) -> tuple[Outstanding, ...]:
    """Return the requests that may still be carried out: no answer settled them. A run that noted
    no requests and left orders counts as one request of which nothing is known."""
    lines = list(lines)
    sent: dict[object, Outstanding] = {}
    for line in lines:
        does = later(line)
        if does is Later.WAIT:
            sent[line.get("number")] = _outstanding(line)
        elif does is Later.ANSWERED:
            sent.pop(line.get("number"), None)
        elif does is Later.SETTLED:
            sent.clear()
    noted = any(later(line) in (Later.WAIT, Later.SETTLED) for line in lines)
    if not noted and unfinished(lines):
        return (Outstanding(None, None),)
    return tuple(sent.values())


def _outstanding(line: Mapping[str, Any]) -> Outstanding:
    broker, boot_id, ms = (line.get(key) for key in ("broker", "boot_id", "boot_ms"))
    at = BootTime(boot_id, ms) if isinstance(boot_id, str) and isinstance(ms, int) else None
    return Outstanding(broker if isinstance(broker, str) else None, at)


def half_done(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Return True when a run left something to be finished, or a request that may be on its way."""
    return bool(unfinished(lines) or outstanding(lines))


def elected(lines: Iterable[Mapping[str, Any]]) -> frozenset[TopicPartition]:
    """Return the partitions whose election was begun, and which may have a new leader."""
    return frozenset(
        TopicPartition(p["topic"], p["partition"])
        for line in lines
        if later(line) is Later.LOOK_AFTER
        for p in line["partitions"]
    )


def lost_unasked(lines: Iterable[Mapping[str, Any]]) -> dict[TopicPartition, str]:
    """Return what the run found lost under leaders that it did not elect as planned, a sentence for
    each partition."""
    return {
        TopicPartition(p["topic"], p["partition"]): str(p["reason"])
        for line in lines
        if later(line) is Later.TELL_LOST
        for p in line["partitions"]
        if p["outcome"] == "failed" and p.get("lost")
    }


def _reordered(p: Mapping[str, Any], at_ms: int) -> Reordered:
    return Reordered(
        TopicPartition(p["topic"], p["partition"]),
        p["topic_id"],
        tuple(p["original"]),
        tuple(p["written"]),
        at_ms,
        MoveKind(p["kind"]) if "kind" in p else None,
    )
