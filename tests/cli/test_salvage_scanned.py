"""salvage with what an earlier scan said: what is read again, where, and what is not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema
import pytest

from kafka_unclean_recovery.cli.command import carry_out
from kafka_unclean_recovery.cli.commands.salvage import Options
from kafka_unclean_recovery.cli.commands.salvage_work import save
from kafka_unclean_recovery.documents.replica_info import replica_info_json
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from tests.cli.test_salvage import SCHEMA, Done
from tests.log_dir.replica_directories import text_of
from tests.salvage.batches import numbered
from tests.salvage.disks import disk, plan_text

SAME, MORE = numbered(0, 10), numbered(0, 10) + numbered(10, 5)


@dataclass(frozen=True)
class Home:
    """Broker 1 holds five records beyond the plan's leader, broker 3 none; info.json says so."""

    directory: Path
    capture: pytest.CaptureFixture[str]

    def scan(self, mode: ScanMode = ScanMode.RECOVER) -> None:
        info = scan_log_directories([LocalLocation(Path("disks"))], mode=mode)
        Path("info.json").write_text(replica_info_json(info))

    def change(self, how: Callable[[Any, Any], object]) -> None:
        """Change the scan. how: is given the file, and what it says of broker 3's replica."""
        document = json.loads(Path("info.json").read_text())
        logs = {log["broker"]: log for log in document["partitions"][0]["replica_logs"]}
        how(document, logs[3])
        Path("info.json").write_text(json.dumps(document))

    def salvage(self, *log_dirs: str) -> Done:
        options = Options(
            log_dirs=list(map(Path, log_dirs)),
            replica_info_file=[Path("info.json")],
            plan=Path("plan.json"),
            output=Path("saved"),
        )
        self.capture.readouterr()
        return Done(carry_out(save, options), *self.capture.readouterr())

    @property
    def rows(self) -> dict[int, Any]:
        manifest = json.loads(Path("saved/manifest.json").read_text())
        jsonschema.validate(manifest, json.loads(SCHEMA.read_text()))
        return {row["broker"]: row for row in manifest["replicas"]}

    @property
    def was_read(self) -> set[int]:
        return {broker for broker, row in self.rows.items() if row["scanned_at"] is None}


@pytest.fixture
def home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Home:
    monkeypatch.chdir(tmp_path)
    for broker, log in ((1, MORE), (2, SAME), (3, SAME)):
        disk(Path("disks"), {0: log}, broker=broker)
    Path("plan.json").write_text(plan_text())
    home = Home(tmp_path, capsys)
    home.scan()
    return home


def test_without_log_dirs_what_holds_more_is_read_where_the_scan_found_it(home: Home) -> None:
    # What was not to be read can be gone.
    shutil.rmtree("disks/broker-3")
    done = home.salvage()
    assert done.code == 0, done
    assert home.was_read == {1}
    assert home.rows[1]["records"] == 5
    spared = home.rows[3]
    assert (spared["lost"], spared["segments"], spared["problems"]) == ([], [], [])
    assert spared["log"]["log_end_offset"] == 10
    assert "1 replica of 2 held more" in done.stdout


def test_with_log_dirs_what_holds_nothing_more_is_not_read_again(home: Home) -> None:
    damaged = Path("disks/broker-3/orders-0") / f"{0:020}.log"
    damaged.write_bytes(b"\xff" * 200)
    assert home.salvage("disks").code == 0
    assert home.was_read == {1}


def test_a_replica_that_no_scan_knew_is_read(home: Home) -> None:
    home.change(lambda document, log: document["partitions"][0]["replica_logs"].remove(log))
    assert home.salvage("disks").code == 0
    assert home.was_read == {1, 3}


