"""What the spark commands have in common: the session, and who hears Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from kafka_unclean_recovery.cli.console import Console
from kafka_unclean_recovery.cli.exits import Exit
from kafka_unclean_recovery.cli.spark_session import SparkWatch, session_for
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.spark import session


@contextmanager
def _that_takes_sigint(_: str | None, __: Mapping[str, str]) -> Iterator[str]:
    """As pyspark does; and somebody presses Ctrl-C right then."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # To this thread: a test runner may have others, which hold nothing back.
    signal.raise_signal(signal.SIGINT)
    yield "spark"


def test_ctrl_c_while_a_session_begins_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "session", _that_takes_sigint)
    watch = SparkWatch(Console("test"), "again")
    before = signal.getsignal(signal.SIGINT)
    with session_for(None, (), watch) as spark:
        assert spark == "spark"
        assert watch.stopped
    assert watch.signals.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is before


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
