"""Random events, as tests/fidelity makes them: the state machine alone, and a real controller.

A real one is sent each event as a request, one after the other, and writes to memory.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from benchmarks.installed import told_of_this_process
from kafka_unclean_recovery.kraft_rules import events as ev
from tests.fidelity.generating import Generator
from tests.fidelity.our_side import OurSide
from tests.fidelity.real_side import real_side
from tests.fidelity.runs import STEPS_EACH

VERSION = "4.3.1"


def measure(steps: int) -> dict[str, object]:
    """Measure the steps without the generating of events. Ours is in seconds of the processor,
    which is all that it uses; the real one's are those that its client waits and reads what it
    wrote."""
    ours = theirs = 0.0
    done = 0
    for seed in range(1, steps // STEPS_EACH + 1):
        side, events, seconds = _real(seed)
        theirs += seconds
        ours += _seconds(side, events)
        done += len(events)
    return {
        "benchmark": "emulator-steps",
        **told_of_this_process(),
        "steps": done,
        "steps_per_cpu_s": round(done / ours),
        "real controller, steps_per_s": round(done / theirs),
        "ratio": round(theirs / ours, 1),
    }


def _real(seed: int) -> tuple[OurSide, Sequence[ev.Event], float]:
    """Return ours at the beginning, the events that happened from there on, and their seconds."""
    events: list[ev.Event] = []
    seconds = 0.0
    with real_side(VERSION) as real:
        side = OurSide(VERSION, real.image, real.last_offset + 1)
        generator = Generator(seed)
        for _ in range(STEPS_EACH):
            event = generator.next(real.image)
            begun = time.perf_counter()
            sent, _ = real.happen(event)
            seconds += time.perf_counter() - begun
            events.append(sent)
    return side, events, seconds


def _seconds(side: OurSide, events: Sequence[ev.Event]) -> float:
    begun = time.process_time()
    for event in events:
        side.happen(event)
    return time.process_time() - begun
