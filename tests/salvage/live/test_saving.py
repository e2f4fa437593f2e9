"""--salvage-dir on the emulator: brokers that answer, hang and die, tails that can't be written."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.dataset
import pytest

import kafka_unclean_recovery
from kafka_unclean_recovery.cli import live_salvaging
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.control.status import partition_status
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.listener.intercepts import Close, Fail, Hold, Seen
from kafka_unclean_recovery.salvage.layout import RECORDS
from kafka_unclean_recovery.salvage.live import fetching
from kafka_unclean_recovery.salvage.live.fetched_log import FetchedLog
from tests.emulator.secured import Done, tool
from tests.private import generous_umask, open_to_others
from tests.real.watching import steps_noted
from tests.salvage.live.tails import (
    DEAD,
    LOSERS,
    SHARED,
    TAIL,
    TOPIC,
    WINNER,
    lose,
    make_tails,
)

ELECT = ("--automated-recovery", "--yes", "--format", "json")
SCHEMA = Path(kafka_unclean_recovery.__file__).parent / "schemas" / "salvage-1.schema.json"
TOPIC_AUTHORIZATION_FAILED = 29
_PROBE_OFFSET = 2**62


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # A batch an answer, so that there is a middle.
    monkeypatch.setattr(fetching, "FETCH_BYTES", 1)


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("cluster")
    make_tails(directory)
    return directory


@pytest.fixture
def outage(disks: Path, tmp_path: Path) -> Iterator[Cluster]:
    shutil.copytree(disks, tmp_path / "cluster")
    # Who hangs is taken for alive until a run is through.
    settings = Settings(session_timeout=9.0)
    options = Options(data_dir=tmp_path / "cluster", running=(1, 3, 4), settings=settings)
    with Cluster(options) as cluster:
        yield cluster


class Home:
    """Runs the command; `saved` is where it saves."""

    def __init__(self, directory: Path, cluster: Cluster) -> None:
        self.directory = directory
        self.cluster = cluster
        self.saved = directory / "saved"
        self.config = directory / "client.properties"
        self.config.write_text("request.timeout.ms=1000\n")
        self.wanted = directory / "wanted.json"
        entry = {"topic": TOPIC, "partitions": list(LOSERS)}
        self.wanted.write_text(json.dumps({"partitions": [entry]}))

    def elect(self, *more: str) -> Done:
        which = ("--path-to-json-file", str(self.wanted), "--recovery-duration-ms", "1500")
        save = ("--salvage-dir", str(self.saved))
        return tool(self.cluster.bootstrap_servers, self.config, *which, *ELECT, *save, *more)

    @property
    def manifest(self) -> Any:
        manifest = json.loads((self.saved / "manifest.json").read_text())
        jsonschema.validate(manifest, json.loads(SCHEMA.read_text()))
        return manifest

    def values(self, partition: int) -> list[bytes]:
        if not (self.saved / RECORDS).exists():
            return []
        table = pyarrow.dataset.dataset(self.saved / RECORDS, partitioning="hive").to_table()
        return [r["value"] for r in table.to_pylist() if r["partition"] == partition]

    @property
    def journal(self) -> list[dict[str, Any]]:
        paths = sorted((self.directory / "state").rglob("*.jsonl"))
        return [json.loads(line) for line in paths[-1].read_text().splitlines()]


@pytest.fixture
def home(tmp_path: Path, outage: Cluster) -> Home:
    return Home(tmp_path, outage)


def outcomes(done: Done) -> dict[int, tuple[str, str | None]]:
    return {row["partition"]: (row["outcome"], row["reason"]) for row in done.report["partitions"]}


def tail(partition: int, end: int = SHARED + TAIL) -> list[bytes]:
    return [b"%d led by %d" % (n, LOSERS[partition]) for n in range(SHARED, end)]


ELECTED = ("elected", None)
# Who is slow to answer has no tail fetched.
PATIENT = ("--recovery-duration-ms", "20000")
REORDERED = ("reorder", "elect", "restored")


def test_tails_are_saved_and_then_truncated(home: Home) -> None:
    with generous_umask():
        done = home.elect(*PATIENT)
    assert (done.code, outcomes(done)) == (0, dict.fromkeys(LOSERS, ELECTED))
    assert [open_to_others(home.directory / name) for name in ("saved", "state")] == [[], []]
    assert f"saved in {home.saved}: 900 records of 3 live replicas" in done.stderr
    assert {p: home.values(p) for p in LOSERS} == {p: tail(p) for p in LOSERS}
    assert {row["broker"] for row in home.manifest["replicas"]} == {1, 3}
    assert not any(row["problems"] or row["missing"] for row in home.manifest["replicas"])
    # Nothing is left of how it was fetched.
    assert {p.name for p in home.saved.iterdir()} == {"manifest.json", RECORDS, "segments"}
    for partition, loser in LOSERS.items():
        home.cluster.wait_until(_in_sync(partition, {loser, WINNER}))
        left = home.cluster.log_directory(loser) / f"{TOPIC}-{partition}" / f"{0:020}.log"
        assert not [value for value in tail(partition) if value in left.read_bytes()]
    steps = ["begin", "consent", "salvage", *REORDERED, "outcome", "end"]
    assert steps_noted(home.journal) == steps
    (entry,) = (line for line in home.journal if line["event"] == "salvage")
    assert entry["partitions"][2] == {
        "topic": TOPIC,
        "partition": 2,
        "broker": 3,
        "start_offset": SHARED,
        "end_offset": SHARED + TAIL,
        "saved": True,
        "reason": None,
    }


def _in_sync(partition: int, brokers: set[int]) -> Callable[[Emulation], bool]:
    return lambda emulation: set(partition_status(emulation, TOPIC, partition).isr) == brokers


def test_where_nobody_loses_the_salvage_is_empty_and_whole(home: Home) -> None:
    for loser in {*LOSERS.values()}:
        lose(home.cluster, loser)
    done = home.elect()
    assert (done.code, outcomes(done)) == (0, dict.fromkeys(LOSERS, ELECTED))
    assert home.manifest["replicas"] == []
    home.saved = home.directory / "again"
    # Nothing is offline any more: there is nothing to elect, and nothing to save.
    assert home.elect().code == 0
    assert not home.saved.exists()


@contextmanager
def meanwhile(home: Home, partition: int, nth: int, do: Callable[[], None]) -> Iterator[None]:
    """Do something while the nth fetch of the partition's tail waits for its answer."""
    reached, done, seen = threading.Event(), threading.Event(), 0

    def decide(request: Seen) -> Hold | None:
        nonlocal seen
        topics = request.request.topics
        wanted = {(p.partition, p.fetch_offset) for t in topics for p in t.partitions}
        # Not the probes of before, and not the followers.
        if {(p, at) for p, at in wanted if p == partition and SHARED <= at < _PROBE_OFFSET}:
            if request.request.replica_id != -3:
                return None
            seen += 1
            if seen == nth:
                reached.set()
                return Hold(done.is_set)
        return None

    def act() -> None:
        if reached.wait(20):
            do()
            done.set()

    home.cluster.intercept("Fetch", decide, times=1)
    thread = threading.Thread(target=act)
    thread.start()
    yield
    reached.set()
    thread.join()
    assert done.is_set()
    assert seen >= nth


