"""What is to happen to the next requests of an API instead of what would.

Rules are asked in the order in which they were made; the first that applies is the one that counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Fail:
    """Not carried out: the answer is this error code (class Errors), wherever it has one."""

    error: int


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
    """Carried out and answered so many seconds later."""

    seconds: float


Action = Fail | NoAnswer | Close | Delay


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
