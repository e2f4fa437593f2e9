"""A run goes through these phases: observe, plan, settle, consent, elect, verify.

Three commands use these phases: one only looks and ends after the plan, one elects the leaders that
it planned, and one elects the leaders that a file names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from msgspec import structs

from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.mechanisms import Wishes
from kafka_unclean_recovery.model import (
    Cluster,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    ReplicaInfo,
    Report,
    TopicPartition,
)
from kafka_unclean_recovery.planning.broker_return import by_broker, why_wait
from kafka_unclean_recovery.planning.election_rules import Choice, designate, refuse_or_settle
from kafka_unclean_recovery.planning.moves import NOTHING, Consented, problems, with_moves
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.planning.seen_logs import SeenLog, seen_on_disks, unread
from kafka_unclean_recovery.recovery.compare_leaders import compare_leaders
from kafka_unclean_recovery.recovery.consent import Consent, as_settled
from kafka_unclean_recovery.recovery.journal_evidence import note_decisions, note_verified
from kafka_unclean_recovery.recovery.observe import Observation, Observer
from kafka_unclean_recovery.recovery.partitions import (
    Outcomes,
    Plans,
    Rows,
    Stage,
    States,
    at,
    carried_out,
    consented,
    not_begun,
    not_read_back,
    observed,
    outcomes_of,
    planned,
    plans_of,
    report_on,
    settled,
    unweighed,
    verified,
)
from kafka_unclean_recovery.recovery.terms import Terms
from kafka_unclean_recovery.recovery.views import Wanted
from kafka_unclean_recovery.recovery.writable import min_isrs, too_few_live
from kafka_unclean_recovery.shutdown import Interrupted, Stop
from kafka_unclean_recovery.survey.currency import Behind
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport import Elections, Elector
from kafka_unclean_recovery.transport.led_logs import LedLogs

T = TypeVar("T")

Leaders = Mapping[TopicPartition, int]
"""The designated leader of each partition, which a person chose."""


@dataclass(frozen=True, slots=True)
class Aim:
    """The aim of a run.

    seconds: how long brokers may take to say how far their replicas go. disks: what the disks of
    dead brokers say, None without any. leaders: None where the replica that loses least is to lead.
    consented: what may be given up, by name, beyond what an election loses.
    """

    wanted: Wanted
    seconds: float
    disks: ReplicaInfo | None = None
    leaders: Leaders | None = None
    consented: Consented = NOTHING


Publish = Callable[[Cluster, Collection[PartitionPlan]], None]


class Timed(Protocol):
    """Await the work of one phase and record how long it took."""

    async def __call__(self, phase: str, work: Awaitable[T]) -> T: ...


@dataclass(frozen=True, slots=True)
class Run:
    """The means that every run has. `say` prints sentences for people; `publish` writes the plans
    to the files that were asked for."""

    observer: Observer
    reader: Reader
    leaders: LedLogs
    stop: Stop
    timed: Timed
    say: Callable[[str], None]
    publish: Publish


@dataclass(frozen=True, slots=True)
class Unsaved:
    """The result of saving the records that elections destroy: the elections that are refused
    because saving failed, and sentences about records that are lost nevertheless."""

    refused: Outcomes
    lost: tuple[str, ...]


Save = Callable[[Cluster, Sequence[PartitionPlan]], Awaitable[Unsaved]]


@dataclass(frozen=True, slots=True)
class Power:
    """The further means of a run that elects. `consent` is called with all plans as they are to be
    shown, and with the plans to elect; `save` saves the records that electing these destroys, and
    is None when nothing is to be saved."""

    journal: Journal
    wishes: Wishes
    terms: Terms
    elector: Callable[[], Awaitable[Elector]]
    consent: Callable[[Sequence[PartitionPlan], Sequence[PartitionPlan]], Awaitable[Consent]]
    save: Save | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The report of a run, and the remarks: problems that don't make the run fail."""

    report: Report
    remarks: tuple[str, ...] = ()

    @property
    def shown(self) -> Report:
        """Return the report with the remarks among its problems."""
        return structs.replace(self.report, problems=self.report.problems + self.remarks)


