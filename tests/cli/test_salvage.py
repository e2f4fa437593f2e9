"""salvage, as a command: files, exit codes, and what is said."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import kafka_unclean_recovery
from kafka_unclean_recovery.cli.command import carry_out
from kafka_unclean_recovery.cli.commands.salvage import Options
from kafka_unclean_recovery.cli.commands.salvage_work import save
from kafka_unclean_recovery.cli.flags import Format
from tests.cli.run import RECOVERY, main_of
from tests.cli.run import run as run_process
from tests.salvage.batches import numbered
from tests.salvage.disks import disk, plan_text

SCHEMA = Path(kafka_unclean_recovery.__file__).parent / "schemas" / "salvage-1.schema.json"
WORDS = ("--log-dirs", "disks", "--plan", "plan.json", "--output", "saved")


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Home:
    """The working directory of a user with `disks` and `plan.json`."""

    directory: Path
    capture: pytest.CaptureFixture[str]

    @property
    def log(self) -> Path:
        return self.directory / "disks" / "broker-1" / "orders-0" / f"{0:020}.log"

    @property
    def manifest(self) -> Any:
        manifest = json.loads((self.directory / "saved" / "manifest.json").read_text())
        jsonschema.validate(manifest, json.loads(SCHEMA.read_text()))
        return manifest

    @property
    def saved(self) -> set[str]:
        """Return the files, by their paths in it."""
        root = self.directory / "saved"
        return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}

    @property
    def names(self) -> set[str]:
        return {path.name for path in self.directory.iterdir()}

    def salvage(self, **flags: Any) -> Done:
        plain = Options(log_dirs=[Path("disks")], plan=Path("plan.json"), output=Path("saved"))
        self.capture.readouterr()
        code = carry_out(save, replace(plain, **flags))
        return Done(code, *self.capture.readouterr())

    def process(self, before: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command in a process of its own, after some lines of Python."""
        argv = ["kafka-unclean-recovery", "salvage", *WORDS, *words]
        code = f"import sys; sys.argv = {argv!r}\n{before}\n{main_of(RECOVERY)}"
        return subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.directory,
            timeout=60,
        )


@pytest.fixture
def home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Home:
    """Return a home in which broker 1 holds five records beyond the plan's leader."""
    disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(10, 5)})
    (tmp_path / "plan.json").write_text(plan_text())
    monkeypatch.chdir(tmp_path)
    return Home(tmp_path, capsys)


def test_what_was_salvaged_is_on_stdout_and_on_disk(home: Home) -> None:
    done = run_process(RECOVERY, "salvage", *WORDS, cwd=home.directory)
    assert done.returncode == 0
    assert done.stderr == (
        "kafka-unclean-recovery: next, see what producing them again would do:"
        " kafka-unclean-recovery salvage replay saved --bootstrap-server BROKERS\n"
    )
    assert "0:[10,15)" in done.stdout
    assert "1 replica of 1 held more" in done.stdout
    (row,) = home.manifest["replicas"]
    assert row["segments"][0]["file"] == f"segments/orders-0/broker-1/{10:020}.log"
    assert row["records_file"] == "records/topic=orders/partition-0.broker-1.parquet"
    assert home.saved == {"manifest.json", row["segments"][0]["file"], row["records_file"]}


def test_json_is_the_manifest(home: Home) -> None:
    done = home.salvage(format=Format.JSON)
    assert done.code == 0, done
    assert json.loads(done.stdout) == home.manifest


def test_raw_only_writes_no_parquet(home: Home) -> None:
    assert home.salvage(raw_only=True).code == 0
    (row,) = home.manifest["replicas"]
    assert (row["records"], row["markers"], row["records_file"]) == (None, None, None)
    assert home.saved == {"manifest.json", row["segments"][0]["file"]}


def test_without_pyarrow_it_says_what_to_install_and_raw_only_works(home: Home) -> None:
    without = "sys.modules['pyarrow'] = None"
    done = home.process(without)
    assert done.returncode == 2
    assert "pip install 'kafka-unclean-recovery[salvage]', or give --raw-only" in done.stderr
    assert home.names == {"disks", "plan.json"}
    assert home.process(without, "--raw-only").returncode == 0
    assert home.manifest["replicas"][0]["segments"]


def test_what_is_in_doubt_is_exit_code_1_and_named(home: Home) -> None:
    home.log.write_bytes(home.log.read_bytes() + b"torn off")
    done = home.salvage()
    assert done.code == 1
    assert f"1 doubt about a replica: orders-0 of broker 1: {home.log.name} could" in done.stderr
    assert "doubt: orders-0 of broker 1:" in done.stdout
    (row,) = home.manifest["replicas"]
    assert (row["records"], len(row["problems"])) == (5, 1)


