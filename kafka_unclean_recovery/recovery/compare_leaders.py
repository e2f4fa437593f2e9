"""At its end a run compares whoever leads with every log that it has seen: success is what is there
afterwards, whoever elected it.

A leader that this run elected as designated is asked whether it still has all of its own log, and
no more, unless a log was seen that the plan did not weigh, since its broker was away by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from msgspec import Struct, structs

from kafka_unclean_recovery.cluster.requests.configs import ConfigSource, ConfigValue
from kafka_unclean_recovery.model import (
    Broker,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    TopicPartition,
)
from kafka_unclean_recovery.planning.election_rules import ELECTED_MEANWHILE, by_whom
from kafka_unclean_recovery.planning.seen_logs import (
    EpochEnds,
    SeenLog,
    furthest_end_alone,
    has_whole,
    last_epoch,
    next_epoch,
    of_this_topic,
    shortfall,
    shortfall_text,
)
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.partitions import Partition, Rows, judged_again
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.any_broker import FAILURES
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport.led_logs import LedLog, LedLogs
from kafka_unclean_recovery.wording import and_more


class Comparison(Struct, frozen=True):
    """One partition that is led now, and the logs to compare its leader with. as_designated: who
    leads is who was consented to, and `planned` is its log then, where it tells enough. end_alone:
    how far a log went of which only the end was told; 0 without one."""

    state: PartitionState
    seen: tuple[SeenLog, ...]
    as_designated: bool = False
    planned: SeenLog | None = None
    end_alone: int = 0

    def counted(self, answers: EpochEnds) -> tuple[SeenLog, ...]:
        """Return the logs that count, given the leader's answers so far."""
        if self.planned is None or has_whole(self.planned.log, answers):
            return self.seen
        return (*self.seen, self.planned)

    def settled(self, answers: EpochEnds) -> bool:
        """Return True where the designated leader has its whole log still, and nothing else is to
        be compared."""
        whole = self.planned is not None and has_whole(self.planned.log, answers)
        return whole and not (self.seen or self.end_alone)

    def next_epoch(self, answers: EpochEnds) -> int | None:
        if self.planned is not None:
            last = last_epoch(self.planned.log)
            if last not in answers:
                return last
        if self.settled(answers):
            return None
        return next_epoch(self.state.leader_epoch, self.counted(answers), answers)


async def compare_leaders(
    reader: Reader, leaders: LedLogs, seen: Observation, rows: Rows
) -> tuple[Observation, Rows]:
    """Return (the observation, with the problem of what could not be compared; the rows, in which a
    partition whose leader lacks records is no success)."""
    rows = await _with_who_elected(reader, rows)
    comparisons = {tp: c for tp, row in rows.items() if (c := _comparison(row, seen)) is not None}
    told = await _ask(reader, leaders, seen, comparisons)
    outcomes: dict[TopicPartition, Outcome] = {}
    unread: list[TopicPartition] = []
    for tp, comparison in comparisons.items():
        outcome, answer = rows[tp].outcome, told[tp]
        assert outcome is not None
        if answer.problem is None:
            outcomes[tp] = _outcome(outcome, comparison, answer)
        elif not comparison.as_designated:
            outcomes[tp] = _not_known(outcome, comparison.state, answer.problem)
        else:
            unread.append(tp)
    problems = [*_lost(outcomes), *_unread(unread, told)]
    seen = replace(seen, problems=(*seen.problems, *problems))
    return seen, judged_again(rows, outcomes)


def _comparison(row: Partition, seen: Observation) -> Comparison | None:
    state, outcome, plan = row.state, row.outcome, row.plan
    if state is None or state.offline or outcome is None:
        return None
    every = seen.seen_logs.get(state.topic_partition, ())
    logs = of_this_topic(every, state)
    if plan is None or not outcome.kind.success or state.leader != plan.designated_leader:
        end = furthest_end_alone(every, state)
        return Comparison(state, logs, end_alone=end) if logs or end else None
    unweighed = tuple(log for log in logs if not _weighed(log, plan))
    its_own = _its_own(plan)
    planned = next(iter(of_this_topic(its_own, state)), None)
    end = furthest_end_alone(its_own, state)
    if planned is None and not (unweighed or end):
        return None
    return Comparison(state, unweighed, as_designated=True, planned=planned, end_alone=end)


def _its_own(plan: PartitionPlan) -> list[SeenLog]:
    """Return the log that the designated leader had; none where it begins anew."""
    return [
        SeenLog(plan.state.topic_id, plan.state.leader_epoch, log)
        for log in plan.replica_logs
        if log.broker == plan.designated_leader
    ]


def _weighed(seen: SeenLog, plan: PartitionPlan) -> bool:
    """Return True where whoever consented to the plan has seen what it does to this log, or to
    another one that holds all of it."""
    return any(
        log.broker == seen.log.broker
        and (log.log_end_offset or 0) >= (seen.log.log_end_offset or 0)
        and log.problem is None
        for log in plan.replica_logs
    )


