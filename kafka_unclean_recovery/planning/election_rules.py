"""Decide whether an election may go ahead, which replica the controller would elect, and what came
of it; no I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    NO_LEADER,
    Candidate,
    Finding,
    Loss,
    Move,
    MoveKind,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    Severity,
)
from kafka_unclean_recovery.planning.broker_return import waiting_for
from kafka_unclean_recovery.planning.findings import findings_of
from kafka_unclean_recovery.planning.reach import reach, records_beyond
from kafka_unclean_recovery.wording import brokers_text, count_text

Choice = Callable[[PartitionState, Sequence[int]], int]
"""Returns the replica that an election makes leader of an offline partition whose replicas are to
stand in the given order, the designated one first. NO_LEADER when nobody can lead."""

_BY_ITSELF = "came back by itself: its leader was in the ISR or ELR"
_BY_EITHER = "came back by itself: its leader was in the ELR, or is the last known leader"
_BY_LAST_KNOWN = "came back by itself: the controller elected the last known leader"
_LOST_FOR_GOOD = (
    "where all are lost for good, --give-up-log gives up what it had (explain no_designated_leader)"
)
ELECTED_MEANWHILE = "was elected meanwhile, not by this run"
"""The end of a reason that does not say who elected; see by_whom."""


def registered(state: PartitionState, order: Sequence[int]) -> tuple[int, ...]:
    """Return the order without the replicas of unregistered brokers."""
    return tuple(broker for broker in order if broker not in state.unregistered_replicas)


def designated_choice(_: PartitionState, order: Sequence[int]) -> int:
    """Return the replica that a designated election makes leader: the named one (KIP-1275)."""
    return order[0]


def controller_choice(state: PartitionState, order: Sequence[int]) -> int:
    """Return the replica that ElectLeaders UNCLEAN elects on an offline partition whose replicas
    stand in `order`.

    The rule is Kafka's PartitionChangeBuilder.electAnyLeader: the first live replica in the ISR, or
    in the ELR when the ISR is empty; else the last known leader if ISR and ELR are empty, it is the
    only one recorded and lives; else the first live replica. NO_LEADER when no replica lives.
    """
    online = state.online_replicas
    live = [r for r in order if r in online]
    clean = [r for r in live if r in (state.isr or state.elr)]
    if clean:
        return clean[0]
    last_known = state.last_known_elr
    if not state.isr and not state.elr and len(last_known) == 1 and last_known[0] in live:
        return last_known[0]
    return live[0] if live else NO_LEADER


def refuse_or_settle(
    plan: PartitionPlan, now: PartitionState | None, choose: Choice = controller_choice
) -> Outcome | None:
    """Return the outcome that ends this row before anything is sent; None when the election may go
    ahead.

    `now` is the partition as just observed, None when it no longer exists. The facts behind the
    plan must still hold: offline, same topic id, leader epoch and replica set, no reassignment, or
    the same that is to be given up. The designated leader must be a live and unfenced member, and
    the one that the election makes leader. No other replica may have come back, because it may hold
    more.
    """
    before = plan.state
    if plan.refusal is not None:
        return _refused(plan.refusal)
    if plan.designated_leader is None:
        return Outcome(OutcomeKind.NO_CANDIDATE, _nobody(plan))
    if now is None:
        return _refused("it no longer exists")
    now = _with_unregistered(now, before.unregistered_replicas)
    if now.topic_id != before.topic_id:
        return _refused("its topic was deleted and created again")
    if not now.offline:
        return _online_before_election(plan, now)
    if now.leader_epoch != before.leader_epoch:
        return _refused(
            f"its leader epoch moved from {before.leader_epoch} to {now.leader_epoch}; plan again"
        )
    if plan.move is not None:
        return _movable(plan, plan.move, now, choose)
    # Of brokers that are not listed, a try before may have taken some out of the set.
    least = set(registered(before, before.replicas))
    if not least <= set(now.replicas) <= set(before.replicas):
        return _refused(
            f"its replica set changed from {list(before.replicas)} to {list(now.replicas)}"
        )
    if now.reassigning:
        return _refused("a reassignment has begun")
    return _electable(plan, plan.designated_leader, now, choose(now, plan.order))


def _with_unregistered(state: PartitionState, brokers: tuple[int, ...]) -> PartitionState:
    # A copy takes long where thousands are looked at, and seldom differs.
    same = state.unregistered_replicas == brokers
    return state if same else replace(state, unregistered_replicas=brokers)


def _movable(
    plan: PartitionPlan, move: Move, now: PartitionState, choose: Choice
) -> Outcome | None:
    """Return why the partition does not get other replicas, None when it does. It may be on the way
    to them already, when an earlier try was not the last."""
    before = plan.state
    target = tuple(r for r in now.replicas if r not in now.removing_replicas)
    as_planned = (now.replicas, *_reassigned(now)) == (before.replicas, *_reassigned(before))
    if not as_planned and not _moved(before, move, target):
        return _refused(
            f"its replica set or its reassignment changed from {list(before.replicas)} to"
            f" {list(now.replicas)}; plan again"
        )
    if move.kind is MoveKind.EMPTY:
        return _came_back(plan, now)
    return _electable(plan, move.order[0], now, choose(now, move.order))


def _moved(before: PartitionState, move: Move, target: tuple[int, ...]) -> bool:
    """Return True for the new replicas, also without some that are listed nowhere: a try before may
    have taken these out."""
    least = set(registered(before, move.order))
    in_order = target == tuple(broker for broker in move.order if broker in target)
    return in_order and least <= set(target)


def _reassigned(state: PartitionState) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return state.adding_replicas, state.removing_replicas


def _nobody(plan: PartitionPlan) -> str:
    """Return why no replica can lead: the problem of each that lives, and which do not live."""
    logs = plan.replica_logs
    unread = [f"broker {g.broker}: {g.problem}" for g in logs if g.live and g.problem]
    down = [g.broker for g in logs if not g.live]
    told = [*unread, *([f"not live: {brokers_text(down)}"] if down else [])]
    none = f"no replica can lead: {'; '.join(told) or 'no log could be ranked'}"
    if plan.state.online_replicas:
        return none
    return f"{none}; {_LOST_FOR_GOOD}"


def _electable(
    plan: PartitionPlan, leader: int, now: PartitionState, choice: int
) -> Outcome | None:
    if leader not in now.replicas:
        return _refused(f"broker {leader} is no replica (replicas are {list(now.replicas)})")
    if leader not in now.online_replicas:
        return _refused(f"broker {leader} is dead or fenced, or its log directory failed")
    if choice in clean_leaders(now):
        return _clean_and_short(plan, leader, choice)
    if choice != leader:
        return _refused(
            f"the controller would elect broker {choice}, the last known leader, over any order"
        )
    return _came_back(plan, now)


def new_replicas(plan: PartitionPlan) -> tuple[int, ...]:
    """Return the brokers that get a replica by the plan and had none."""
    order = () if plan.move is None else plan.move.order
    return tuple(broker for broker in order if broker not in plan.state.replicas)


def _came_back(plan: PartitionPlan, now: PartitionState) -> Outcome | None:
    expected = (*plan.state.online_replicas, *new_replicas(plan))
    back = [r for r in now.online_replicas if r not in expected]
    if back:
        return _refused(f"broker {back[0]} has come back since, and may hold more; plan again")
    return None


def _clean_and_short(plan: PartitionPlan, leader: int, choice: int) -> Outcome | None:
    """Refuse where the controller would elect a member of the ISR or ELR whose log lacks records of
    the designated one: its disk was exchanged, or lost its end."""
    logs = {log.broker: log for log in plan.replica_logs}
    if choice == leader or choice not in logs or leader not in logs:
        return None
    lacking = records_beyond(logs[leader], logs[choice])
    if not lacking or reach(logs[choice]) >= reach(logs[leader]):
        return None
    return _refused(
        f"the controller would elect broker {choice}, which is in the ISR or ELR, over any order,"
        f" and its log lacks {count_text(lacking, 'record')} of the designated one: a new disk, or"
        " one that lost its end? Stop that broker before you elect, or let the controller elect it"
    )


def _online_before_election(plan: PartitionPlan, now: PartitionState) -> Outcome:
    by_itself = _by_itself(now.leader, plan.state)
    if by_itself is not None:
        return Outcome(OutcomeKind.ALREADY_ONLINE, by_itself)
    if now.leader == plan.designated_leader:
        return Outcome(OutcomeKind.ALREADY_ONLINE, f"the designated leader {ELECTED_MEANWHILE}")
    return _refused(f"broker {now.leader} {ELECTED_MEANWHILE}")


def _refused(reason: str) -> Outcome:
    return Outcome(OutcomeKind.REFUSED, reason)


def _by_itself(leader: int, before: PartitionState) -> str | None:
    """Return how the controller may have elected this leader on its own, once its broker was back.

    An unclean start takes a broker out of the ELR, and the controller may still elect it as the
    last known leader.
    """
    if leader in before.elr and leader in before.last_known_elr and not before.isr:
        return _BY_EITHER
    if leader in clean_leaders(before):
        return _BY_ITSELF
    return _BY_LAST_KNOWN if leader in before.last_known_elr else None


def came_back_text(leader: int, before: PartitionState) -> str:
    """Return how a partition, offline as in `before`, got this leader without an election here."""
    by_itself = _by_itself(leader, before)
    return by_itself or f"broker {leader} {ELECTED_MEANWHILE}"


def by_whom(unclean: bool | None, *, as_a_broker_has_it: bool = False) -> str:
    """Return a clause on who elected the leader, to follow ELECTED_MEANWHILE. unclean:
    unclean.leader.election.enable of the topic, None where it is not known. as_a_broker_has_it:
    neither the topic nor all brokers have a value, so that the controllers go by their own files,
    which nobody shows."""
    if unclean is None:
        return ""
    if unclean:
        return ": unclean.leader.election.enable is true, so Kafka elects such leaders by itself"
    text = ": somebody else elected it, for unclean.leader.election.enable is false"
    if not as_a_broker_has_it:
        return text
    return f"{text}, as a broker has it (a controller's own file counts, and is not shown)"


def clean_leaders(state: PartitionState) -> tuple[int, ...]:
    """Return the replicas whose election loses nothing committed (KIP-966): the ISR, or the ELR."""
    return (*state.isr, *state.elr)


def judge(
    designated_leader: int,
    before: PartitionState,
    after: PartitionState | None,
    said: str | None,
    *,
    answered: bool = True,
) -> Outcome:
    """Return the outcome of one election. `before` was observed just before the election, `after`
    read back; `said` is the error that Kafka gave for it, None for success; `answered` is False
    where no answer tells when it was carried out."""
    if after is None:
        return Outcome(OutcomeKind.FAILED, "it was deleted during the election")
    if after.topic_id != before.topic_id:
        anew = "its topic was deleted and created again during the election: the old one is gone"
        return Outcome(OutcomeKind.FAILED, anew)
    if after.offline:
        reason = said or "Kafka reported success, yet it has no leader"
        led_since = after.leader_epoch > before.leader_epoch
        return Outcome(OutcomeKind.FAILED, reason, in_doubt=led_since)
    unweighed = _unweighed(before, after, answered=answered)
    if after.leader == designated_leader:
        return Outcome(OutcomeKind.ELECTED, unweighed=unweighed)
    by_itself = _by_itself(after.leader, before)
    if by_itself is not None:
        return Outcome(OutcomeKind.ALREADY_ONLINE, by_itself)
    instead = f"broker {after.leader} leads instead of the designated {designated_leader}"
    return Outcome(OutcomeKind.FAILED, instead, unweighed)


def _unweighed(before: PartitionState, after: PartitionState, *, answered: bool) -> tuple[int, ...]:
    """Return the brokers that Outcome.unweighed tells of. Any replica may have been live at the
    moment of an election that was not answered."""
    now = after.online_replicas if answered else after.replicas
    return tuple(r for r in now if r not in before.online_replicas and r != after.leader)


def designate(plan: PartitionPlan, leader: int) -> PartitionPlan:
    """Return the plan with the leader that an operator chose; the order behind the leader stays the
    ranking. The choice lifts a refusal that left the choice to a person, but not one because of a
    reassignment.

    Raises ValueError when `leader` can't be elected: foreign, dead or fenced, adding, or silent.
    """
    state = plan.state
    log = next((log for log in plan.replica_logs if log.broker == leader), None)
    if log is None:
        raise ValueError(f"broker {leader} is no replica (replicas are {list(state.replicas)})")
    if leader not in state.online_replicas:
        raise ValueError(f"broker {leader} is dead or fenced, or its log directory failed")
    if leader in state.adding_replicas:
        raise ValueError(f"broker {leader} is an adding replica of a reassignment")
    if log.log_end_offset is None:
        raise ValueError(f"broker {leader} gave no answer that counts ({log.problem})")
    chosen = [c for c in plan.ranking if c.log.broker == leader]
    others = [c for c in plan.ranking if c.log.broker != leader]
    ranking = (*(chosen or [Candidate(log, Loss(None, None))]), *others)
    order = (leader, *(r for r in plan.order if r != leader))
    waiting = waiting_for(state, plan.replica_logs, ranking, plan.gone)
    findings = plan.findings
    if leader != plan.designated_leader:
        found = findings_of(state, plan.replica_logs, ranking, waiting, plan.gone)
        findings = (_by_hand(plan, leader), *found)
    return replace(
        plan,
        ranking=ranking,
        designated_leader=leader,
        order=order,
        findings=findings,
        refusal=plan.refusal if state.reassigning else None,
        waiting=waiting,
    )


def _by_hand(plan: PartitionPlan, leader: int) -> Finding:
    best = f"broker {plan.ranking[0].log.broker}" if plan.ranking else "none"
    message = f"broker {leader} was designated by hand; the replica that loses least is {best}"
    if plan.refusal is not None and not plan.state.reassigning:
        message = f"broker {leader} was designated by hand, since {plan.refusal}"
    return Finding("designated_by_hand", Severity.NOTICE, message)
