"""The clock of the tests leaves out what the machine did not let them run, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from kafka_unclean_recovery.deadline import Deadline
from tests.running_time import EVERY_SECONDS, MOST_SECONDS, STOOD_STILL_SECONDS, RunningTime

STOPPED = """
import os, time
real = time.monotonic
from tests.running_time import install
install()
from kafka_unclean_recovery.deadline import Deadline
deadline = Deadline.after(1.0)
begun = time.monotonic(), real()
print(flush=True)
input()
print(deadline.expired, time.monotonic() - begun[0], real() - begun[1])
"""


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_while_it_is_beaten_it_goes_as_the_clock_does() -> None:
    hand = Hand()
    clock = RunningTime(hand)
    for _ in range(100):
        hand.now += EVERY_SECONDS
        clock.beat()
        assert clock.seconds() == hand.now


def test_it_stands_still_until_it_is_beaten_again_and_goes_on_from_there() -> None:
    hand = Hand()
    clock = RunningTime(hand)
    for away in (1.0, 10.0, 30.0):
        hand.now = 100.0 + away
        assert clock.seconds() == 100.0 + STOOD_STILL_SECONDS
    clock.beat()
    hand.now += 0.25
    assert clock.seconds() == 100.0 + STOOD_STILL_SECONDS + 0.25


def test_without_a_thread_that_beats_it_goes_on_in_the_end() -> None:
    hand = Hand()
    clock = RunningTime(hand)
    hand.now += STOOD_STILL_SECONDS + MOST_SECONDS + 5.0
    assert clock.seconds() == 100.0 + STOOD_STILL_SECONDS + 5.0
    clock.go_on_alone()
    hand.now += 5.0
    assert clock.seconds() == hand.now


def test_the_deadlines_of_the_tests_go_by_it() -> None:
    assert isinstance(getattr(time.monotonic, "__self__", None), RunningTime)
    assert Deadline.after(1.0).clock == time.monotonic


def test_a_deadline_does_not_pass_while_the_process_is_stopped() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", STOPPED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    child.send_signal(signal.SIGSTOP)
    assert os.WIFSTOPPED(os.waitpid(child.pid, os.WUNTRACED)[1])
    stopped = time.monotonic()
    while time.monotonic() - stopped < 2.0:
        time.sleep(0.1)
    child.send_signal(signal.SIGCONT)
    expired, said, real = child.communicate("\n", timeout=60.0)[0].split()
    assert float(real) >= 2.0
    assert (expired, float(said) < 1.0) == ("False", True)
