"""Faults are disturbances between brokers, their controller and their clients. They are values that
are changed from outside: no clock, no I/O.

A link ends at broker ids, CONTROLLER and CLIENTS. Times are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition

CONTROLLER = -2
"""This end of a link is the controller; broker ids begin at 0."""

CLIENTS = -1
"""This end of a link is every client, which is no broker."""

NOWHERE = -1
"""An address that is led here is one at which nobody listens."""

Link = frozenset[int]
STOPPED = None
"""A lag with this value means that the follower fetches nothing at all."""


class Drop(StrEnum):
    """The way in which a link to clients is down."""

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
    """The faults of a cluster. controller_down: the controller hangs, and no broker reaches it.
    lags: by follower and partition, None as partition for all of them: in records, or STOPPED.

    metadata_lags: by broker, in seconds, or STOPPED: the broker hears that much later what the
    controller decides, though it stays in touch with the controller. applies_late: brokers whose
    lag is not in fetching the metadata log, but in applying what they have fetched.

    astray: by broker, the broker at which clients arrive who follow its advertised address, or
    NOWHERE.
    unlisted: brokers without the listener that clients come in by: they live and replicate, and no
    client sees them.

    in_flight and arrived: fetches over slow links.
    """

    dropped: dict[Link, Drop] = field(default_factory=dict)
    delays: dict[Link, float] = field(default_factory=dict)
    controller_down: bool = False
    lags: dict[tuple[int, TopicIdPartition | None], int | None] = field(default_factory=dict)
    metadata_lags: dict[int, float | None] = field(default_factory=dict)
    applies_late: set[int] = field(default_factory=set)
    astray: dict[int, int] = field(default_factory=dict)
    unlisted: set[int] = field(default_factory=set)
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
        """Return the links that are dropped or delayed."""
        return [*self.dropped, *self.delays]

    def reaches_controller(self, broker: int) -> bool:
        return not self.controller_down and link(broker, CONTROLLER) not in self.dropped

    def controller_delay(self, broker: int) -> float:
        return self.delays.get(link(broker, CONTROLLER), 0.0)

    def metadata_delay(self, broker: int) -> float | None:
        """Return the delay of metadata to a broker in seconds, or STOPPED if none arrives."""
        lag = self.metadata_lags.get(broker, 0.0)
        return STOPPED if lag is STOPPED else max(lag, self.controller_delay(broker))

    def lag(self, follower: int, key: TopicIdPartition) -> int | None:
        """Return how many records the follower stays behind, or STOPPED when it fetches nothing."""
        return self.lags.get((follower, key), self.lags.get((follower, None), 0))
