"""--accept-loss, --plan and --require-approval bound the elections of a run. This module does no
I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kafka_unclean_recovery.model import (
    MoveKind,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.lineage import tail_of
from kafka_unclean_recovery.planning.loss_limits import LossLimits, over_limit
from kafka_unclean_recovery.planning.losses import loss_under
from kafka_unclean_recovery.wording import number_text

if TYPE_CHECKING:
    from kafka_unclean_recovery.documents.approval import Approval
    from kafka_unclean_recovery.documents.plan import PlanFile

PLAN = "--plan"


@dataclass(frozen=True, slots=True)
class Terms:
    """The bounds of a run. limits: empty when any loss is accepted. plan: None when any plan may be
    carried out."""

    accept_loss: tuple[str, ...]
    limits: LossLimits
    plan: PlanFile | None
    approval: Approval | None

    def refused(self, plans: Iterable[PartitionPlan]) -> dict[TopicPartition, Outcome]:
        """Return the refusals of those plans that must not be carried out."""
        reasons = ((plan.state.topic_partition, self._why_not(plan)) for plan in plans)
        return {tp: Outcome(OutcomeKind.REFUSED, why) for tp, why in reasons if why is not None}

    def _why_not(self, plan: PartitionPlan) -> str | None:
        # What is given up has a consent of its own, by name.
        given_up = plan.move is not None and plan.move.kind is MoveKind.EMPTY
        if self.limits and not given_up and (why := over_limit(plan, self.limits)) is not None:
            return why
        if self.plan is None:
            return None
        planned = self.plan.partitions.get(plan.state.topic_partition)
        if planned is None:
            return f"{PLAN} has no such partition"
        changed = differences(planned, plan)
        return f"not as in {PLAN}: {'; '.join(changed)}; plan again" if changed else None

    def journal_fields(self) -> dict[str, Any]:
        """Return the fields for the journal's line "consent"."""
        return {
            "accept_loss": list(self.accept_loss),
            "plan_digest": self.plan and self.plan.digest,
            "approval": self.approval and asdict(self.approval),
        }


def differences(planned: PartitionPlan, now: PartitionPlan) -> list[str]:
    """Return what an election rests on and is not as planned, as "leader epoch 7, now 8"."""
    before, after = _rests_on(planned), _rests_on(now)
    names = [*before, *(name for name in after if name not in before)]
    found = [
        f"{name} {before.get(name, 'none')}, now {after.get(name, 'none')}"
        for name in names
        if before.get(name) != after.get(name)
    ]
    logs = {log.broker: log for log in now.replica_logs}
    pairs = [(log, logs[log.broker]) for log in planned.replica_logs if log.broker in logs]
    return found + [
        f"log of broker {log.broker}: other leader epochs from offset {offset} on"
        for log, other in pairs
        if _log_text(log) == _log_text(other) and (offset := _parting(log, other)) is not None
    ]


def _parting(log: ReplicaLog, other: ReplicaLog) -> int | None:
    """Return the first offset that another leader epoch wrote in two logs of the same length. What
    one of them has deleted at its start since is no difference."""
    start = max(log.log_start_offset or 0, other.log_start_offset or 0)
    before, after = tail_of(log.epochs or (), start), tail_of(other.epochs or (), start)
    for one, two in zip(before, after, strict=False):
        if one.epoch != two.epoch:
            return min(one.start_offset, two.start_offset)
        if one.end_offset != two.end_offset:
            return min(one.end_offset, two.end_offset)
    return None


def _rests_on(plan: PartitionPlan) -> dict[str, str]:
    state, loss = plan.state, loss_under(plan, plan.designated_leader)
    values = {
        "topic id": state.topic_id,
        "leader epoch": str(state.leader_epoch),
        "replicas": str(list(state.replicas)),
        "ISR": str(list(state.isr)),
        "ELR": str(list(state.elr)),
        "last known ELR": str(list(state.last_known_elr)),
        "unregistered brokers": str(list(state.unregistered_replicas)),
        "designated leader": str(plan.designated_leader),
        "certain loss": number_text(loss.certain),
        "possible loss": number_text(loss.possible),
        "loss that witnesses tell of": number_text(loss.at_least),
    }
    for log in plan.replica_logs:
        values[f"log of broker {log.broker}:"] = _log_text(log)
    return values


def _log_text(log: ReplicaLog) -> str:
    words = [
        "live" if log.live else "not live",
        f"last written leader epoch {number_text(log.last_written_leader_epoch)}",
        f"log end offset {number_text(log.log_end_offset)}",
    ]
    words += ["suspect"] * (log.suspect is not None) + ["unusable"] * (log.problem is not None)
    # Nobody shows that who answered is the broker, or that who is silent is down.
    words += ["unproven"] * (log.unproven is not None)
    if log.log_end_offset is not None and log.epochs is None:
        words.append("without leader epochs")
    return f"({', '.join(words)})"