def _outcome(outcome: Outcome, comparison: Comparison, answer: LedLog) -> Outcome:
    if comparison.settled(answer.ends):
        return outcome
    state = comparison.state
    logs = comparison.counted(answer.ends)
    short = shortfall(state.leader_epoch, logs, answer.ends)
    if short is None:
        end = answer.ends[state.leader_epoch][1]
        return outcome if end >= comparison.end_alone else _shorter(outcome, comparison, end)
    reason = _and(outcome.reason, shortfall_text(short, state))
    as_planned = comparison.as_designated and comparison.planned not in logs
    kept = as_planned and outcome.kind is OutcomeKind.ELECTED
    kind = outcome.kind if kept else OutcomeKind.FAILED
    return structs.replace(outcome, kind=kind, reason=reason, lost=short.records)


def _shorter(outcome: Outcome, comparison: Comparison, end: int) -> Outcome:
    """Return the outcome where a log went further, of which nobody knows whether an earlier
    election had given that up."""
    unread = (
        f"whether records are lost is not known: a broker told of a log that ended at"
        f" {comparison.end_alone}, and not of its leader epochs, and that of broker"
        f" {comparison.state.leader}, which leads, ends at {end}; run aftercare"
    )
    reason = _and(outcome.reason, unread)
    return structs.replace(outcome, kind=OutcomeKind.FAILED, reason=reason, in_doubt=True)


def _not_known(outcome: Outcome, state: PartitionState, why: str) -> Outcome:
    unread = (
        f"whether records are lost is not known: how far the log of broker {state.leader}, which"
        f" leads, goes could not be read ({why}); run aftercare"
    )
    reason = _and(outcome.reason, unread)
    return structs.replace(outcome, kind=OutcomeKind.FAILED, reason=reason, in_doubt=True)


def _and(reason: str | None, more: str) -> str:
    return more if reason is None else f"{reason}; {more}"


def _lost(outcomes: Mapping[TopicPartition, Outcome]) -> Iterable[str]:
    """Yield a problem where leaders are as designated, and lack what was seen before the plan."""
    lost = [tp for tp, outcome in outcomes.items() if outcome.kind.success and outcome.lost]
    if lost:
        yield (
            f"{lost[0]}{and_more(lost)}: the leader is as designated, and lacks records that a"
            " broker told of earlier in this run than this was planned"
        )


def _unread(
    partitions: Sequence[TopicPartition], told: Mapping[TopicPartition, LedLog]
) -> Iterable[str]:
    if partitions:
        first = partitions[0]
        yield (
            f"{first}{and_more(partitions)}: how far the log of the elected leader goes could not"
            f" be read back ({told[first].problem})"
        )


async def _with_who_elected(reader: Reader, rows: Rows) -> Rows:
    """Return the rows; those that somebody elected meanwhile say who may have, as far as the config
    unclean.leader.election.enable tells."""
    meanwhile = {
        tp: row.outcome
        for tp, row in rows.items()
        if row.outcome is not None and (row.outcome.reason or "").endswith(ELECTED_MEANWHILE)
    }
    if not meanwhile:
        return rows
    unclean = await reader.unclean_elections(sorted({tp.topic for tp in meanwhile}))
    return judged_again(
        rows,
        {
            tp: structs.replace(
                outcome, reason=f"{outcome.reason}{_by_whom(unclean.get(tp.topic))}"
            )
            for tp, outcome in meanwhile.items()
        },
    )


def _by_whom(unclean: ConfigValue | None) -> str:
    if unclean is None:
        return by_whom(None)
    of_all = unclean.source in (ConfigSource.TOPIC, ConfigSource.ALL_BROKERS)
    return by_whom(unclean.value == "true", as_a_broker_has_it=not of_all)


async def _ask(
    reader: Reader,
    leaders: LedLogs,
    seen: Observation,
    comparisons: Mapping[TopicPartition, Comparison],
) -> Mapping[TopicPartition, LedLog]:
    """Ask each leader once, all at the same time."""
    by_leader: dict[int, list[TopicPartition]] = {}
    for tp, comparison in comparisons.items():
        by_leader.setdefault(comparison.state.leader, []).append(tp)
    brokers = await _brokers(reader, seen, by_leader)

    async def ask(leader: int, of: Sequence[TopicPartition]) -> Mapping[TopicPartition, LedLog]:
        if leader not in brokers:
            return dict.fromkeys(of, LedLog({}, f"broker {leader} is not listed as live"))
        wanted = {tp: comparisons[tp].next_epoch for tp in of}
        patience = budgets.LED_LOGS_UNDER_A_QUOTA.deadline()
        told = await leaders.ask(brokers[leader], wanted, budgets.LED_LOGS.deadline())
        while leaders.throttled(leader) and not patience.expired:
            left = {tp: wanted[tp] for tp in of if told[tp].problem is not None}
            if not left:
                break
            told = {**told, **await leaders.ask(brokers[leader], left, patience)}
        return told

    found = await asyncio.gather(*(ask(leader, of) for leader, of in by_leader.items()))
    return {tp: log for answer in found for tp, log in answer.items()}


async def _brokers(
    reader: Reader, seen: Observation, leaders: Iterable[int]
) -> Mapping[int, Broker]:
    """Return the live brokers, read anew where a leader was not among them."""
    brokers = seen.cluster.brokers
    if all(leader in brokers for leader in leaders):
        return brokers
    try:
        return (await reader.cluster())[0].brokers
    except FAILURES:
        return brokers
