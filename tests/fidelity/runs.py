"""Runs of many steps on fresh controllers, and the shortest sequence that shows a difference."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.kraft_rules import events as ev
from tests.fidelity.comparing import Difference, first_difference, related
from tests.fidelity.generating import Generator
from tests.fidelity.our_side import OurSide
from tests.fidelity.real_side import RealSide, real_side
from tests.fidelity.shrinking import shrink

STEPS_EACH = 5_000
"""Of one controller: topics that may not be deleted any more gather on it."""


@dataclass(frozen=True, slots=True)
class Run:
    """`events` are relative, the last of them the one that made the difference, if any."""

    seed: int
    events: Sequence[ev.Event]
    seconds: float
    difference: Difference | None


def random_runs(version: str, seed: int, steps: int) -> Iterator[Run]:
    """Yield runs with this seed and those after it, until there were so many steps."""
    while steps > 0:
        run = random_run(version, seed, min(steps, STEPS_EACH))
        yield run
        seed, steps = seed + 1, steps - len(run.events)


def random_run(version: str, seed: int, steps: int) -> Run:
    """Run once on a fresh controller, up to the first difference, or bug of Kafka's."""
    events: list[ev.Event] = []
    generator = Generator(seed)

    def generated(real: RealSide) -> Iterator[ev.Event]:
        for _ in range(steps):
            events.append(generator.next(real.image))
            yield events[-1]

    with real_side(version) as real:
        start = time.monotonic()
        difference = first_difference(generated(real), real, _ours(real, version))
        return Run(seed, events, time.monotonic() - start, difference)


def _ours(real: RealSide, version: str) -> OurSide:
    """Return ours, where the real one is before anything happens."""
    return OurSide(version, real.image, real.last_offset + 1)


def repeated(version: str, events: Sequence[ev.Event]) -> Difference | None:
    """Return what these events show on a fresh controller."""
    with real_side(version) as real:
        return first_difference(events, real, _ours(real, version))


def shortest(version: str, run: Run, say: Callable[[str], None]) -> Run:
    """Return the run of which no event can be left out any more; `say` hears of progress."""
    found = run

    def still_differs(events: Sequence[ev.Event]) -> bool:
        nonlocal found
        start = time.monotonic()
        difference = repeated(version, events)
        if difference is None or type(difference.event) is not type(run.events[-1]):
            return False
        events = events[: difference.step + 1]
        found = Run(run.seed, events, time.monotonic() - start, difference)
        say(f"{len(events)} events show it too")
        return True

    assert run.difference is not None
    if still_differs(related(run.events, run.difference)):
        shrink(found.events, still_differs)
    else:
        shrink(run.events, still_differs)
    return found
