"""Bad input: exit 2, a sentence that names the flag or the entry, nothing asked of any cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.disks import info, log_directory, partition, replica_log, write_info
from tests.cli.run import ELECTION, NOWHERE, RECOVERY, run


@pytest.fixture
def partitions(tmp_path: Path) -> str:
    path = tmp_path / "partitions.json"
    path.write_text('{"partitions": [{"topic": "foo", "partition": 0}]}')
    return str(path)


ALL = "--all-offline-partitions"
SHOW = "--show-replica-info"


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (f"{SHOW}", "--all-offline-partitions and --path-to-json-file"),
        (f"{ALL}", "at least one of --show-replica-info"),
        (
            f"{ALL} --automated-recovery --manual-recovery-output-file /nowhere/new.json",
            "exclude each other",
        ),
        (f"{ALL} --path-to-json-file x {SHOW}", "exactly one of"),
        (f"--path-to-json-file /nowhere/x {SHOW}", "/nowhere/x"),
        (f"{ALL} --manual-recovery-output-file /nowhere/x", "/nowhere"),
        (f"{ALL} {SHOW} --wait-for-brokers 1,x", "--wait-for-brokers 1,x"),
        (f"{ALL} {SHOW} --recovery-duration-ms 0", "--recovery-duration-ms"),
        (f"{ALL} {SHOW} --command-config /nowhere/c.properties", "/nowhere/c.properties"),
        (f"{ALL} {SHOW} --bootstrap-server nonsense", "nonsense"),
        (f"{ALL} {SHOW} --transport carrier-pigeon", "--transport"),
        (f"{ALL} {SHOW} --election-method guess", "--election-method"),
        (f"{ALL} {SHOW} --replica-log-info-dialect 93", "--replica-log-info-dialect"),
        (
            f"{ALL} {SHOW} --transport list-offsets --replica-log-info-dialect kip-966",
            "exclude each other",
        ),
        ("--resume /nowhere/journal", "/nowhere/journal"),
        ("--resume x --automated-recovery", "--resume stands alone"),
        ("--all-ofline-partitions", "--all-ofline-partitions"),
    ],
)
def test_recovery_says_what_is_wrong(flags: str, says: str) -> None:
    done = run(RECOVERY, *NOWHERE, *flags.split())
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("", "--bootstrap-server"),
        ("--bootstrap-server nonsense", "nonsense"),
        ("--bootstrap-server h:1 --timeout-ms 0", "--timeout-ms"),
        ("--bootstrap-server h:1 --salvage-dir /nowhere/x", "/nowhere/x: lies in no directory"),
        ("--bootstrap-server h:1 --command-config /nowhere/c", "/nowhere/c"),
        (
            "--bootstrap-server h:1 --transport list-offsets --replica-log-info-dialect kip-966",
            "exclude each other",
        ),
    ],
)
def test_doctor_says_what_is_wrong(flags: str, says: str) -> None:
    done = run(RECOVERY, "doctor", *flags.split())
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert says in done.stderr


def test_the_bootstrap_server_is_required() -> None:
    done = run(RECOVERY, ALL, SHOW)
    assert done.returncode == 2
    assert "Error: Missing option '--bootstrap-server'." in done.stderr


def test_an_output_file_is_never_overwritten(tmp_path: Path, partitions: str) -> None:
    there = tmp_path / "there.json"
    there.write_text("mine")
    for flag in ("--manual-recovery-output-file", "--plan-output-file"):
        done = run(
            RECOVERY,
            *NOWHERE,
            "--path-to-json-file",
            partitions,
            "--show-replica-info",
            flag,
            str(there),
        )
        assert done.returncode == 2
        assert f"{flag} {there}" in done.stderr
    assert there.read_text() == "mine"


def test_a_bad_entry_of_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"partitions": [{"topic": "foo", "partition": 0}, {"topic": "foo"}]}')
    done = run(RECOVERY, *NOWHERE, "--path-to-json-file", str(path), "--show-replica-info")
    assert done.returncode == 2
    assert "partitions[1]" in done.stderr


def test_nobody_there_is_exit_3_with_the_reason(tmp_path: Path) -> None:
    done = run(RECOVERY, *NOWHERE, "--all-offline-partitions", "--show-replica-info")
    assert done.returncode == 3
    assert "127.0.0.1:1" in done.stderr
    assert "refused" in done.stderr


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--election-type preferred", "exactly one of"),
        ("--election-type unclean --topic foo", "go together"),
        ("--election-type bold --all-topic-partitions", "--election-type"),
        ("--election-type designated --all-topic-partitions", "designated"),
        (
            "--election-type unclean --all-topic-partitions --election-method designated",
            "go with --election-type designated",
        ),
        (
            "--election-type unclean --topic foo --partition 0 --all-topic-partitions",
            "exactly one of",
        ),
    ],
)
def test_election_says_what_is_wrong(flags: str, says: str) -> None:
    done = run(ELECTION, *NOWHERE, *flags.split())
    assert done.returncode == 2, done.stderr
    assert says in done.stderr


def test_a_designated_election_needs_designated_leaders(partitions: str) -> None:
    args = ("--election-type", "DESIGNATED", "--path-to-json-file", partitions)
    done = run(ELECTION, *NOWHERE, *args)
    assert done.returncode == 2
    assert "foo-0 has no designatedLeader" in done.stderr


@pytest.mark.parametrize("module", [RECOVERY, ELECTION])
def test_version_and_help_are_artefacts(module: str) -> None:
    for flag in ("--version", "--help"):
        done = run(module, flag)
        assert (done.returncode, done.stderr) == (0, "")
        assert "kafka-" in done.stdout


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a log directory and all that can be mistaken for one, or for a file."""
    log_directory(tmp_path / "disk", 1, {"orders-0": 5})
    log_directory(tmp_path / "nameless", 1, {"orders-0": 5}, cluster=None)
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain").write_text("text")
    (tmp_path / "latin.json").write_bytes(b"\xe9")
    (tmp_path / "broken.json").write_text('{"partitions": [')
    (tmp_path / "there.json").write_text("mine")
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(2 << 30)
    scan = info(partition(0, replica_log(1, 5), replica_log(2, 7)))
    write_info(tmp_path / "info.json", scan)
    write_info(tmp_path / "other.json", info(partition(0, replica_log(3, 5)), cluster_id="c2"))
    (tmp_path / "plan.json").write_text('{"kind": "plan", "format_version": 1}')
    return tmp_path


