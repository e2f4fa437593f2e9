"""Several tails of several brokers, whose answers are written down here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.commands.salvage_work import parquet_records
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.log_dir.watching import Unwatched
from kafka_unclean_recovery.model import Broker, EpochSpan, ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.designated import Designated, DesignatedLeaders
from kafka_unclean_recovery.salvage.live import saving
from kafka_unclean_recovery.salvage.live.fetched_log import FetchedLog
from kafka_unclean_recovery.salvage.live.losers import Loser
from kafka_unclean_recovery.salvage.live.saving import Tail, TailSaver
from kafka_unclean_recovery.salvage.replica import Output
from tests.log_dir.segments import v2
from tests.salvage.batches import marker, numbered

LEADER_ID = 9
LEADER = ReplicaLog(LEADER_ID, True, 1, 0, 0, 25, (EpochSpan(0, 0, 20), EpochSpan(1, 20, 25)))
LINEAGE = (EpochSpan(0, 0, 40),)
LOST = (EpochSpan(0, 20, 40),)
WHOLE = numbered(20, 20)
HUNG = ConnectionFailed(FailureKind.TIMED_OUT, "b1:9092", "no answer in time")
LEADER_HUNG = ConnectionFailed(FailureKind.TIMED_OUT, "b9:9092", "no answer in time")

Fetch = Callable[[Loser], bytes]
"""What a broker sends; it may raise."""


def _loser(partition: int, broker: int = 1, topic: str = "orders") -> Loser:
    log = ReplicaLog(broker, True, 0, 0, 0, 40, LINEAGE)
    return Loser(TopicPartition(topic, partition), log, LOST)


class Scripted:
    """A saver whose brokers send what `fetch` says. asked: brokers, in order."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, fetch: Fetch) -> None:
        self.root = root
        self.asked: list[int] = []
        self.progress: list[tuple[int, int]] = []
        self.leader = LEADER

        async def fetch_tail(_: object, broker: Broker, log: FetchedLog, *__: object) -> None:
            self.asked.append(broker.id)
            log.add(fetch(log.loser))

        monkeypatch.setattr(saving, "fetch_tail", fetch_tail)

    def save(self, *losers: Loser) -> list[Tail]:
        partitions = {
            loser.topic_partition: Designated(loser.topic_partition, "id", self.leader)
            for loser in losers
        }
        saver = TailSaver(
            nodes=Nodes([], ClientConfig()),
            brokers={id_: Broker(id_, f"b{id_}", 9092) for id_ in (1, 2, LEADER_ID)},
            leaders=DesignatedLeaders("c1", partitions),
            output=Output(self.root, parquet_records()),
            watch=Unwatched(),
            progress=lambda *so_far: self.progress.append(so_far),
            patience_seconds=20.0,
        )
        return asyncio.run(saver.save(losers))


def test_tails_come_back_in_the_order_they_were_asked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = Scripted(tmp_path, monkeypatch, lambda _: WHOLE)
    losers = [_loser(0, 2), _loser(0, 1), _loser(1, 2)]
    tails = scripted.save(*losers)
    assert [tail.loser for tail in tails] == losers
    assert [(tail.why_not, tail.row.problems) for tail in tails] == [(None, [])] * 3
    assert scripted.progress == [(1, 0), (2, 0), (3, 0)]
    assert tails[0].row.replica.directory == "fetched from broker 2 at b2:9092"
    assert tails[0].row.log == losers[0].log


def test_a_broker_that_fell_silent_is_not_asked_again_and_the_others_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(loser: Loser) -> bytes:
        if loser.broker == 1:
            raise HUNG.again()
        return WHOLE

    scripted = Scripted(tmp_path, monkeypatch, fetch)
    tails = scripted.save(_loser(0), _loser(1), _loser(2), _loser(0, 2), _loser(1, 2))
    assert sorted(scripted.asked) == [1, 2, 2]
    assert [tail.why_not for tail in tails] == [str(HUNG)] * 3 + [None] * 2
    assert [tail.row.missing for tail in tails] == [((20, 40),)] * 3 + [()] * 2


