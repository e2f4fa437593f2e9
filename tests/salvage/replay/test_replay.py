"""salvage replay on an emulated cluster: what is in the target afterwards, and what was said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from kafka_unclean_recovery.cli.command import carry_out
from kafka_unclean_recovery.cli.commands.salvage_replay import Options, produce
from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.emulator.listener.intercepts import Close, Fail
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.salvage.replay import producing
from kafka_unclean_recovery.salvage.replay.checkpoint import Checkpoint
from kafka_unclean_recovery.salvage.replay.origin import PREFIX
from kafka_unclean_recovery.salvage.replay.replay_partition import Work
from tests.cli.run import RECOVERY, main_of
from tests.emulator.secured import WRONG, Papers, Way
from tests.emulator.secured import cluster as secured_cluster
from tests.real.metadata import QUIETLY, SILENT
from tests.salvage.batches import Fields, batch, marker, numbered
from tests.salvage.disks import TOPIC_ID
from tests.salvage.replay.saved import salvaged

TARGET = "orders.salvaged"
TOPIC_ID_TEXT = str(TOPIC_ID)
_confluent: Any = confluent_kafka


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str


@dataclass
class User:
    """A working directory with `saved`, and a cluster."""

    directory: Path
    cluster: Cluster
    capture: pytest.CaptureFixture[str]

    @property
    def options(self) -> Options:
        return Options(
            saved=self.directory / "saved",
            bootstrap_server=self.cluster.bootstrap_servers,
            execute=True,
        )

    @property
    def checkpoint(self) -> Path:
        return self.directory / "saved.replay-checkpoint"

    def replay(self, **flags: Any) -> Done:
        self.capture.readouterr()
        code = carry_out(produce, replace(self.options, **flags))
        return Done(code, *self.capture.readouterr())

    def save(self, *batches: bytes, name: str = "saved") -> None:
        """Save ten records that the leader has too, and these beyond them."""
        salvaged(self.directory, {1: numbered(0, 10) + b"".join(batches)}, name)

    def messages(self, topic: str = TARGET, partition: int = 0) -> list[Any]:
        return read(self.cluster, topic, partition)

    def values(self) -> list[bytes]:
        return [message.value() for message in self.messages()]


def read(cluster: Cluster, topic: str, partition: int) -> list[Any]:
    """Return all there is, by an independent consumer."""
    settings = {
        **QUIETLY,
        "bootstrap.servers": cluster.bootstrap_servers,
        "group.id": "reader",
        "isolation.level": "read_uncommitted",
    }
    with closing(_confluent.Consumer(settings, logger=SILENT)) as consumer:
        place = _confluent.TopicPartition(topic, partition, 0)
        _, end = consumer.get_watermark_offsets(place, timeout=20)
        consumer.assign([place])
        found: list[Any] = []
        deadline = time.monotonic() + 20
        while len(found) < end:
            assert time.monotonic() < deadline, f"{len(found)} of {end}"
            found += [m for m in consumer.consume(100, timeout=0.1) if m.error() is None]
        return found


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def user(tmp_path: Path, shared: Cluster, capfd: pytest.CaptureFixture[str]) -> Iterator[User]:
    shared.create_topic(TARGET, 1, 2)
    yield User(tmp_path, shared, capfd)
    shared.delete_topic(TARGET)


ODD: Sequence[Fields] = (
    (
        1000,
        b"k",
        b"v",
        [("h", b"1"), ("h", b"1"), ("null", None), ("binary", b"\xff\x00"), ("", b"")],
    ),
    (1001, b"tombstone", None, ()),
    (1002, None, b"no key", ()),
    (1003, b"", b"", ()),
    (-1, b"no time", b"", ()),
    (1, b"long ago", b"x", ()),
    (0, b"not now", b"x", ()),
)


def test_records_are_what_they_were_and_say_where_they_were(user: User) -> None:
    user.save(batch(10, ODD, epoch=0))
    done = user.replay()
    assert (done.code, done.stderr) == (0, "")
    found = user.messages()
    assert [(m.key(), m.value()) for m in found] == [(key, value) for _, key, value, _ in ODD]
    assert [m.timestamp()[1] for m in found] == [*(time for time, *_ in ODD[:-1]), 1]
    assert "altered: orders-0 to orders.salvaged: 1 record of time 0 become" in done.stdout
    for offset, (message, (time_, *_, headers)) in enumerate(zip(found, ODD, strict=True), 10):
        own, ours = message.headers()[: len(headers)], message.headers()[len(headers) :]
        assert own == list(headers)
        assert {key.removeprefix(PREFIX): value.decode() for key, value in ours} == {
            "cluster": "c1",
            "topic": "orders",
            "topic-id": TOPIC_ID_TEXT,
            "partition": "0",
            "offset": str(offset),
            "leader-epoch": "0",
            "broker": "1",
            "timestamp": str(time_),
        }


def test_without_execute_nothing_is_produced_and_no_file_is_written(user: User) -> None:
    user.save(numbered(10, 5))
    before = set(user.directory.iterdir())
    done = user.replay(execute=False)
    assert done.code == 0, done
    assert "5 records to produce" in done.stdout
    assert "nothing was produced\n" in done.stderr
    assert (user.values(), set(user.directory.iterdir())) == ([], before)


def test_a_second_run_adds_nothing_by_the_checkpoint_or_without_it(user: User) -> None:
    user.save(numbered(10, 5))
    assert "5 records produced" in user.replay().stdout
    for lost in (False, True):
        if lost:
            user.checkpoint.unlink()
        done = user.replay()
        assert done.code == 0, done
        assert "0 records produced" in done.stdout
        assert len(user.values()) == 5


def test_the_checkpoint_alone_keeps_records_from_coming_twice(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where the target's retention has deleted them.
    user.save(numbered(10, 5))
    assert user.replay().code == 0
    monkeypatch.setattr(producing, "parse_origin", lambda _: None)
    assert "0 records produced" in user.replay().stdout


KILLED: dict[str, str] = {
    "all acknowledged, none noted": (
        "def torn(self, key, progress):\n"
        '    self._file.write(b\'{"topic": "ord\'); self._file.flush(); die()\n'
        "c.Checkpoint.note = torn"
    ),
    "after some were noted": (
        "r._RECORDS = 2\nnote = c.Checkpoint.note\n"
        "def once(*a): note(*a); c.Checkpoint.note = die\n"
        "c.Checkpoint.note = once"
    ),
}


@pytest.mark.parametrize("when", KILLED)
def test_a_run_that_is_killed_is_gone_on_with(user: User, when: str) -> None:
    user.save(numbered(10, 5))
    argv = ["x", "salvage", "replay", "saved", "--execute"]
    argv += ["--bootstrap-server", user.cluster.bootstrap_servers]
    code = (
        f"import os, sys; sys.argv = {argv!r}\n"
        "from kafka_unclean_recovery.salvage.replay import checkpoint as c, replay_partition as r\n"
        f"def die(*_): os.kill(os.getpid(), 9)\n{KILLED[when]}\n{main_of(RECOVERY)}"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=user.directory,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert user.replay().code == 0
    assert user.values() == [b"%d" % n for n in range(10, 15)]


def test_a_signal_lets_what_was_sent_be_noted(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.save(numbered(10, 5))
    monkeypatch.setattr("kafka_unclean_recovery.salvage.replay.replay_partition._RECORDS", 2)
    note: Callable[..., None] = Checkpoint.note

    def signalled(*words: Any) -> None:
        note(*words)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Checkpoint, "note", signalled)
    done = user.replay()
    assert (done.code, done.stdout) == (143, "")
    assert "interrupted: run it again, which goes on" in done.stderr
    assert user.values() == [b"10", b"11"]
    monkeypatch.setattr(Checkpoint, "note", note)
    assert user.replay().code == 0
    assert len(user.values()) == 5


COMMITTED, ABORTED, OPEN = ((number, 0, 0) for number in (7, 8, 9))


def _transactions() -> bytes:
    parts = [
        numbered(10 + place, 1, producer=producer, transactional=True)
        for place, producer in enumerate((COMMITTED, ABORTED, OPEN))
    ]
    parts += [marker(13, commit=True, producer=(7, 0)), marker(14, commit=False, producer=(8, 0))]
    return b"".join([*parts, numbered(15, 1)])


def test_aborted_records_and_markers_stay_out_and_open_ones_can_be_asked_for(user: User) -> None:
    user.save(_transactions())
    done = user.replay()
    assert done.code == 1
    assert "1 record of an open transaction was left out" in done.stderr
    assert user.values() == [b"10", b"15"]
    # Open ones lie before what the checkpoint calls done.
    assert user.replay(include_open=True).code == 0
    assert user.values() == [b"10", b"15", b"12"]


def test_what_two_replicas_saved_is_produced_once(user: User) -> None:
    both = numbered(0, 10) + numbered(10, 5)
    salvaged(user.directory, {1: both, 3: both + numbered(15, 2)})
    done = user.replay()
    assert done.code == 0, done
    assert user.values() == [b"%d" % n for n in range(10, 17)]
    # The longest log speaks for those that both have.
    assert {brokers(message) for message in user.messages()} == {b"3"}


def brokers(message: Any) -> bytes:
    (found,) = [value for key, value in message.headers() if key == f"{PREFIX}broker"]
    return bytes(found)


OTHER = batch(12, [(1000, None, b"another", ())])


def test_two_replicas_that_hold_other_records_at_an_offset_are_refused(user: User) -> None:
    head = numbered(0, 10) + numbered(10, 2)
    salvaged(user.directory, {1: head + numbered(12, 1), 3: head + OTHER})
    done = user.replay()
    assert done.code == 2, done
    assert "orders-0: offset 12 of leader epoch 0 is another record on broker" in done.stderr
    assert (user.values(), user.checkpoint.exists()) == ([], False)


def test_of_replicas_that_differ_the_trusted_one_is_believed(user: User) -> None:
    # A gap makes a suspect, whose log is the longer one.
    suspect = numbered(0, 10) + OTHER + numbered(13, 4)
    salvaged(user.directory, {1: numbered(0, 10) + numbered(10, 4), 3: suspect})
    done = user.replay()
    gap = "offsets 10 to 12 (exclusive) are missing"
    assert f"it may be corrupt: {gap}" in done.stderr
    assert user.values() == [b"%d" % n for n in range(10, 17)]
    assert [brokers(m) for m in user.messages()] == [*[b"1"] * 4, *[b"3"] * 3]


def test_another_salvage_of_the_same_records_adds_none(user: User) -> None:
    user.save(numbered(10, 5))
    user.save(numbered(10, 5), numbered(15, 1), name="later")
    assert user.replay().code == 0
    assert user.replay(saved=user.directory / "later").code == 0
    assert user.values() == [b"%d" % n for n in range(10, 16)]


def test_what_the_target_alters_is_told(user: User) -> None:
    user.save(batch(10, [(1000, b"k", b"v", ())] * 5))
    user.cluster.alter_configs(TARGET, {"cleanup.policy": "compact,delete"})
    done = user.replay(execute=False)
    assert done.code == 0, done
    assert "5 records older than its retention.ms" in done.stdout
    assert "an old value produced later wins" in done.stdout


def test_a_target_that_would_refuse_records_gets_none(user: User) -> None:
    user.save(numbered(10, 5))
    user.cluster.alter_configs(TARGET, {"max.message.bytes": "100"})
    done = user.replay()
    assert done.code == 1
    assert "5 records may be larger than its max.message.bytes: raise that" in done.stderr
    assert (user.values(), user.checkpoint.exists()) == ([], False)


def test_a_target_that_is_not_there_is_not_created(user: User) -> None:
    user.save(numbered(10, 5))
    done = user.replay(target="rescued")
    assert done.code == 1
    create = "--create --topic rescued --partitions 1 --config retention.ms=-1"
    assert "rescued: no such topic: create it: kafka-topics.sh --bootstrap-server" in done.stderr
    assert f"{create} --config message.timestamp.type=CreateTime\n" in done.stderr
    assert user.cluster.look(lambda emulation: emulation.state.topic("rescued")) is None


def test_a_target_that_was_created_again_is_not_taken_for_the_old_one(user: User) -> None:
    user.save(numbered(10, 5))
    assert user.replay().code == 0
    user.cluster.delete_topic(TARGET)
    user.cluster.create_topic(TARGET, 1, 2)
    done = user.replay()
    assert done.code == 1
    assert "was deleted and created again" in done.stderr


@pytest.mark.parametrize("anew", [True, False], ids=["made anew", "other configs"])
def test_a_target_that_changed_while_all_was_looked_at_gets_no_records(
    user: User, monkeypatch: pytest.MonkeyPatch, anew: bool
) -> None:
    look = Work.look

    def slowly(work: Work, *args: Any) -> None:
        look(work, *args)
        if anew:
            user.cluster.delete_topic(TARGET)
            user.cluster.create_topic(TARGET, 1, 2)
        else:
            user.cluster.alter_configs(TARGET, {"cleanup.policy": "compact"})

    monkeypatch.setattr(Work, "look", slowly)
    user.save(batch(10, ODD[:1], epoch=0))
    done = user.replay()
    assert done.code == 1
    assert "orders.salvaged is not as it was looked at" in done.stderr
    assert user.values() == []


def test_records_that_a_broker_refuses_are_a_failure_and_come_once_they_can(user: User) -> None:
    user.save(numbered(10, 5))
    user.cluster.intercept("Produce", Fail(Errors.TOPIC_AUTHORIZATION_FAILED))
    done = user.replay()
    assert (done.code, done.stdout) == (1, "")
    assert "Broker: Topic authorization failed" in done.stderr
    assert "run it again, which goes on there" in done.stderr
    assert user.replay().code == 0
    assert user.values() == [b"%d" % n for n in range(10, 15)]


def test_an_acknowledgement_that_got_lost_makes_no_record_come_twice(user: User) -> None:
    user.save(numbered(10, 5))
    lost = user.cluster.intercept("Produce", Close(carried_out=True))
    assert user.replay().code == 0
    assert (len(lost.requests), len(user.values())) == (1, 5)


def test_a_target_that_lost_records_is_not_gone_on_with(user: User) -> None:
    user.save(numbered(10, 5))
    assert user.replay().code == 0
    line = user.checkpoint.read_text()
    user.checkpoint.write_text(line.replace('"next_offset": 5', '"next_offset": 6'))
    done = user.replay()
    assert done.code == 1
    assert "orders.salvaged-0 ends at 5, and had 6 before: it lost records" in done.stderr


@pytest.mark.parametrize("way", [Way("SASL_SSL", "SCRAM-SHA-512", mutual=True)], ids=str)
def test_the_java_client_file_lets_librdkafka_in(
    way: Way, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    papers = Papers.made(tmp_path)
    with secured_cluster(way.security(papers)) as cluster:
        cluster.create_topic(TARGET, 1, 2)
        user = User(tmp_path, cluster, capfd)
        user.save(numbered(10, 5))
        file = papers.client_file(tmp_path, way.java(papers))
        done = user.replay(command_config=file)
        assert (done.code, done.stderr) == (0, ""), done
        assert "5 records produced" in done.stdout
        papers.client_file(tmp_path, way.java(papers, WRONG))
        done = user.replay(command_config=file)
        assert done.code == 3
        assert WRONG not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("flags", "code", "why"),
    [
        ({"saved": Path("none")}, 2, "name what salvage --output wrote"),
        ({"target": "{topic}/x"}, 2, "can't name a topic"),
        ({"target": "__consumer_offsets"}, 2, "is Kafka's own"),
        ({"topics": "("}, 2, "no regular expression"),
        ({"topics": "payments"}, 1, "nothing of these topics was saved"),
        ({"path_to_json_file": Path("other.json")}, 1, "1 partition is not in it: orders-3"),
        ({"path_to_json_file": Path("none.json")}, 2, "--path-to-json-file none.json: No such"),
        ({"bootstrap_server": "nowhere"}, 2, "write host:port"),
        ({"bootstrap_server": "127.0.0.1:1"}, 3, "no broker could be reached: 127.0.0.1:1"),
        ({"command_config": Path("none")}, 2, "can't be read"),
        ({"checkpoint": Path("saved/manifest.json")}, 2, "manifest.json: "),
        ({"checkpoint": Path("none/checkpoint")}, 2, "none is no directory"),
    ],
)
def test_bad_input_is_named_and_nothing_is_produced(
    user: User, flags: dict[str, Any], code: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.save(numbered(10, 5))
    monkeypatch.chdir(user.directory)
    Path("other.json").write_text('{"partitions": [{"topic": "orders", "partition": 3}]}')
    done = user.replay(**flags)
    assert done.code == code, done
    assert why in done.stderr
    assert user.values() == []


def test_without_confluent_kafka_it_says_what_to_install(tmp_path: Path) -> None:
    argv = ["x", "salvage", "replay", "saved", "--bootstrap-server", "127.0.0.1:1"]
    code = (
        f"import sys; sys.argv = {argv!r}; sys.modules['confluent_kafka'] = None\n"
        f"{main_of(RECOVERY)}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "confluent_kafka is not installed" in done.stderr
    assert "pip install 'kafka-unclean-recovery[salvage]'" in done.stderr
