"""The operator is shown what elections would lose before being asked for consent.

This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    Loss,
    Outcome,
    PartitionPlan,
    Severity,
    TopicPartition,
)
from kafka_unclean_recovery.planning.broker_return import by_broker, waiting_lines
from kafka_unclean_recovery.planning.losses import loss_under, worst_first
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import count_text, election_text, one_line, total_text, why_not

CONSENT_LIMIT = 40
"""At most so many partitions are shown: nobody reads more than a few screens."""


Notes = Mapping[TopicPartition, Sequence[str]]
"""Further lines to show for a partition's election."""


@dataclass(frozen=True, slots=True)
class Consent:
    """The answer to the question of consent.

    how: how consent was given, for the journal; or why it was not given.
    """

    given: bool
    how: str


def loses_nothing(plan: PartitionPlan) -> bool:
    """Return True when the election certainly loses no record and all findings are notices."""
    nothing = loss_under(plan, plan.designated_leader) == Loss(0, 0)
    return nothing and all(f.severity is Severity.NOTICE for f in plan.findings)


def warning(elections: Iterable[PartitionPlan]) -> str | None:
    """Return why a plain yes is not enough for these elections; None when they lose nothing.

    An unknown or possible loss asks for as much consent as a certain one.
    """
    losing = [plan for plan in elections if not loses_nothing(plan)]
    certain = sum(1 for p in losing if loss_under(p, p.designated_leader).certain)
    unsure = len(losing) - certain
    parts = [f"records are lost for certain in {count_text(certain, 'partition')}"] * bool(certain)
    parts += [f"records may be lost in {count_text(unsure, 'partition')}"] * bool(unsure)
    return ", ".join(parts) or None


def as_settled(
    plans: Iterable[PartitionPlan], settled: Mapping[TopicPartition, Outcome]
) -> list[PartitionPlan]:
    """Return the plans to show: a partition that is settled without an election has no designated
    leader, and its plan says why."""
    return [
        replace(plan, designated_leader=None, refusal=settled[tp].reason or plan.refusal)
        if (tp := plan.state.topic_partition) in settled
        else plan
        for plan in plans
    ]


def render_consent(
    plans: Sequence[PartitionPlan], notes: Mapping[TopicPartition, Sequence[str]] = {}
) -> str:
    """Return what the elections lose, for a person to decide: each partition, then the totals.

    When there are more than 40 elections, the 40 with the largest certain loss are shown; an
    unknown loss counts as the largest.
    """
    elections = [plan for plan in plans if plan.designated_leader is not None]
    others = [plan for plan in plans if plan.designated_leader is None]
    shown = elections
    if len(elections) > CONSENT_LIMIT:
        shown = sorted(elections, key=_worst_first)[:CONSENT_LIMIT]
    lines = [line for plan in shown for line in _election_lines(plan, notes)]
    if len(elections) > len(shown):
        lines.append(
            f"... and {count_text(len(elections) - len(shown), 'partition')} more, none worse (by"
            " certain loss, unknown being the worst)"
        )
    lines += [f"{_name(plan)}: not elected: {why_not(plan)}" for plan in others[:CONSENT_LIMIT]]
    if len(others) > CONSENT_LIMIT:
        lines.append(f"... and {len(others) - CONSENT_LIMIT} more that are not elected")
    return shown_lines([*lines, *total_lines(plans)]) + "\n"


def total_lines(plans: Sequence[PartitionPlan]) -> list[str]:
    """Return the lines that end what is shown: what waiting brings, and the totals."""
    elections = [plan for plan in plans if plan.designated_leader is not None]
    losses = [loss_under(plan, plan.designated_leader) for plan in elections]
    to_elect = count_text(len(elections), "partition")
    total = f"total: {to_elect} to elect; {total_text(losses)}"
    return [*waiting_lines(by_broker(plans)), total]


def _election_lines(plan: PartitionPlan, notes: Notes) -> Iterator[str]:
    loss = loss_under(plan, plan.designated_leader)
    yield f"{_name(plan)}: elect broker {plan.designated_leader}; {election_text(loss, plan.state)}"
    for finding in plan.findings:
        yield f"    {finding.code}: {one_line(finding.message)}"
    for note in notes.get(plan.state.topic_partition, ()):
        yield f"    {one_line(note)}"


def _worst_first(plan: PartitionPlan) -> tuple[tuple[int, ...], str, int]:
    loss = loss_under(plan, plan.designated_leader)
    return worst_first(loss), plan.state.topic, plan.state.partition


def _name(plan: PartitionPlan) -> str:
    return str(plan.state.topic_partition)