async def look(run: Run, aim: Aim) -> Result:
    """Observe and plan; nothing is elected. Whoever leads again by now is compared with every log
    that was seen."""
    seen = await _observe(run, aim)
    seen = await run.observer.add_hidden_topics(aim.wanted, seen)
    _say_what_is_odd(run, seen)
    told = set(seen.problems)
    seen, rows = _plan(run, aim, seen)
    if seen.came_back:
        seen, rows = await compare_leaders(run.reader, run.leaders, seen, rows)
        _say_new(run, seen, told)
    return _result(run, aim, seen, rows, ())


async def recover(run: Run, aim: Aim, power: Power) -> Result:
    """Observe and plan as `look` does, and elect where nothing speaks against it."""
    seen = await _observe(run, aim)
    _say_what_is_odd(run, seen)
    told = set(seen.problems)
    seen, rows = _plan(run, aim, seen)
    note_decisions(power.journal, aim.wanted, power.wishes, seen, plans_of(rows))
    elector = await power.elector()
    rows = settled(rows, _held(power.journal, rows))
    rows = _settle(rows, elector.choose, power.terms)
    rows, unsaved = await _consent(power, seen.cluster, rows)
    electing = run.timed("elect", elector.elect(at(rows, Stage.CONSENTED)))
    made, seen = await _beside(electing, run.observer.add_hidden_topics(aim.wanted, seen), seen)
    _say_new(run, seen, told)
    seen = _with_what_is_not_known_electable(run, seen)
    rows = carried_out(rows, made.outcomes)
    told = set(seen.problems)
    (seen, rows), least = await asyncio.gather(
        run.timed("verify", _read_back(run, seen, rows, made.after)),
        min_isrs(run.reader, seen.states.values()),
    )
    seen = replace(seen, problems=(*seen.problems, *unweighed(rows)))
    _say_new(run, seen, told)
    refused = too_few_live((row.state for row in rows.values()), least)
    if refused is not None:
        run.say(refused)
        unsaved = (*unsaved, refused)
    result = _result(run, aim, seen, rows, unsaved)
    # The note comes before the output on stdout, which its reader may hold up for any time.
    note_verified(power.journal, result.shown)
    return result


async def _observe(run: Run, aim: Aim) -> Observation:
    observing = run.observer.observe(
        aim.wanted, aim.seconds, lambda seen: waiting_brings(seen, aim.disks)
    )
    return await run.timed("observe", observing)


def _say_what_is_odd(run: Run, seen: Observation) -> None:
    """Say the problems of the cluster as a whole, and each broker that gave no answer."""
    for problem in seen.problems:
        run.say(problem)
    for broker, reason in sorted(seen.silent_brokers.items()):
        run.say(f"broker {broker} gave no replica info: {reason}")


def _say_new(run: Run, seen: Observation, told: Collection[str]) -> None:
    """Say the problems that were not said before."""
    for problem in seen.problems:
        if problem not in told:
            run.say(problem)


def _plan(run: Run, aim: Aim, seen: Observation) -> tuple[Observation, Rows]:
    """Return (the observation, the disks included; its rows with their plans)."""
    if aim.disks is not None:
        seen = replace(with_disks(seen, aim.disks), seen_logs=_seen_with_disks(seen, aim.disks))
    plans = plan_recovery(seen, aim.wanted.gone)
    refused: Outcomes = {}
    if aim.leaders is not None:
        plans, refused = _by_hand(plans, aim.leaders)
    run.publish(seen.cluster, plans.values())
    if aim.consented:
        unclear = problems(aim.consented, plans.keys(), seen.topics)
        seen = replace(seen, problems=(*seen.problems, *unclear))
        commits, live = seen.witnesses.commits, seen.cluster.brokers.keys()
        plans = with_moves(plans, aim.consented, live, commits, seen.topics)
    return seen, settled(planned(observed(seen), plans), refused)


