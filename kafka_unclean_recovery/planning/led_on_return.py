"""The one judgement on a broker's return: whom the controller elects by itself then, with which
log, and who is truncated to that; no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kafka_unclean_recovery.model import PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.self_election import ByItself, elected_by_return
from kafka_unclean_recovery.planning.start_cuts import Cuts, cuts_text, cuts_under
from kafka_unclean_recovery.planning.started_replica import as_started, begins_empty


class LedOnReturn(Struct, frozen=True):
    """What the return of one broker brings about. begins_empty: why its own replica is empty once
    it has started; None where its log is kept, or that is not known."""

    broker: int
    by_itself: ByItself
    cuts: Cuts
    begins_empty: str | None = None

    @property
    def own(self) -> bool:
        """Return True where the broker that returns is the one that leads."""
        return self.by_itself.leader == self.broker

    @property
    def destroys(self) -> bool:
        return self.cuts.records > 0

    @property
    def text(self) -> str:
        """Return a sentence on who leads, and who is cut."""
        may = "" if self.by_itself.sure else "may "
        who = f"it {may}lead{'s' if not may else ''}"
        if not self.own:
            who = f"then broker {self.by_itself.leader} {may}lead{'s' if not may else ''}"
        empty = f"{self.begins_empty}; " if self.begins_empty else ""
        return f"{empty}{who} by itself, for {self.by_itself.why}: {cuts_text(self.cuts)}"


def led_on_return(
    state: PartitionState,
    log: ReplicaLog,
    logs: Sequence[ReplicaLog],
    clean: bool | None = None,
    unclean_elections: bool = False,
) -> LedOnReturn | None:
    """Return what the return of the broker of `log` brings about; None where nobody leads by
    itself. logs: of all replicas, as far as they are known. clean, unclean_elections: see
    elected_by_return."""
    by_itself = elected_by_return(state, log.broker, clean, unclean_elections)
    return None if by_itself is None else led(by_itself, state, log, logs)


def led(
    by_itself: ByItself, state: PartitionState, log: ReplicaLog, logs: Sequence[ReplicaLog]
) -> LedOnReturn:
    """Return what this election brings about. log: of the broker that returns."""
    started = as_started(state, log)
    known = {each.broker: each for each in logs} | {log.broker: started}
    leader = known.get(by_itself.leader) or _unread(by_itself.leader)
    others = [each for broker, each in known.items() if broker != leader.broker]
    empty = begins_empty(state, log)
    return LedOnReturn(log.broker, by_itself, cuts_under(leader, others), empty)


def _unread(broker: int) -> ReplicaLog:
    return ReplicaLog(broker, live=False, problem="nobody has read it")
