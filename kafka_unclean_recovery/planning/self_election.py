"""Foretell whom the controller elects by itself once a broker is back; no I/O.

Nobody asks for such an election, and no log is looked at in it: what decides is who is in the ISR,
the ELR and the last known ELR, and whether the broker's last stop counts as clean.

Source of the rules: ClusterControlManager.registerBroker, ReplicationControlManager
(handleUncleanBrokerShutdown, handleBrokerUnfenced) and PartitionChangeBuilder.electAnyLeader. The
tests hold them against the reference controller.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from kafka_unclean_recovery.model import NO_LEADER, PartitionState

_CLEAN = ", and its stop was clean"


class ByItself(Struct, frozen=True):
    """An election that the return of a broker brings about. leader: not always the broker that
    returns. why: how the leader comes to it, as "it is in the ISR". sure: False where it depends on
    whether the broker's stop counts as clean, which is not known."""

    leader: int
    why: str
    sure: bool = True


def elected_by_return(
    state: PartitionState, broker: int, clean: bool | None, unclean_elections: bool = False
) -> ByItself | None:
    """Return who leads the partition, which has no leader, once the broker is back; None where
    nobody does.

    clean: the controller counts the broker's last stop as clean, None where that is not known.
    unclean_elections: unclean.leader.election.enable of the topic.
    """
    if broker not in state.replicas or not state.offline:
        return None
    ways = (True, False) if clean is None else (clean,)
    found = [_elected(state, broker, way, unclean_elections) for way in ways]
    first, last = found[0], found[-1]
    if first is not None and last is not None and first.leader == last.leader:
        return first if first == last else replace(last, why=f"{last.why}, or {first.why}")
    told = [each for each in found if each is not None]
    own = [each for each in told if each.leader == broker]
    if not told:
        return None
    first_of = (own or told)[0]
    sure = len(told) == len(found) == 1
    return first_of if sure else replace(first_of, why=_if(first_of.why), sure=False)


def _if(why: str) -> str:
    """Return the reason with a clean stop as its condition."""
    return why.replace(_CLEAN, ", if its stop was clean")


def _members(
    state: PartitionState, broker: int, clean: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (the ISR, the ELR) once the broker has registered again."""
    isr, elr = state.isr, state.elr
    if broker in (*isr, *elr) and not clean:
        # Where eligible leader replicas are off the last member stays in the ISR, whatever happens.
        elr = tuple(member for member in elr if member != broker)
        isr = tuple(m for m in isr if m != broker) if _has_elr(state) else isr
    return isr, elr


def returned(
    state: PartitionState, broker: int, clean: bool, unclean_elections: bool = False
) -> PartitionState:
    """Return the partition, which has no leader, once the broker is back: with the leader that this
    brings, or still without one. Who is in the ISR and the ELR is told of one without a leader
    alone. See elected_by_return."""
    found = _elected(state, broker, clean, unclean_elections)
    isr, elr = _members(state, broker, clean)
    offline = tuple(b for b in state.offline_replicas if b != broker)
    if found is None:
        return replace(state, isr=isr, elr=elr, offline_replicas=offline)
    return replace(
        state, leader=found.leader, isr=(found.leader,), elr=(), offline_replicas=offline
    )


def _elected(
    state: PartitionState, broker: int, clean: bool, unclean_elections: bool
) -> ByItself | None:
    isr, elr = _members(state, broker, clean)
    # Whoever lives and could lead before does so already, or waits for what is not seen here.
    before = set(state.isr or state.elr)
    anew = (isr, elr) != (state.isr, state.elr)
    acceptable = {*state.online_replicas, broker} if anew else {broker}
    leader = _first(state.replicas, set(isr or elr) & acceptable - (before - {broker}))
    if leader is not None:
        where = "ISR" if isr else "ELR"
        stop = _CLEAN if leader == broker and not isr else ""
        return ByItself(leader, f"it is in the {where}{stop}")
    known = state.last_known_elr
    if not isr and not elr and len(known) == 1 and known[0] in acceptable:
        why = "it is the last known leader, and nobody is left in the ISR and the ELR"
        return ByItself(known[0], why)
    live = {*state.online_replicas, broker}
    if unclean_elections and (blind := _first(state.replicas, live)) is not None:
        return ByItself(blind, "unclean.leader.election.enable is true, and it comes first")
    return None


def _has_elr(state: PartitionState) -> bool:
    return bool(state.elr or state.last_known_elr)


def _first(order: Sequence[int], among: set[int]) -> int | None:
    return next((replica for replica in order if replica in among), None)


def may_lead_by_itself(state: PartitionState, clean: dict[int, bool | None]) -> tuple[int, ...]:
    """Return the replicas that may lead by themselves once all brokers start again, in assignment
    order: which of them does depends on the order in which they are fenced and started.

    state: as the metadata log has it, whoever leads there. clean: by broker, as far as it is known.
    """
    known = state.last_known_elr if len(state.last_known_elr) == 1 else ()
    eligible = (m for m in state.elr if clean.get(m) is not False)
    leader = () if state.leader == NO_LEADER else (state.leader,)
    may = {*state.isr, *eligible, *known, *leader}
    return tuple(replica for replica in state.replicas if replica in may)
