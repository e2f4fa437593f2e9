"""One tail from a broker whose answers are written down here."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.replica_fetch import Fetched
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Clock, Deadline
from kafka_unclean_recovery.model import Broker, EpochSpan, ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.live import fetching
from kafka_unclean_recovery.salvage.live.fetched_log import FetchedLog
from kafka_unclean_recovery.salvage.live.fetching import TailLost, fetch_tail
from kafka_unclean_recovery.salvage.live.losers import Loser
from tests.salvage.batches import numbered

NOT_LEADER_OR_FOLLOWER, STORAGE_ERROR, OUT_OF_RANGE = 6, 56, 1
LOST = (EpochSpan(0, 10, 30),)
FIRST, SECOND = numbered(10, 10), numbered(20, 10)
QUOTA = None
BROKEN = ConnectionFailed(FailureKind.DISCONNECTED, "b1:9092", "it hung up")
WRONG_LOGIN = ConnectionFailed(FailureKind.AUTHENTICATION_FAILED, "b1:9092", "no")

Answer = Fetched | ConnectionFailed | None


def _data(records: bytes) -> Fetched:
    return Fetched(0, records)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[FetchedLog]:
    loser = Loser(TopicPartition("orders", 0), ReplicaLog(1, True, 0, 0, 0, 30, LOST), LOST)
    made = FetchedLog(tmp_path / "log", loser, "c1")
    yield made
    made.close()


def _fetch(
    log: FetchedLog,
    answers: Sequence[Answer],
    monkeypatch: pytest.MonkeyPatch,
    patience: float,
    fits: int = fetching.FETCH_BYTES,
    clock: Clock = time.monotonic,
) -> list[int]:
    """Fetch, and return the offsets asked for. The last answer is given again and again. fits: a
    quota answers nothing to who asks for more bytes."""
    asked: list[int] = []

    async def fetch(_: object, __: object, offset: int, most: int, *___: object) -> Fetched | None:
        if most > fits:
            return None
        asked.append(offset)
        answer = answers[min(len(asked), len(answers)) - 1]
        if isinstance(answer, ConnectionFailed):
            assert not (answer.is_authentication and len(asked) > 1)
            raise answer.again()
        return answer

    async def connected(*_: object) -> None: ...

    monkeypatch.setattr(fetching, "fetch_records", fetch)
    monkeypatch.setattr(fetching, "_PAUSE_SECONDS", 0.01)
    nodes = Nodes([], ClientConfig())
    monkeypatch.setattr(nodes, "broker", connected)
    sizes: list[int] = []
    limits = (Deadline.after(60, clock), patience)
    try:
        asyncio.run(fetch_tail(nodes, Broker(1, "b1", 9092), log, *limits, sizes.append))
    finally:
        assert sum(sizes) == log.size
    return asked


def test_a_quota_that_a_whole_portion_never_fits_into_is_asked_for_less(
    log: FetchedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _fetch(log, [_data(FIRST), _data(SECOND)], monkeypatch, 30, fits=50_000) == [10, 20]
    assert log.whole


@pytest.mark.parametrize("passing", [QUOTA, BROKEN, Fetched(NOT_LEADER_OR_FOLLOWER, b"")])
def test_what_passes_is_waited_for(
    log: FetchedLog, monkeypatch: pytest.MonkeyPatch, passing: Answer
) -> None:
    answers = [passing, _data(FIRST), passing, passing, _data(SECOND)]
    assert _fetch(log, answers, monkeypatch, 30) == [10, 10, 20, 20, 20]
    assert log.whole


@pytest.mark.parametrize(
    ("answers", "error", "says"),
    [
        ([_data(FIRST), QUOTA], TailLost, "held up at offset 20 by a quota"),
        (
            [Fetched(NOT_LEADER_OR_FOLLOWER, b"")],
            TailLost,
            "held up at offset 10 by NOT_LEADER_FOR_PARTITION",
        ),
        ([_data(FIRST), BROKEN], ConnectionFailed, "it hung up"),
    ],
)
def test_but_not_for_ever(
    log: FetchedLog,
    monkeypatch: pytest.MonkeyPatch,
    answers: Sequence[Answer],
    error: type[Exception],
    says: str,
) -> None:
    with pytest.raises(error, match=says):
        _fetch(log, answers, monkeypatch, 0.05)
    assert not log.whole


@pytest.mark.parametrize("patience", range(1, 12))
def test_a_failed_connection_is_told_at_whichever_moment_the_patience_ends(
    log: FetchedLog, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    """A second passes each time that somebody reads the clock."""
    clock = itertools.count(step=1.0).__next__
    with pytest.raises(ConnectionFailed, match="it hung up"):
        _fetch(log, [_data(FIRST), BROKEN], monkeypatch, patience, clock=clock)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Fetched(STORAGE_ERROR, b""), "KAFKA_STORAGE_ERROR at offset 20"),
        (Fetched(OUT_OF_RANGE, b""), "OFFSET_OUT_OF_RANGE at offset 20"),
        (_data(b""), "its log ends at 20, it was seen to reach 30"),
        (_data(FIRST), "offset order"),
        (_data(SECOND[:-1] + b"?"), "batch crc"),
    ],
)
def test_another_answer_ends_it_at_once(
    log: FetchedLog, monkeypatch: pytest.MonkeyPatch, answer: Fetched, says: str
) -> None:
    with pytest.raises(TailLost, match=says):
        _fetch(log, [_data(FIRST), answer], monkeypatch, 30)
    assert log.next_offset == 20


def test_a_refused_login_is_not_tried_again(
    log: FetchedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConnectionFailed, match="no"):
        _fetch(log, [WRONG_LOGIN], monkeypatch, 30)
