"""A broker that comes back with less than the others, and that the controller elects by itself: who
is cut is said before, by every command that speaks of its return."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Settings
from tests.cli.in_process import RECOVERY, Done, invoke
from tests.mission.conftest import PROBES, Means
from tests.real.waiting import wait_until
from tests.real.watching import TIMEOUT, Commands
from tests.schemas import validated

# Broker 1 stopped in order, broker 4 was killed; both are eligible still.
OF_1, OF_4 = ("gone", "nameless", "renamed", "whole"), ("emptied",)
EMPTY = {*OF_1, *OF_4} - {"whole"}
BEFORE, MORE = 100, 10
STRANGE = "AAAAAAAAAAAAAAAAAAAAEQ"
RELEASES = ("4.4.0", "3.9.1")
ENDS = {2: 100, 3: 200, 4: 250}
LATE = 2


@pytest.fixture(scope="session", params=[PROBES], ids=lambda means: means.name)
def means(request: pytest.FixtureRequest) -> Means:
    found: Means = request.param
    return found


@pytest.fixture(params=RELEASES)
def emptied(request: pytest.FixtureRequest, means: Means) -> Iterator[Cluster]:
    """Yield a cluster: 2 and 3 live, with all but the last 10 records. Broker 1 lacks three of its
    four replicas, one way each; the disk of broker 4 was emptied under its meta.properties."""
    options = replace(means.options(request.param), settings=Settings(session_timeout=600.0))
    with Cluster(options) as cluster:
        for topic in (*OF_1, *OF_4):
            first = 1 if topic in OF_1 else 4
            configs = {"min.insync.replicas": "1"}
            cluster.create_topic(topic, assignment=[(first, 2, 3)], configs=configs)
            cluster.produce(topic, 0, BEFORE)
        _lose(cluster, 2, 3)
        for topic in (*OF_1, *OF_4):
            cluster.produce(topic, 0, MORE, acks="1")
        _lose(cluster, 4)
        cluster.stop(1)
        _start(cluster, 2, 3)
        _damage(cluster)
        yield cluster


def _lose(cluster: Cluster, *brokers: int) -> None:
    for broker in brokers:
        cluster.kill(broker)
        cluster.fence(broker)


def _start(cluster: Cluster, *brokers: int) -> None:
    for broker in brokers:
        cluster.start(broker)


def _damage(cluster: Cluster) -> None:
    first = cluster.log_directory(1)
    shutil.rmtree(first / "gone-0")
    (first / "nameless-0" / "partition.metadata").unlink()
    renamed = first / "renamed-0" / "partition.metadata"
    renamed.write_text(re.sub("topic_id: .*", f"topic_id: {STRANGE}", renamed.read_text()))
    for entry in cluster.log_directory(4).iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != "meta.properties":
            entry.unlink()


@pytest.fixture
def power_cut(means: Means) -> Iterator[Cluster]:
    """Yield a cluster: all died at once, their sound logs end at 100, 200 and 250; broker 2 was
    fenced last and is the last known leader. 3 and 4 are back, 2 is about to start."""
    options = replace(means.options("4.4.0"), settings=Settings(session_timeout=600.0))
    with Cluster(options) as cluster:
        _cut_the_power(cluster)
        _start(cluster, 3, 4)
        yield cluster


def _cut_the_power(cluster: Cluster) -> None:
    cluster.create_topic(
        "orders", assignment=[(LATE, 3, 4)] * 3, configs={"min.insync.replicas": "2"}
    )
    for partition in range(3):
        cluster.produce("orders", partition, 300, batch=10)
    for broker in ENDS:
        cluster.kill(broker)
    for broker in (3, 4, LATE):
        cluster.fence(broker)
    for broker, end in ENDS.items():
        for partition in range(3):
            _end_at(cluster.log_directory(broker) / f"orders-{partition}", end)


def _end_at(directory: Path, end: int) -> None:
    """Cut the log after the batch that ends there."""
    segment = directory / f"{0:020}.log"
    data, at = segment.read_bytes(), 0
    while int.from_bytes(data[at : at + 8]) < end:
        at += 12 + int.from_bytes(data[at + 8 : at + 12])
    segment.write_bytes(data[:at])


def _before_start(
    cluster: Cluster, broker: int, home: Path, *flags: str
) -> tuple[dict[str, dict[str, Any]], Done]:
    """Return (the rows by partition, the run)."""
    disk = ("--log-dirs", str(cluster.log_directory(broker)), "--format", "json")
    done = invoke(RECOVERY, "before-start", *disk, *flags, cwd=home)
    rows = validated(done.stdout)["partitions"] if done.stdout else []
    return {f"{row['topic']}-{row['partition']}": row for row in rows}, done


def _live(cluster: Cluster, *brokers: int) -> tuple[str, str]:
    addresses = cluster.bootstrap_servers.split(",")
    return "--bootstrap-server", ",".join(addresses[b - 1] for b in brokers)


def _ends(cluster: Cluster, topic: str, partition: int = 0) -> dict[int, int]:
    return {log.broker: log.log_end_offset for log in cluster.partition(topic, partition).logs}


def _all_in_sync(cluster: Cluster, topic: str, partition: int = 0) -> None:
    wait_until(
        lambda: len(cluster.partition(topic, partition).isr) == 3,
        TIMEOUT,
        lambda: f"{cluster.partition(topic, partition)}",
    )


def test_a_start_that_begins_empty_and_leads_is_foretold_with_whom_it_cuts(
    emptied: Cluster, tmp_path: Path
) -> None:
    rows, done = _before_start(emptied, 1, tmp_path, *_live(emptied, 2))
    assert done.code == 1, done.stderr
    effects = {topic: rows[f"{topic}-0"]["effect"] for topic in OF_1}
    assert effects == {
        "gone": "begins_empty",
        "nameless": "stray",
        "renamed": "stray",
        "whole": "leads",
    }
    for topic in OF_1:
        row = rows[f"{topic}-0"]
        lost = BEFORE if topic in EMPTY else 0
        assert (row["elected"], row["others_lose"]) == (1, lost), row
        assert {c["broker"]: (c["live"], c["offset"], c["records"]) for c in row["cuts"]} == (
            {2: (True, 0, BEFORE), 3: (True, 0, BEFORE)} if lost else {}
        )
    assert "don't start broker 1 yet: 3 partitions" in done.stderr
    assert "mv -n" not in done.stdout + done.stderr
    rows, done = _before_start(emptied, 4, tmp_path, *_live(emptied, 2))
    assert done.code == 1, done.stderr
    row = rows["emptied-0"]
    assert (row["effect"], row["elected"], row["others_lose"]) == ("begins_empty", 4, BEFORE)

    _start(emptied, 1, 4)
    for topic in (*OF_1, *OF_4):
        _all_in_sync(emptied, topic)
        assert emptied.partition(topic, 0).leader == (1 if topic in OF_1 else 4)
        end = 0 if topic in EMPTY else BEFORE + MORE
        assert set(_ends(emptied, topic).values()) == {end}


def test_a_start_that_begins_empty_is_foretold_from_disks_alone(
    emptied: Cluster, tmp_path: Path
) -> None:
    scan = str(tmp_path / "others.json")
    others = map(str, (emptied.log_directory(2), emptied.log_directory(3)))
    assert invoke(RECOVERY, "scan-log-dirs", *others, "--output", scan, cwd=tmp_path).code == 0
    for broker, topics in ((1, {*OF_1} & EMPTY), (4, OF_4)):
        rows, done = _before_start(emptied, broker, tmp_path, "--replica-info-file", scan)
        assert done.code == 1, done.stderr
        lost = {topic: rows[f"{topic}-0"]["others_lose"] for topic in topics}
        assert lost == dict.fromkeys(topics, BEFORE)


def test_partition_metadata_that_is_written_back_as_told_keeps_all(
    emptied: Cluster, tmp_path: Path
) -> None:
    script = tmp_path / "before.sh"
    flags = ("--topics", "nameless|whole", "--commands-file", str(script))
    _, done = _before_start(emptied, 1, tmp_path, *_live(emptied, 2), *flags)
    assert done.code == 1
    subprocess.run(["sh", str(script)], check=True)
    rows, done = _before_start(emptied, 1, tmp_path, *_live(emptied, 2), *flags[:2])
    assert (done.code, rows["nameless-0"]["effect"]) == (0, "leads"), done.stderr
    _start(emptied, 1)
    _all_in_sync(emptied, "nameless")
    assert set(_ends(emptied, "nameless").values()) == {BEFORE + MORE}


def _disks(cluster: Cluster, *brokers: int) -> list[str]:
    return [word for b in brokers for word in ("--log-dirs", str(cluster.log_directory(b)))]


def _look(cluster: Cluster, home: Path, *disks: int) -> dict[str, Any]:
    which = ("--all-offline-partitions", "--show-replica-info", "--format", "json")
    done = invoke(RECOVERY, *_live(cluster, 3), *which, *_disks(cluster, *disks), cwd=home)
    return {
        f"{row['topic']}-{row['partition']}": row for row in json.loads(done.stdout)["partitions"]
    }


def test_a_look_with_its_disk_calls_the_return_worse_and_not_lossless(
    emptied: Cluster, tmp_path: Path
) -> None:
    rows = _look(emptied, tmp_path, 1, 4)
    for topic in (*OF_1, *OF_4):
        row = rows[f"{topic}-0"]
        (waiting,) = row["waiting"]
        if topic == "whole":
            assert waiting["effect"] == "lossless"
            continue
        assert (waiting["effect"], waiting["records"]) == ("worse", BEFORE), waiting
        (finding,) = [f for f in row["findings"] if f["code"] == "leads_by_itself_and_cuts"]
        assert finding["severity"] == "loss"


def test_a_run_that_waited_for_it_is_no_success(
    emptied: Cluster, commands: Commands, tmp_path: Path
) -> None:
    run = commands.start(
        *(*_live(emptied, 2), "--all-offline-partitions", "--automated-recovery", "--yes"),
        *("--accept-loss", "*:0", "--format", "json", "--wait-for-brokers", "1,4"),
        *("--recovery-duration-ms", "60000", *_disks(emptied, 1, 4)),
    )
    run.wait_for(r"waiting for broker 4: would make 1 partition worse by 100 records of others")
    _start(emptied, 1, 4)
    done = run.finish()
    assert done.code == 1, done.stderr
    for topic in (*OF_1, *OF_4):
        (row,) = done.partitions(topic).values()
        failed = topic in EMPTY
        assert row["outcome"] == ("failed" if failed else "already_online"), row
        assert not failed or row["loss"]["certain"] == BEFORE
    assert "lossless" not in json.dumps(done.report)
    _aftercare_is_not_over(emptied, commands, tmp_path)


def _aftercare_is_not_over(cluster: Cluster, commands: Commands, home: Path) -> None:
    """Check that only the journal tells aftercare that records are lost: all are in sync."""
    for topic in (*OF_1, *OF_4):
        _all_in_sync(cluster, topic)
    asked = (RECOVERY, "aftercare", *_live(cluster, 2), "--format", "json")
    assert invoke(*asked, cwd=home).code == 0
    done = invoke(*asked, "--journal", str(commands.journals()[-1]), cwd=home)
    assert done.code == 1, done.stderr
    rows = {row["topic"]: row for row in json.loads(done.stdout)["partitions"]}
    assert rows.keys() == EMPTY
    for row in rows.values():
        assert any("are not in the log" in problem for problem in row["problems"])


def test_a_sound_log_that_is_shorter_is_foretold_to_cut_the_others(
    power_cut: Cluster, tmp_path: Path
) -> None:
    rows, done = _before_start(power_cut, LATE, tmp_path, *_live(power_cut, 3, 4))
    assert done.code == 1, done.stderr
    for row in rows.values():
        # What both have is lost once: 100 of 3, and 50 more of 4.
        assert (row["effect"], row["elected"], row["others_lose"]) == ("leads", LATE, 150), row
        assert {c["broker"]: c["records"] for c in row["cuts"]} == {3: 100, 4: 150}
    assert "450 records of brokers 3,4 cut" in done.stderr
    for row in _look(power_cut, tmp_path, LATE).values():
        (waiting,) = row["waiting"]
        assert (waiting["effect"], waiting["records"]) == ("worse", 150), waiting
    _start(power_cut, LATE)
    for partition in range(3):
        _all_in_sync(power_cut, "orders", partition)
        assert set(_ends(power_cut, "orders", partition).values()) == {ENDS[LATE]}


def test_a_run_that_waits_for_a_shorter_log_is_no_success(
    power_cut: Cluster, commands: Commands
) -> None:
    run = commands.start(
        *(*_live(power_cut, 3, 4), "--all-offline-partitions", "--automated-recovery", "--yes"),
        *("--accept-loss", "*:0", "--format", "json", "--wait-for-brokers", str(LATE)),
        *("--recovery-duration-ms", "60000", *_disks(power_cut, LATE)),
    )
    run.wait_for(r"waiting for broker 2: would make 3 partitions worse by 450 records of others")
    _start(power_cut, LATE)
    done = run.finish()
    assert done.code == 1, done.stderr
    for row in done.partitions("orders").values():
        assert (row["outcome"], row["leader"], row["loss"]["certain"]) == ("failed", LATE, 150)
        assert "its leader was in the ISR or ELR" not in row["reason"]


def test_elected_first_and_started_last_it_costs_nothing(
    power_cut: Cluster, tmp_path: Path
) -> None:
    disk = ("--log-dirs", str(power_cut.log_directory(LATE)))
    which = ("--all-offline-partitions", "--automated-recovery", "--yes")
    assert invoke(RECOVERY, *_live(power_cut, 3, 4), *which, *disk, cwd=tmp_path).code == 0
    _, done = _before_start(power_cut, LATE, tmp_path, *_live(power_cut, 3, 4))
    assert done.code == 0, done.stderr
    _start(power_cut, LATE)
    for partition in range(3):
        _all_in_sync(power_cut, "orders", partition)
        assert set(_ends(power_cut, "orders", partition).values()) == {ENDS[4]}


def test_a_plan_from_disks_says_who_will_lead_by_itself_and_cut_the_others(
    means: Means, tmp_path: Path
) -> None:
    options = replace(means.options("4.4.0"), settings=Settings(session_timeout=600.0))
    with Cluster(options) as cluster:
        _cut_the_power(cluster)
        controller = cluster.log_directory(2).parent / "controller"
        disks = (*map(cluster.log_directory, ENDS), controller)
        given = [word for disk in disks for word in ("--log-dirs", str(disk))]
        output = ("--manual-recovery-output-file", "leaders.json", "--format", "json")
        done = invoke(RECOVERY, "plan", *given, *output, cwd=tmp_path)
        for row in json.loads(done.stdout)["partitions"]:
            (finding,) = [f for f in row["findings"] if f["code"] == "leads_by_itself_and_cuts"]
            assert finding["severity"] == "loss"
            assert "broker 2 leads by itself" in finding["message"]
            assert "its log ends at 100, and 150 records" in finding["message"]
            assert row["designated_leader"] == 4
        assert "start that one last, after the election" in done.stderr
        assert "next, once brokers are started" not in done.stderr
