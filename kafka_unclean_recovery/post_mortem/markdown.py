"""A post-mortem is rendered as Markdown, for the incident's ticket."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kafka_unclean_recovery.post_mortem.learnt import Learnt, found_text
from kafka_unclean_recovery.post_mortem.next_steps import next_steps
from kafka_unclean_recovery.post_mortem.story import Election, PostMortem, losses_by_topic, utc
from kafka_unclean_recovery.post_mortem.timeline import consent_text
from kafka_unclean_recovery.post_mortem.words import (
    care_text,
    headline,
    leader_text,
    loss_pair,
    loss_sentences,
    order_text,
    since_then,
    total_sentence,
    weighed,
    why_no_plan,
)
from kafka_unclean_recovery.report.ladder import ladder_of, rung_texts
from kafka_unclean_recovery.report.loss_by_topic import record_text, why_text
from kafka_unclean_recovery.shown import shown
from kafka_unclean_recovery.wording import count_text, one_line

# This many partitions are told with their replicas; each of the others has one line.
_IN_FULL = 20
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#|~&!$])")


def render_markdown(told: PostMortem) -> str:
    return "\n".join(_lines(told)) + "\n"


def _text(text: str) -> str:
    """Return the text escaped and on one line, because names come from elsewhere."""
    return _SPECIAL.sub(r"\\\1", one_line(text))


def _lines(told: PostMortem) -> Iterator[str]:
    yield f"# Post-mortem, cluster {_text(told.cluster_id or 'of unknown id')}"
    yield f"\nJournal {_text(told.journal)}. All times are UTC.\n"
    for sentence, alarm in headline(told):
        yield f"- **{_text(sentence)}**" if alarm else f"- {_text(sentence)}"
    yield from _steps(told)
    if not told.only_seeds:
        yield from _losses(told)
    if told.consents:
        yield "\n## Consent\n"
        yield from (f"- {utc(at)}: {_text(consent_text(fields))}" for at, fields in told.consents)
    if not told.only_seeds:
        yield from _affected(told)
    yield "\n## Timeline\n"
    yield from _table(("UTC", ""), ((m.at, _mark(m.text, m.alarm)) for m in told.moments))
    if not told.only_seeds:
        yield from _partitions(told)


def _mark(text: str, alarm: bool) -> str:
    return f"**{_text(text)}**" if alarm else _text(text)


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; `rows` are Markdown already."""
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _steps(told: PostMortem) -> Iterator[str]:
    yield "\n## Next steps\n"
    steps = next_steps(told)
    if not steps:
        yield "The journal tells of none."
        return
    yield "Give the commands the client properties, where the cluster wants a login:"
    yield "`--command-config FILE`.\n"
    for number, step in enumerate(steps, 1):
        yield f"{number}. {_mark(step.text, step.alarm)}"
        # The command is indented and on one line, so that nothing in it can end the block.
        yield from (f"\n        {shown(command)}" for command in step.commands)


def _losses(told: PostMortem) -> Iterator[str]:
    losses = losses_by_topic(told.elections)
    yield "\n## What was lost\n"
    yield (
        f"**{total_sentence(told.elections)}** Certain: live replicas held it and are truncated."
        " Possible: replicas that were down or silent may hold it.\n"
    )
    yield from (f"**{_text(sentence)}**\n" for sentence in since_then(told))
    names = ("topic", "partitions", "not elected", "certain loss", "possible loss", "of those")
    rows = (
        (
            _text(loss.topic),
            str(loss.partitions),
            str(loss.partitions - loss.designated),
            record_text(loss.certain),
            record_text(loss.possible),
            _text(why_text(loss)),
        )
        for loss in losses
    )
    yield from _table(names, rows)


def _affected(told: PostMortem) -> Iterator[str]:
    yield "\n## Who is affected\n"
    yield from (f"{_text(sentence)}\n" for sentence in care_text(told))
    if told.groups:
        names = ("group", "partition", "committed offset", "the log parts at", "")
        rows = (
            (
                _text(group.group),
                _text(str(group.topic_partition)),
                str(group.committed_offset),
                str(group.resume_offset),
                "refilled by new records" if group.refilled else "",
            )
            for group in told.groups
        )
        yield from _table(names, rows)


def _partitions(told: PostMortem) -> Iterator[str]:
    yield "\n## Partitions, the most lost first\n"
    left = frozenset(told.unfinished)
    for election in told.elections[:_IN_FULL]:
        yield from _in_full(election, told.learnt, election.topic_partition in left)
    rest = told.elections[_IN_FULL:]
    if rest:
        yield f"\n{count_text(len(rest), 'more partition')}:\n"
        names = ("partition", "outcome", "leader", "certain loss", "possible loss")
        yield from _table(names, map(_row, rest))


def _row(election: Election) -> Sequence[str]:
    name = _text(str(election.topic_partition))
    became = _text(election.what_became_of_it)
    return (name, became, _text(leader_text(election)), *loss_pair(election))


def _in_full(election: Election, learnt: Learnt, left: bool) -> Iterator[str]:
    name, became, leader, *_ = _row(election)
    yield f"\n### {name}\n"
    yield f"**{became}**; {leader}. {loss_sentences(election)}\n"
    if election.outcome is not None and election.outcome.reason:
        yield f"- {_text(election.outcome.reason)}"
    yield from (f"- {_text(found_text(row))}" for row in learnt.of(election.topic_partition))
    order = order_text(election, left)
    if order:
        yield f"- {_mark(order, left)}"
    plan = election.plan
    if plan is None:
        yield f"- {why_no_plan(election)}"
        return
    if election.decided_at_ms is not None:
        yield f"- Decided at {utc(election.decided_at_ms)}, leader epoch {plan.state.leader_epoch}."
    yield from (f"- {_text(sentence)}" for sentence in weighed(plan))
    yield ""
    rungs = ladder_of(plan, election.elected_leader).rungs
    rows = (
        (str(rung.log.broker), "yes" if rung.log.live else "no", _text("; ".join(rung_texts(rung))))
        for rung in rungs
    )
    yield from _table(("replica", "live", "log"), rows)
