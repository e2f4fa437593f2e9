"""What is foretold of a broker's start, by asking the others and by disks alone, is what the start
of an emulated broker then does."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Security
from kafka_unclean_recovery.emulator.control.status import partition_status
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import STOPPED
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.kafka_names import Errors
from tests.cli.in_process import RECOVERY, Done, invoke
from tests.schemas import validated

OWN, OTHER, THIRD = 1, 0, 2
HELD, MORE, NEW = 10, 5, 3


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: broker 0 leads `orders` with 10 records and 3 new ones; the disk of 1, which
    is dead, has 15 of it. Of the other topics it holds what their names say."""
    with Cluster(Options(brokers=3, first_broker=0)) as cluster:
        for topic in ("orders", "again", "gone"):
            cluster.create_topic(topic, assignment=[[OWN, OTHER]])
        cluster.create_topic("only", assignment=[[OWN]])
        for topic in ("orders", "again", "gone", "only"):
            cluster.produce(topic, 0, HELD)
        _lose(cluster, OTHER)
        cluster.produce("orders", 0, MORE)
        _lose(cluster, OWN)
        cluster.start(OTHER)
        cluster.elect_leaders("unclean", "orders", 0)
        cluster.produce("orders", 0, NEW)
        cluster.delete_topic("again")
        cluster.delete_topic("gone")
        cluster.create_topic("again", assignment=[[OWN, OTHER]])
        yield cluster


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _foretold(cluster: Cluster, home: Path, *flags: str) -> tuple[dict[str, Any], Done]:
    own = ("--log-dirs", str(cluster.log_directory(OWN)))
    done = invoke(RECOVERY, "before-start", *own, *flags, "--format", "json", cwd=home)
    document: dict[str, Any] = validated(done.stdout) if done.stdout else {}
    return document, done


def _live(cluster: Cluster) -> tuple[str, str]:
    return "--bootstrap-server", cluster.bootstrap_servers


def _back_in_sync(emulation: Emulation) -> bool:
    return set(partition_status(emulation, "orders", 0).isr) == {OWN, OTHER}


def _effects(document: dict[str, Any]) -> dict[str, tuple[str, int | None]]:
    return {row["topic"]: (row["effect"], row["offset"]) for row in document["partitions"]}


EXPECTED = {
    "again": ("stray", None),
    "gone": ("stray", None),
    "only": ("leads", None),
    "orders": ("truncated", HELD),
}


def test_what_is_foretold_by_the_others_comes_true(cluster: Cluster, tmp_path: Path) -> None:
    document, done = _foretold(cluster, tmp_path, *_live(cluster))
    assert _effects(document) == EXPECTED, done.stderr
    assert (done.code, document["destroys"], document["untold"]) == (1, True, False)
    row = next(r for r in document["partitions"] if r["topic"] == "orders")
    assert (row["records"], row["unique"], row["leader"], row["unread"]) == (MORE, MORE, OTHER, [])
    assert "the start deletes 5 records of 1 replica" in done.stderr

    cluster.start(OWN)
    cluster.wait_until(_back_in_sync)
    assert cluster.partition("only", 0).leader == OWN
    ends = {r.broker: r.log_end_offset for r in cluster.partition("orders", 0).logs}
    assert ends == {OWN: HELD + NEW, OTHER: HELD + NEW}
    after, done = _foretold(cluster, tmp_path, *_live(cluster))
    # It is live now, so nothing can be foretold, and nothing may be moved.
    assert done.code == 4
    assert "broker 1 is live" in done.stderr
    assert "mv -n" not in done.stderr
    assert after["commands"] == []
    assert {row["effect"] for row in after["partitions"]} == {"unknown", "stray"}
    _lose(cluster, OWN)
    again, done = _foretold(cluster, tmp_path, *_live(cluster), "--topics", "orders|only")
    assert _effects(again) == {"orders": ("kept", None), "only": ("leads", None)}
    assert done.code == 0
    assert "start broker 1: nothing that its disk holds is destroyed" in done.stderr


