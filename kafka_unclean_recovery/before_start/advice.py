"""What to do before the start; no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.before_start.commands import is_moved
from kafka_unclean_recovery.before_start.result import BeforeStart
from kafka_unclean_recovery.before_start.verdict import Effect, Verdict
from kafka_unclean_recovery.model import Candidate, Loss, PartitionPlan
from kafka_unclean_recovery.wording import count_text, ids_text


def advice(found: BeforeStart, salvage: str | None, where: str) -> Iterator[str]:
    """Yield what to do. salvage: the command that saves what the leaders lack, None where no plan
    for it was written. where: says where the commands are."""
    if found.unsettled is not None:
        yield found.unsettled
        return
    rows = found.verdicts
    if found.refused is not None:
        yield _refused(found, found.refused)
    yield from _offline(rows)
    if cutting := [v for v in rows if v.destroys_others]:
        yield _cuts(found, cutting)
    if remedied := [v for v in rows if v.remedy is not None]:
        yield _remedies(remedied, where)
    if destroyed := [v for v in rows if v.destroys_own]:
        yield from _before(found, destroyed, salvage, where)
    if untold := [v for v in rows if v.effect.untold]:
        yield _in_doubt(untold, where)
    elif unclear := [v for v in rows if v.untold and not v.destroys_others]:
        yield (
            f"whom the start cuts is not known of {count_text(len(unclear), 'partition')}, the"
            f" first {unclear[0].replica.topic_partition}: {unclear[0].why}; until it is, don't"
            " start the broker"
        )
    if strays := sum(v.effect is Effect.STRAY for v in rows):
        yield (
            f"{count_text(strays, 'replica')} will lie there as *-stray, where no broker"
            " deletes them: remove what is not wanted"
        )
    if not (found.destroys or found.refused or found.untold):
        yield (
            f"start broker {found.broker}: nothing that its disk holds is destroyed, but what its"
            " leaders deleted on purpose, and no other is cut"
        )


def _refused(found: BeforeStart, why: str) -> str:
    if not found.refused_late:
        return f"the broker will not start, and its disk stays as it is: {why}"
    mark = (
        ", and its mark of a clean stop goes with the attempt, which takes it out of the ELR"
        if found.stopped_clean
        else ""
    )
    return f"the broker will not start{mark}: {why}"


def _offline(rows: Sequence[Verdict]) -> Iterator[str]:
    for why in sorted({v.why for v in rows if v.effect is Effect.OFFLINE}):
        count = sum(v.why == why for v in rows)
        yield f"{count_text(count, 'replica')} will be offline: {why}"


def _cuts(found: BeforeStart, cutting: Sequence[Verdict]) -> str:
    records = sum(v.led.cuts.records for v in cutting if v.led is not None)
    whose = sorted({cut.broker for v in cutting if v.led for cut in v.led.cuts.all})
    return (
        f"don't start broker {found.broker} yet: {count_text(len(cutting), 'partition')}, the first"
        f" {cutting[0].replica.topic_partition}, would be led by itself, and"
        f" {count_text(records, 'record')} of brokers {ids_text(whose)} cut. Elect first"
        " (--all-offline-partitions --automated-recovery, with this disk as --log-dirs), and start"
        " it once others lead (where several brokers are down start-order tells which first); never"
        " move these directories aside"
    )


def _remedies(remedied: Sequence[Verdict], where: str) -> str:
    return (
        f"{count_text(len(remedied), 'replica')}, the first"
        f" {remedied[0].replica.topic_partition}, would be kept with a partition.metadata of the"
        f" topic that is there: {where}"
    )


def _in_doubt(untold: Sequence[Verdict], where: str) -> str:
    first = untold[0]
    return (
        f"of {count_text(len(untold), 'replica')} it can't be told, the first"
        f" {first.replica.topic_partition}: {first.why}; until it can, don't start the broker, or"
        f" copy what must not be lost aside: {where}"
    )


def _before(
    found: BeforeStart, destroyed: Sequence[Verdict], salvage: str | None, where: str
) -> Iterator[str]:
    records = sum(v.records or 0 for v in destroyed)
    uncounted = sum(v.records is None for v in destroyed)
    more = f", and {uncounted} of them uncounted" if uncounted else ""
    yield (
        f"the start deletes {count_text(records, 'record')} of"
        f" {count_text(len(destroyed), 'replica')}{more}: save them, or move their directories"
        f" aside, before broker {found.broker} starts"
    )
    if salvage is not None:
        yield f"next, to save what their leaders lack: {salvage}"
    moved = sum(map(is_moved, destroyed))
    them = "them" if moved == len(destroyed) else f"{moved} of them"
    if moved:
        yield f"to keep {them}, and let the broker fetch their partitions anew: {where}"
    if moved < len(destroyed):
        yield f"to copy those that may be elected, and so must stay where they are: {where}"


def plans(found: BeforeStart) -> Iterator[PartitionPlan]:
    """Yield for each partition that is truncated a plan that has its present leader as the
    designated one, which is what salvage needs to tell what that leader lacks."""
    for verdict in found.verdicts:
        known = found.known.get(verdict.replica.topic_partition)
        cut = verdict.effect in (Effect.TRUNCATED, Effect.EMPTIED) and verdict.destroys_own
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