def _tree(place: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of everything, by name."""
    found = ((str(p), p.stat()) for p in place.rglob("*"))
    return {name: (status.st_size, status.st_mtime_ns) for name, status in found}


def _refused(place: Path, command: str, says: str) -> None:
    before = _tree(place)
    done = run(RECOVERY, *command.split(), cwd=place)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert _tree(place) == before


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("", "Missing argument 'DIR'"),
        ("nowhere", "nowhere: no log directory"),
        ("disk nowhere", "nowhere: no log directory"),
        ("empty", "empty: no log directory"),
        ("plain", "plain: no log directory"),
        ("fifo", "fifo: no log directory"),
        ("disk --mode quick", "'--mode'"),
        ("disk --workers 0", "'--workers'"),
        ("disk --workers many", "'--workers'"),
        ("disk --format xml", "'--format'"),
        ("disk --topics foo(", "--topics foo(: no regular expression of Python's re: missing ),"),
        ("disk --topics ab*c(d", "unterminated subpattern at character 5"),
        ("disk --topics [[:alpha:]]+", "Possible nested set"),
        ("disk --topics a{99999999999}", "--topics a{99999999999}: no regular expression"),
        ("disk --path-to-json-file nowhere.json", "--path-to-json-file nowhere.json: No such file"),
        ("disk --path-to-json-file fifo", "--path-to-json-file fifo: not a plain file"),
        ("disk --path-to-json-file disk", "--path-to-json-file disk: Is a directory"),
        ("disk --path-to-json-file /dev/null", "/dev/null: not a plain file"),
        ("disk --path-to-json-file latin.json", "--path-to-json-file latin.json: not UTF-8"),
        ("disk --path-to-json-file broken.json", "broken.json: line 1 column"),
        ("disk --path-to-json-file huge.json", "2147483648 bytes is too large"),
        ("disk --output there.json", "--output there.json: the file exists"),
        ("disk --output fifo", "--output fifo: the file exists"),
        ("disk --output nowhere/new.json", "nowhere is no directory"),
        ("disk --output plain/new.json", "--output plain/new.json: Not a directory"),
        (f"disk --output {'n' * 300}", "File name too long"),
        ("disk --output disk/new.json", "lies in log directory"),
        ("disk --output disk/orders-0/new.json", "lies in log directory"),
        ("disk --output empty/../disk/new.json", "lies in log directory"),
        ("disk --output", "'--output' requires an argument"),
        ("disk --bootstrap-server 127.0.0.1:1", "No such option: --bootstrap-server"),
    ],
)
def test_a_scan_says_what_is_wrong(place: Path, args: str, says: str) -> None:
    _refused(place, f"scan-log-dirs {args}", says)


NEW = "--manual-recovery-output-file new.json"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("--log-dirs disk", "Missing option '--manual-recovery-output-file'"),
        (NEW, "give at least one of --replica-info-file and --log-dirs"),
        (f"{NEW} disk", "unexpected extra argument"),
        (f"{NEW} --log-dirs nowhere", "nowhere: no log directory"),
        (f"{NEW} --log-dirs disk --log-dirs empty", "empty: no log directory"),
        (f"{NEW} --replica-info-file nowhere.json", "--replica-info-file nowhere.json: No such"),
        (f"{NEW} --replica-info-file fifo", "--replica-info-file fifo: not a plain file"),
        (f"{NEW} --replica-info-file disk", "--replica-info-file disk: Is a directory"),
        (f"{NEW} --replica-info-file huge.json", "2147483648 bytes is too large"),
        (f"{NEW} --replica-info-file latin.json", "--replica-info-file latin.json: not UTF-8"),
        (f"{NEW} --replica-info-file broken.json", "broken.json: line 1 column"),
        (f"{NEW} --replica-info-file plan.json", 'plan.json: kind: is not "replica-info"'),
        (
            f"{NEW} --replica-info-file info.json --replica-info-file other.json",
            "info.json is of cluster c1, other.json of cluster c2",
        ),
        (f"{NEW} --replica-info-file info.json --exclude-brokers 1;2", "as in 1,2"),
        (f"{NEW} --replica-info-file info.json --exclude-brokers 1,", "as in 1,2"),
        (
            f"{NEW} --replica-info-file info.json --exclude-brokers 1,12",
            "broker 12 appears nowhere in what was read; brokers that do: 1, 2",
        ),
        (f"{NEW} --replica-info-file info.json --mode quick", "'--mode'"),
        (f"{NEW} --replica-info-file info.json --topics (", "at character 1"),
        (f"{NEW} --replica-info-file info.json --path-to-json-file fifo", "not a plain file"),
        (
            "--replica-info-file info.json --manual-recovery-output-file there.json",
            "--manual-recovery-output-file there.json: the file exists",
        ),
        (
            f"{NEW} --replica-info-file info.json --plan-output-file there.json",
            "--plan-output-file there.json: the file exists",
        ),
        (f"{NEW} --replica-info-file info.json --plan-output-file new.json", "the same file"),
        (f"{NEW} --log-dirs disk --plan-output-file disk/p.json", "lies in log directory"),
        (f"{NEW} --log-dirs nameless --plan-output-file p.json", "--plan-output-file needs the id"),
        (f"{NEW} --log-dirs nameless --format json", "--format json needs the id of the cluster"),
        (f"{NEW} --replica-info-file info.json --yes", "No such option: --yes"),
    ],
)
def test_a_plan_from_disks_says_what_is_wrong(place: Path, args: str, says: str) -> None:
    _refused(place, f"plan {args}", says)


ELECTING = f"{' '.join(NOWHERE)} {ALL} {SHOW}"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("scan-log-dir disk", "No such command 'scan-log-dir'"),
        (f"{ELECTING} disk", "No such command 'disk'"),
        ("--format json scan-log-dirs disk", f"--format goes after the command: {'{}'} --format"),
        (f"--yes plan {NEW}", "--yes is no flag of plan; it goes with"),
        (f"{ELECTING} plan {NEW}", "--bootstrap-server is no flag of plan"),
        (f"--log-dirs disk plan {NEW}", "--log-dirs goes after the command"),
        (f"{ELECTING} --log-dirs nowhere", "nowhere: no log directory"),
        (f"{ELECTING} --log-dirs fifo", "fifo: no log directory"),
        (f"{ELECTING} --log-dirs", "'--log-dirs' requires an argument"),
        (f"{ELECTING} --replica-info-file nowhere.json", "--replica-info-file nowhere.json: No"),
        (f"{ELECTING} --replica-info-file fifo", "--replica-info-file fifo: not a plain file"),
        (f"{ELECTING} --replica-info-file plan.json", 'kind: is not "replica-info"'),
        (f"{ELECTING} --log-dirs disk --replica-info-file other.json", "of cluster c1"),
        (f"{ELECTING} --log-dirs disk --plan-output-file disk/p.json", "lies in log directory"),
        (f"{ELECTING} --log-dirs disk --journal disk/journal", "lies in log directory"),
        (f"{ELECTING} --log-dirs nowhere --bootstrap-server nonsense", "nonsense"),
        (f"{' '.join(NOWHERE)} --resume there.json --log-dirs disk", "--resume stands alone"),
    ],
)
def test_recovery_with_disks_says_what_is_wrong(place: Path, args: str, says: str) -> None:
    _refused(place, args, says.format("kafka-unclean-recovery scan-log-dirs"))


def test_disks_are_read_before_any_broker_is_asked(place: Path) -> None:
    done = run(RECOVERY, *ELECTING.split(), "--log-dirs", "disk", cwd=place)
    assert done.returncode == 3, done.stderr
    assert "127.0.0.1:1" in done.stderr


def test_help_lists_the_commands() -> None:
    listed = run(RECOVERY, "--help").stdout
    for name in ("scan-log-dirs", "plan"):
        assert f"\n  {name} " in listed
        done = run(RECOVERY, name, "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert f"kafka-unclean-recovery {name} [OPTIONS]" in done.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "it tells of no election"),
        ('{"v": 1, "event": "begin", "cluster_id": "c"}\n', "it tells of no election"),
        ("nonsense\n", "line 1: not a line of a journal"),
        ('{"v": 2, "event": "begin"}\n', "journal version 2"),
        (
            '{"v": 1, "event": "begin", "cluster_id": "c"}\n{"v": 1, "event": "elect"}\n',
            "not as it",
        ),
        ('{"v": 1, "event": "begin", "cluster_id": ["c"]}\n', "not as it was written"),
    ],
)
def test_aftercare_refuses_what_is_no_journal(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(content)
    done = run(RECOVERY, "aftercare", *NOWHERE, "--journal", str(path))
    assert done.returncode == 2, done.stderr
    assert f"--journal {path}" in done.stderr
    assert says in done.stderr
    assert path.read_text() == content


@pytest.mark.parametrize(
    ("flags", "code", "says"),
    [
        ("--journal /nowhere/j", 2, "--journal /nowhere/j"),
        ("--journal x --path-to-json-file y", 2, "exclude each other"),
        ("--topics (", 2, "--topics ("),
        ("--watch-duration-ms 5", 2, "goes with --watch"),
        ("--watch --watch-duration-ms 0", 2, "--watch-duration-ms"),
        ("--command-config /nowhere/c", 2, "/nowhere/c"),
        ("", 3, "no broker could be reached"),
    ],
)
def test_aftercare_says_what_is_wrong(flags: str, code: int, says: str) -> None:
    done = run(RECOVERY, "aftercare", *NOWHERE, *flags.split())
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert says in done.stderr
