"""What a terminal shows of a scan."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.scan_watch import ScanWatch, progress_text
from kafka_unclean_recovery.log_dir.watching import Progress

MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("so_far", "seconds", "text"),
    [
        (
            Progress(int(12.3 * GIB), 40 * GIB, 310, 900),
            6.5,
            "12.3 of 40.0 GiB, 310 of 900 replicas, 1.9 GiB/s, 15 s left",
        ),
        (
            Progress(512 * MIB, 3 << 40, 1, 900),
            10.0,
            "0.0 of 3.0 TiB, 1 of 900 replicas, 51.2 MiB/s, 17 h 4 min left",
        ),
        (
            Progress(GIB, 10 * GIB, 1, 3),
            20.0,
            "1.0 of 10.0 GiB, 1 of 3 replicas, 51.2 MiB/s, 3 min left",
        ),
        (Progress(0, 40 * GIB, 0, 900), 0.0, "0.0 of 40.0 GiB, 0 of 900 replicas"),
        (Progress(0, 40 * GIB, 0, 900), 3.0, "0.0 of 40.0 GiB, 0 of 900 replicas"),
        (Progress(700, 900, 1, 2), 1.0, "700 of 900 bytes, 1 of 2 replicas, 700 bytes/s, 0 s left"),
        (
            Progress(1023, 1024, 1, 1),
            1.0,
            "1.0 of 1.0 KiB, 1 of 1 replicas, 1023 bytes/s, 0 s left",
        ),
        # The total is an estimate: a log that grew does not make time run backwards.
        (Progress(3 * MIB, 2 * MIB, 1, 1), 1.0, "3.0 of 2.0 MiB, 1 of 1 replicas, 3.0 MiB/s"),
        # A fast scan does not measure its files.
        (
            Progress(5 * MIB, 0, 300, 900),
            0.5,
            "300 of 900 replicas, 600 replicas/s, 1 s left",
        ),
        (Progress(0, 0, 0, 0), 0.0, "0 of 0 replicas"),
    ],
)
def test_progress_tells_what_is_known(so_far: Progress, seconds: float, text: str) -> None:
    assert progress_text(so_far, seconds) == text


class Terminal(Console):
    """Remembers the line that would be shown."""

    def __init__(self) -> None:
        super().__init__("test")
        self.line = ""

    def progress(self, sentence: str) -> None:
        self.line = sentence


def test_the_rate_counts_from_the_first_bytes_on() -> None:
    seconds: Iterator[float] = iter([100.0, 102.0])
    terminal = Terminal()
    watch = ScanWatch(terminal, clock=lambda: next(seconds))
    watch.progress(Progress(0, 10 * MIB, 0, 2))
    watch.progress(Progress(4 * MIB, 10 * MIB, 1, 2))
    assert terminal.line == "4.0 of 10.0 MiB, 1 of 2 replicas, 2.0 MiB/s, 3 s left"


def test_off_a_terminal_how_far_it_is_is_said_every_ten_seconds(
    capfd: pytest.CaptureFixture[str],
) -> None:
    seconds: Iterator[float] = iter([100.0, 109.0, 111.0, 118.0, 122.0])
    watch = ScanWatch(Console("test"), clock=lambda: next(seconds))
    for done in range(5):
        watch.progress(Progress(done * MIB, 8 * MIB, done, 8))
    assert capfd.readouterr().err.splitlines() == [
        "test: 2.0 of 8.0 MiB, 2 of 8 replicas, 186.2 KiB/s, 33 s left",
        "test: 4.0 of 8.0 MiB, 4 of 8 replicas, 186.2 KiB/s, 22 s left",
    ]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_scan_and_is_told_on(
    number: signal.Signals, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    watch = ScanWatch(Console("test"))
    with watch.signals():
        assert not watch.stopped
        signal.raise_signal(number)
        assert watch.stopped
    assert watch.exit_code == code
    assert signal.getsignal(number) is before
    assert capfd.readouterr().err.startswith("test: stopping: what was scanned is reported")
