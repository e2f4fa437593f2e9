"""Progress where no line can be rewritten: a line every ten seconds, and none of short work."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.cli.terminal.console import Console, Pulse, clocked
from kafka_unclean_recovery.transport.electing import electing_text


class Log(Console):
    """Remembers the lines that stay; pytest's stderr is no terminal."""

    def __init__(self) -> None:
        super().__init__("test")
        self.lines: list[str] = []

    def say(self, sentence: str) -> None:
        self.lines.append(sentence)


def test_a_line_comes_every_ten_seconds() -> None:
    log, now = Log(), [100.0]
    progress = clocked(Pulse(log), lambda: now[0])
    for _ in range(50):
        progress(f"at {now[0]:.0f}")
        now[0] += 1.0
    assert log.lines == ["at 110", "at 120", "at 130", "at 140"]


@pytest.mark.parametrize(
    ("done", "at_work", "seconds", "text"),
    [
        (0, 2000, 0.1, "electing 2000 of 8000 partitions"),
        (4000, 2000, 8.0, "electing 6000 of 8000 partitions, 500/s, 8 s left"),
        (6000, 2000, 12.0, "electing 8000 of 8000 partitions, 500/s, 4 s left"),
        (2000, 2000, 0.0, "electing 4000 of 8000 partitions"),
    ],
)
def test_elections_tell_their_rate_once_some_are_done(
    done: int, at_work: int, seconds: float, text: str
) -> None:
    assert electing_text(done, at_work, 8000, seconds) == text
