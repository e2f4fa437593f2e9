"""A broker that lived when an election was planned, and is not listed as live at the last look, may
be starting again with another disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.emulator.faults import CLIENTS, CONTROLLER, Drop
from kafka_unclean_recovery.emulator.listener.intercepts import Rewrite
from kafka_unclean_recovery.survey import budgets
from tests.emulator.holding import held_while
from tests.mission.test_who_lives import (
    BETTER,
    TOPIC,
    WITHOUT_LOSS,
    WORSE,
    Told,
    _nobody_was_elected,
    _recover,
    _recover_in_process,
    _state,  # noqa: F401
    outage,  # noqa: F401
    while_the_journal_is_written,  # noqa: F401
)

Happens = Callable[[Callable[[], object]], None]


@pytest.fixture
def empty(outage: Cluster) -> Cluster:  # noqa: F811
    """Have the better one live with a new disk that is empty: by mistake."""
    outage.kill(BETTER)
    outage.exchange_disk(BETTER)
    outage.start(BETTER)
    return outage


def _once(act: Callable[[], object]) -> Callable[[], object]:
    left = [act]
    return lambda: left.pop()() if left else None


def _restart_with_its_right_disk(cluster: Cluster) -> None:
    """Let it refuse connections until it has started; it fetches metadata long before."""
    cluster.kill(BETTER)
    cluster.exchange_disk(BETTER)
    cluster.drop_link(BETTER, CLIENTS, Drop.RESET)
    cluster.start(BETTER)
    cluster.fence(BETTER)


def _silent_for(cluster: Cluster, seconds: float | None) -> None:
    """As if the controllers had heard from the better one so long ago, or not at all."""

    def silent(answer: dict[str, Any]) -> dict[str, Any]:
        (partition,) = answer["topics"][0]["partitions"]
        for observer in partition["observers"]:
            if observer["replica_id"] == BETTER:
                now = int(time.time() * 1000)
                ago = -1 if seconds is None else now - int(seconds * 1000)
                observer["last_fetch_timestamp"] = ago
        return answer

    cluster.intercept("DescribeQuorum", Rewrite(silent), times=10**6)


def _dies(cluster: Cluster, seconds: float | None) -> None:
    cluster.kill(BETTER)
    cluster.fence(BETTER)
    _silent_for(cluster, seconds)


def _refused(told: Told, cluster: Cluster, *words: str) -> None:
    assert told.code == 1
    assert _nobody_was_elected(cluster)
    for word in (f"broker {BETTER} ", *words):
        assert word in told.row["reason"]


def test_an_empty_disk_is_worse(empty: Cluster) -> None:
    told = _recover(empty, *WITHOUT_LOSS)
    assert told.code == 0
    assert empty.partition(TOPIC, 0).leader == WORSE


def test_one_that_starts_again_at_the_last_look_is_not_elected_past(
    empty: Cluster,
    while_the_journal_is_written: Happens,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kafka_unclean_recovery.transport.gate.GOOD_FOR_SECONDS", 1.0)

    def starts() -> None:
        _restart_with_its_right_disk(empty)
        time.sleep(1.2)

    while_the_journal_is_written(_once(starts))
    told = _recover_in_process(empty, *WITHOUT_LOSS)
    _refused(told, empty, "fetched the metadata log", "plan again")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5.0, "fetched the metadata log 5."), (None, "nobody told when it was last heard from")],
)
def test_one_whose_process_may_have_begun_a_moment_ago_is_not_elected_past(
    empty: Cluster,
    while_the_journal_is_written: Happens,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    seconds: float | None,
    words: str,
) -> None:
    monkeypatch.setattr("kafka_unclean_recovery.transport.gate.GOOD_FOR_SECONDS", 1.0)

    def ends() -> None:
        _dies(empty, seconds)
        time.sleep(1.2)

    while_the_journal_is_written(_once(ends))
    told = _recover_in_process(empty, *WITHOUT_LOSS)
    _refused(told, empty, words, "may be starting again")


def test_one_that_died_in_between_is_elected_past_as_planned(
    empty: Cluster,
    while_the_journal_is_written: Happens,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kafka_unclean_recovery.transport.gate.GOOD_FOR_SECONDS", 1.0)

    def dies() -> None:
        _dies(empty, 60.0)
        time.sleep(1.2)

    while_the_journal_is_written(_once(dies))
    told = _recover_in_process(empty, *WITHOUT_LOSS)
    assert told.code == 0, told
    assert empty.partition(TOPIC, 0).leader == WORSE


@pytest.mark.parametrize("hangs", [False, True])
def test_one_that_has_started_again_and_that_the_controllers_do_not_hear_is_asked(
    empty: Cluster,
    while_the_journal_is_written: Happens,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    hangs: bool,
) -> None:
    monkeypatch.setattr("kafka_unclean_recovery.transport.gate.GOOD_FOR_SECONDS", 1.0)

    def starts_unheard() -> None:
        empty.kill(BETTER)
        empty.exchange_disk(BETTER)
        empty.start(BETTER)
        empty.drop_link(BETTER, CONTROLLER)
        empty.fence(BETTER)
        _silent_for(empty, 60.0)
        if hangs:
            empty.pause(BETTER)
        time.sleep(1.2)

    while_the_journal_is_written(_once(starts_unheard))
    told = _recover_in_process(empty, *WITHOUT_LOSS)
    _refused(told, empty)


def _while_logs_are_gathered(cluster: Cluster, act: Callable[[], object]) -> None:
    """Act when the better one has answered all, and the worse one has not told its log end yet;
    that takes so long that what was seen before has to be looked at anew."""
    answered = threading.Event()

    def last_answer(answer: dict[str, Any]) -> dict[str, Any]:
        answered.set()
        return answer

    def acts() -> None:
        assert answered.wait(20)
        act()

    cluster.intercept("Fetch", Rewrite(last_answer), broker=BETTER)
    held = partial(held_while, acts, at_least=budgets.CURRENT.good_for)
    cluster.intercept("ListOffsets", lambda _: held(), broker=WORSE)


def test_one_that_starts_again_while_logs_are_gathered_is_unknown(empty: Cluster) -> None:
    _while_logs_are_gathered(empty, lambda: _restart_with_its_right_disk(empty))
    told = _recover(empty, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(empty)
    assert "fetched the metadata log" in told.log(BETTER)["unproven"]
    assert told.row["loss"]["certain"] is None


def test_one_that_starts_again_is_waited_for_as_long_as_the_operator_allows(
    empty: Cluster,
) -> None:
    def has_started() -> None:
        empty.unfence(BETTER)
        empty.restore_links()

    started = threading.Timer(1.5, has_started)

    def restarts() -> None:
        _restart_with_its_right_disk(empty)
        started.start()

    _while_logs_are_gathered(empty, restarts)
    told = _recover(empty, *WITHOUT_LOSS, "--recovery-duration-ms", "20000")
    started.join()
    assert told.code == 0, told
    assert empty.partition(TOPIC, 0).leader == BETTER
    assert told.log(BETTER)["log_end_offset"] == 1500


def test_one_that_dies_while_logs_are_gathered_counts_by_what_it_told(empty: Cluster) -> None:
    _while_logs_are_gathered(empty, lambda: _dies(empty, 60.0))
    told = _recover(empty, *WITHOUT_LOSS)
    assert told.code == 0, told
    assert empty.partition(TOPIC, 0).leader == WORSE


def _new_controller(cluster: Cluster) -> None:
    """Let the controllers be led anew, by one that has heard from the worse broker only."""

    def late(answer: dict[str, Any]) -> dict[str, Any]:
        (partition,) = answer["topics"][0]["partitions"]
        told = [o for o in partition["observers"] if o["replica_id"] == WORSE]
        partition["observers"] = told
        return answer

    cluster.intercept("DescribeQuorum", Rewrite(late), times=10**6)


def test_a_new_controller_has_not_heard_from_one_that_starts(
    empty: Cluster,
) -> None:
    _restart_with_its_right_disk(empty)
    _new_controller(empty)
    told = _recover(empty, *WITHOUT_LOSS, by=WORSE)
    assert told.code == 1
    assert _nobody_was_elected(empty)
    assert "they led late" in told.log(BETTER)["unproven"]
