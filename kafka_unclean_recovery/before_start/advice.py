"""What to do before the start, with the very commands; no I/O."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from kafka_unclean_recovery.before_start.result import BeforeStart
from kafka_unclean_recovery.before_start.verdict import Effect, Verdict
from kafka_unclean_recovery.model import Candidate, Loss, PartitionPlan
from kafka_unclean_recovery.wording import count_text

_SHOWN = 10


def advice(found: BeforeStart, salvage: str | None) -> Iterator[str]:
    """Yield what to do, and the commands. salvage: the command that saves what the leaders lack,
    None where no plan for it was written."""
    if found.unsettled is not None:
        yield found.unsettled
        return
    rows = found.verdicts
    destroyed = [v for v in rows if v.effect.destroys]
    if found.refused is not None:
        yield f"the broker will not start, and its disk stays as it is: {found.refused}"
    yield from _offline(rows)
    if destroyed:
        yield from _before(found, destroyed, salvage)
    if untold := [v for v in rows if v.effect.untold]:
        yield from _in_doubt(untold)
    if strays := sum(v.effect is Effect.STRAY for v in rows):
        yield (
            f"{count_text(strays, 'replica')} will lie there as *-stray, where no broker"
            " deletes them: remove what is not wanted"
        )
    if not (destroyed or found.refused or found.untold):
        yield (
            f"start broker {found.broker}: nothing that its disk holds is destroyed, but what its"
            " leaders deleted on purpose"
        )


def _offline(rows: Sequence[Verdict]) -> Iterator[str]:
    for why in sorted({v.why for v in rows if v.effect is Effect.OFFLINE}):
        count = sum(v.why == why for v in rows)
        yield f"{count_text(count, 'replica')} will be offline, and stay as they are: {why}"


def _in_doubt(untold: Sequence[Verdict]) -> Iterator[str]:
    first = untold[0]
    yield (
        f"of {count_text(len(untold), 'replica')} it can't be told, the first"
        f" {first.replica.topic_partition}: {first.why}; until it can, don't start the broker, or"
        " move what must not be lost aside:"
    )
    yield from _commands(untold)


def _before(found: BeforeStart, destroyed: Sequence[Verdict], salvage: str | None) -> Iterator[str]:
    records = sum(v.records or 0 for v in destroyed)
    uncounted = sum(v.records is None for v in destroyed)
    more = f", and {uncounted} of them uncounted" if uncounted else ""
    yield (
        f"the start deletes {count_text(records, 'record')} of"
        f" {count_text(len(destroyed), 'replica')}{more}: save them, or move their directories"
        f" aside, before broker {found.broker} starts"
    )
    if salvage is not None:
        yield f"to save what their leaders lack: {salvage}"
    yield "to keep them, and let the broker fetch all of their partitions anew:"
    yield from _commands(destroyed)


def _commands(rows: Sequence[Verdict]) -> Iterator[str]:
    for verdict in rows[:_SHOWN]:
        yield move_aside(verdict)
    if len(rows) > _SHOWN:
        yield f"and {len(rows) - _SHOWN} more, which --format json lists"


def move_aside(verdict: Verdict) -> str:
    """Return the command that moves the replica's directory out of its log directory, to a new
    directory beside that, on the same disk where the log directory is no mount point."""
    directory = PurePath(verdict.replica.directory)
    aside = directory.parent.with_name(f"{directory.parent.name}.aside")
    made = shlex.join(["mkdir", "-p", str(aside)])
    moved = shlex.join(["mv", "-n", str(directory), f"{aside}/"])
    return f"{made} && {moved}"


def plans(found: BeforeStart) -> Iterator[PartitionPlan]:
    """Yield for each partition that is truncated a plan that has its present leader as the
    designated one, which is what salvage needs to tell what that leader lacks."""
    for verdict in found.verdicts:
        known = found.known.get(verdict.replica.topic_partition)
        cut = verdict.effect in (Effect.TRUNCATED, Effect.EMPTIED)
        if not cut or known is None or known.state is None or verdict.leader is None:
            continue
        leader = known.logs.get(verdict.leader)
        if leader is None:
            continue
        yield PartitionPlan(
            known.state,
            (leader,),
            (Candidate(leader, Loss(verdict.records, None)),),
            leader.broker,
            known.state.replicas,
            (),
        )
