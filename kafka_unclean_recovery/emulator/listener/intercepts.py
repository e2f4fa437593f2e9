"""An interception changes what happens to the next requests of an API.

Rules are asked in the order in which they were made, and the first that applies counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Where(StrEnum):
    """The part of an answer that tells of an error."""

    EVERYWHERE = "everywhere"
    TOP = "top"
    """The error is at the answer's top alone, and there are no entries. An answer that has no code
    at its top then tells nothing at all."""

    ENTRIES = "entries"
    """The error is in each entry that was asked for, and not at the top."""


@dataclass(frozen=True, slots=True)
class Fail:
    """The request is not carried out, and its answer has this error code (class Errors). NONE
    claims that it was carried out.

    `of`: only the entries of these names fail, as entries.py names them; the rest of the request is
    carried out and answered. A request that names no entries, because it means all, is carried out
    whole, and the error replaces these entries in the answer.
    """

    error: int
    where: Where = Where.EVERYWHERE
    of: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class LeaveOut:
    """The request is carried out, and its answer lacks the entries of these names (entries.py), or
    all entries if `of` is None. "orders" is a topic, "orders-0" a partition, "2" a broker."""

    of: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Throttle:
    """The client is treated as one over its quota: it gets a throttle_time_ms and a Fetch answer
    without partitions, and for so many seconds nothing more is read from its connection. Every
    request but Fetch is carried out."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The request is carried out, and `change` makes the sent answer from the answer's fields."""

    change: Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The connection stays open, and nothing more comes over it. `carried_out` says whether the
    request is carried out, as in "done, but the answer never came"."""

    carried_out: bool


@dataclass(frozen=True, slots=True)
class Close:
    """The connection is closed instead of an answer, before the request is carried out or after."""

    carried_out: bool


@dataclass(frozen=True, slots=True)
class Delay:
    """The request is carried out and answered so many seconds later; with `carried_out` it is only
    answered later."""

    seconds: float
    carried_out: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """The request is carried out and answered once `until` returns True, which it is asked in the
    cluster's thread, many times a second. After so many seconds the connection is closed instead.
    """

    until: Callable[[], bool]
    seconds: float = 60.0


Action = Fail | LeaveOut | Throttle | Rewrite | NoAnswer | Close | Delay | Hold


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that came to `broker`, decoded as kafka-python's class or this package's."""

    api: str
    key: int
    version: int
    broker: int
    request: Any


Decide = Callable[[Seen], Action | None]
"""A Decide returns what to do to a request, or None to let it pass. It runs in the cluster's
thread, where no method of Cluster may be called."""


@dataclass(slots=True)
class Interception:
    """One rule. A `broker` of None means any. `requests` holds those that the rule was applied to,
    oldest first."""

    key: int
    api: str
    action: Action | Decide
    broker: int | None
    times: int
    requests: list[Seen] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Return the number of requests to which the rule will still apply."""
        return max(0, self.times - len(self.requests))

    def cancel(self) -> None:
        """Let the rule apply to no more requests."""
        self.times = 0

    def take(self, seen: Seen) -> Action | None:
        """Return what the rule does to this request, or None when it lets the request pass."""
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
