"""--cluster NAME: one file of clusters, and no way for a name to lead to another one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.clusters import NamedCluster, clusters_file, named_clusters
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.errors import Exit
from tests.cli.in_process import ELECTION, RECOVERY, Done, invoke
from tests.emulator.losing import lose_the_longer_log

SERVERS, CLIENT = "KAFKA_UNCLEAN_RECOVERY_BOOTSTRAP_SERVER", "KAFKA_UNCLEAN_RECOVERY_COMMAND_CONFIG"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = clusters_file(os.environ)
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def prod(written: Path) -> Iterator[Cluster]:
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2)])
        (written.parent / "prod.properties").write_text("security.protocol=PLAINTEXT\n")
        written.write_text(
            f'[prod]\nbootstrap-server = "{cluster.bootstrap_servers}"\n'
            'command-config = "prod.properties"\n[test]\nbootstrap-server = "127.0.0.1:1"\n'
        )
        yield cluster


def _doctor(*flags: str) -> Done:
    return invoke(RECOVERY, "doctor", *flags, "--format", "json")


def test_a_name_stands_for_the_servers_and_the_client_file(prod: Cluster, written: Path) -> None:
    done = _doctor("--cluster", "prod")
    assert done.code == 0, done.stderr
    assert json.loads(done.stdout)["cluster_id"] == prod.look(lambda e: e.cluster_id)
    (written.parent / "prod.properties").unlink()
    done = _doctor("--cluster", "prod")
    assert done.code == 2
    assert str(written.parent / "prod.properties") in done.stderr


def test_every_way_into_a_cluster_takes_it(prod: Cluster) -> None:
    look = ("--all-offline-partitions", "--show-replica-info")
    assert invoke(RECOVERY, "--cluster", "prod", *look).code == 0
    stop = ("--brokers", "1", "--format", "json")
    assert invoke(RECOVERY, "ok-to-stop", "--cluster", "prod", *stop).code in (0, 1)
    asked = ("--election-type", "preferred", "--all-topic-partitions")
    assert invoke(ELECTION, "--cluster", "prod", *asked).code == 0


def test_the_next_command_names_the_servers_whatever_the_file_says_then(prod: Cluster) -> None:
    lose_the_longer_log(prod, 10)
    look = ("--all-offline-partitions", "--show-replica-info")
    done = invoke(RECOVERY, "--cluster", "prod", *look)
    said = done.stderr.partition("next: ")[2]
    assert f"--bootstrap-server {prod.bootstrap_servers}" in said
    assert "--cluster" not in said


@pytest.mark.parametrize(
    ("flags", "variable", "says"),
    [
        (("--bootstrap-server", "127.0.0.1:1"), None, "it stands for --bootstrap-server too"),
        (("--command-config", "other"), None, "it stands for --command-config too"),
        ((), SERVERS, f"{SERVERS} is set, and may be of another: unset it"),
        ((), CLIENT, f"{CLIENT} is set, and may be of another: unset it"),
    ],
)
@pytest.mark.parametrize("name", ["prod", "test"])
def test_nothing_beside_it_may_name_a_cluster(
    prod: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    flags: tuple[str, ...],
    variable: str | None,
    says: str,
) -> None:
    """Also where the entry leaves it open: the client file of one cluster is not for another."""
    if variable is not None:
        monkeypatch.setenv(variable, prod.bootstrap_servers)
    done = _doctor("--cluster", name, *flags)
    assert (done.code, done.stdout) == (2, "")
    assert f"--cluster {name}: {says}" in done.stderr


def test_a_variable_names_it_too(prod: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_UNCLEAN_RECOVERY_CLUSTER", "prod")
    assert _doctor().code == 0
    done = _doctor("--bootstrap-server", "127.0.0.1:1")
    assert done.code == 2
    assert "it stands for --bootstrap-server too" in done.stderr


def test_a_name_that_is_not_there_is_told_with_those_that_are(prod: Cluster) -> None:
    done = _doctor("--cluster", "pord")
    assert done.code == 2
    assert "has no such cluster; it has prod, test" in done.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[prod\n", "(at line 1, column 6)"),
        ("prod = 1\n", "[prod]: write a table with bootstrap-server and command-config"),
        ("[prod]\n", '[prod]: write bootstrap-server = "HOST:PORT[,...]"'),
        ('[prod]\nbootstrap-server = ""\n', "[prod]: write bootstrap-server"),
        ('[prod]\nbootstrap-server = "b:1"\ncommand-config = 7\n', "write command-config"),
        ('[prod]\nbootstrap-server = "b:1"\npassword = "x"\n', "no key password; there are"),
    ],
)
def test_a_file_that_is_not_right_is_told_by_its_place(written: Path, text: str, says: str) -> None:
    written.write_text(text)
    with pytest.raises(Exit, match=r"^--cluster: ") as told:
        named_clusters(written)
    assert told.value.code == 2
    assert str(written) in str(told.value)
    assert says in str(told.value)


def test_what_is_no_file_of_text_is_refused(written: Path) -> None:
    with pytest.raises(Exit, match="no such file; write"):
        named_clusters(written)
    written.write_bytes(b"\xff\xfe")
    with pytest.raises(Exit, match="not UTF-8 text"):
        named_clusters(written)
    written.unlink()
    os.mkfifo(written)
    with pytest.raises(Exit, match=str(written)):
        named_clusters(written)


def test_a_client_file_lies_beside_it_or_where_its_path_says(written: Path) -> None:
    written.write_text(
        '[a]\nbootstrap-server = "b:1"\n'
        '[b]\nbootstrap-server = "b:1"\ncommand-config = "b.properties"\n'
        '[c]\nbootstrap-server = "b:1"\ncommand-config = "/etc/c.properties"\n'
    )
    assert named_clusters(written) == {
        "a": NamedCluster("b:1"),
        "b": NamedCluster("b:1", written.parent / "b.properties"),
        "c": NamedCluster("b:1", Path("/etc/c.properties")),
    }
