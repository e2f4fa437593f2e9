"""A check says what is so, why it matters for a recovery, and what to do. This module does no
I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The status of a check, from the least grave. `unknown` is what this command can't find out
    and no recovery depends on. What a recovery depends on and could not be found out is a warning
    or a failure."""

    OK = "ok"
    NOTICE = "notice"
    UNKNOWN = "unknown"
    WARNING = "warning"
    FAILURE = "failure"

    @property
    def gravity(self) -> int:
        return list(Status).index(self)

    @property
    def bad(self) -> bool:
        """Return True when a recovery may not work for what the check says."""
        return self in (Status.WARNING, Status.FAILURE)


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `code` is stable. `to_do` is empty where there is nothing to do. `untold`: a
    warning or failure that says only that something was not found out."""

    code: str
    status: Status
    what: str
    why: str
    to_do: str = ""
    untold: bool = False

    @property
    def known(self) -> bool:
        """Return False when the check says only that something was not found out."""
        return not self.untold and self.status is not Status.UNKNOWN


def worst(checks: Iterable[Check]) -> Status:
    """Return the gravest status, OK for no check at all."""
    return max((check.status for check in checks), key=lambda s: s.gravity, default=Status.OK)
