from __future__ import annotations

import pickle

import pytest

from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
    most_telling,
)


def failed(kind: FailureKind, address: str = "b1:9092") -> ConnectionFailed:
    return ConnectionFailed(kind, address, f"it is {kind}: do something")


def test_a_failure_reads_as_address_and_sentence() -> None:
    failure = failed(FailureKind.CLOSED_PORT)
    assert str(failure) == "b1:9092: it is closed-port: do something"
    for copy in (failure.again(), pickle.loads(pickle.dumps(failure))):
        assert (copy.kind, copy.address, copy.sentence) == (
            failure.kind,
            failure.address,
            failure.sentence,
        )


def test_no_broker_reachable_joins_equal_reasons() -> None:
    closed = FailureKind.CLOSED_PORT
    error = NoBrokerReachable([failed(closed), failed(closed, "b2:9092")])
    assert str(error) == (
        "no broker could be reached: b1:9092, b2:9092: it is closed-port: do something"
    )


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (FailureKind.AUTHENTICATION_FAILED, FailureKind.WRONG_PROTOCOL),
        (FailureKind.WRONG_PROTOCOL, FailureKind.TIMED_OUT),
        (FailureKind.TIMED_OUT, FailureKind.CLOSED_PORT),
        (FailureKind.CLOSED_PORT, FailureKind.UNRESOLVED_HOST),
    ],
)
def test_what_a_node_said_tells_more_than_silence(more: FailureKind, less: FailureKind) -> None:
    assert most_telling([failed(less), failed(more)]).kind is more
    assert most_telling([failed(more), failed(less)]).kind is more
