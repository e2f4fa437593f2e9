"""kafka-unclean-recovery --automated-recovery: plan, ask, save what is lost, elect, verify."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from kafka_unclean_recovery.cli.console import confirm, is_terminal
from kafka_unclean_recovery.cli.live_salvaging import (
    all_losers,
    notes_of,
    save_tails,
    total_note,
)
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
from kafka_unclean_recovery.consent import render_consent
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.journal import Journal
from kafka_unclean_recovery.live_salvage.clearing import Cleared
from kafka_unclean_recovery.model import PartitionPlan
from kafka_unclean_recovery.observation import Observation
from kafka_unclean_recovery.recovery import (
    not_elected,
    plan_recovery,
    settled_before,
    verify,
    waiting_brings,
    with_disks,
)
from kafka_unclean_recovery.stopping import Interrupted
from kafka_unclean_recovery.transport import Elections


async def recover_automatically(session: Session, inputs: Inputs, journal: Journal) -> int:
    """The exit code of one run."""
    options = inputs.options
    observer = session.observer()
    deadline = Deadline.after(options.recovery_duration_ms / 1000)
    advise = partial(waiting_brings, info=inputs.disks)
    seen = await timed("observe", observer.observe(inputs.wanted, deadline, advise))
    say_silent(session.console, seen)
    seen = seen if inputs.disks is None else with_disks(seen, inputs.disks)
    plans = plan_recovery(seen)
    options.outputs.write(session.console, seen.cluster, plans.values())
    elector = await session.elector(journal, options.recovery_election_attempts)
    outcomes = settled_before(seen, plans, elector.choose)
    electable = [plan for tp, plan in plans.items() if tp not in outcomes]
    console = session.console
    made = Elections({}, {})
    told = set(seen.problems)
    cleared: Cleared | None = None
    if electable and await _may_elect(session, inputs, list(plans.values()), electable):
        cleared = await _clear(session, inputs, seen, electable, journal)
    if cleared is not None:
        outcomes |= cleared.refused
        made, seen = await asyncio.gather(
            timed("elect", elector.elect(cleared.plans)),
            observer.add_hidden_topics(inputs.wanted, seen),
        )
    else:
        why = "interrupted" if session.stop.requested else "nobody said yes"
        outcomes |= not_elected(electable, f"its election was not begun: {why}")
        seen = await observer.add_hidden_topics(inputs.wanted, seen)
    for problem in seen.problems:
        if problem not in told:
            console.say(problem)
    outcomes |= made.outcomes
    report = await verify(session.reader, seen, plans, outcomes, made.after)
    report = replace(report, interrupted=session.stop.requested)
    shown = with_problems(report, inputs.disks)
    if cleared is not None:
        shown = replace(shown, problems=shown.problems + cleared.unsaved)
    print_report(console, shown, options.as_json, options.show_replica_info)
    say_failures(console, report)
    return exit_code_of(report)


async def _clear(
    session: Session,
    inputs: Inputs,
    seen: Observation,
    plans: list[PartitionPlan],
    journal: Journal,
) -> Cleared | None:
    """What may be elected once the tails are saved, if they are to be; None when interrupted."""
    if inputs.salvage is None:
        return Cleared(plans, {})
    duration = inputs.options.recovery_duration_ms / 1000
    try:
        return await save_tails(session, inputs.salvage, seen.cluster, plans, journal, duration)
    except Interrupted:
        return None


async def _may_elect(
    session: Session,
    inputs: Inputs,
    plans: Sequence[PartitionPlan],
    electable: Sequence[PartitionPlan],
) -> bool:
    if session.stop.requested:
        return False
    if inputs.options.yes or not is_terminal():
        return True
    if inputs.salvage is None:
        session.console.show(render_consent(plans))
    else:
        losers = all_losers(electable)
        shown = render_consent(plans, notes_of(inputs.salvage, losers))
        session.console.show(shown + total_note(inputs.salvage, losers))
    try:
        return await confirm(session.console, "elect these leaders?", session.stop)
    except Interrupted:
        return False