def test_a_leader_that_is_not_listed_leaves_it_unknown(cluster: Cluster, tmp_path: Path) -> None:
    cluster.unlist(OTHER)
    third = cluster.bootstrap_servers.split(",")[THIRD]
    document, done = _foretold(cluster, tmp_path, "--bootstrap-server", third)
    assert _effects(document) == {**EXPECTED, "orders": ("unknown", None)}
    assert done.code == 4
    row = next(r for r in document["partitions"] if r["topic"] == "orders")
    assert row["why"].startswith("its leader is not on the listener that this command came in by")
    assert f"broker {OTHER} is in the ISR" in row["why"] or f"broker {OTHER} fetched" in row["why"]
    assert "it has no listener that leads here" in row["why"]


def test_a_replica_that_is_not_listed_may_have_what_would_go(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.start(OWN)
    cluster.wait_until(_back_in_sync)
    cluster.create_topic("three", assignment=[[OWN, OTHER, THIRD]])
    cluster.produce("three", 0, HELD)
    _lose(cluster, OTHER)
    _lose(cluster, THIRD)
    cluster.produce("three", 0, MORE)
    _lose(cluster, OWN)
    cluster.start(OTHER)
    cluster.start(THIRD)
    cluster.elect_leaders("unclean", "three", 0)
    cluster.unlist(THIRD)
    bootstrap = cluster.bootstrap_servers.split(",")[OTHER]
    document, done = _foretold(cluster, tmp_path, "--bootstrap-server", bootstrap)
    row = next(r for r in document["partitions"] if r["topic"] == "three")
    assert (row["effect"], row["unique"]) == ("truncated", None), done
    assert f"what broker {THIRD} has of that is unknown" in row["why"]


def test_a_broker_that_runs_without_our_listener_is_not_foretold(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.start(OWN)
    cluster.wait_until(_back_in_sync)
    cluster.unlist(OWN)
    third = cluster.bootstrap_servers.split(",")[THIRD]
    document, done = _foretold(cluster, tmp_path, "--bootstrap-server", third)
    assert done.code == 4
    assert {row["effect"] for row in document["partitions"]} == {"unknown", "stray"}
    assert f"broker {OWN} is in the ISR of again-0 beside its leader: it runs" in done.stderr


def test_by_what_another_broker_may_have_said_nothing_is_foretold(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.intercept(
        "DescribeConfigs", Fail(Errors.CLUSTER_AUTHORIZATION_FAILED), broker=OTHER, times=99
    )
    document, done = _foretold(cluster, tmp_path, *_live(cluster), "--topics", "orders")
    assert (done.code, _effects(document)) == (4, {"orders": ("unknown", None)})
    (row,) = document["partitions"]
    assert f"nothing proves that broker {OTHER} answered" in row["why"]
    assert "grant Cluster:DESCRIBE_CONFIGS" in row["why"]


def test_what_a_broker_that_is_behind_says_is_not_foretold(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.lag_metadata(THIRD, STOPPED, fetched=True)
    cluster.delete_topic("only")
    third = ("--bootstrap-server", cluster.bootstrap_servers.split(",")[THIRD], "--topics", "only")
    document, done = _foretold(cluster, tmp_path, *third)
    assert (done.code, _effects(document)) == (0, {"only": ("stray", None)}), done.stderr
    _lose(cluster, OTHER)
    document, done = _foretold(cluster, tmp_path, *third)
    assert done.code == 4
    (sentence,) = document["unknown"]
    assert sentence.startswith("what is read may be old: no")


def test_disks_alone_tell_the_same(cluster: Cluster, tmp_path: Path) -> None:
    scan = str(tmp_path / "others.json")
    others = str(cluster.log_directory(OTHER))
    assert invoke(RECOVERY, "scan-log-dirs", others, "--output", scan, cwd=tmp_path).code == 0
    document, done = _foretold(cluster, tmp_path, "--replica-info-file", scan)
    assert _effects(document) == EXPECTED, done.stderr
    assert done.code == 1
    assert document["rests_on"].startswith("the metadata log up to offset ")
    # Of the same disk one replica is told whatever else is asked for.
    text = invoke(
        *(RECOVERY, "before-start", "--log-dirs", str(cluster.log_directory(OWN))),
        *("--replica-info-file", scan, "--topics", "orders"),
        cwd=tmp_path,
    ).stdout
    assert "truncates it" in text
    assert "this rests on the metadata log" in text


def test_disks_without_a_metadata_log_tell_of_no_leader(cluster: Cluster, tmp_path: Path) -> None:
    scan = str(tmp_path / "others.json")
    shutil.rmtree(cluster.log_directory(OWN) / "__cluster_metadata-0")
    bare = tmp_path / "bare"
    shutil.copytree(cluster.log_directory(OTHER), bare)
    shutil.rmtree(bare / "__cluster_metadata-0")
    invoke(RECOVERY, "scan-log-dirs", str(bare), "--output", scan, cwd=tmp_path)
    document, done = _foretold(cluster, tmp_path, "--replica-info-file", scan)
    assert {row["effect"] for row in document["partitions"]} == {"unknown"}
    assert done.code == 4
    assert "no metadata log was read" in done.stderr
    # Copy aside what must not be lost: each has its command. Moved, it might begin empty and lead.
    assert sum("cp -an" in line for line in document["commands"]) == len(document["partitions"])
    assert not any("mv -n" in line for line in document["commands"])


def test_scans_of_another_cluster_refuse_it(cluster: Cluster, tmp_path: Path) -> None:
    scan = tmp_path / "others.json"
    others = str(cluster.log_directory(OTHER))
    invoke(RECOVERY, "scan-log-dirs", others, "--output", str(scan), cwd=tmp_path)
    info = json.loads(scan.read_text())
    scan.write_text(json.dumps({**info, "cluster_id": "AAAAAAAAQACAAAAAAAAAAA"}))
    document, done = _foretold(cluster, tmp_path, "--replica-info-file", str(scan))
    assert {row["effect"] for row in document["partitions"]} == {"refused"}
    assert done.code == 0


def test_a_scan_of_a_third_disk_tells_who_else_has_it(cluster: Cluster, tmp_path: Path) -> None:
    # A copy of broker 1's own disk, taken for another broker's.
    copy = tmp_path / "copy"
    shutil.copytree(cluster.log_directory(OWN), copy)
    meta = copy / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=1", "node.id=3"))
    scan = str(tmp_path / "copy.json")
    invoke(RECOVERY, "scan-log-dirs", str(copy), "--output", scan, cwd=tmp_path)
    document, done = _foretold(cluster, tmp_path, *_live(cluster), "--replica-info-file", scan)
    row = next(r for r in document["partitions"] if r["topic"] == "orders")
    assert (row["records"], row["unique"]) == (MORE, 0)
    assert done.code == 1


def test_the_plan_that_is_written_lets_salvage_save_what_would_go(
    cluster: Cluster, tmp_path: Path
) -> None:
    plan = str(tmp_path / "plan.json")
    _, done = _foretold(cluster, tmp_path, *_live(cluster), "--plan-output-file", plan)
    (line,) = (line for line in done.stderr.splitlines() if "salvage --log-dirs" in line)
    words = line.partition("kafka-unclean-recovery salvage")[2].split()
    saved = invoke(RECOVERY, "salvage", *words, "--raw-only", cwd=tmp_path)
    assert saved.code == 0, saved.stderr
    (replica,) = json.loads((tmp_path / "NEWDIR" / "manifest.json").read_text())["replicas"]
    (segment,) = replica["segments"]
    assert (replica["topic"], segment["first_offset"], segment["end_offset"]) == (
        "orders",
        HELD,
        HELD + MORE,
    )


def test_it_can_be_run_again_as_it_is_and_what_it_wrote_before_is_kept(
    cluster: Cluster, tmp_path: Path
) -> None:
    plan, script = tmp_path / "plan.json", tmp_path / "aside.sh"
    files = ("--plan-output-file", str(plan), "--commands-file", str(script))
    _foretold(cluster, tmp_path, *_live(cluster), *files)
    before = plan.read_bytes(), script.read_bytes()
    cluster.produce("orders", 0, 1)
    # Of another file of that name nothing is moved.
    (tmp_path / "plan.json.1").write_text("mine")
    _, done = _foretold(cluster, tmp_path, *_live(cluster), *files)
    assert f"{plan}: the earlier one is {plan}.2 now" in done.stderr
    assert (Path(f"{plan}.2").read_bytes(), Path(f"{script}.1").read_bytes()) == before
    assert Path(f"{plan}.1").read_text() == "mine"
    assert plan.read_bytes() != before[0]
    plan.write_text(json.dumps({"kind": "plan", "format_version": 1}))
    _, done = _foretold(cluster, tmp_path, *_live(cluster), *files)
    assert done.code == 2
    assert "was not written by this command, and is never overwritten" in done.stderr
    plan.unlink()
    plan.symlink_to(tmp_path / "plan.json.1")
    assert _foretold(cluster, tmp_path, *_live(cluster), *files)[1].code == 2


def test_a_directory_that_is_moved_aside_as_told_keeps_its_records(
    cluster: Cluster, tmp_path: Path
) -> None:
    document, _ = _foretold(cluster, tmp_path, *_live(cluster))
    (command,) = document["commands"]
    source, target = command.split()[-2:]
    assert command == f"mkdir -p {target[:-1]} && mv -n {source} {target}"
    Path(target).mkdir()
    shutil.move(source, target)
    after, again = _foretold(cluster, tmp_path, *_live(cluster))
    # It begins empty, and fetches all of it anew.
    assert _effects(after)["orders"] == ("begins_empty", None)
    assert again.code == 0, again.stderr
    shutil.rmtree(target)


def test_a_disk_of_another_cluster_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    meta = cluster.log_directory(OWN) / "meta.properties"
    theirs = "cluster.id=AAAAAAAAQACAAAAAAAAAAA"
    lines = [theirs if li.startswith("cluster.id") else li for li in meta.read_text().splitlines()]
    meta.write_text("\n".join(lines) + "\n")
    document, done = _foretold(cluster, tmp_path, *_live(cluster))
    assert {row["effect"] for row in document["partitions"]} == {"refused"}
    assert (done.code, document["destroys"]) == (0, False)
    assert "the broker will not start, and its disk stays as it is" in done.stderr


def test_disks_of_two_brokers_are_no_brokers_disk(cluster: Cluster, tmp_path: Path) -> None:
    both = ("--log-dirs", str(cluster.log_directory(OTHER)))
    _, done = _foretold(cluster, tmp_path, *_live(cluster), *both)
    assert done.code == 2
    assert "give the log directories of the one that is to start here" in done.stderr


def test_a_copy_of_a_log_directory_beside_it_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(cluster.log_directory(OWN), copy)
    document, done = _foretold(cluster, tmp_path, *_live(cluster), "--log-dirs", str(copy))
    assert {row["effect"] for row in document["partitions"]} == {"refused"}
    assert "is here more than once" in done.stderr


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ((), "give --bootstrap-server, or --replica-info-file"),
        (("--command-config", "x"), "--command-config goes with --bootstrap-server"),
        (("--bootstrap-server", "nonsense"), "nonsense"),
    ],
)
def test_flags_that_leave_nobody_to_ask(
    cluster: Cluster, tmp_path: Path, flags: tuple[str, ...], says: str
) -> None:
    _, done = _foretold(cluster, tmp_path, *flags)
    assert done.code == 2
    assert says in done.stderr


MANY = 24


def _with_many(cluster: Cluster) -> None:
    """Create 24 partitions of which broker 1 has a tail that broker 0, which leads, lacks."""
    cluster.start(OWN)
    cluster.create_topic("many", assignment=[[OWN, OTHER]] * MANY)
    for partition in range(MANY):
        cluster.produce("many", partition, HELD)
    _lose(cluster, OTHER)
    for partition in range(MANY):
        cluster.produce("many", partition, MORE)
    _lose(cluster, OWN)
    cluster.start(OTHER)
    for partition in range(MANY):
        cluster.elect_leaders("unclean", "many", partition)


def test_every_command_is_a_line_that_can_be_pasted_however_many_there_are(
    cluster: Cluster, tmp_path: Path
) -> None:
    _with_many(cluster)
    own, script = cluster.log_directory(OWN), tmp_path / "aside.sh"
    done = invoke(
        *(RECOVERY, "before-start", "--log-dirs", str(own), *_live(cluster), "--topics", "many"),
        *("--commands-file", str(script)),
        cwd=tmp_path,
    )
    assert done.code == 1
    wanted = {f"mkdir -p {own}.aside && mv -n {own}/many-{n} {own}.aside/" for n in range(MANY)}
    assert wanted <= set(done.stdout.splitlines())
    assert wanted <= set(script.read_text().splitlines())
    assert f"run {script}" in done.stderr
    subprocess.run(["sh", str(script)], check=True)
    assert not list(own.glob("many-*"))
    shutil.rmtree(f"{own}.aside")


def test_a_commands_file_is_a_new_one(cluster: Cluster, tmp_path: Path) -> None:
    there = tmp_path / "aside.sh"
    there.touch()
    _, done = _foretold(cluster, tmp_path, *_live(cluster), "--commands-file", str(there))
    assert done.code == 2
    assert "never overwritten" in done.stderr


@pytest.fixture
def two_disks() -> Iterator[Cluster]:
    """Yield a cluster whose broker 1 is dead and has replicas of `many` on two log directories."""
    with Cluster(Options(brokers=3, first_broker=0, log_directories=2)) as cluster:
        cluster.create_topic("many", assignment=[[OWN, OTHER]] * 4)
        for partition in range(4):
            cluster.produce("many", partition, HELD)
        _lose(cluster, OWN)
        yield cluster


def test_a_log_directory_that_was_not_given_is_named_with_what_the_metadata_has_in_it(
    two_disks: Cluster, tmp_path: Path
) -> None:
    first, second = two_disks.log_directories(OWN)
    left = {path.name for path in second.glob("many-*")}
    assert left
    for given, missing in ((first, second), (second, first)):
        there = {path.name for path in missing.glob("many-*")}
        done = invoke(
            *(RECOVERY, "before-start", "--log-dirs", str(given), *_live(two_disks)),
            *("--format", "json"),
            cwd=tmp_path,
        )
        rows = {f"{r['topic']}-{r['partition']}": r for r in json.loads(done.stdout)["partitions"]}
        assert {name for name, r in rows.items() if r["effect"] == "unknown"} == there
        assert done.code == 4
    # The first has the metadata log, and so knows of the other.
    done = invoke(
        *(RECOVERY, "before-start", "--log-dirs", str(first), *_live(two_disks)), cwd=tmp_path
    )
    assert "is not among those that were given" in done.stdout
    both = ("--log-dirs", str(first), "--log-dirs", str(second))
    assert invoke(RECOVERY, "before-start", *both, *_live(two_disks), cwd=tmp_path).code == 0


def test_a_replica_that_is_gone_from_a_directory_that_goes_offline_is_not_begun_empty(
    two_disks: Cluster, tmp_path: Path
) -> None:
    first, second = two_disks.log_directories(OWN)
    gone, *_ = sorted(second.glob("many-*"))
    shutil.rmtree(gone)
    properties = second / "meta.properties"
    properties.write_text(properties.read_text().replace("directory.id=", "directory.id=?"))
    both = ("--log-dirs", str(first), "--log-dirs", str(second))
    flags = (*both, *_live(two_disks), "--format", "json")
    done = invoke(RECOVERY, "before-start", *flags, cwd=tmp_path)
    rows = {f"{r['topic']}-{r['partition']}": r for r in json.loads(done.stdout)["partitions"]}
    there = {path.name for path in second.glob("many-*")} | {gone.name}
    assert {name for name, r in rows.items() if r["effect"] == "offline"} == there
    assert done.code == 0, done
    # By a damaged checkpoint, too.
    properties.write_text(properties.read_text().replace("?", ""))
    (second / "replication-offset-checkpoint").write_bytes(bytes(9))
    done = invoke(RECOVERY, "before-start", *flags, cwd=tmp_path)
    rows = {f"{r['topic']}-{r['partition']}": r for r in json.loads(done.stdout)["partitions"]}
    assert rows[gone.name]["effect"] == "offline"


@pytest.mark.parametrize(
    ("damaged", "expected"),
    [
        ("recovery-point-offset-checkpoint", "begins_empty"),
        # Its broker has taken the replica into use by the time that it reads this one.
        ("replication-offset-checkpoint", None),
    ],
)
def test_a_replica_moved_by_hand_into_a_directory_that_goes_offline_is_begun_empty_where_it_was(
    two_disks: Cluster, tmp_path: Path, damaged: str, expected: str | None
) -> None:
    first, second = two_disks.log_directories(OWN)
    moved, *_ = sorted(first.glob("many-*"))
    moved.rename(second / moved.name)
    (second / damaged).write_bytes(bytes(9))
    both = ("--log-dirs", str(first), "--log-dirs", str(second))
    flags = (*both, *_live(two_disks), "--format", "json")
    done = invoke(RECOVERY, "before-start", *flags, cwd=tmp_path)
    told = {row["directory"]: row["effect"] for row in json.loads(done.stdout)["partitions"]}
    assert (told[str(second / moved.name)], told.get(str(moved))) == ("offline", expected)


@pytest.mark.parametrize("from_disks", [False, True])
def test_a_metadata_log_that_is_torn_at_its_end_is_fetched_anew(
    cluster: Cluster, tmp_path: Path, from_disks: bool
) -> None:
    """A node cuts it off at its start; a broker alone has lost nothing by that."""
    (log,) = (cluster.log_directory(OWN) / "__cluster_metadata-0").glob("*.log")
    flags = _live(cluster)
    if from_disks:
        scan = ("scan-log-dirs", str(cluster.log_directory(OTHER)), "--output", "other.json")
        assert invoke(RECOVERY, *scan, "--mode", "deep", cwd=tmp_path).code == 0
        flags = ("--replica-info-file", "other.json")
    whole, _ = _foretold(cluster, tmp_path, *flags)
    log.write_bytes(log.read_bytes()[:-20])
    torn, done = _foretold(cluster, tmp_path, *flags)
    assert _effects(torn)["orders"] == EXPECTED["orders"], done
    assert torn["unknown"] == whole["unknown"]


def test_a_torn_metadata_log_that_is_the_newest_leaves_open_what_was_decided_since(
    cluster: Cluster, tmp_path: Path
) -> None:
    scan = ("scan-log-dirs", str(cluster.log_directory(OTHER)), "--output", "other.json")
    (log,) = (cluster.log_directory(OTHER) / "__cluster_metadata-0").glob("*.log")
    # Of the other node there is no metadata log that goes as far.
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    assert invoke(RECOVERY, *scan, "--mode", "deep", cwd=tmp_path).code == 1
    (log,) = (cluster.log_directory(OWN) / "__cluster_metadata-0").glob("*.log")
    log.write_bytes(log.read_bytes()[:-20])
    found, _ = _foretold(cluster, tmp_path, "--replica-info-file", "other.json")
    assert any(f"{log.name}: truncated" in said for said in found["unknown"])


def test_a_replica_that_is_there_as_a_copy_alone_is_taken_into_use(
    cluster: Cluster, tmp_path: Path
) -> None:
    own = cluster.log_directory(OWN) / "only-0"
    own.rename(own.with_name(f"only-0.{'0' * 32}-future"))
    document, done = _foretold(cluster, tmp_path, *_live(cluster), "--topics", "only")
    (row,) = document["partitions"]
    assert (row["effect"], row["log_end_offset"], done.code) == ("leads", HELD, 0), done.stderr


def test_a_copy_that_the_metadata_names_takes_the_place_of_the_replica_beside_it(
    two_disks: Cluster, tmp_path: Path
) -> None:
    """The broker died between the controller's answer and the exchange of the two directories."""
    first, second = two_disks.log_directories(OWN)
    home = next(first.glob("many-*"))
    shutil.copytree(home, second / home.name)
    home.rename(home.with_name(f"{home.name}.{'0' * 32}-future"))
    both = ("--log-dirs", str(first), "--log-dirs", str(second), *_live(two_disks))
    done = invoke(RECOVERY, "before-start", *both, "--format", "json", cwd=tmp_path)
    rows = json.loads(done.stdout)["partitions"]
    told = {r["directory"]: (r["effect"], r["records"]) for r in rows}
    assert told[str(second / home.name)] == ("deleted", 0)
    assert told[f"{home}.{'0' * 32}-future"] == ("kept", 0)
    assert {effect for effect, _ in told.values()} == {"deleted", "kept"}
    assert done.code == 0


def test_a_copy_that_the_metadata_does_not_name_is_no_replica(
    two_disks: Cluster, tmp_path: Path
) -> None:
    first, second = two_disks.log_directories(OWN)
    home = next(first.glob("many-*"))
    home.rename(second / f"{home.name}.{'0' * 32}-future")
    both = ("--log-dirs", str(first), "--log-dirs", str(second), *_live(two_disks))
    done = invoke(RECOVERY, "before-start", *both, "--format", "json", cwd=tmp_path)
    told = {r["directory"]: r["effect"] for r in json.loads(done.stdout)["partitions"]}
    assert told[str(home)] == "begins_empty"
    assert told[f"{second / home.name}.{'0' * 32}-future"] == "unknown"


def test_a_topic_that_this_user_may_not_describe_leaves_it_unknown_what_the_broker_lacks(
    tmp_path: Path,
) -> None:
    """Brokers leave such a topic out without an error. Of `elsewhere`, which is hidden too, the
    broker's own metadata log tells that it has no replica."""
    options = Options(brokers=3, first_broker=0, data_dir=tmp_path / "cluster")
    with Cluster(options) as cluster:
        cluster.create_topic("seen", assignment=[[OWN, OTHER]])
        cluster.create_topic("secret", assignment=[[OWN, OTHER]])
        cluster.create_topic("elsewhere", assignment=[[OTHER, THIRD]])
    rights = ("Cluster:DESCRIBE", "Cluster:DESCRIBE_CONFIGS", "Topic(seen):READ")
    security = Security(rights={"ANONYMOUS": rights})
    with Cluster(replace(options, security=security)) as cluster:
        _lose(cluster, OWN)
        shutil.rmtree(cluster.log_directory(OWN) / "secret-0")
        document, done = _foretold(cluster, tmp_path, *_live(cluster))
        assert (_effects(document), done.code) == ({"seen": ("kept", None)}, 4), done.stderr
        (told,) = document["unknown"]
        assert told.startswith("this user may not describe topics secret: whether the broker")
        assert told.endswith("grant Topic:DESCRIBE")
        shutil.rmtree(cluster.log_directory(OWN) / "__cluster_metadata-0")
        document, done = _foretold(cluster, tmp_path, *_live(cluster))
        (told,) = document["unknown"]
        assert told.startswith("this user may not describe topics elsewhere, secret: whether")


def test_a_copy_beside_its_replica_in_one_log_directory_ends_the_broker(
    cluster: Cluster, tmp_path: Path
) -> None:
    """It is taken into use where the metadata names that directory, and can't be."""
    own = cluster.log_directory(OWN) / "only-0"
    copy = own.with_name(f"only-0.{'0' * 32}-future")
    shutil.copytree(own, copy)
    document, done = _foretold(cluster, tmp_path, *_live(cluster), "--topics", "only")
    assert {row["effect"] for row in document["partitions"]} == {"refused"}
    assert f"{copy}: the start takes this copy into use, and ends over only-0" in done.stderr
    # One of another topic is put aside before.
    (copy / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAQACAAAAAAAAAAQ")
    document, _ = _foretold(cluster, tmp_path, *_live(cluster), "--topics", "only")
    assert "leads" in {row["effect"] for row in document["partitions"]}
