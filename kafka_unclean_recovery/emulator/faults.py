"""What is wrong between brokers, their controller and their clients. Values that are changed from
outside: no clock, no I/O.

Ends of links are broker ids, CONTROLLER and CLIENTS. Times are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kafka_unclean_recovery.emulator.controller.records import TopicIdPartition

CONTROLLER = 0
"""An end of links; broker ids begin at 1."""

CLIENTS = -1
"""Whoever is no broker, as an end of links."""

Link = frozenset[int]
STOPPED = None
"""As a lag: the follower fetches nothing at all."""


class Drop(StrEnum):
    """How a link to clients is down."""

    SILENCE = "silence"
    """Packets are lost: connections stay, nothing is read and nothing is answered."""

    RESET = "reset"
    """Connections are reset, and new ones are refused."""


def link(one: int, other: int) -> Link:
    return frozenset((one, other))


@dataclass(frozen=True, slots=True)
class Fetch:
    """A follower's fetch of one partition that is on its way over a slow link."""

    follower: int
    leader: int
    key: TopicIdPartition


@dataclass(slots=True)
class Faults:
    """controller_down: the controller hangs, and nobody reaches it. lags: by follower and
    partition, None as partition for all of them: in records, or STOPPED.

    metadata_lags: by broker, in seconds, or STOPPED: it hears that much later of what the
    controller decides, though it is in touch with it.

    in_flight and arrived: fetches over slow links.
    """

    dropped: dict[Link, Drop] = field(default_factory=dict)
    delays: dict[Link, float] = field(default_factory=dict)
    controller_down: bool = False
    lags: dict[tuple[int, TopicIdPartition | None], int | None] = field(default_factory=dict)
    metadata_lags: dict[int, float | None] = field(default_factory=dict)
    in_flight: set[Fetch] = field(default_factory=set)
    arrived: set[Fetch] = field(default_factory=set)

    def drop(self, between: Link, how: Drop) -> None:
        self.delays.pop(between, None)
        self.dropped[between] = how

    def delay(self, between: Link, seconds: float) -> None:
        self.dropped.pop(between, None)
        self.delays[between] = seconds

    def restore(self, between: Link) -> None:
        self.dropped.pop(between, None)
        self.delays.pop(between, None)

    def links(self) -> list[Link]:
        """Those that are not as they should be."""
        return [*self.dropped, *self.delays]

    def reaches_controller(self, broker: int) -> bool:
        return not self.controller_down and link(broker, CONTROLLER) not in self.dropped

    def controller_delay(self, broker: int) -> float:
        return self.delays.get(link(broker, CONTROLLER), 0.0)

    def metadata_delay(self, broker: int) -> float | None:
        """After which it hears what the controller decides; STOPPED for never."""
        lag = self.metadata_lags.get(broker, 0.0)
        return STOPPED if lag is STOPPED else max(lag, self.controller_delay(broker))

    def lag(self, follower: int, key: TopicIdPartition) -> int | None:
        """So many records the follower stays behind; STOPPED when it fetches nothing."""
        return self.lags.get((follower, key), self.lags.get((follower, None), 0))
