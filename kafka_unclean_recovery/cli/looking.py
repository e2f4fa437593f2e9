"""kafka-unclean-recovery without --automated-recovery: look and plan, elect nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kafka_unclean_recovery.cli.exits import NOT_ALL, OK
from kafka_unclean_recovery.cli.metrics_file import timed
from kafka_unclean_recovery.cli.output import print_report, say_silent, with_problems
from kafka_unclean_recovery.cli.recover_options import Inputs, next_command
from kafka_unclean_recovery.cli.session import Session
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.phases import (
    Outcomes,
    Plans,
    plan_recovery,
    report_on,
    settled_before,
    waiting_brings,
    with_disks,
)


async def only_plan(session: Session, inputs: Inputs) -> int:
    """The exit code of one run."""
    options = inputs.options
    observer = session.observer()
    seconds = options.recovery_duration_ms / 1000
    advise = partial(waiting_brings, info=inputs.disks)
    seen = await timed("observe", observer.observe(inputs.wanted, seconds, advise))
    seen = await observer.add_hidden_topics(inputs.wanted, seen)
    say_silent(session.console, seen)
    seen = seen if inputs.disks is None else with_disks(seen, inputs.disks)
    plans = plan_recovery(seen)
    options.outputs.write(session.console, seen.cluster, plans.values())
    report = report_on(seen, plans, _nothing_to_elect(seen, plans))
    report = replace(report, interrupted=session.stop.requested)
    shown = with_problems(report, inputs.disks)
    print_report(session.console, shown, options.format, options.show_replica_info)
    if any(plan.designated_leader is not None for plan in plans.values()):
        session.console.say(f"next: {next_command(options)}")
    all_planned = all(plan.designated_leader is not None for plan in plans.values())
    return OK if all_planned and not seen.missing and not seen.problems else NOT_ALL


def _nothing_to_elect(seen: Observation, plans: Plans) -> Outcomes:
    """Of a run that elects nothing: only what is online or missing has an outcome."""
    return {tp: o for tp, o in settled_before(seen, plans).items() if tp not in plans}
