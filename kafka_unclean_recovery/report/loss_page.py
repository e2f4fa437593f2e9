"""The loss of electing the designated leaders is shown as an HTML page: a table by topic, and the
ladders of the worst partitions. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_unclean_recovery.model import PartitionPlan, PartitionReport, ReplicaInfo
from kafka_unclean_recovery.planning.losses import UNKNOWN_LOSS
from kafka_unclean_recovery.report.html_page import html_page, html_text, number_cell, text_cell
from kafka_unclean_recovery.report.ladder import ladder_of
from kafka_unclean_recovery.report.ladder_svg import EXPLAINED, ladder_picture
from kafka_unclean_recovery.report.loss_by_topic import TopicLoss, record_text, total, why_text
from kafka_unclean_recovery.wording import count_text, loss_texts


def render_loss_page(
    losses: Sequence[TopicLoss], worst: Iterable[PartitionReport], info: ReplicaInfo
) -> str:
    """Return the page.

    losses: the rows of the table, in its order. worst: the partitions to draw, the worst first.
    info: the replica info that the plans rest on; its partitions are not used.
    """
    cluster = info.cluster_id or "of unknown id"
    return html_page(
        f"Losses, cluster {cluster}",
        [
            "<h1>What electing the designated leaders loses</h1>",
            f'<p class="dim">{html_text(_basis(cluster, info))}</p>',
            *(f'<p class="alarm">Problem: {html_text(problem)}</p>' for problem in info.problems),
            *_by_topic(losses),
            *_worst([report.plan for report in worst if report.plan is not None]),
        ],
    )


def _basis(cluster: str, info: ReplicaInfo) -> str:
    brokers = count_text(len(info.brokers), "broker")
    return f"Cluster {cluster}, disks scanned at {info.scanned_at} or later, {brokers}"


def _by_topic(losses: Sequence[TopicLoss]) -> Iterator[str]:
    sums = total(losses)
    yield "<h2>By topic</h2>"
    yield f"<p>{count_text(sums.partitions, 'partition')}, {sums.designated} with a designated"
    yield f" leader. Certain loss: {record_text(sums.certain)}. Possible loss:"
    yield f" {record_text(sums.possible)}.</p>"
    yield '<p class="dim">Certain: replicas that are there are truncated. Possible: only excluded'
    yield " brokers, and disks that were not read, may hold it.</p>"
    yield from loss_table(losses, "without a leader", "why without")


def loss_table(losses: Iterable[TopicLoss], without: str, why: str) -> Iterator[str]:
    """Return the HTML of the table. without, why: the headers of these two columns."""
    yield '<div class="wide"><table class="cards"><thead><tr><th>topic</th>'
    yield f'<th class="n">partitions</th><th class="n">{without}</th>'
    yield f'<th class="n">certain loss</th><th class="n">possible loss</th><th>{why}</th>'
    yield "</tr></thead><tbody>"
    for loss in losses:
        yield f"<tr><td><strong>{html_text(loss.topic)}</strong></td>"
        yield number_cell("partitions", str(loss.partitions))
        yield number_cell(without, str(loss.partitions - loss.designated))
        yield number_cell("certain loss", record_text(loss.certain))
        yield number_cell("possible loss", record_text(loss.possible))
        yield f"{text_cell(why, why_text(loss))}</tr>"
    yield "</tbody></table></div>"


def _worst(plans: Sequence[PartitionPlan]) -> Iterator[str]:
    yield f"<h2>{count_text(len(plans), 'partition')} that may lose records</h2>"
    if not plans:
        yield "<p>None.</p>"
        return
    yield EXPLAINED
    for plan in plans:
        yield from _partition(plan)


def _partition(plan: PartitionPlan) -> Iterator[str]:
    loss = plan.ranking[0].loss if plan.ranking else UNKNOWN_LOSS
    certain, possible = loss_texts(loss, plan.state)
    leader = "none" if plan.designated_leader is None else f"broker {plan.designated_leader}"
    yield f"<article><h3>{html_text(str(plan.state.topic_partition))}</h3>"
    yield f"<p>Designated leader: {leader}. Certain loss: {certain}. Possible loss: {possible}.</p>"
    yield from ladder_picture(ladder_of(plan), plan.designated_leader)
    yield "</article>"