@pytest.mark.parametrize(("same", "read"), [(True, {1}), (False, {1, 3})])
def test_the_id_of_a_log_directory_tells_it_wherever_it_is(
    home: Home, same: bool, read: set[int]
) -> None:
    def identified(number: int) -> None:
        meta = Path("disks/broker-3/meta.properties")
        lines = [line for line in meta.read_text().splitlines() if "directory" not in line]
        meta.write_text("\n".join([*lines, f"directory.id={text_of(UUID(int=number))}\n"]))

    identified(1 << 90)
    home.scan()
    identified((1 << 90) + (0 if same else 1))
    Path("disks").rename("elsewhere")
    assert home.salvage("elsewhere").code == 0
    assert home.was_read == read


def test_without_ids_a_directory_elsewhere_is_another(home: Home) -> None:
    Path("disks").rename("elsewhere")
    assert home.salvage("elsewhere").code == 0
    assert home.was_read == {1, 3}


def _beyond(_: Any, log: Any) -> None:
    log.update(log_end_offset=12)
    log["epochs"][0]["end_offset"] = 12


def _found(code: str) -> Callable[[Any, Any], None]:
    finding = {"code": code, "severity": "unknown", "message": "look"}
    return lambda document, _: document["partitions"][0]["findings"].append(finding)


@pytest.mark.parametrize(
    "how",
    [
        _beyond,
        lambda _, log: log.update(problem="unreadable"),
        lambda _, log: log.update(suspect="a flipped bit", certain_end_offset=3),
        lambda _, log: log.update(epochs=None),
        lambda _, log: log["scanned"].update(damage="torn"),
        lambda _, log: log["scanned"].update(mode="fast"),
        lambda _, log: log["scanned"].update(topic_id=str(UUID(int=9))),
        lambda _, log: log.update(scanned=None, source="x"),
        _found("replica_in_two_directories"),
        _found("replica_scanned_twice"),
    ],
)
def test_what_a_scan_is_not_sure_of_is_read(home: Home, how: Callable[[Any, Any], object]) -> None:
    home.change(how)
    home.salvage("disks")
    assert 3 in home.was_read
    assert home.rows[3]["lost"] == []


@pytest.mark.parametrize("log_dirs", [(), ("disks/broker-3",)])
def test_what_holds_more_and_is_not_here_is_a_problem(home: Home, log_dirs: tuple[str]) -> None:
    shutil.rmtree("disks/broker-1")
    done = home.salvage(*log_dirs)
    assert done.code == 1
    assert "orders-0 of broker 1: not read: the scan of " in done.stderr
    assert "found it in disks/broker-1/orders-0" in done.stderr
    assert (home.rows[1]["lost"], home.rows[1]["segments"]) == (None, [])


@pytest.mark.parametrize(
    "where", ["another broker", "another cluster", "no log directory", "above"]
)
def test_a_scan_leads_to_log_directories_of_its_brokers_and_nowhere_else(
    home: Home, where: str
) -> None:
    meta = Path("disks/broker-1/meta.properties")
    if where == "another broker":
        meta.write_text(meta.read_text().replace("node.id=1", "node.id=7"))
    elif where == "another cluster":
        meta.write_text(meta.read_text().replace("cluster.id=c1", "cluster.id=c2"))
    elif where == "no log directory":
        meta.unlink()
    else:
        # Below it there are log directories.
        text = Path("info.json").read_text()
        Path("info.json").write_text(text.replace("disks/broker-1/orders-0", "disks/orders-0"))
    done = home.salvage()
    assert done.code == 1
    assert "orders-0 of broker 1: not read: " in done.stderr
    assert (home.rows[1]["lost"], home.rows[1]["segments"]) == (None, [])


def test_a_scan_that_was_interrupted_is_a_problem(home: Home) -> None:
    home.change(lambda document, _: document.update(interrupted=True))
    done = home.salvage("disks")
    assert done.code == 1
    assert "its scan was interrupted, so replicas are missing" in done.stderr


def test_a_scan_of_another_cluster_is_refused(home: Home) -> None:
    home.change(lambda document, _: document.update(cluster_id="c2"))
    done = home.salvage("disks")
    assert (done.code, done.stdout) == (2, "")
    assert "the scans are of cluster c2, the plan of cluster c1" in done.stderr
    assert not Path("saved").exists()