@pytest.mark.parametrize("how", ["kill", "pause"])
def test_a_loser_that_dies_or_hangs_in_mid_fetch_is_refused_and_the_others_elected(
    home: Home, how: str
) -> None:
    broker = LOSERS[0]
    with meanwhile(home, 0, 4, lambda: getattr(home.cluster, how)(broker)):
        done = home.elect()
    assert done.code == 1
    assert outcomes(done)[2] == ELECTED
    for partition in (0, 1):
        outcome, reason = outcomes(done)[partition]
        assert outcome == "refused"
        assert reason is not None
        assert reason.startswith(f"not saved: {TAIL} records of broker {broker}: 127.0.0.1:")
        assert reason.endswith("(--allow-loss elects all the same)")
    # What came until then is kept, and said to be a part.
    first, second, third = home.manifest["replicas"]
    end = first["missing"][0]["start_offset"]
    assert SHARED < end < SHARED + TAIL
    assert first["missing"] == [{"start_offset": end, "end_offset": SHARED + TAIL}]
    assert home.values(0) == tail(0, end)
    assert first["problems"] == second["problems"]
    assert (second["missing"][0]["start_offset"], third["missing"]) == (SHARED, [])
    if how == "pause":
        home.cluster.resume(broker)


def test_allow_loss_elects_all_the_same_and_the_report_says_what_is_lost(home: Home) -> None:
    def lose() -> None:
        home.cluster.kill(3)
        home.cluster.fence(3)

    with meanwhile(home, 2, 2, lose):
        done = home.elect("--allow-loss", *PATIENT)
    assert (done.code, outcomes(done)) == (0, dict.fromkeys(LOSERS, ELECTED))
    problem = done.report["problems"][0]
    assert problem.startswith(f"{TOPIC}-2: not saved: {TAIL} records of broker 3: ")
    assert "1 tail was not saved" in done.stderr


