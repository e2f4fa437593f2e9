"""Find members that lead by themselves once they are back, and cut others to their log; no I/O.

Sound logs do it too: the controller elects by ISR, ELR and last known leader, and compares no logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafka_unclean_recovery.model import Finding, PartitionState, ReplicaLog, Severity, Waiting
from kafka_unclean_recovery.planning.self_election import may_lead_by_itself
from kafka_unclean_recovery.planning.start_cuts import Cuts, cuts_text, cuts_under
from kafka_unclean_recovery.planning.started_replica import as_started, begins_empty

LEADS_BY_ITSELF = "leads_by_itself_and_cuts"
_WHAT_TO_DO = "Elect first, and start it only once another one leads"
_REMEDY = "; or write its partition.metadata back before it starts (before-start has the command)"


def on_return(state: PartitionState, log: ReplicaLog, waiting: Waiting) -> Finding:
    """Return the finding on a dead broker whose return is worse than none."""
    what = f"broker {log.broker} is down: {waiting.why}"
    return _finding(Severity.LOSS, what, state, log)


def once_all_start(
    state: PartitionState, logs: Sequence[ReplicaLog], recorded: PartitionState
) -> Iterator[Finding]:
    """Yield a finding for each member that may lead by itself once the brokers start again, and
    cuts others then, or may do so. recorded: as the metadata log has the partition. A live log
    stands for a broker that will start."""
    starting = {log.broker: log for log in logs if log.live}
    clean = {b: log.scanned.stopped_clean for b, log in starting.items() if log.scanned}
    members = [m for m in may_lead_by_itself(recorded, clean) if m in starting]
    for member in members:
        log = starting[member]
        others = [other for other in logs if other.broker != member]
        cuts = cuts_under(as_started(state, log), others)
        if log.scanned is not None and (severity := _severity(cuts, others)) is not None:
            may = "leads" if members == [member] else "may lead"
            empty = begins_empty(state, log)
            what = (
                f"broker {member} {may} by itself once it has started, for it is"
                f" {_where(recorded, member)}: {f'{empty}; ' if empty else ''}{cuts_text(cuts)}"
            )
            yield _finding(severity, what, state, log)


def _severity(cuts: Cuts, others: Sequence[ReplicaLog]) -> Severity | None:
    if cuts.better:
        return Severity.LOSS
    unknown = cuts.leader_end is None and any(log.log_end_offset for log in others)
    return Severity.UNKNOWN if unknown else None


def _finding(severity: Severity, what: str, state: PartitionState, log: ReplicaLog) -> Finding:
    nameless = begins_empty(state, log) is not None and log.log_end_offset
    return Finding(LEADS_BY_ITSELF, severity, f"{what}. {_WHAT_TO_DO}{_REMEDY if nameless else ''}")


def _where(state: PartitionState, member: int) -> str:
    places: Mapping[str, tuple[int, ...]] = {
        "in the ISR": state.isr,
        "in the ELR": state.elr,
        "the last known leader": state.last_known_elr,
    }
    told = [where for where, brokers in places.items() if member in brokers]
    return " and ".join(told) or "the leader that the metadata log has"
