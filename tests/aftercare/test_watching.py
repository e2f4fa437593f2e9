"""Looked at until it is over three times in a row, or until the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from kafka_unclean_recovery.aftercare.looking import watch
from kafka_unclean_recovery.aftercare.result import Aftercare
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline

OVER = Aftercare("c", (), ())
LEFT = Aftercare("c", (), ("something is left",))
LOST = ConnectionFailed(FailureKind.DISCONNECTED, "h:1", "gone")
REFUSED = ConnectionFailed(FailureKind.AUTHENTICATION_FAILED, "h:1", "wrong password")

Look = Aftercare | ConnectionFailed


def watched(looks: Sequence[Look], seconds: float = 100.0) -> tuple[bool, int]:
    """Return (its answer, how often it looked); a look takes a second."""
    told: list[Aftercare | Exception] = []

    async def look() -> Aftercare:
        found = looks[len(told)]
        if isinstance(found, ConnectionFailed):
            raise found
        return found

    deadline = Deadline(seconds, lambda: float(len(told)))
    answer = asyncio.run(watch(look, told.append, deadline, 0.0))
    assert told == list(looks[: len(told)])
    return answer, len(told)


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        pytest.param([OVER] * 4, (True, 3), id="over at once"),
        pytest.param([LEFT, OVER, OVER, LEFT, OVER, OVER, OVER], (True, 7), id="it came back once"),
        pytest.param([OVER, OVER, LOST, OVER, OVER, OVER], (True, 6), id="not seen once"),
    ],
)
def test_it_is_over_when_it_is_so_three_times_in_a_row(
    looks: list[Look], expected: tuple[bool, int]
) -> None:
    assert watched(looks) == expected


def test_the_deadline_ends_it() -> None:
    assert watched([LEFT] * 9, seconds=5.0) == (False, 5)
    assert watched([LEFT, LEFT, LEFT, OVER, OVER, OVER], seconds=5.0) == (False, 5)
    # It looks once, however short the time.
    assert watched([LEFT], seconds=0.0) == (False, 1)


def test_a_refused_login_is_not_tried_again() -> None:
    with pytest.raises(ConnectionFailed):
        watched([LEFT, REFUSED, OVER, OVER, OVER])
