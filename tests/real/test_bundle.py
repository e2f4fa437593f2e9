"""The archive of a real outage has what real brokers tell, configs included."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import RECOVERY, invoke
from tests.cli.test_emulator import running
from tests.cli.test_rehearsal import elected, rehearsed, said_so_far, told
from tests.real.cluster import KafkaCluster
from tests.real.outages import Outage, stale_tail


def test_an_archive_of_a_real_outage_lacks_nothing(
    restored: Callable[[Outage], KafkaCluster], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    cluster = restored(stale_tail())
    servers = ",".join(map(cluster.address, cluster.live_brokers))
    path = tmp_path / "ticket.tar.gz"
    flags = ("--recovery-duration-ms", "2000", "--output", str(path))
    done = invoke(RECOVERY, "bundle", "--bootstrap-server", servers, *flags)
    assert done.code == 0, done.stderr
    told: dict[str, Any] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            told[member.name] = json.load(content)
    assert told["index.json"]["lacking"] == []
    (plan,) = told["plan.json"]["partitions"]
    assert plan["designated_leader"] == 4
    (topic,) = told["index.json"]["topics"]
    assert topic["topic"] == plan["topic"]
    assert topic["configs"]
    assert all(config["value"] is not None for config in topic["configs"])


def test_what_was_rehearsed_on_its_twin_is_what_the_real_election_does(
    restored: Callable[[Outage], KafkaCluster], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    cluster = restored(stale_tail())
    servers = ",".join(map(cluster.address, cluster.live_brokers))
    path = str(tmp_path / "ticket.tar.gz")
    done = invoke(RECOVERY, "bundle", "--bootstrap-server", servers, "--output", path)
    assert done.code == 0, done.stderr
    with running("--from-bundle", path, "--data-dir", str(tmp_path / "twin")) as twin:
        words, env = rehearsed(said_so_far(twin))
        there = elected(words, env)
        assert there.code == 0, there.stderr
    here = elected(["--bootstrap-server", servers, *words[2:]], {})
    assert here.code == 0, here.stderr
    assert told(here) == told(there)
    (row,) = told(here)
    assert row[3] == 4
    assert row[4]["certain"] > 0
