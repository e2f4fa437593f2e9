"""The answer to one question that was put to a cluster, or why there is none: the one place that
turns what a question raises into a sentence."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Generic, TypeVar

from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.error_codes import UNAUTHORIZED
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The answer to one question: `value`, or the `problem` that stands in its place. refused: the
    question was answered, and the caller lacks the right. kind: how the connection failed, None
    where it did not."""

    value: T | None = None
    problem: str | None = None
    refused: bool = False
    kind: FailureKind | None = None

    @property
    def failed(self) -> bool:
        return self.problem is not None

    def untold(self, what: str, right: str | None = None) -> str | None:
        """Return a sentence that what was asked for is not known, None where it was told. what:
        such as "reassignments are unknown"; right: the one that the question needs."""
        if self.problem is None:
            return None
        grant = f"; grant {right}" if self.refused and right is not None else ""
        return f"{what}: {self.problem}{grant}"


async def answered(asking: Awaitable[T]) -> Answer[T]:
    """Return the answer of a question that is being asked."""
    try:
        return Answer(await asking)
    except RequestFailed as error:
        return Answer(problem=str(error), refused=error.code in UNAUTHORIZED)
    except ConnectionFailed as error:
        return Answer(problem=str(error), kind=error.kind)
    except NoBrokerReachable as error:
        return Answer(problem=str(error))
