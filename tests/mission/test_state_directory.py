"""Where a run keeps what it must not lose, and who else may have a hand in that."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.journal_lines import (
    JournalError,
    half_done,
    parse,
    unfinished,
)
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.listener.intercepts import Delay, Seen
from kafka_unclean_recovery.files import state_directory
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.files.private_files import why_not_ours
from tests.cli.in_process import RECOVERY, Done, invoke

REORDER = "AlterPartitionReassignments"
_AWAITED = 4.0
NO_LOCKS = [errno.ENOLCK, errno.EOPNOTSUPP]


@pytest.fixture
def cluster(stale: Cluster) -> Cluster:
    return stale


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory like /tmp, to a user without a home."""
    place = tmp_path / "tmp"
    place.mkdir()
    place.chmod(0o1777)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(state_directory, "_NO_HOME", str(place))
    return place


def _elect(cluster: Cluster, *flags: str) -> Done:
    where = ("--bootstrap-server", cluster.bootstrap_servers, "--all-offline-partitions")
    return invoke(RECOVERY, *where, *(flags or ("--automated-recovery",)))


def _led(cluster: Cluster) -> bool:
    leader = cluster.look(lambda e: e.state.partition(e.partition_key("orders", 0)).leader)
    return leader != -1


def _without_locks(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def flock(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.parametrize("number", NO_LOCKS, ids=errno.errorcode.get)
def test_a_file_system_without_locks_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As NFS without its lock service."""
    _without_locks(monkeypatch, number)
    with pytest.raises(JournalError, match=r"j\.jsonl: .* takes no lock.*; use a local disk"):
        Journal.open(tmp_path / "j.jsonl")


def test_nothing_is_elected_where_runs_can_not_be_kept_apart(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    _without_locks(monkeypatch, errno.ENOLCK)
    done = _elect(cluster)
    assert done.code == 2
    assert "takes no lock, as NFS without a lock service; use a local disk" in done.stderr
    assert "set XDG_STATE_HOME" in done.stderr
    assert not _led(cluster)


def test_who_only_looks_is_told_of_what_earlier_runs_left_and_of_what_can_not_be_read(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    directory = state_directory.state_directory(os.environ, cluster.look(lambda e: e.cluster_id))
    order = {"topic": "orders", "topic_id": "t", "partition": 0}
    with Journal.open(directory / "left.jsonl") as left:
        left.write("reorder", partitions=[order | {"original": [1, 2], "written": [2, 1]}])
    (directory / "strange.jsonl").write_text("{}\n")
    looked = _elect(cluster, "--show-replica-info")
    assert f"run with --resume {directory / 'left.jsonl'}" in looked.stderr
    (said,) = [line for line in looked.stderr.splitlines() if "strange.jsonl" in line]
    assert said.endswith("restore it: what that run left half done is not known")
    assert not _led(cluster)


def test_a_journal_of_another_cluster_is_not_gone_on_with(cluster: Cluster, tmp_path: Path) -> None:
    journal = tmp_path / "foreign.jsonl"
    with Journal.open(journal) as foreign:
        foreign.write("begin", cluster_id="another")
    before = journal.read_bytes()
    done = _elect(cluster, "--automated-recovery", "--journal", str(journal))
    assert done.code == 2
    assert f"{journal} belongs to cluster another, not to " in done.stderr
    assert journal.read_bytes() == before
    assert not _led(cluster)


@pytest.mark.parametrize("flag", ["--resume", "--journal"])
def test_a_journal_that_lost_its_first_lines_is_not_closed_by_a_run_on_some_cluster(
    cluster: Cluster, tmp_path: Path, flag: str
) -> None:
    """Its topics are not there where it is of another cluster, which looks as if they were gone."""
    path = tmp_path / "cut.jsonl"
    order = {"topic": "theirs", "topic_id": "t", "partition": 0}
    with Journal.open(path) as journal:
        journal.write("reorder", partitions=[order | {"original": [1, 2], "written": [2, 1]}])
        journal.note("settled")
    before = path.read_bytes()
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    if flag == "--resume":
        done = invoke(RECOVERY, *servers, flag, str(path))
    else:
        done = _elect(cluster, "--automated-recovery", flag, str(path))
    assert done.code == 2, done.stderr
    assert "which cluster it is of is not known, for its first lines are gone" in done.stderr
    assert path.read_bytes() == before
    assert not _led(cluster)


def test_without_a_home_a_directory_of_ours_alone_is_made(cluster: Cluster, shared: Path) -> None:
    done = _elect(cluster)
    assert done.code == 0, done.stderr
    made = [path for path in shared.rglob("*") if path.is_dir()]
    assert len(made) == 4
    assert {path.stat().st_mode & 0o777 for path in made} == {0o700}
    # And is used again.
    assert _elect(cluster).code == 0


def _linked(shared: Path, elsewhere: Path) -> None:
    (shared / ".local").symlink_to(elsewhere)


def _open_to_all(shared: Path, _: Path) -> None:
    (shared / ".local" / "state").mkdir(parents=True)
    (shared / ".local" / "state").chmod(0o777)


def _not_sticky(shared: Path, _: Path) -> None:
    shared.chmod(0o777)


@pytest.mark.parametrize(
    ("plant", "why"),
    [
        (_linked, ".local is no directory, or a link to one"),
        (_open_to_all, ".local/state can be written to by others"),
        (_not_sticky, "others can replace what lies in"),
    ],
)
def test_a_directory_that_somebody_else_prepared_is_not_used(
    cluster: Cluster, shared: Path, tmp_path: Path, plant: Any, why: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    plant(shared, elsewhere)
    done = _elect(cluster)
    assert done.code == 2
    assert why in done.stderr
    assert "set XDG_STATE_HOME, or HOME, to a directory of your own" in done.stderr
    assert list(elsewhere.iterdir()) == []
    assert not _led(cluster)
    # Nor is anybody sent to a journal there.
    looked = _elect(cluster, "--show-replica-info")
    assert "what an earlier run left is not known: " in looked.stderr
    assert why in looked.stderr
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    assert why in invoke(RECOVERY, "doctor", *where).stdout


def test_a_directory_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "state").mkdir(mode=0o700)
    assert why_not_ours(tmp_path / "state" / "new", below=tmp_path) is None
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    told = why_not_ours(tmp_path / "state" / "new", below=tmp_path)
    assert told == f"{tmp_path / 'state'} belongs to another user"


def test_a_planted_link_is_not_followed_by_what_becomes_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name can't be known before; and if it were."""
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f".run.prom.{bytes(8).hex()}.partial").symlink_to(victim)
    nowhere = ("--bootstrap-server", "127.0.0.1:1", "--all-offline-partitions")
    how = ("--show-replica-info", "--metrics-file", "run.prom")
    done = invoke(RECOVERY, *nowhere, *how, cwd=tmp_path)
    assert (done.code, victim.read_text()) == (3, "mine")
    assert "--metrics-file run.prom: File exists" in done.stderr


def _remove_at(cluster: Cluster, api: str, home: Path) -> list[str]:
    """Remove the state directory when a request of this kind has come. Return what the journal has
    at each later order, as the next run would find it if this one died then."""
    found: list[str] = []
    come: list[str] = []

    def see(seen: Seen) -> None:
        if seen.api == REORDER:
            found.extend(path.read_text() for path in home.rglob("*.jsonl"))
        if seen.api == api and seen.api not in come:
            shutil.rmtree(home)
        come.append(seen.api)

    for each in (REORDER, "ElectLeaders"):
        cluster.intercept(each, see)
    return found


@pytest.fixture
def shuffled() -> Iterator[Cluster]:
    """Yield a cluster: broker 1 is dead; 3 holds more than 2, which comes first in the order."""
    with Cluster(Options(brokers=3, settings=Settings(session_timeout=60.0))) as running:
        configs = {"min.insync.replicas": "1"}
        running.create_topic("orders", assignment=[[1, 2, 3]], configs=configs)
        for broker in (2, 3, 1):
            running.produce("orders", 0, 10)
            running.kill(broker)
            running.fence(broker)
        running.start(2)
        running.start(3)
        yield running


@pytest.mark.parametrize(("api", "led"), [(REORDER, False), ("ElectLeaders", True)])
def test_a_run_whose_journal_was_removed_begins_nothing_more_and_leaves_word_of_its_orders(
    shuffled: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str, led: bool
) -> None:
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    found = _remove_at(shuffled, api, home)
    done = _elect(shuffled)
    assert done.code == 1
    assert "somebody removed it" in done.stderr
    assert _led(shuffled) is led
    assert shuffled.partition("orders", 0).replicas == (1, 2, 3)
    assert len(unfinished(parse(found[-1], "as the next run finds it"))) == 1
    (journal,) = home.rglob("*.jsonl")
    assert not half_done(parse(journal.read_text(), "in the end"))


def test_a_journal_that_was_removed_is_there_again_while_an_answer_is_awaited(
    shuffled: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    found: list[str] = []

    def remove(_: Seen) -> Delay:
        shutil.rmtree(home)
        threading.Thread(target=read).start()
        return Delay(_AWAITED)

    def read() -> None:
        deadline = time.monotonic() + _AWAITED
        while not found and time.monotonic() < deadline:
            found.extend(text for path in home.rglob("*.jsonl") if (text := path.read_text()))
            time.sleep(0.02)

    shuffled.intercept("ElectLeaders", remove)
    assert _elect(shuffled).code == 1
    assert len(unfinished(parse(found[0][: found[0].rfind("\n") + 1], "meanwhile"))) == 1
