"""A post-mortem is rendered as a page: one file without script or network (report/html_page.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.post_mortem.learnt import Learnt, found_text
from kafka_unclean_recovery.post_mortem.next_steps import Step, next_steps
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
from kafka_unclean_recovery.report.html_page import html_page, html_text, number_cell, text_cell
from kafka_unclean_recovery.report.ladder import ladder_of
from kafka_unclean_recovery.report.ladder_svg import EXPLAINED, ladder_picture
from kafka_unclean_recovery.report.loss_page import loss_table
from kafka_unclean_recovery.wording import count_text, one_line

# This many partitions are drawn with their ladders; each of the others has one line.
LADDERS = 5000
# The browser lays out this many partitions together, and only when they come near the view. Fewer
# at the end are laid out one by one: the height that is kept for so many would be an empty page.
_TOGETHER = 50


def render_page(told: PostMortem) -> str:
    title = f"Post-mortem, cluster {told.cluster_id or 'of unknown id'}"
    return html_page(
        title,
        [
            f"<h1>{html_text(title)}</h1>",
            f'<p class="dim">Journal {html_text(told.journal)}. All times are UTC.</p>',
            *(_head(sentence, alarm) for sentence, alarm in headline(told)),
            *_steps(next_steps(told)),
            *(() if told.only_seeds else _losses(told)),
            *_consents(told),
            *(() if told.only_seeds else _affected(told)),
            *_timeline(told),
            *(() if told.only_seeds else _elections(told)),
        ],
    )


def _elections(told: PostMortem) -> Iterator[str]:
    yield from _ladders(told)
    yield from _rest(told.elections[LADDERS:])


def _head(sentence: str, alarm: bool) -> str:
    if not alarm:
        return f"<p>{html_text(sentence)}</p>"
    return f'<p class="box alarm"><strong>{html_text(sentence)}</strong></p>'


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    yield "<h2>Next steps</h2>"
    if not steps:
        yield '<p class="fine">The journal tells of none.</p>'
        return
    yield '<p class="dim">Give the commands the client properties, where the cluster wants a'
    yield " login: --command-config FILE.</p><ol>"
    for step in steps:
        words = html_text(step.text)
        yield f'<li><span class="alarm">{words}</span>' if step.alarm else f"<li>{words}"
        yield from (f"<pre>{html_text(command)}</pre>" for command in step.commands)
        yield "</li>"
    yield "</ol>"


def _losses(told: PostMortem) -> Iterator[str]:
    yield "<h2>What was lost</h2>"
    yield f"<p><strong>{total_sentence(told.elections)}</strong></p>"
    yield from (f"<p><strong>{html_text(each)}</strong></p>" for each in since_then(told))
    yield '<p class="dim">Certain: live replicas held it and are truncated. Possible: replicas that'
    yield " were down or silent may hold it.</p>"
    yield from loss_table(losses_by_topic(told.elections), "not elected", "what became of those")


def _consents(told: PostMortem) -> Iterator[str]:
    if told.consents:
        yield "<h2>Consent</h2><ul>"
        for at_ms, fields in told.consents:
            yield f"<li>{utc(at_ms)}: {html_text(consent_text(fields))}</li>"
        yield "</ul>"


def _affected(told: PostMortem) -> Iterator[str]:
    yield "<h2>Who is affected</h2>"
    yield from (f"<p>{html_text(sentence)}</p>" for sentence in care_text(told))
    if told.groups:
        yield '<div class="wide"><table class="cards"><thead><tr><th>group</th><th>partition</th>'
        yield '<th class="n">committed offset</th><th class="n">the log parts at</th><th></th>'
        yield "</tr></thead><tbody>"
        for group in told.groups:
            yield f"<tr>{text_cell('group', group.group)}"
            yield text_cell("partition", str(group.topic_partition))
            yield number_cell("committed offset", str(group.committed_offset))
            yield number_cell("the log parts at", str(group.resume_offset))
            yield f"{text_cell('', 'refilled by new records' if group.refilled else '')}</tr>"
        yield "</tbody></table></div>"


def _timeline(told: PostMortem) -> Iterator[str]:
    yield '<h2>Timeline</h2><div class="wide"><table class="cards"><tbody>'
    for moment in told.moments:
        alarm = ' class="alarm"' if moment.alarm else ""
        yield f'<tr><td class="at">{moment.at}</td><td{alarm}>{html_text(moment.text)}</td></tr>'
    yield "</tbody></table></div>"


def _ladders(told: PostMortem) -> Iterator[str]:
    elections, left = told.elections[:LADDERS], frozenset(told.unfinished)
    yield "<h2>Partitions, the most lost first</h2>"
    if not elections:
        yield "<p>The journal tells of none.</p>"
        return
    yield EXPLAINED
    for start in range(0, len(elections), _TOGETHER):
        together = elections[start : start + _TOGETHER]
        yield '<section class="many">' if len(together) == _TOGETHER else "<section>"
        for election in together:
            yield from _election(election, told.learnt, election.topic_partition in left)
        yield "</section>"


def _election(election: Election, learnt: Learnt, left: bool) -> Iterator[str]:
    yield f"<article><h3>{html_text(str(election.topic_partition))}</h3>"
    yield f"<p><strong>{html_text(_became(election))}</strong>. {loss_sentences(election)}</p>"
    for found in learnt.of(election.topic_partition):
        yield f"<p>{html_text(found_text(found))}</p>"
    order = order_text(election, left)
    if order:
        yield f'<p class="{"alarm" if left else "dim"}">{html_text(order)}</p>'
    plan = election.plan
    if plan is None:
        yield f'<p class="dim">{why_no_plan(election)}</p></article>'
        return
    if election.decided_at_ms is not None:
        yield f'<p class="dim">Decided at {utc(election.decided_at_ms)}, leader epoch'
        yield f" {plan.state.leader_epoch}.</p>"
    yield from ladder_picture(ladder_of(plan, election.elected_leader), plan.designated_leader)
    yield '<ul class="dim">'
    yield from (f"<li>{html_text(sentence)}</li>" for sentence in weighed(plan))
    yield "</ul>"
    yield "</article>"


def _became(election: Election) -> str:
    reason = election.outcome.reason if election.outcome else None
    told = f"{election.what_became_of_it}: {one_line(reason)}" if reason else None
    return f"{told or election.what_became_of_it}; {leader_text(election)}"


def _rest(elections: Sequence[Election]) -> Iterator[str]:
    if not elections:
        return
    yield f"<h2>{count_text(len(elections), 'more partition')}, without a picture</h2>"
    yield '<p class="dim">The report as JSON (--json) has their replicas too.</p>'
    yield '<div class="wide"><table class="cards"><thead><tr><th>partition</th><th>outcome</th>'
    yield '<th>leader</th><th class="n">certain loss</th><th class="n">possible loss</th></tr>'
    yield "</thead><tbody>"
    for election in elections:
        certain, possible = loss_pair(election)
        yield f"<tr><td>{html_text(str(election.topic_partition))}</td>"
        yield text_cell("outcome", election.what_became_of_it)
        yield text_cell("leader", leader_text(election))
        yield f"{number_cell('certain loss', certain)}{number_cell('possible loss', possible)}</tr>"
    yield "</tbody></table></div>"
