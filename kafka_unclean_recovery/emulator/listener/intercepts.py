"""What is to happen to the next requests of an API instead of what would.

Rules are asked in the order in which they were made; the first that applies is the one that counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Where(StrEnum):
    """Where an answer tells of an error."""

    EVERYWHERE = "everywhere"
    TOP = "top"
    """At its top alone, with no entries: an answer that has no code there says nothing at all."""

    ENTRIES = "entries"
    """In each entry that was asked for, and none at the top."""


@dataclass(frozen=True, slots=True)
class Fail:
    """Not carried out: the answer is this error code (class Errors). NONE says that it was done.

    `of`: of these entries alone, by their names, as entries.py has them; the rest of the request is
    carried out and answered. Where it names none of them ("all"), all is carried out, and the error
    is in their place in the answer.
    """

    error: int
    where: Where = Where.EVERYWHERE
    of: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class LeaveOut:
    """Carried out, and left out of the answer: the entries that are called so (entries.py), None
    for all of them. "orders" is a topic, "orders-0" a partition, "2" a broker."""

    of: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Throttle:
    """As for a client over its quota: throttle_time_ms, a Fetch without partitions, and so many
    seconds in which nothing more is read of this connection. All but Fetch is carried out."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Carried out, and answered with what the function makes of the answer's fields."""

    change: Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The connection stays, and nothing more comes over it. With `carried_out` the request was:
    "done, but the answer never came"."""

    carried_out: bool


@dataclass(frozen=True, slots=True)
class Close:
    """The connection is closed instead of an answer, before the request is carried out or after."""

    carried_out: bool


@dataclass(frozen=True, slots=True)
class Delay:
    """Carried out and answered so many seconds later; with `carried_out` only answered later."""

    seconds: float
    carried_out: bool = False


Action = Fail | LeaveOut | Throttle | Rewrite | NoAnswer | Close | Delay


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that came to `broker`; `request` is kafka-python's, or ours, decoded."""

    api: str
    key: int
    version: int
    broker: int
    request: Any


Decide = Callable[[Seen], Action | None]
"""Runs in the cluster's thread, where no method of Cluster may be called. None: not this one."""


@dataclass(slots=True)
class Interception:
    """One rule. `broker` None is any. `requests`: those that it was applied to, oldest first."""

    key: int
    api: str
    action: Action | Decide
    broker: int | None
    times: int
    requests: list[Seen] = field(default_factory=list)

    @property
    def left(self) -> int:
        """To how many more it will be applied."""
        return max(0, self.times - len(self.requests))

    def cancel(self) -> None:
        """It applies to no more requests."""
        self.times = 0

    def take(self, seen: Seen) -> Action | None:
        """What it does to this request; None when it lets it pass."""
        if not self.left or seen.key != self.key or self.broker not in (None, seen.broker):
            return None
        action = self.action(seen) if callable(self.action) else self.action
        if action is not None:
            self.requests.append(seen)
        return action


@dataclass(slots=True)
class Interceptions:
    rules: list[Interception] = field(default_factory=list)

    def take(self, seen: Seen) -> Action | None:
        for rule in self.rules:
            if (action := rule.take(seen)) is not None:
                return action
        return None

    def open(self) -> list[Interception]:
        return [rule for rule in self.rules if rule.left]
