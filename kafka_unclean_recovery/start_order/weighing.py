"""What one leader of a partition costs, beside the leader that costs least; no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kafka_unclean_recovery.planning.start_cuts import Cuts, cuts_under
from kafka_unclean_recovery.planning.started_replica import empty_log
from kafka_unclean_recovery.start_order.situation import Part


@dataclass(frozen=True, slots=True, order=True)
class Price:
    """What a leader costs more than the best one would. unknown: partitions of which that can't be
    told; it weighs more than any number of records."""

    unknown: int = 0
    records: int = 0

    def __add__(self, other: Price) -> Price:
        return Price(self.unknown + other.unknown, self.records + other.records)


NOTHING = Price()


class Scales:
    """Weigh the leaders of partitions; each is weighed once."""

    def __init__(self) -> None:
        self._price = lru_cache(maxsize=None)(self._weigh)
        self._least = lru_cache(maxsize=None)(self._weigh_all)

    def price(self, part: Part, leader: int) -> Price:
        """Return what the leader costs, with the log of its disk."""
        return self._price(part, leader)

    def best(self, part: Part, among: Iterable[int]) -> int | None:
        """Return the broker that costs least as the leader, the first in assignment order of
        those; None where none of them is a replica."""
        of_it = set(among)
        mine = [replica for replica in part.state.replicas if replica in of_it]
        return min(mine, key=lambda broker: self.price(part, broker), default=None)

    def _weigh(self, part: Part, leader: int) -> Price:
        cuts = cuts_of(part, leader)
        if cuts is None or _untold(part, cuts):
            return Price(unknown=1)
        return Price(records=max(0, cuts.records - self._least(part)))

    def _weigh_all(self, part: Part) -> int:
        """Return how many records are lost at the least, whoever leads."""
        every = [cuts_of(part, broker) for broker in part.logs]
        told = [c.records for c in every if c is not None and not _untold(part, c)]
        return min(told, default=0)


def cuts_of(part: Part, leader: int) -> Cuts | None:
    """Return what the others lose under the leader; None where nobody has read its log."""
    log = part.logs.get(leader)
    if log is None:
        return None
    return cuts_under(log, [other for b, other in part.logs.items() if b != leader])


def cuts_of_empty(part: Part, broker: int) -> Cuts:
    """Return what the others lose under a new, empty disk of a broker whose disk is gone."""
    return cuts_under(empty_log(broker), [log for b, log in part.logs.items() if b != broker])


def _untold(part: Part, cuts: Cuts) -> bool:
    others = (log for broker, log in part.logs.items() if broker != cuts.leader)
    return bool(cuts.untold) or (
        cuts.leader_end is None and any(log.log_end_offset for log in others)
    )