def plan_recovery(seen: Observation, gone: frozenset[int] = frozenset()) -> Plans:
    """Return a plan for each offline partition, by topic and partition. gone: brokers whose disks
    are lost for good."""
    commits = seen.witnesses.commits
    return {
        tp: plan_partition(_state(seen, tp), logs, commits.get(tp, ()), gone=gone)
        for tp, logs in sorted(seen.replica_logs.items())
    }


def _state(seen: Observation, tp: TopicPartition) -> PartitionState:
    """Return the partition with the reason why a part of it may lie in remote storage."""
    state, tiered = seen.states[tp], seen.tiered.get(tp.topic)
    return state if state.tiered == tiered else structs.replace(state, tiered=tiered)


def with_disks(seen: Observation, info: ReplicaInfo) -> Observation:
    """Return the observation with the logs on the disks of replicas that are not live. Raises
    InputError for disks of another cluster."""
    # For which a run without disks should not wait.
    from kafka_unclean_recovery.planning.merged_scans import add_disks

    logs = add_disks(seen.replica_logs, seen.states, seen.cluster.cluster_id, info)
    return replace(seen, replica_logs=logs)


def _seen_with_disks(
    seen: Observation, info: ReplicaInfo
) -> Mapping[TopicPartition, Collection[SeenLog]]:
    """Return the logs that were seen, with those on the disks, also of partitions that have a
    leader again, and of brokers that are back."""
    from kafka_unclean_recovery.planning.merged_scans import add_disks

    offline = {tp: state for tp, state in seen.states.items() if state.offline}
    states = {**seen.came_back, **offline}
    nothing = {tp: unread(state) for tp, state in states.items()}
    cluster_id = seen.cluster.cluster_id
    disks = add_disks(nothing, states, cluster_id, info)
    logs = add_disks({**nothing, **seen.replica_logs}, states, cluster_id, info)
    found: dict[TopicPartition, Collection[SeenLog]] = dict(seen.seen_logs)
    for tp, state in states.items():
        if on_disks := seen_on_disks(state, logs[tp], disks[tp]):
            found[tp] = (*found.get(tp, ()), *on_disks)
    return found


def waiting_brings(seen: Observation, info: ReplicaInfo | None) -> dict[int, str]:
    """Return what waiting for each dead broker would bring, such as "could make 12 partitions
    lossless, if its log is whole". info: the replica info of disks, None without any."""
    plans = plan_recovery(seen if info is None else with_disks(seen, info))
    return {waiting.broker: why_wait(waiting) for waiting in by_broker(plans.values())}


def _by_hand(plans: Plans, leaders: Leaders) -> tuple[Plans, Outcomes]:
    """Return (the plans with the chosen leaders, the outcomes of leaders that can't be elected)."""
    chosen = {}
    refused = {}
    for tp, plan in plans.items():
        try:
            chosen[tp] = designate(plan, leaders[tp])
        except ValueError as error:
            chosen[tp] = structs.replace(plan, designated_leader=None)
            refused[tp] = Outcome(OutcomeKind.REFUSED, str(error))
    return chosen, refused


def _held(journal: Journal, rows: Rows) -> Outcomes:
    """Return the refusals of partitions whose replica order an earlier run changed for good."""
    planned_now = [plan.state.topic_partition for plan in at(rows, Stage.PLANNED)]
    held = {tp: why for tp, why in journal.held.items() if tp in planned_now}
    return {tp: Outcome(OutcomeKind.REFUSED, why) for tp, why in held.items()}


def _settle(rows: Rows, choose: Choice, terms: Terms) -> Rows:
    """Return the rows after settling those that need no election, can't have one or must not."""
    found = ((plan, refuse_or_settle(plan, plan.state, choose)) for plan in at(rows, Stage.PLANNED))
    rows = settled(rows, {p.state.topic_partition: why for p, why in found if why is not None})
    return settled(rows, terms.refused(at(rows, Stage.PLANNED)))


