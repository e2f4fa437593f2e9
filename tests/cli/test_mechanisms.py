"""The flags that name mechanisms: their words are those of the code, and come back unchanged."""

from __future__ import annotations

from enum import StrEnum

import pytest

from kafka_unclean_recovery.cli import flags
from kafka_unclean_recovery.cli.mechanisms import mechanism_flags, wishes_of
from kafka_unclean_recovery.messages.dialects import Dialect
from kafka_unclean_recovery.transport.choosing import ElectionMethod, Transport, Wishes


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (flags.Transport, Transport),
        (flags.ElectionMethod, ElectionMethod),
        (flags.Dialect, Dialect),
    ],
)
def test_every_word_of_a_flag_is_known(words: type[StrEnum], ours: type[StrEnum]) -> None:
    assert [word.value for word in words] == [word.value for word in ours]


def test_what_is_so_anyway_is_not_repeated_in_the_next_command() -> None:
    assert list(mechanism_flags(Wishes())) == []


def test_the_next_command_goes_the_same_way() -> None:
    wishes = wishes_of(
        flags.Transport.REPLICA_LOG_INFO, flags.ElectionMethod.DESIGNATED, flags.Dialect.KIP_1275
    )
    assert list(mechanism_flags(wishes)) == [
        *("--transport", "replica-log-info"),
        *("--election-method", "designated"),
        *("--replica-log-info-dialect", "kip-1275"),
    ]
