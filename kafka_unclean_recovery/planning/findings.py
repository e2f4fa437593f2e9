"""Find what an operator should weigh before electing: one function per finding, with a stable code.

There is no I/O. An unsafe election is a value here, never an exception; findings are sorted from
the gravest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from kafka_unclean_recovery.model import (
    Candidate,
    Finding,
    PartitionState,
    ReplicaLog,
    Severity,
    Waiting,
)
from kafka_unclean_recovery.planning.disk_findings import DISK_RULES, Rule
from kafka_unclean_recovery.planning.loss_findings import LOSS_RULES
from kafka_unclean_recovery.planning.lost_disks import lost_disks
from kafka_unclean_recovery.planning.reach import chosen_by_hand, reach
from kafka_unclean_recovery.planning.replica_findings import REPLICA_RULES, dead_replicas
from kafka_unclean_recovery.wording import brokers_text

_GRAVITY = {severity: place for place, severity in enumerate(Severity)}


def findings_of(
    state: PartitionState,
    logs: Sequence[ReplicaLog],
    ranking: Sequence[Candidate],
    waiting: Iterable[Waiting],
    gone: Container[int] = (),
) -> tuple[Finding, ...]:
    """Return all findings about one offline partition; `ranking` is best first, `waiting` has the
    verdict on each dead replica. gone: brokers whose disks are lost for good."""
    found = [finding for rule in RULES for finding in rule(state, logs, ranking)]
    # What nobody has any more can neither come back nor be saved.
    there = [log for log in logs if log.live or log.broker not in gone] if gone else logs
    found += [finding for rule in DISK_RULES for finding in rule(state, there, ranking)]
    found += lost_disks(state, logs, ranking, gone)
    return by_gravity([*found, *dead_replicas(state, there, waiting)])


def by_gravity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each finding once, the gravest first."""
    return tuple(sorted(set(findings), key=lambda f: (_GRAVITY[f.severity], f.code, f.message)))


def _tie(
    state: PartitionState, _: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    trusted = [c for c in ranking if c.log.suspect is None]
    best = [c.log for c in trusted if reach(c.log) == reach(ranking[0].log)]
    if len(best) < 2 or best[0] is not ranking[0].log or chosen_by_hand(ranking):
        return
    winner, others = best[0].broker, [log.broker for log in best[1:]]
    epoch = best[0].last_written_leader_epoch
    yield Finding(
        "tie",
        Severity.NOTICE,
        f"{brokers_text(sorted([winner, *others]))} reach equally far (last written leader epoch"
        f" {'unknown' if epoch is None else epoch}, log end offset {best[0].log_end_offset});"
        f" {winner} is designated {_tie_breaker(state, winner, others)}",
    )


def _tie_breaker(state: PartitionState, winner: int, others: Sequence[int]) -> str:
    eligible = (*state.isr, *state.elr)
    if winner in eligible and not any(other in eligible for other in others):
        return "because it is in the ISR or ELR"
    if winner in state.last_known_elr and not any(o in state.last_known_elr for o in others):
        return "because it is in the last known ELR"
    return "because its broker id is the lowest"


def _reassignment(
    state: PartitionState, _: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    if state.reassigning:
        yield Finding(
            "reassignment_in_progress",
            Severity.UNKNOWN,
            f"a reassignment is in progress (adding {list(state.adding_replicas)}, removing"
            f" {list(state.removing_replicas)}): this partition is left alone",
        )


def _tiered(
    state: PartitionState, _: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    if state.tiered is not None:
        yield Finding(
            "tiered_topic",
            Severity.UNKNOWN,
            f"{state.tiered}: what lies in remote storage is not read, so what an election loses of"
            " it is unknown. Under an empty leader, or one that lacks the oldest leader epochs, it"
            " is deleted for good within seconds; what lies beyond the leader's end is cut off",
        )


RULES: tuple[Rule, ...] = (
    _tie,
    _reassignment,
    _tiered,
    *LOSS_RULES,
    *REPLICA_RULES,
)
