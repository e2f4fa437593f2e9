"""What must hold in every state, named as in the TLA+ specification of KIP-966 (Vanlightly)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.model_check.states import CRASHED, ELR, ISR, OUT, UP, State

Invariant = Callable[[State, int], bool]
"""Of a state and min ISR."""


def valid_controller_state(state: State, _min_isr: int) -> bool:
    """Return True when no fenced broker is in the ISR, and a leader is."""
    seats = [broker.seat for broker in state.brokers]
    fenced = any(seat.fenced and seat.member == ISR for seat in seats)
    return not fenced and all(seat.member == ISR for seat in seats if seat.leader)


def valid_controller_isr_and_elr(state: State, min_isr: int) -> bool:
    """Return True when there is an ELR only while the ISR is below min ISR. That the two are
    disjoint replicas the model takes for granted."""
    members = [broker.seat.member for broker in state.brokers]
    return members.count(ISR) < min_isr or ELR not in members


def leader_candidate_completeness(state: State, _min_isr: int) -> bool:
    """Return True when each member of ISR and ELR holds all that is committed. One that has shut
    down uncleanly may not, but has to register before it can lead."""
    return all(
        _complete(broker.log, state.committed)
        for broker in state.brokers
        if broker.seat.member != OUT and broker.process != CRASHED
    )


def leader_completeness(state: State, _min_isr: int) -> bool:
    """Return True when a leader that runs holds all that is committed."""
    return all(
        _complete(broker.log, state.committed)
        for broker in state.brokers
        if broker.seat.leader and broker.process == UP
    )


def no_committed_record_lost_globally(state: State, _min_isr: int) -> bool:
    """Return True when some log holds all that is committed, be its broker down."""
    return any(_complete(broker.log, state.committed) for broker in state.brokers)


def one_leader_an_epoch(state: State, _min_isr: int) -> bool:
    """Return True when at most one broker leads in a leader epoch."""
    epochs = [broker.leader_epoch for broker in state.brokers if broker.leading is not None]
    return len(epochs) == len(set(epochs))


def _complete(log: tuple[int, ...], committed: tuple[int, ...]) -> bool:
    return log[: len(committed)] == committed


INVARIANTS: Mapping[str, Invariant] = {
    "ValidControllerState": valid_controller_state,
    "ValidControllerIsrAndElr": valid_controller_isr_and_elr,
    "OneLeaderAnEpoch": one_leader_an_epoch,
    "LeaderCandidateCompleteness": leader_candidate_completeness,
    "LeaderCompleteness": leader_completeness,
    "NoCommittedRecordLostGlobally": no_committed_record_lost_globally,
}
