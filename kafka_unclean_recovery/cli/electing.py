"""kafka-unclean-recovery --automated-recovery: plan, ask, save what is lost, elect, verify."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from kafka_unclean_recovery.cli.consenting import consent_to
from kafka_unclean_recovery.cli.live_salvaging import save_tails
from kafka_unclean_recovery.cli.metrics_file import timed
from kafka_unclean_recovery.cli.output import (
    exit_code_of,
    print_report,
    say_failures,
    say_silent,
    with_problems,
)
from kafka_unclean_recovery.cli.recover_options import Inputs
from kafka_unclean_recovery.cli.session import Session
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.model import PartitionPlan
from kafka_unclean_recovery.recovery.consent import as_settled
from kafka_unclean_recovery.recovery.journal_evidence import note_decisions, note_verified
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.phases import (
    Outcomes,
    Plans,
    not_elected,
    plan_recovery,
    settled_before,
    verify,
    waiting_brings,
    with_disks,
)
from kafka_unclean_recovery.salvage.live.clearing import Cleared
from kafka_unclean_recovery.shutdown import Interrupted
from kafka_unclean_recovery.transport import Elections


async def recover_automatically(session: Session, inputs: Inputs, journal: Journal) -> int:
    """The exit code of one run."""
    options, console = inputs.options, session.console
    observer = session.observer()
    seconds = options.recovery_duration_ms / 1000
    advise = partial(waiting_brings, info=inputs.disks)
    seen = await timed("observe", observer.observe(inputs.wanted, seconds, advise))
    say_silent(console, seen)
    told = set(seen.problems)
    seen = seen if inputs.disks is None else with_disks(seen, inputs.disks)
    plans = plan_recovery(seen)
    options.outputs.write(console, seen.cluster, plans.values())
    note_decisions(journal, inputs.wanted, session.wishes, seen, plans.values())
    elector = await session.elector(journal, options.recovery_election_attempts, inputs.pace)
    outcomes = settled_before(seen, plans, elector.choose)
    outcomes |= inputs.terms.refused(_unsettled(plans, outcomes))
    cleared = await _clear(session, inputs, journal, seen, plans, outcomes)
    looking = observer.add_hidden_topics(inputs.wanted, seen)
    made, seen = await _elect_beside(timed("elect", elector.elect(cleared.plans)), looking, seen)
    for problem in seen.problems:
        if problem not in told:
            console.say(problem)
    outcomes |= cleared.refused | made.outcomes
    verifying = verify(session.reader, seen, plans, outcomes, made.after)
    report = await timed("verify", verifying)
    report = replace(report, interrupted=session.stop.requested)
    shown = with_problems(report, inputs.disks)
    shown = replace(shown, problems=shown.problems + cleared.unsaved)
    # Before stdout, which may be held up for as long as its reader likes.
    note_verified(journal, shown)
    print_report(console, shown, options.format, options.show_replica_info)
    say_failures(console, report)
    return exit_code_of(report)


async def _elect_beside(
    electing: Awaitable[Elections], looking: Coroutine[Any, Any, Observation], seen: Observation
) -> tuple[Elections, Observation]:
    """The election is awaited whatever becomes of the look beside it, which at worst is a problem
    of what was seen."""
    look = asyncio.create_task(looking)
    try:
        made = await electing
        return made, await _looked(look, seen)
    finally:
        look.cancel()


async def _looked(look: asyncio.Task[Observation], seen: Observation) -> Observation:
    try:
        return await look
    except Exception as error:  # noqa: BLE001 - whatever it is, elections were made and are told
        problem = f"not all was looked at beside the election: {type(error).__name__}: {error}"
        return replace(seen, problems=(*seen.problems, problem))


def _unsettled(plans: Plans, outcomes: Outcomes) -> list[PartitionPlan]:
    return [plan for tp, plan in plans.items() if tp not in outcomes]


async def _clear(
    session: Session,
    inputs: Inputs,
    journal: Journal,
    seen: Observation,
    plans: Plans,
    outcomes: Outcomes,
) -> Cleared:
    """What may be elected of what has no outcome yet: once somebody consented, and the tails are
    saved, if they are to be."""
    electable, first = _unsettled(plans, outcomes), inputs.salvage
    if not electable:
        return Cleared([], {})
    shown = as_settled(plans.values(), outcomes)
    yes = inputs.options.yes
    consent = await consent_to(session.console, session.stop, shown, electable, first, yes=yes)
    why = consent.how
    if consent.given:
        terms = inputs.terms.journal_fields()
        journal.note("consent", how=consent.how, partitions=len(electable), **terms)
        if first is None:
            return Cleared(electable, {})
        duration = inputs.options.recovery_duration_ms / 1000
        try:
            return await save_tails(session, first, seen.cluster, electable, journal, duration)
        except Interrupted:
            why = "interrupted"
    return Cleared([], not_elected(electable, f"its election was not begun: {why}"))