def test_what_is_odd_is_kept_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leader epochs lie outside of the checksum."""
    odd = numbered(20, 20, epoch=5)
    (tail,) = Scripted(tmp_path, monkeypatch, lambda _: odd).save(_loser(0))
    assert tail.why_not is None
    assert [problem for problem in tail.row.problems if "epoch 5" in problem]
    (file,) = tmp_path.rglob("*.log")
    assert file.read_bytes() == odd


def test_what_another_broker_may_have_sent_is_kept_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unproven = "nothing proves that broker 1 answered"
    monkeypatch.setattr(Nodes, "unproven", lambda _, broker: unproven if broker == 1 else None)
    scripted = Scripted(tmp_path, monkeypatch, lambda _: WHOLE)
    tails = scripted.save(_loser(0, 1), _loser(0, 2))
    assert [(tail.why_not, tail.row.problems) for tail in tails] == [(None, [unproven]), (None, [])]


def test_what_can_not_be_decoded_is_kept_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coded = v2(20, 20, attributes=4, body=b"no zstd")
    (tail,) = Scripted(tmp_path, monkeypatch, lambda _: coded).save(_loser(0))
    assert tail.why_not is None
    (problem,) = tail.row.problems
    assert "can't be decoded, it is in the segment file only" in problem
    (file,) = tmp_path.rglob("*.log")
    assert file.read_bytes() == coded


def test_what_lies_between_two_parts_of_a_tail_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leader has offsets 25 to 30 of that epoch; those around them were compacted away."""
    lost = (EpochSpan(0, 20, 25), EpochSpan(2, 30, 40))
    lineage = (EpochSpan(0, 0, 25), EpochSpan(1, 25, 30), EpochSpan(2, 30, 40))
    leader = (EpochSpan(0, 0, 20), EpochSpan(1, 20, 30), EpochSpan(3, 30, 35))
    log = ReplicaLog(1, True, 2, 0, 0, 40, lineage)
    loser = Loser(TopicPartition("orders", 0), log, lost)
    newest = numbered(32, 4, epoch=2) + numbered(36, 4, epoch=2)
    parts = [numbered(20, 2), numbered(26, 4, epoch=1), newest]
    scripted = Scripted(tmp_path, monkeypatch, lambda _: b"".join(parts))
    scripted.leader = ReplicaLog(LEADER_ID, True, 3, 0, 0, 35, leader)
    (tail,) = scripted.save(loser)
    assert (tail.why_not, tail.row.problems) == (None, [])
    assert tail.row.missing == ((22, 25), (30, 32))
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.log")) == len(parts[0] + parts[2])


def test_what_the_salvage_leaves_out_is_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an unknown lineage it takes what lies beyond the leader's end; here two batches don't."""
    parts = numbered(20, 2) + numbered(22, 2) + numbered(24, 16, epoch=5)
    (tail,) = Scripted(tmp_path, monkeypatch, lambda _: parts).save(_loser(0))
    kept, size = len(numbered(24, 16)), len(parts)
    assert tail.why_not is not None
    assert tail.why_not.startswith(f"{kept} of {size} bytes were kept; its lineage is not known")
    assert tail.row.problems[0] == tail.why_not


def test_a_fetch_that_ends_early_without_a_word_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = Scripted(tmp_path, monkeypatch, lambda _: numbered(20, 5))
    (tail,) = scripted.save(_loser(0))
    assert tail.why_not == "it was fetched up to offset 25 only"
    assert tail.row.problems == [tail.why_not]
    assert tail.row.missing == ((25, 40),)


def test_a_name_that_kafka_does_not_give_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = Scripted(tmp_path / "saved", monkeypatch, lambda _: WHOLE)
    (tail,) = scripted.save(_loser(0, topic="../../orders"))
    assert tail.why_not == "its topic's name is none that Kafka gives"
    assert (scripted.asked, list(tmp_path.iterdir())) == ([], [])


COMMITTED = numbered(20, 19, producer=(7, 0, 0), transactional=True) + marker(39, commit=True)


def _leader_tells(
    monkeypatch: pytest.MonkeyPatch, found: Mapping[int, int] | ConnectionFailed
) -> list[TopicPartition]:
    asked: list[TopicPartition] = []

    async def connected(*_: object) -> None: ...

    async def tell(_: object, partition: TopicPartition, __: object) -> Mapping[int, int]:
        asked.append(partition)
        if isinstance(found, ConnectionFailed):
            raise found.again()
        return found

    monkeypatch.setattr(Nodes, "broker", connected)
    monkeypatch.setattr(saving, "open_transactions", tell)
    return asked


def test_the_leader_tells_which_transactions_had_begun_before_the_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _leader_tells(monkeypatch, {7: 12})
    (tail,) = Scripted(tmp_path, monkeypatch, lambda _: COMMITTED).save(_loser(0))
    assert (tail.why_not, tail.row.problems, len(asked)) == (None, [], 1)
    (crossing,) = tail.row.crossing
    assert (crossing.producer_id, crossing.first_offset, crossing.marker_offset) == (7, 12, 39)


def test_what_began_in_the_leaders_log_beyond_the_cut_is_another_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _leader_tells(monkeypatch, {7: 22})
    left_open = numbered(20, 20, producer=(7, 0, 0), transactional=True)
    (tail,) = Scripted(tmp_path, monkeypatch, lambda _: left_open).save(_loser(0))
    assert [transaction.first_offset for transaction in tail.row.open] == [20]


def test_one_that_does_not_tell_is_a_doubt_and_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _leader_tells(monkeypatch, LEADER_HUNG)
    tails = Scripted(tmp_path, monkeypatch, lambda _: COMMITTED).save(_loser(0), _loser(1))
    assert [tail.why_not for tail in tails] == [None, None]
    assert len(asked) == 1
    for tail in tails:
        (problem,) = tail.row.problems
        assert problem.startswith("which transactions had begun before the cut is not known: ")
