"""What keeps a request back that would change the cluster."""

from __future__ import annotations

import signal
import time

import pytest

from kafka_unclean_recovery.shutdown import Stop
from kafka_unclean_recovery.transport.gate import (
    Gate,
    LookTooOld,
    StopAsked,
    since_boot,
)
from tests.cluster.fake_node import in_loop


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _passes(gate: Gate, asked_to_stop: bool = False) -> type[Exception] | None:
    """Return what keeps a request back, None where it passes."""
    found: list[type[Exception] | None] = [None]

    @in_loop
    async def go() -> None:
        stop = Stop(lambda _: None)
        if asked_to_stop:
            stop._receive(signal.SIGINT)
        try:
            gate.pass_one(stop)
        except (LookTooOld, StopAsked) as error:
            found[0] = type(error)

    go()
    return found[0]


def test_nothing_passes_before_a_look_has_ended() -> None:
    gate = Gate(Clock())
    assert _passes(gate) is LookTooOld
    ended = gate.begin_look()
    assert _passes(gate) is LookTooOld
    ended()
    assert _passes(gate) is None


@pytest.mark.parametrize(("later", "kept_back"), [(0.0, None), (2.9, None), (3.1, LookTooOld)])
def test_a_look_counts_from_when_it_was_asked_for(
    later: float, kept_back: type[Exception] | None
) -> None:
    clock = Clock()
    gate = Gate(clock)
    ended = gate.begin_look()
    clock.now += later
    ended()
    assert _passes(gate) is kept_back


def test_a_look_that_begins_closes_the_gate_that_the_one_before_had_opened() -> None:
    gate = Gate(Clock())
    gate.begin_look()()
    gate.begin_look()
    assert _passes(gate) is LookTooOld


def test_who_asked_to_stop_has_nothing_sent() -> None:
    gate = Gate(Clock())
    gate.begin_look()()
    assert _passes(gate, asked_to_stop=True) is StopAsked


def test_the_clock_runs_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def clock(kind: int) -> int:
        read.append(kind)
        return 7_000_000_000

    monkeypatch.setattr(time, "clock_gettime_ns", clock)
    assert since_boot() == 7.0
    assert read == [time.CLOCK_BOOTTIME]
