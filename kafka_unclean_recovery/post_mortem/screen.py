"""A post-mortem in the window of a terminal: what was lost, the partitions that lost most, the
moments that matter, and last what to do next, with its commands. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.post_mortem.next_steps import Step, next_steps
from kafka_unclean_recovery.post_mortem.story import Election, Moment, PostMortem, utc
from kafka_unclean_recovery.post_mortem.timeline import consent_text
from kafka_unclean_recovery.post_mortem.words import (
    care_text,
    headline,
    leader_text,
    loss_pair,
    since_then,
    total_sentence,
)
from kafka_unclean_recovery.report.window import (
    Window,
    first_of,
    in_one_line,
    shares,
    wrapped,
    wrapped_lines,
)
from kafka_unclean_recovery.shown import shown
from kafka_unclean_recovery.wording import one_line

_ALL = "all of it: --format markdown; with pictures: --html --output NEWFILE"
_INDENT = "  "
_LEAST_ROWS = 2


def screen(told: PostMortem, window: Window) -> list[str]:
    """Return the lines for the window. More than it has only where the first step alone is more; a
    command is one line, to be copied, and may be wider."""
    head = wrapped_lines(_summary(told), window.columns)
    head = list(first_of(head, max(window.lines // 2, _LEAST_ROWS), "lines of the summary"))
    hint = ["", *wrapped(_ALL, window.columns)]
    left = window.less(len(head) + len(hint))
    steps = list(_steps(next_steps(told), left))
    rows = _rows(told, left.less(sum(map(left.taken, steps))))
    return [*head, *rows, *hint, *steps]


def _summary(told: PostMortem) -> Iterator[str]:
    cluster = told.cluster_id or "of unknown id"
    yield f"post-mortem, cluster {cluster}, journal {told.journal}"
    if not told.only_seeds:
        yield total_sentence(told.elections)
        yield from since_then(told)
    yield from (sentence for sentence, _ in headline(told))
    if not told.only_seeds:
        yield from care_text(told)
    yield from (f"consent {utc(at)}: {consent_text(fields)}" for at, fields in told.consents)


def _steps(steps: Sequence[Step], window: Window) -> Iterator[str]:
    """Yield the steps, whole or as much of them as is a line; the first is whole always."""
    left = window.lines
    for number, step in enumerate(steps, 1):
        sentence = f"{number}. {one_line(step.text)}"
        whole = wrapped(sentence, window.columns)
        whole += [f"{_INDENT}{shown(command)}" for command in step.commands]
        # Each step below has a line.
        fits = sum(map(window.taken, whole)) + len(steps) - number <= left
        lines = whole if fits or number == 1 else [in_one_line(sentence, window.columns)]
        left -= sum(map(window.taken, lines))
        yield from lines


def _rows(told: PostMortem, window: Window) -> Iterator[str]:
    elections = () if told.only_seeds else told.elections
    # Each of the two has a line above it.
    room = max(window.lines - 1 - bool(elections), 0)
    for_partitions, for_moments = shares([len(elections), len(told.moments)], room)
    if for_partitions >= min(len(elections), _LEAST_ROWS) > 0:
        yield "the partitions, the most lost first:"
        first = [_INDENT + _partition(each) for each in elections[:for_partitions]]
        rows = [in_one_line(each, window.columns) for each in first]
        yield from first_of(rows, for_partitions, "partitions", of=len(elections))
    if for_moments >= min(len(told.moments), _LEAST_ROWS) > 0:
        yield "the moments, in UTC:"
        yield from _moments(told.moments, for_moments, window.columns)


def _partition(election: Election) -> str:
    certain, possible = loss_pair(election)
    return one_line(
        f"{election.topic_partition}: certain loss {certain}, possible loss {possible};"
        f" {election.what_became_of_it}; {leader_text(election)}"
    )


def _moments(moments: Sequence[Moment], most: int, columns: int) -> Iterator[str]:
    """Yield so many moments in their order: those that alarm before others, and late ones before
    early ones."""
    kept = list(range(len(moments)))
    if len(kept) > most:
        kept.sort(key=lambda number: (moments[number].alarm, number))
        kept = sorted(kept[len(kept) - most + 1 :])
        yield f"{_INDENT}... {len(moments) - len(kept)} others"
    for number in kept:
        moment = moments[number]
        yield in_one_line(f"{_INDENT}{moment.at} {one_line(moment.text)}", columns)
