"""The flags that name mechanisms come back unchanged."""

from __future__ import annotations

from kafka_unclean_recovery.cli.flags import mechanism_flags, wishes_of
from kafka_unclean_recovery.mechanisms import Dialect, ElectionMethod, Transport, Wishes


def test_what_is_so_anyway_is_not_repeated_in_the_next_command() -> None:
    assert list(mechanism_flags(Wishes())) == []


def test_the_next_command_goes_the_same_way() -> None:
    wishes = wishes_of(Transport.REPLICA_LOG_INFO, ElectionMethod.DESIGNATED, Dialect.KIP_1275)
    assert list(mechanism_flags(wishes)) == [
        *("--transport", "replica-log-info"),
        *("--election-method", "designated"),
        *("--replica-log-info-dialect", "kip-1275"),
    ]