def test_disks_of_another_cluster_are_left_out(home: Home) -> None:
    disk(home.directory / "disks", {0: numbered(0, 20)}, broker=3, cluster="c2")
    done = home.salvage()
    assert done.code == 1
    assert "left out: it belongs to cluster c2, the plan to c1" in done.stderr
    assert [row["broker"] for row in home.manifest["replicas"]] == [1]


def test_partitions_that_were_asked_for_and_are_not_here_are_named(home: Home) -> None:
    asked = home.directory / "some.json"
    asked.write_text('{"partitions": [{"topic": "orders", "partitions": [0, 4]}]}')
    done = home.salvage(path_to_json_file=asked)
    assert done.code == 1
    assert "1 partition could not be salvaged: orders-4: not in the plan" in done.stderr
    assert len(home.manifest["replicas"]) == 1


def test_no_replica_at_all_is_no_success(home: Home) -> None:
    done = home.salvage(topics="other")
    assert done.code == 1
    assert "no replica here is of a partition of the plan" in done.stderr


def test_a_leader_chosen_by_hand_counts(home: Home) -> None:
    (home.directory / "plan.json").write_text(plan_text(leader_lives=False))
    assert home.salvage().code == 1
    chosen = {"partitions": [{"topic": "orders", "partition": 0, "designatedLeader": 2}]}
    manual = home.directory / "manual.json"
    manual.write_text(json.dumps(chosen))
    assert home.salvage(manual_recovery_file=manual, output=Path("again")).code == 0


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"plan": Path("none.json")}, "--plan none.json: No such file"),
        ({"plan": Path("broken.json")}, "broken.json: line 1"),
        ({"manual_recovery_file": Path("broken.json")}, "broken.json: line 1"),
        ({"output": Path("disks/broker-1/saved")}, "lies in log directory"),
        ({"output": Path("nowhere/saved")}, "is no directory"),
        ({"output": Path("disks")}, "disks: it exists and nothing is ever overwritten"),
        ({"log_dirs": (Path("empty"),)}, "no log directory here"),
        ({"topics": "("}, "--topics (: no regular expression"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    home: Home, flags: dict[str, Any], why: str
) -> None:
    (home.directory / "broken.json").write_text("{")
    (home.directory / "empty").mkdir()
    before = home.names
    done = home.salvage(**flags)
    assert (done.code, done.stdout) == (2, ""), done
    assert why in done.stderr
    assert home.names == before


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("--log-dirs disks --output saved", "Missing option '--plan'"),
        ("--log-dirs disks --plan plan.json", "Missing option '--output'"),
        ("--plan plan.json --output saved", "Missing option '--log-dirs' or '--replica-info-file'"),
        ("--plan plan.json replay saved", "--plan is no flag of replay"),
        ("--topics a replay saved", "--topics goes after the command"),
        ("--plan plan.json repaly", "No such command 'repaly'"),
        ("replay --bootstrap-server h:1", "Missing argument 'SAVED'"),
    ],
)
def test_usage_is_told(home: Home, args: str, says: str) -> None:
    done = run_process(RECOVERY, "salvage", *args.split(), cwd=home.directory)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert home.names == {"disks", "plan.json"}


def test_a_run_that_is_killed_half_way_leaves_no_directory_and_can_be_run_again(
    home: Home,
) -> None:
    killed = home.process(
        "import os, kafka_unclean_recovery.cli.commands.salvage_work as s\n"
        "s.write_manifest = lambda *_: os.kill(os.getpid(), 9)"
    )
    assert killed.returncode == -signal.SIGKILL
    assert home.names == {"disks", "plan.json", "saved.partial"}
    assert any((home.directory / "saved.partial").rglob("*.log"))
    done = home.salvage()
    assert done.code == 0, done
    assert home.manifest["replicas"][0]["records"] == 5
    assert home.names == {"disks", "plan.json", "saved"}


def test_a_signal_ends_it_with_its_code_and_nothing_whole(home: Home) -> None:
    done = home.process(
        "import os, kafka_unclean_recovery.salvage.parquet as p\n"
        "p.RecordsFile.close = lambda _: os.kill(os.getpid(), 15)"
    )
    assert (done.returncode, done.stdout) == (143, "")
    assert "what is in saved.partial is not whole; run it again" in done.stderr
    assert home.names == {"disks", "plan.json", "saved.partial"}


def test_a_disk_that_is_full_is_exit_code_1(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = home.salvage()
    assert done.code == 1
    assert "--output saved: No space left on device; what is in saved.partial" in done.stderr
    assert "saved" not in home.names
