"""What the spark commands have in common: the session, and who hears Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from kafka_unclean_recovery.cli import spark_session
from kafka_unclean_recovery.cli.spark_session import SparkWatch, session_for
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.errors import Exit, InputError
from kafka_unclean_recovery.spark import session


@contextmanager
def _that_is_interrupted(_: str | None, __: Mapping[str, str]) -> Iterator[str]:
    """Yield a session while somebody presses Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)
    yield "spark"


def test_ctrl_c_while_a_session_begins_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "session", _that_is_interrupted)
    watch = SparkWatch(Console("test"), "again")
    before = signal.getsignal(signal.SIGINT)
    with session_for(None, (), watch) as spark:
        assert spark == "spark"
        assert watch.stopped
    assert watch.signals.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is before


def test_a_session_that_takes_for_ever_is_given_up_with_a_signal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    never = threading.Event()

    @contextmanager
    def hanging(_: str | None, __: Mapping[str, str]) -> Iterator[str]:
        os.kill(os.getpid(), signal.SIGTERM)
        never.wait()
        yield "spark"

    monkeypatch.setattr(session, "session", hanging)
    monkeypatch.setattr(session, "give_up", lambda: None)
    begin = session_for("sc://silent", (), SparkWatch(Console("test"), "again"))
    with pytest.raises(Exit, match="stopped while the Spark session began") as raised, begin:
        pass
    never.set()
    assert raised.value.code == 143


def test_a_connect_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()

    @contextmanager
    def silent(_: str | None, __: Mapping[str, str]) -> Iterator[str]:
        never.wait()
        yield "spark"

    monkeypatch.setattr(session, "session", silent)
    monkeypatch.setattr(session, "give_up", lambda: None)
    monkeypatch.setattr(spark_session, "_CONNECT_SECONDS", 0.1)
    begin = session_for("sc://silent", (), SparkWatch(Console("test"), "again"))
    with pytest.raises(Exit, match="the server is silent") as raised, begin:
        pass
    never.set()
    assert raised.value.code == 2


@pytest.mark.parametrize("word", ["spark.ui.enabled", "=true"])
def test_a_setting_without_a_key_and_a_value_is_refused(word: str) -> None:
    begin = session_for(None, (word,), SparkWatch(Console("test"), "again"))
    with pytest.raises(Exit, match=f"--conf {word}: give a setting of Spark as KEY=VALUE"), begin:
        pass


def test_a_session_that_cannot_be_had_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: str | None, __: Mapping[str, str]) -> None:
        raise InputError("no Spark session of --master sc://nowhere")

    monkeypatch.setattr(session, "session", nowhere)
    begin = session_for("sc://nowhere", (), SparkWatch(Console("test"), "again"))
    with pytest.raises(Exit, match="no Spark session of --master sc://nowhere") as raised, begin:
        pass
    assert raised.value.code == 2
