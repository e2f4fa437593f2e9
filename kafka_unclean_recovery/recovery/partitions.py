"""A partition goes through a run in stages: observed, planned, settled or consented, carried out,
verified.

Every function here takes the rows of a run and returns them one stage further. A row never goes
back, and a row that is settled is left alone by whatever elects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionReport,
    PartitionState,
    Report,
    TopicPartition,
)
from kafka_unclean_recovery.planning.dead_leaders import dead_leader_text
from kafka_unclean_recovery.planning.election_rules import came_back_text
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.wording import and_more


class Stage(StrEnum):
    """The stage that a partition has reached in a run.

    OBSERVED: it is offline, and its replicas were asked. PLANNED: a leader is designated, or a
    reason is known why none is. SETTLED: its outcome is known, and nothing is sent for it.
    CONSENTED: its election may be sent. CARRIED_OUT: its election has an outcome. VERIFIED: it was
    read back at the end of the run.
    """

    OBSERVED = "observed"
    PLANNED = "planned"
    SETTLED = "settled"
    CONSENTED = "consented"
    CARRIED_OUT = "carried_out"
    VERIFIED = "verified"


class Partition(Struct, frozen=True):
    """One row of a run. `state` is the newest that was seen, None when there is no such partition;
    `plan` is None when it was not offline; `outcome` is None until there is one."""

    stage: Stage
    state: PartitionState | None
    plan: PartitionPlan | None = None
    outcome: Outcome | None = None


Rows = Mapping[TopicPartition, Partition]
"""The partitions of a run, sorted."""

Plans = Mapping[TopicPartition, PartitionPlan]
Outcomes = Mapping[TopicPartition, Outcome]
States = Mapping[TopicPartition, PartitionState]


class WrongStage(AssertionError):
    """A row was to be moved to a stage that does not follow its own."""


_LEADS_TO = {
    Stage.OBSERVED: {Stage.PLANNED},
    Stage.PLANNED: {Stage.SETTLED, Stage.CONSENTED},
    Stage.SETTLED: {Stage.VERIFIED},
    Stage.CONSENTED: {Stage.SETTLED, Stage.CARRIED_OUT},
    Stage.CARRIED_OUT: {Stage.VERIFIED},
    Stage.VERIFIED: set[Stage](),
}


def observed(seen: Observation) -> Rows:
    """Return the rows of what was observed. Settled at once are the partitions that are missing,
    that have a leader, or whose leader is not live."""
    rows = {tp: _observed(tp, seen) for tp in (*seen.states, *seen.missing)}
    return {tp: rows[tp] for tp in sorted(rows)}


def _observed(tp: TopicPartition, seen: Observation) -> Partition:
    state = seen.states.get(tp)
    if state is None:
        return Partition(Stage.SETTLED, None, outcome=_failed(seen.missing[tp]))
    if state.offline:
        return Partition(Stage.OBSERVED, state)
    if tp in seen.led_by_the_dead:
        why = f"it is led by {dead_leader_text(seen.led_by_the_dead[tp], seen.cluster)}"
        return Partition(Stage.SETTLED, state, outcome=_failed(why))
    before = seen.came_back.get(tp)
    if before is not None and before.topic_id != state.topic_id:
        return Partition(Stage.SETTLED, state, outcome=_MADE_ANEW)
    why_online = None if before is None else came_back_text(state.leader, before)
    outcome = Outcome(OutcomeKind.ALREADY_ONLINE, why_online)
    return Partition(Stage.SETTLED, state, outcome=outcome)


def planned(rows: Rows, plans: Plans) -> Rows:
    """Return the rows, each offline partition with its plan."""
    return {
        tp: _moved(row, Stage.PLANNED, plan=plans[tp]) if tp in plans else row
        for tp, row in rows.items()
    }


def settled(rows: Rows, outcomes: Outcomes) -> Rows:
    """Return the rows; those in `outcomes` need no election or must not have one."""
    return {
        tp: _moved(row, Stage.SETTLED, outcome=outcomes[tp]) if tp in outcomes else row
        for tp, row in rows.items()
    }


def consented(rows: Rows) -> Rows:
    """Return the rows after consent to the election of each row that is not settled."""
    return {
        tp: _moved(row, Stage.CONSENTED) if row.stage is Stage.PLANNED else row
        for tp, row in rows.items()
    }


def carried_out(rows: Rows, outcomes: Outcomes) -> Rows:
    """Return the rows with the outcome of each election that was consented to."""
    return {
        tp: _moved(row, Stage.CARRIED_OUT, outcome=outcomes.get(tp, _UNTOLD))
        if row.stage is Stage.CONSENTED
        else row
        for tp, row in rows.items()
    }


def verified(rows: Rows, now: States) -> Rows:
    """Return the rows with the states that were read back; other rows keep their last seen
    state. A partition that is offline again, or of a topic that was created again, has failed,
    whatever was seen of it before."""
    return {tp: _verified(row, now[tp]) if tp in now else row for tp, row in rows.items()}


def _verified(row: Partition, now: PartitionState) -> Partition:
    outcome = row.outcome
    anew = row.state is not None and row.state.topic_id != now.topic_id
    if anew and outcome is not None and outcome.kind.success:
        outcome = _MADE_ANEW
    if now.offline and outcome is not None and outcome.kind.success:
        outcome = replace(_OFFLINE_AGAIN, in_doubt=outcome.kind is OutcomeKind.ELECTED)
    return _moved(row, Stage.VERIFIED, state=now, outcome=outcome)


def not_read_back(rows: Rows, why: str) -> Rows:
    """Return the rows; whatever went well in an election and is not read back is in doubt, for its
    row has the state from before."""
    doubt = Outcome(
        OutcomeKind.FAILED,
        f"it got a leader, and who leads could not be read back in the end ({why}); look again",
        in_doubt=True,
    )
    went_well = (
        tp
        for tp, row in rows.items()
        if row.stage is Stage.CARRIED_OUT and row.outcome is not None and row.outcome.kind.success
    )
    return judged_again(rows, dict.fromkeys(went_well, doubt))


def judged_again(rows: Rows, outcomes: Outcomes) -> Rows:
    """Return the rows with what is known better of some in the end; no row changes its stage."""
    return {
        tp: replace(row, outcome=outcomes[tp]) if tp in outcomes else row
        for tp, row in rows.items()
    }


def at(rows: Rows, stage: Stage) -> list[PartitionPlan]:
    """Return the plans of the rows at exactly this stage, sorted by partition."""
    return [row.plan for row in rows.values() if row.stage is stage and row.plan is not None]


def plans_of(rows: Rows) -> list[PartitionPlan]:
    """Return the plans that were made, sorted by partition."""
    return [row.plan for row in rows.values() if row.plan is not None]


def outcomes_of(rows: Rows) -> Outcomes:
    """Return the outcomes that are known so far."""
    return {tp: row.outcome for tp, row in rows.items() if row.outcome is not None}


def report_on(seen: Observation, rows: Rows) -> Report:
    """Return the report on the rows as they are now."""
    partitions = tuple(
        PartitionReport(tp, row.state, row.plan, row.outcome) for tp, row in rows.items()
    )
    unknown = seen.witnesses.unknown
    return Report(seen.cluster, partitions, seen.problems, seen.silent_brokers, unknown=unknown)


def unweighed(rows: Rows) -> Iterator[str]:
    """Return a sentence for each broker that may have come back before elections were made."""
    found: dict[int, list[TopicPartition]] = {}
    for tp, outcome in outcomes_of(rows).items():
        for broker in outcome.unweighed:
            found.setdefault(broker, []).append(tp)
    for broker, partitions in sorted(found.items()):
        yield (
            f"broker {broker} came back, or may have, after {partitions[0]}"
            f"{and_more(partitions)} had been observed for the election: what only it"
            " held there is lost, and how much is not known"
        )


def not_begun(plans: Iterable[PartitionPlan], why: str) -> Outcomes:
    """Return a failure for each plan: its election was not begun, for this reason."""
    outcome = _failed(f"its election was not begun: {why}")
    return dict.fromkeys((plan.state.topic_partition for plan in plans), outcome)


def _moved(
    row: Partition,
    stage: Stage,
    *,
    state: PartitionState | None = None,
    plan: PartitionPlan | None = None,
    outcome: Outcome | None = None,
) -> Partition:
    """Return the row at another stage, with the fields that became known on the way."""
    if stage not in _LEADS_TO[row.stage]:
        raise WrongStage(f"{row.stage} does not lead to {stage}")
    return Partition(stage, state or row.state, plan or row.plan, outcome or row.outcome)


def _failed(reason: str) -> Outcome:
    return Outcome(OutcomeKind.FAILED, reason)


_OFFLINE_AGAIN = _failed("it had a leader and has none again; recover it again")
_MADE_ANEW = _failed("its topic was deleted and created again: the old one is gone")
_UNTOLD = Outcome(
    OutcomeKind.FAILED, "what became of its election is not known; look again", in_doubt=True
)