def test_a_connection_that_breaks_is_made_anew(home: Home) -> None:
    taken = home.cluster.intercept("Fetch", _tails(Close(carried_out=False)), broker=1, times=2)
    done = home.elect()
    assert (done.code, outcomes(done)) == (0, dict.fromkeys(LOSERS, ELECTED))
    assert home.values(0) == tail(0)
    assert len(taken.requests) == 2


def _tails(action: Any) -> Callable[[Seen], Any]:
    """Return what acts on requests that fetch tails, and lets probes and followers pass."""

    def decide(request: Seen) -> Any:
        offsets = [p.fetch_offset for t in request.request.topics for p in t.partitions]
        ours = request.request.replica_id == -3 and max(offsets) < _PROBE_OFFSET
        return action if ours else None

    return decide


def test_a_right_that_was_taken_away_is_named(home: Home) -> None:
    refused = _tails(Fail(TOPIC_AUTHORIZATION_FAILED))
    home.cluster.intercept("Fetch", refused, broker=3, times=1)
    done = home.elect()
    assert done.code == 1
    outcome, reason = outcomes(done)[2]
    assert outcome == "refused"
    assert reason is not None
    assert "TOPIC_AUTHORIZATION_FAILED: grant Topic:READ" in reason
    assert (outcomes(done)[0], outcomes(done)[1]) == (ELECTED, ELECTED)


def test_a_full_disk_costs_one_tail(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    add = FetchedLog.add

    def full(log: FetchedLog, records: bytes) -> None:
        if log.loser.topic_partition.partition == 1 and log.size > 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        add(log, records)

    monkeypatch.setattr(FetchedLog, "add", full)
    done = home.elect()
    assert done.code == 1
    outcome, reason = outcomes(done)[1]
    assert outcome == "refused"
    assert reason is not None
    assert "it could not be written: No space left on device" in reason
    assert (outcomes(done)[0], outcomes(done)[2]) == (ELECTED, ELECTED)
    assert home.values(1) == []
    assert home.values(0) == tail(0)


def test_a_directory_that_can_not_be_finished_saves_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("kafka_unclean_recovery.cli.live_salvaging.write_manifest", full)
    done = home.elect()
    assert done.code == 1
    assert {outcome for outcome, _ in outcomes(done).values()} == {"refused"}
    assert f"--salvage-dir {home.saved}: No space left on device" in done.stderr
    assert not home.saved.exists()


def test_a_live_replica_that_never_answered_is_not_given_up(home: Home) -> None:
    home.cluster.pause(3)
    done = home.elect()
    home.cluster.resume(3)
    assert done.code == 1
    outcome, reason = outcomes(done)[2]
    assert outcome == "refused"
    assert reason is not None
    assert reason.startswith("what broker 3 would lose can't be told: ")
    assert (outcomes(done)[0], outcomes(done)[1]) == (ELECTED, ELECTED)


def test_an_interruption_elects_nothing_and_says_what_is_left(home: Home) -> None:
    with meanwhile(home, 0, 3, lambda: os.kill(os.getpid(), signal.SIGINT)):
        done = home.elect(*PATIENT)
    assert done.code == 130
    assert done.report["summary"]["interrupted"] is True
    assert set(outcomes(done).values()) == {("failed", "its election was not begun: interrupted")}
    assert f"--salvage-dir {home.saved}: interrupted; what is in saved.partial" in done.stderr
    assert not home.saved.exists()
    assert steps_noted(home.journal) == ["begin", "consent", "end"]
    # Run again, it begins anew.
    assert home.elect().code == 0
    assert home.values(0) == tail(0)
    assert not home.saved.with_name("saved.partial").exists()


def test_a_partition_that_came_back_meanwhile_is_online(home: Home) -> None:
    with meanwhile(home, 0, 2, lambda: home.cluster.start(DEAD)):
        done = home.elect(*PATIENT)
    found = outcomes(done)
    assert found[0][0] == "already_online"
    assert done.code == 0


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--allow-loss",), "give --salvage-dir too"),
        (("--salvage-dir", "{}/new", "--show-replica-info"), "give both"),
        (("--salvage-dir", "{}", "--automated-recovery"), "nothing is ever overwritten"),
        (("--salvage-dir", "{}/no/new", "--automated-recovery"), "/no is no directory"),
        (("--salvage-dir", "..", "--automated-recovery"), "name a new directory"),
        (("--salvage-dir", "{}/disk/new", "--automated-recovery"), "lies in log directory"),
        (("--raw-only", "--allow-loss"), "--raw-only is about what --salvage-dir saves"),
        (("--resume", "{}/x", "--allow-loss"), "--resume stands alone"),
        (("--resume", "{}/x", "--raw-only"), "--resume stands alone"),
    ],
)
def test_usage(tmp_path: Path, flags: tuple[str, ...], says: str) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "meta.properties").touch()
    which = () if "--resume" in flags else ("--all-offline-partitions",)
    if "--allow-loss" in flags and "--resume" not in flags:
        which = (*which, "--automated-recovery")
    given = [flag.format(tmp_path) for flag in flags]
    # Nobody listens there: all of this comes before any connection.
    done = tool("127.0.0.1:1", None, *which, *given)
    assert done.code == 2
    assert says in done.stderr


