"""An archive has what a cluster and this machine tell of an outage, says what it lacks, and has no
password."""

from __future__ import annotations

import hashlib
import itertools
import json
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Fail, Seen
from kafka_unclean_recovery.kafka_names import Errors
from tests.cli.in_process import RECOVERY, Done, invoke
from tests.emulator.losing import lose_the_longer_log
from tests.schemas import validated

PASSWORD = "not-to-be-seen"


@dataclass(frozen=True)
class Archive:
    files: dict[str, bytes]

    @property
    def index(self) -> Any:
        return validated(self.files["index.json"].decode())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def outage() -> Iterator[Cluster]:
    """Yield a cluster where orders-0 is offline: broker 1 died with records that 2 lacks."""
    with Cluster(Options(brokers=2)) as cluster:
        configs = {"min.insync.replicas": "1"}
        cluster.create_topic("orders", assignment=[(1, 2)], configs=configs)
        cluster.produce("orders", 0, 100)
        lose_the_longer_log(cluster, 500)
        yield cluster


def bundled(cluster: Cluster, *flags: str) -> Done:
    server = cluster.bootstrap_servers.split(",")[1]
    asked = ("--bootstrap-server", server, "--output", "ticket.tar.gz")
    return invoke(RECOVERY, "bundle", *asked, *flags)


def opened(path: Path) -> Archive:
    files = {}
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            assert member.mode == 0o600
            files[member.name] = content.read()
    assert list(files)[-1] == "index.json"
    return Archive(files)


def test_it_has_what_is_told_and_nothing_is_changed(outage: Cluster, home: Path) -> None:
    before = outage.status()
    done = bundled(outage)
    assert done.code == 0, done.stderr
    path = home / "ticket.tar.gz"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in home.iterdir() if p.name != "state"] == ["ticket.tar.gz"]
    archive = opened(path)
    assert {"doctor.json", "look.json", "plan.json"} <= archive.files.keys()
    for name in ("doctor.json", "look.json", "plan.json"):
        validated(archive.files[name].decode())
    (row,) = json.loads(archive.files["look.json"])["partitions"]
    assert (row["topic"], row["designated_leader"]) == ("orders", 2)
    assert outage.status() == before


def test_its_index_tells_each_file_and_the_configs_that_are_set(
    outage: Cluster, home: Path
) -> None:
    assert bundled(outage).code == 0
    archive = opened(home / "ticket.tar.gz")
    told = {each["name"]: each for each in archive.index["files"]}
    assert told.keys() == archive.files.keys() - {"index.json"}
    for name, each in told.items():
        digest = hashlib.sha256(archive.files[name]).hexdigest()
        assert (each["size"], each["digest"]) == (len(archive.files[name]), f"sha256:{digest}")
    (topic,) = archive.index["topics"]
    assert topic["topic"] == "orders"
    assert {"key": "min.insync.replicas", "value": "1"} in topic["configs"]


def test_journals_and_scans_are_in_it(outage: Cluster, home: Path) -> None:
    server = outage.bootstrap_servers.split(",")[1]
    elect = ("--all-offline-partitions", "--automated-recovery", "--accept-loss", "none")
    invoke(RECOVERY, "--bootstrap-server", server, *elect)
    (journal,) = (home / "state").rglob("*.jsonl")
    scan = home / "disk 1.json"
    scan.write_text("{}")
    assert bundled(outage, "--replica-info-file", str(scan)).code == 0
    archive = opened(home / "ticket.tar.gz")
    assert archive.files[f"journals/{journal.name}"] == journal.read_bytes()
    assert archive.files["scans/1-disk 1.json"] == b"{}"


def test_what_it_lacks_is_said_and_in_its_index(outage: Cluster, home: Path) -> None:
    outage.intercept("DescribeConfigs", Fail(Errors.TOPIC_AUTHORIZATION_FAILED), times=99)
    done = bundled(outage)
    assert done.code == 1
    assert "not in it: configs of topic orders: TOPIC_AUTHORIZATION_FAILED" in done.stderr
    lacking = {each["what"] for each in opened(home / "ticket.tar.gz").index["lacking"]}
    assert "configs of topic orders" in lacking


def test_what_a_look_could_not_see_is_lacking(outage: Cluster, home: Path) -> None:
    for api in ("DescribeTopicPartitions", "Metadata"):
        outage.intercept(api, Fail(Errors.UNKNOWN_SERVER_ERROR), times=10**6)
    assert bundled(outage).code == 1
    archive = opened(home / "ticket.tar.gz")
    problems = json.loads(archive.files["look.json"])["problems"]
    lacking = [row["why"] for row in archive.index["lacking"] if row["what"] == "part of the look"]
    assert problems
    assert lacking == problems


def test_where_a_look_fails_it_has_what_can_be_had(outage: Cluster, home: Path) -> None:
    outage.intercept("DescribeTopicPartitions", Fail(Errors.UNKNOWN_SERVER_ERROR), times=10**6)
    done = bundled(outage)
    assert done.code == 1
    archive = opened(home / "ticket.tar.gz")
    assert archive.files.keys() == {"doctor.json", "index.json"}
    (lacking,) = archive.index["lacking"]
    assert lacking["what"] == "look.json"
    assert f"not in it: look.json: {lacking['why']}" in done.stderr


def test_where_all_fails_it_says_so_and_has_its_index(outage: Cluster, home: Path) -> None:
    looks = itertools.count()

    def but_the_first(_: Seen) -> Fail | None:
        return Fail(Errors.UNKNOWN_SERVER_ERROR) if next(looks) else None

    outage.intercept("DescribeCluster", but_the_first, times=10**6)
    done = bundled(outage)
    assert done.code == 1, done
    archive = opened(home / "ticket.tar.gz")
    assert archive.files.keys() == {"index.json"}
    assert {each["what"] for each in archive.index["lacking"]} == {"doctor.json", "look.json"}
    assert "0 files and an index" in done.stderr


def test_no_password_is_in_it(outage: Cluster, home: Path) -> None:
    client = home / "client.properties"
    client.write_text(f"security.protocol=PLAINTEXT\nssl.key.password={PASSWORD}\n")
    assert bundled(outage, "--command-config", str(client)).code == 0
    archive = opened(home / "ticket.tar.gz")
    assert not any(PASSWORD.encode() in content for content in archive.files.values())


def test_a_file_that_is_there_is_left_as_it_is(outage: Cluster, home: Path) -> None:
    (home / "ticket.tar.gz").write_text("theirs")
    done = bundled(outage)
    assert done.code == 2
    assert "never overwritten" in done.stderr
    assert (home / "ticket.tar.gz").read_text() == "theirs"


def test_one_that_came_there_meanwhile_is_left_too(outage: Cluster, home: Path) -> None:
    def comes(_: Seen) -> None:
        (home / "ticket.tar.gz").write_text("theirs")

    outage.intercept("DescribeConfigs", comes, times=9)
    done = bundled(outage)
    assert done.code == 2, done
    assert (home / "ticket.tar.gz").read_text() == "theirs"
    assert [p.name for p in home.iterdir() if p.name != "state"] == ["ticket.tar.gz"]


def test_where_nobody_is_reached_nothing_is_left(home: Path) -> None:
    done = invoke(RECOVERY, "bundle", "--bootstrap-server", "127.0.0.1:1", "--output", "x.tar.gz")
    assert done.code == 3
    assert [p.name for p in home.iterdir() if p.name != "state"] == []
