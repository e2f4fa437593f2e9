"""The margin as lines for a terminal and as metrics; no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.documents.margin import ChangeJson, MarginJson, QuorumMarginJson
from kafka_unclean_recovery.ok_to_stop.margins import ALREADY
from kafka_unclean_recovery.report.prometheus import Metric, Sample, gauge
from kafka_unclean_recovery.wording import count_text, ids_text, one_line

_SHOWN = 10
_PREFIX = "kafka_unclean_recovery_margin"
_NOW = {
    "blocked": "writes with acks=all are refused",
    "offline": "nobody leads",
    "unclean": "an unclean leader, and records are lost",
}


def render_margin(found: MarginJson, first: bool) -> str:
    """Return the whole at the first look, and then what changed, for as long as anything does."""
    lines = _whole(found) if first else _changed(found)
    return "".join(f"{found.observed_at} {one_line(line)}\n" for line in lines)


def _whole(found: MarginJson) -> Iterator[str]:
    yield f"cluster {found.cluster_id}: {count_text(found.known, 'partition')}"
    yield from _totals(found)
    yield from _rest(found)


def _totals(found: MarginJson) -> Iterator[str]:
    for row in found.stands:
        count = count_text(row.partitions, "partition")
        if row.failures == ALREADY:
            yield f"{count}: {_NOW[row.before]}"
        else:
            more = count_text(row.failures, "more failure")
            yield f"{count}: {more}, and the next: {_NOW[row.before]}"


def _changed(found: MarginJson) -> Iterator[str]:
    worst_first = sorted(found.changes, key=lambda change: (change.stands, change.was))
    for change in worst_first[:_SHOWN]:
        yield _change(change)
    if len(found.changes) > _SHOWN:
        yield f"and {len(found.changes) - _SHOWN} more partitions, which --format json lists"
    if found.changes:
        yield f"now, of {count_text(found.known, 'partition')}:"
        yield from _totals(found)
    yield from _rest(found)


def _change(change: ChangeJson) -> str:
    """Return what the partition tolerates until writes with acks=all are refused."""
    now = (
        "refuses writes with acks=all"
        if change.stands == ALREADY
        else f"tolerates {_more_failures(change.stands)}"
    )
    was = (
        "refused writes with acks=all"
        if change.was == ALREADY
        else f"tolerated {_more_failures(change.was)}"
    )
    elr = f", ELR {ids_text(change.elr)}" if change.elr else ""
    return (
        f"{change.topic}-{change.partition} now {now}; before, it {was};"
        f" ISR {ids_text(change.isr)}{elr}"
    )


def _more_failures(number: int) -> str:
    return count_text(number, "more failure") if number else "no more failure"


def _quorum(found: QuorumMarginJson) -> Iterator[str]:
    if found.state == "down":
        yield (
            "the metadata quorum has no leader that a majority follows: nobody would be elected,"
            " and no ISR shrinks, so that no margin holds"
        )
    elif found.state == "silent":
        yield (
            "whether the metadata quorum works is not known: without it nobody would be elected,"
            " so that no margin is known"
        )
    elif found.failures is not None:
        yield (
            f"the metadata quorum: {found.follow} of {count_text(found.voters or 0, 'voter')}"
            f" follow, and it stands {count_text(found.failures, 'more failure')}"
        )


def _rest(found: MarginJson) -> Iterator[str]:
    yield from _quorum(found.quorum)
    if found.single_replicas:
        yield f"{count_text(found.single_replicas, 'partition')} with one replica"
    if found.elr_partitions:
        yield (
            f"{count_text(found.elr_partitions, 'partition')} with"
            f" {count_text(found.elr_members, 'member')} of the ELR"
        )
    if found.down:
        yield f"brokers that are down: {ids_text(found.down)}"
    for row in found.out_of_sync:
        yield f"broker {row.broker} lives, and {row.replicas} of its replicas are not in the ISR"
    if found.not_known:
        yield f"not known of {count_text(found.not_known, 'partition')}"
    yield from (f"not known: {problem}" for problem in found.problems)


def margin_metrics(found: MarginJson) -> list[Metric]:
    """Return the figures; -1 failures is a partition that is blocked or offline already."""
    stands = tuple(
        Sample(float(row.partitions), {"before": row.before, "failures": str(row.failures)})
        for row in found.stands
    )
    starving = tuple(
        Sample(float(row.replicas), {"broker": str(row.broker)}) for row in found.out_of_sync
    )
    helps = "Partitions by how many further failures they stand, and what comes then."
    return [
        Metric(f"{_PREFIX}_partitions", helps, stands),
        gauge(
            f"{_PREFIX}_partitions_unknown",
            "Partitions whose margin is not known.",
            found.not_known,
        ),
        gauge(f"{_PREFIX}_elr_partitions", "Partitions with an ELR.", found.elr_partitions),
        gauge(f"{_PREFIX}_elr_members", "Replicas in ELRs.", found.elr_members),
        gauge(f"{_PREFIX}_brokers_down", "Brokers that are down.", len(found.down)),
        Metric(
            f"{_PREFIX}_out_of_sync_replicas",
            "Replicas of live brokers that are not in the ISR.",
            starving,
        ),
        gauge(f"{_PREFIX}_problems", "Facts that could not be read.", len(found.problems)),
        *_quorum_metrics(found.quorum),
        gauge(f"{_PREFIX}_failed_looks", "Looks that told nothing.", found.failed_looks),
    ]


def _quorum_metrics(found: QuorumMarginJson) -> Iterator[Metric]:
    states = tuple(
        Sample(float(state == found.state), {"state": state})
        for state in ("up", "down", "silent", "untold")
    )
    yield Metric(f"{_PREFIX}_quorum", "The metadata quorum: 1 is the state that it is in.", states)
    yield gauge(f"{_PREFIX}_quorum_voters", "Voters of the metadata quorum.", found.voters)
    yield gauge(
        f"{_PREFIX}_quorum_voters_following", "Voters that fetched within 3 s.", found.follow
    )
    yield gauge(
        f"{_PREFIX}_quorum_failures",
        "Failures of voters that the quorum still stands.",
        found.failures,
    )