async def _consent(power: Power, cluster: Cluster, rows: Rows) -> tuple[Rows, tuple[str, ...]]:
    """Return (the rows after consent and saving; sentences about records lost unsaved)."""
    plans = at(rows, Stage.PLANNED)
    if not plans:
        return rows, ()
    consent = await power.consent(as_settled(plans_of(rows), outcomes_of(rows)), plans)
    if not consent.given:
        return settled(rows, not_begun(plans, consent.how)), ()
    terms = power.terms.journal_fields()
    power.journal.note("consent", how=consent.how, partitions=len(plans), **terms)
    rows = consented(rows)
    if power.save is None:
        return rows, ()
    try:
        unsaved = await power.save(cluster, plans)
    except Interrupted:
        return settled(rows, not_begun(plans, "interrupted")), ()
    return settled(rows, unsaved.refused), unsaved.lost


async def _beside(
    electing: Awaitable[Elections], looking: Coroutine[Any, Any, Observation], seen: Observation
) -> tuple[Elections, Observation]:
    """Await the election whatever becomes of the observation beside it; an error of the latter only
    adds a problem to what was observed."""
    look_beside = asyncio.create_task(looking)
    try:
        made = await electing
        return made, await _looked(look_beside, seen)
    finally:
        look_beside.cancel()


def _with_what_is_not_known_electable(run: Run, seen: Observation) -> Observation:
    """Say, and add to what is unknown, why the controllers did not tell whether they elect a
    designated broker."""
    untold = tuple(
        f"whether broker {broker} could be elected was not known before its elections, as one that"
        f" is being stopped can't: {why}"
        for broker, why in sorted(run.reader.electable_untold.items())
    )
    for sentence in untold:
        run.say(sentence)
    unknown = (*seen.witnesses.unknown, *untold)
    return replace(seen, witnesses=replace(seen.witnesses, unknown=unknown))


async def _looked(looking: asyncio.Task[Observation], seen: Observation) -> Observation:
    try:
        return await looking
    except Exception as error:  # noqa: BLE001 - whatever it is, elections were made and are told
        problem = f"not all was looked at beside the election: {type(error).__name__}: {error}"
        return replace(seen, problems=(*seen.problems, problem))


async def _read_back(
    run: Run, seen: Observation, rows: Rows, after: States
) -> tuple[Observation, Rows]:
    """Verify the rows, and compare whoever leads now with every log that was seen."""
    seen, rows = await _verify(run.reader, seen, rows, after)
    return await compare_leaders(run.reader, run.leaders, seen, rows)


async def _verify(
    reader: Reader, seen: Observation, rows: Rows, after: States
) -> tuple[Observation, Rows]:
    """Return (the observation, with the problem of what could not be read back; the rows as the
    partitions are now). `after` holds the partitions as they were read back before the last orders
    were put back: somebody may have deleted a topic since, and made it anew."""
    try:
        now = await reader.partitions_in_the_end(sorted(seen.states))
    except Behind as error:
        return _not_read_back(seen, not_read_back(rows, str(error)), error)
    except (ConnectionFailed, NoBrokerReachable, RequestFailed) as error:
        return _not_read_back(seen, not_read_back(verified(rows, after), str(error)), error)
    return seen, not_read_back(verified(rows, now), "the answer lacks it")


def _not_read_back(seen: Observation, rows: Rows, why: Exception) -> tuple[Observation, Rows]:
    problem = f"the partitions could not be read back: {why}"
    return replace(seen, problems=(*seen.problems, problem)), rows


def _result(run: Run, aim: Aim, seen: Observation, rows: Rows, unsaved: tuple[str, ...]) -> Result:
    report = structs.replace(report_on(seen, rows), interrupted=run.stop.requested)
    # The problems of disks were reported when the disks were read; they only make the possible loss
    # less certain.
    disks = () if aim.disks is None else aim.disks.problems
    return Result(report, disks + unsaved)
