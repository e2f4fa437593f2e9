"""What electing the designated leaders loses, as a page: by topic, and the ladders of partitions.

Pure. One file without script or network, for a light and a dark screen, from a phone's width on.
Every name is escaped, for topics, paths and reasons come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from kafka_unclean_recovery.ladder import Ladder, Rung, ladder_of
from kafka_unclean_recovery.loss_by_topic import TopicLoss, record_text, total, why_text
from kafka_unclean_recovery.model import PartitionPlan, PartitionReport, ReplicaInfo
from kafka_unclean_recovery.report_text import (
    count_text,
    lineage_text,
    loss_texts,
    number_text,
    one_line,
    trust_text,
)

# Colours that are told apart by those who don't see red or green (Okabe and Ito); then again.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f8a00", "#7a6ff0")

_STYLE = """
:root{color-scheme:light dark;--page:#fff;--text:#1b1f24;--dim:#5a6470;--line:#d4d9df;
--track:#eef1f4;--alarm:#b3261e}
@media(prefers-color-scheme:dark){:root{--page:#14181d;--text:#e6e9ed;--dim:#9aa5b1;--line:#333b45;
--track:#232a32;--alarm:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--page);color:var(--text);
font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem;margin:0}
p{margin:.3rem 0}.dim{color:var(--dim)}.alarm{color:var(--alarm)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{border-bottom:1px solid var(--line);padding:.35rem .6rem;text-align:left;vertical-align:top}
td.n,th.n{text-align:right}
article{border:1px solid var(--line);border-radius:.5rem;padding:.8rem;margin:.8rem 0}
.rung{display:grid;grid-template-columns:9rem 1fr;gap:.1rem .8rem;margin-top:.6rem;
align-items:center}
.rung svg{width:100%;height:1.4rem;display:block;background:var(--track);border-radius:.2rem}
.rung .dim{grid-column:2;font-size:.85rem}
.key{display:inline-block;width:.8rem;height:.8rem;border-radius:.15rem;margin:0 .3rem 0 .8rem;
vertical-align:-.05rem}
.hw{stroke:var(--text);stroke-width:2;stroke-dasharray:3 2}
.cut{stroke:var(--alarm);stroke-width:3}
@media(max-width:40rem){.rung{grid-template-columns:1fr}.rung .dim{grid-column:1}
table.loss thead{display:none}table.loss tr{display:block;border-bottom:1px solid var(--line);
padding:.4rem 0}table.loss td{display:block;border:0;padding:.05rem 0;text-align:left}
table.loss td[data-name]:not(:empty)::before{content:attr(data-name) ": ";color:var(--dim)}}
"""

# Records that would be cut off; drawn over the colour of their epoch.
_PATTERN = (
    '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>'
    '<pattern id="lost" width="8" height="8" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><rect width="3" height="8" fill="#fff" fill-opacity=".75"/>'
    '<rect x="3" width="1" height="8" fill="#000" fill-opacity=".6"/></pattern></defs></svg>'
)

_WIDTH, _HEIGHT = 1000, 24


def render_loss_page(
    losses: Sequence[TopicLoss], worst: Iterable[PartitionReport], info: ReplicaInfo
) -> str:
    """losses: in the order of the table. worst: partitions with a plan, the worst first. info: what
    it was planned on, without its partitions."""
    cluster = info.cluster_id or "of unknown id"
    return "".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            '<meta http-equiv="Content-Security-Policy"',
            " content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>Losses, cluster {_text(cluster)}</title><style>{_STYLE}</style></head><body>",
            _PATTERN,
            "<h1>What electing the designated leaders loses</h1>",
            f'<p class="dim">Cluster {_text(cluster)}, disks scanned at {_text(info.scanned_at)}',
            f" or later, {count_text(len(info.brokers), 'broker')}</p>",
            *(f'<p class="alarm">Problem: {_text(problem)}</p>' for problem in info.problems),
            *_by_topic(losses),
            *_worst([report.plan for report in worst if report.plan is not None]),
            "</body></html>\n",
        ]
    )


def _text(text: str) -> str:
    return escape(one_line(text))


def _by_topic(losses: Sequence[TopicLoss]) -> Iterator[str]:
    sums = total(losses)
    yield "<h2>By topic</h2>"
    yield f"<p>{count_text(sums.partitions, 'partition')}, {sums.designated} with a designated"
    yield f" leader. Certain loss: {record_text(sums.certain)}. Possible loss:"
    yield f" {record_text(sums.possible)}.</p>"
    yield '<p class="dim">Certain: replicas that are there are truncated. Possible: only excluded'
    yield " brokers, and disks that were not read, may hold it.</p>"
    yield '<div class="wide"><table class="loss"><thead><tr><th>topic</th>'
    yield '<th class="n">partitions</th><th class="n">without a leader</th>'
    yield '<th class="n">certain loss</th><th class="n">possible loss</th><th>why without</th>'
    yield "</tr></thead><tbody>"
    for loss in losses:
        without = loss.partitions - loss.designated
        yield f"<tr><td><strong>{_text(loss.topic)}</strong></td>"
        yield _number("partitions", str(loss.partitions))
        yield _number("without a leader", str(without))
        yield _number("certain loss", record_text(loss.certain))
        yield _number("possible loss", record_text(loss.possible))
        yield f'<td data-name="why without">{_text(why_text(loss))}</td></tr>'
    yield "</tbody></table></div>"


def _number(name: str, text: str) -> str:
    return f'<td class="n" data-name="{name}">{text}</td>'


def _worst(plans: Sequence[PartitionPlan]) -> Iterator[str]:
    yield f"<h2>{count_text(len(plans), 'partition')} that may lose records</h2>"
    if not plans:
        yield "<p>None.</p>"
        return
    yield '<p class="dim">A bar is a replica, its colours are leader epochs; the red line is where'
    yield " it parts from the designated leader, and what is hatched behind it is lost. The dashed"
    yield " line is the high watermark that it knew.</p>"
    for plan in plans:
        yield from _partition(plan)


def _partition(plan: PartitionPlan) -> Iterator[str]:
    ladder = ladder_of(plan)
    certain, possible = loss_texts(plan.ranking[0].loss) if plan.ranking else ("unknown",) * 2
    leader = "none" if plan.designated_leader is None else f"broker {plan.designated_leader}"
    yield f"<article><h3>{_text(str(plan.state.topic_partition))}</h3>"
    yield f"<p>Designated leader: {leader}. Certain loss: {certain}. Possible loss: {possible}.</p>"
    yield f'<p class="dim">Offsets {ladder.low} to {ladder.high} (exclusive)'
    for place, epoch in enumerate(ladder.epochs):
        yield f'<span class="key" style="background:{_colour(place)}"></span>epoch {epoch}'
    yield "</p>"
    for rung in ladder.rungs:
        yield from _rung(ladder, rung)
    yield "</article>"


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]


def _rung(ladder: Ladder, rung: Rung) -> Iterator[str]:
    name = f"broker {rung.log.broker}"
    mark = " (designated)" if rung.first else "" if rung.log.live else " (not live)"
    told = "; ".join(_said(rung))
    yield f'<div class="rung"><div><strong>{name}</strong>{mark}</div>'
    yield f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img"'
    yield f' aria-label="{name}: {_text(told)}">'
    for epoch, start, end in rung.spans:
        fill = "#888" if epoch is None else _colour(ladder.epochs.index(epoch))
        yield _rectangle(ladder, start, end, fill)
    if rung.lost and rung.kept is not None and rung.log.log_end_offset is not None:
        begin = max(rung.kept, ladder.low)
        yield _rectangle(ladder, begin, rung.log.log_end_offset, "url(#lost)")
        yield _line(ladder, begin, "cut")
    high_watermark = rung.log.high_watermark
    if high_watermark is not None and ladder.low <= high_watermark <= ladder.high:
        yield _line(ladder, high_watermark, "hw")
    yield f'</svg><div class="dim">{_text(told)}</div></div>'


def _said(rung: Rung) -> Iterator[str]:
    log = rung.log
    if log.problem is not None:
        yield trust_text(log)
        return
    yield f"log end offset {number_text(log.log_end_offset)}"
    yield f"high watermark {number_text(log.high_watermark)}"
    yield f"epochs {lineage_text(log.epochs)}"
    if rung.lost:
        yield f"loses {count_text(rung.lost, 'record')} from offset {rung.kept} on"
    elif rung.lost is None and not rung.first:
        yield "what it loses is unknown"
    if log.suspect is not None:
        yield trust_text(log)


def _x(ladder: Ladder, offset: int) -> float:
    return round((offset - ladder.low) / (ladder.high - ladder.low) * _WIDTH, 1)


def _rectangle(ladder: Ladder, start: int, end: int, fill: str) -> str:
    left, right = _x(ladder, start), _x(ladder, end)
    # A single record among millions is to be seen.
    width = max(round(right - left, 1), 2)
    left = min(left, _WIDTH - width)
    return f'<rect x="{left}" width="{width}" height="{_HEIGHT}" fill="{fill}"/>'


def _line(ladder: Ladder, offset: int, kind: str) -> str:
    x = min(max(_x(ladder, offset), 1.5), _WIDTH - 1.5)
    return f'<line class="{kind}" x1="{x}" x2="{x}" y1="0" y2="{_HEIGHT}"/>'
