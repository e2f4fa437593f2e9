"""Judge whether a replica's log is, just before an election, as it was planned by; no I/O.

Every live replica counts, not only the designated one: another one may have been restarted with a
better disk meanwhile, and would be truncated.
"""

from __future__ import annotations

from kafka_unclean_recovery.model import ReplicaLog


def log_change(planned: ReplicaLog | None, now: ReplicaLog) -> str | None:
    """Return why the plan no longer holds, as a sentence that asks to plan again; None while it
    does.

    A log that nobody could read when this was planned may stay unread: whoever consented has seen
    that. planned: None where nobody weighed the replica.
    """
    broker = now.broker
    if planned is None:
        return f"broker {broker} hosts a replica that nobody weighed; plan again"
    if planned.problem is not None:
        # What is told now may be the better log, but for an end that was known and not trusted.
        if now.problem is not None or now.log_end_offset == planned.log_end_offset:
            return None
        return (
            f"broker {broker} tells now that its log ends at {now.log_end_offset}, and could not be"
            f" read before ({planned.problem}); plan again"
        )
    if now.problem is not None:
        return f"broker {broker} does not tell its log end any more: {now.problem}"
    if now.unproven is not None and planned.unproven is None:
        return f"{now.unproven}; plan again"
    if _differ(planned.broker_epoch, now.broker_epoch):
        return (
            f"broker {broker} has started again since (broker epoch {planned.broker_epoch}, now"
            f" {now.broker_epoch}); plan again"
        )
    if now.log_end_offset != planned.log_end_offset:
        return (
            f"the log of broker {broker} ended at {planned.log_end_offset}, now at"
            f" {now.log_end_offset}; plan again"
        )
    if now.epochs is not None and planned.epochs not in (None, now.epochs):
        return f"broker {broker} has another log of the same length by now; plan again"
    return None


def _differ(planned: int | None, now: int | None) -> bool:
    return None not in (planned, now) and planned != now