def test_somebody_elses_directory_is_in_the_way(home: Home) -> None:
    theirs = home.directory / "saved.partial"
    theirs.mkdir()
    (theirs / "file").touch()
    done = home.elect()
    assert done.code == 2
    assert "it is in the way, and not what a salvage left" in done.stderr
    assert (theirs / "file").exists()
    assert steps_noted(home.journal) == ["begin", "consent"]


def test_without_pyarrow_it_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "kafka_unclean_recovery.salvage.parquet", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    flags = ("--all-offline-partitions", "--automated-recovery")
    done = tool("127.0.0.1:1", None, *flags, "--salvage-dir", str(tmp_path / "saved"))
    assert done.code == 2
    assert "pip install 'kafka-unclean-recovery[salvage]'" in done.stderr
    assert "or give --raw-only for the segment files alone" in done.stderr


def test_raw_it_needs_no_pyarrow_and_saves_the_same_batches(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "kafka_unclean_recovery.salvage.parquet", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = home.elect("--raw-only", *PATIENT)
    assert (done.code, outcomes(done)) == (0, dict.fromkeys(LOSERS, ELECTED))
    assert f"saved in {home.saved}: 900 records of 3 live replicas" in done.stderr
    assert {p.name for p in home.saved.iterdir()} == {"manifest.json", "segments"}
    for row in home.manifest["replicas"]:
        assert (row["records_file"], row["records"], row["problems"]) == (None, None, [])
        saved = b"".join((home.saved / each["file"]).read_bytes() for each in row["segments"])
        values = tail(row["partition"])
        assert [value for value in values if value not in saved] == []


def test_what_was_saved_is_reported_though_all_brokers_died_since(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill_all(*_: object) -> None:
        for broker in (1, 3, 4):
            home.cluster.kill(broker)

    monkeypatch.setattr(live_salvaging, "_tell", kill_all)
    done = home.elect()
    assert done.code == 1
    for outcome, reason in outcomes(done).values():
        assert outcome == "failed"
        assert reason is not None
        assert reason.startswith(
            "its election was not begun: after saving it could not be looked at again: "
        )
    assert {p: home.values(p) for p in LOSERS} == {p: tail(p) for p in LOSERS}
    assert [line["event"] for line in home.journal if line["event"] in REORDERED] == []
