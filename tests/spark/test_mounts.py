"""Executors that do not all have the same mounts: what one does not see, another one reads."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.spark.new_files import read_rows
from kafka_unclean_recovery.spark.result_paths import for_tasks
from kafka_unclean_recovery.spark.running import Unwatched
from kafka_unclean_recovery.spark.scan import census, scan_disks
from kafka_unclean_recovery.spark.scan.bundles import bundle_file
from kafka_unclean_recovery.spark.scan.elsewhere import Jobs
from kafka_unclean_recovery.spark.scan.job import Home, begun
from kafka_unclean_recovery.spark.scan.scanning import done_file, scan_bundles
from kafka_unclean_recovery.spark.turns import Turns, sentences
from tests.log_dir.test_scan import log_directory
from tests.real.waiting import wait_until
from tests.salvage.batches import numbered
from tests.salvage.disks import disk, plan_text
from tests.spark.cluster import (
    DRIVER,
    JOB_SECONDS,
    run_tool,
    spark_cluster,
    started_tool,
    why_no_own_mount,
    worker,
)
from tests.spark.scans import asked, in_one_process, info_in
from tests.spark.test_tasks import DEEP, NOW, batches, log_of, prepared

HERE = os.uname().nodename


def told_by(rows: Iterator[Any]) -> list[dict[str, Any]]:
    return [json.loads(text) for batch in rows for text in batch.column(0).to_pylist()]


def looking(home: Home, claims: Path) -> list[dict[str, Any]]:
    """Return what a task of the census tells, with claims of its own: as on another host."""
    claims.mkdir()
    return told_by(census.look({**home.settings, "claims": for_tasks(claims)}, batches(0)))


def hidden(path: Path) -> Callable[[], None]:
    """Have a path gone, as a mount on another host; return what brings it back."""
    away = path.parent.with_name(f"{path.name}.away")
    path.rename(away)
    path.mkdir()

    def back() -> None:
        path.rmdir()
        away.rename(path)

    return back


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    for broker in (1, 2, 3):
        log_directory(tmp_path / "mnt" / f"b{broker}", broker, {"a-0": broker, "b-0": 2})
    return tmp_path / "mnt"


def test_a_census_names_what_one_host_does_not_see(tmp_path: Path, mounts: Path) -> None:
    home = Home(tmp_path / "out")
    with begun(home, asked([mounts], DEEP), NOW):
        whole = looking(home, tmp_path / "claims-1")
        back = hidden(mounts / "b2")
        short = looking(home, tmp_path / "claims-2")
        back()
    (on_h1,), (on_h2,) = whole, short
    taken = census.taken([{**on_h2, "host": "h2"}, {**on_h1, "host": "h1"}])
    places = [(mounts / f"b{broker}").as_uri() for broker in (1, 2, 3)]
    assert [part.address for part in taken.parts()] == places
    assert list(sentences(taken.missing)) == [f"can't be read on h2: {mounts}/b2"]
    assert census.taken([*whole, *whole]) == census.Census({}, {})


def test_a_mount_that_only_a_late_executor_has_is_named_and_read_by_rescan(tmp_path: Path) -> None:
    """The driver stands still after the listing, until there is a second worker."""
    if why := why_no_own_mount(tmp_path):
        pytest.skip(f"a mount for one process alone can't be made ({why}): run as root")
    disks, away = tmp_path / "mnt", tmp_path / "away"
    disk(disks, {0: numbered(0, 10)}, broker=1)
    disk(away, {0: numbered(0, 15)}, broker=2)
    (place := disks / "broker-2").mkdir()
    output = tmp_path / "out"
    with spark_cluster(tmp_path, workers=1) as cluster:
        words = ["spark", "scan", str(disks), "--output", str(output), "--mode", "deep"]
        words += ["--master", cluster.url, *DRIVER]
        with started_tool(words, cluster.python, tmp_path) as job:
            wait_until((output / "work" / "census.json").exists, JOB_SECONDS, job.log.read_text)
            job.process.send_signal(signal.SIGSTOP)
            mount = ("--bind", str(away / "broker-2"), str(place))
            with worker(tmp_path, 1, cluster.url, cluster.python, mount) as second:
                second.wait_for("Successfully registered")
                wait_until(lambda: _registered(tmp_path / "worker-1"), 60.0, second.log.read_text)
                job.process.send_signal(signal.SIGCONT)
                assert job.process.wait(JOB_SECONDS) == 1, job.log.read_text()
                assert (
                    f"{place}: it is on {HERE} now, and no executor had it when"
                    in job.log.read_text()
                )
                assert json.loads((output / "scan.json").read_text())["brokers"] == [1]
                done = run_tool([*words, "--rescan"], cluster.python, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads((output / "scan.json").read_text())["brokers"] == [1, 2]


def test_a_disk_that_came_after_the_census_is_told_in_the_end(
    spark: SparkSession, tmp_path: Path, mounts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "on_one_machine", lambda _: False)
    home = Home(tmp_path / "out")
    jobs = Jobs(spark, home, Unwatched())
    with begun(home, asked([mounts], DEEP), NOW):
        assert census.late(jobs) == [], "as where it was begun on one machine"
        census.census(jobs, asked([mounts], DEEP))
        assert census.late(jobs) == []
        log_directory(mounts / "b4", 4)
        (said,) = census.late(jobs)
    assert said.startswith(f"{mounts}/b4: it is on {HERE} now, and no executor had it when")


def _registered(work: Path) -> bool:
    """Return whether an executor of this worker has joined a driver."""
    said = (path.read_text() for path in work.glob("app-*/*/stderr"))
    return any("Successfully registered with driver" in text for text in said)


def view(
    host: str, found: dict[str, str], complaints: Sequence[str] = (), link: str = ""
) -> dict[str, Any]:
    """Return what `look` tells of one root. found: by path."""
    seen = {
        "found": {f"file://{path}": whose for path, whose in found.items()},
        "complaints": list(complaints),
        "links": {"/m/link: a symlink": link} if link else {},
    }
    return {"host": host, "seen": [[0, seen]]}


NOTHING = "/m: No such file or directory"
DENIED = "/m/b2: Permission denied"


@pytest.mark.parametrize(
    ("on_h2", "unseen"),
    [
        (view("h2", {}, [NOTHING]), ()),
        (view("h2", {"/m/b1": "x"}, [DENIED]), ()),
        (view("h2", {"/m/b1": "x"}, ["/m/b3: Permission denied"]), ("/m/b3: Permission denied",)),
        (view("h2", {"/m/b1": "x", "/m/b2": ""}), ()),
    ],
    ids=["no mount", "a directory denied", "one that nobody sees", "its owner unreadable"],
)
def test_only_what_nobody_else_sees_is_complained_about(
    on_h2: dict[str, Any], unseen: tuple[str, ...]
) -> None:
    taken = census.taken([view("h1", {"/m/b1": "x", "/m/b2": "y"}), on_h2])
    (apart,) = taken.apart.values()
    assert apart.addresses == ("file:///m/b1", "file:///m/b2")
    assert apart.unseen == tuple(f"{text}; left out" for text in unseen)
    assert set(taken.missing["/m/b2"]) == {"h2"}


def test_a_log_directory_that_nobody_can_read_is_not_forgotten() -> None:
    taken = census.taken([view("h1", {"/m/b2": ""}), view("h2", {"/m/b1": "x"})])
    assert [part.address for part in taken.parts()] == ["file:///m/b1", "file:///m/b2"]


def test_a_link_is_told_with_where_it_leads_on_each_host() -> None:
    views = [view("h1", {"/m/b1": "x"}, link="boot1 7"), view("h2", {}, link="boot2 9")]
    (root,) = census.taken(views).unseen()
    assert root.links == (("/m/link: a symlink; left out", ("boot1 7", "boot2 9")),)


def test_processes_with_the_same_mounts_look_once(tmp_path: Path, mounts: Path) -> None:
    home = Home(tmp_path / "out")
    (claims := tmp_path / "claims").mkdir()
    settings = {**home.settings, "claims": for_tasks(claims)}
    with begun(home, asked([mounts], DEEP), NOW):
        assert len(told_by(census.look(settings, batches(0)))) == 1
        assert told_by(census.look(settings, batches(1, 2))) == []


def test_one_path_that_is_two_log_directories_is_refused(tmp_path: Path, mounts: Path) -> None:
    home = Home(tmp_path / "out")
    with begun(home, asked([mounts], DEEP), NOW):
        one = looking(home, tmp_path / "claims-1")
        back = hidden(mounts / "b2")
        (mounts / "b2").rmdir()
        log_directory(mounts / "b2", 9)
        other = looking(home, tmp_path / "claims-2")
    del back
    with pytest.raises(InputError, match=rf"{mounts}/b2 is one log directory on .*{HERE}"):
        census.taken([*one, *other])


def test_roots_that_were_refused_leave_the_output_to_others(
    spark: SparkSession, tmp_path: Path, mounts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise InputError("one path, two log directories")

    home = Home(tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr(scan_disks, "census", refuses)
        with pytest.raises(InputError, match="two log directories"):
            scan_disks.scan(spark, asked([mounts], DEEP), home)
    scanned = scan_disks.scan(spark, asked([mounts / "b1"], DEEP), home)
    assert scanned is not None
    assert (scanned.head.brokers, scanned.differing) == ((1,), ())


def test_a_log_directory_that_not_all_have_shares_no_bundle(tmp_path: Path, mounts: Path) -> None:
    home = Home(tmp_path / "out")
    roots = [mounts / f"b{broker}" for broker in (1, 2, 3)]
    count, _ = prepared(home, roots, share=1 << 30, apart={1 << 20})
    for number in range(count):
        brokers = {item["broker"] for item in read_rows(bundle_file(home, number))}
        assert brokers == {2} or 2 not in brokers


def test_what_is_missing_is_left_to_others_and_read_once_by_them(
    tmp_path: Path, mounts: Path
) -> None:
    home = Home(tmp_path / "out")
    count, _ = prepared(home, [mounts / "b1", mounts / "b2"], share=1 << 30)
    settings: dict[str, Any] = home.settings
    back = hidden(mounts / "b2")
    told = told_by(scan_bundles(settings, batches(*range(count))))
    away = [row["away"] for row in told if "away" in row]
    assert away
    assert {row["place"] for row in told if "away" in row} == {f"{mounts}/b2"}
    assert not any(done_file(home, str(number)).exists() for number in away)
    back()
    (claims := tmp_path / "claims").mkdir()
    again = {**settings, "again": away, "claims": for_tasks(claims)}
    assert [row["took"] for row in told_by(scan_bundles(again, batches(0)))] == away
    assert told_by(scan_bundles(again, batches(1))) == []
    found = {row["broker"] for number in range(count) for row in log_of(home, str(number))}
    assert found == {1, 2}


def test_what_nobody_has_is_read_in_the_end_and_says_what_is_wrong(
    tmp_path: Path, mounts: Path
) -> None:
    home = Home(tmp_path / "out")
    count, _ = prepared(home, [mounts / "b2"], share=1 << 30)
    hidden(mounts / "b2")
    settings = {**home.settings, "anyhow": True}
    told = told_by(scan_bundles(settings, batches(*range(count))))
    assert [row["took"] for row in told] == list(range(count))
    logs = [row for number in range(count) for row in log_of(home, str(number))]
    assert {row["trust"] for row in logs} == {"unusable"}


def test_tasks_begin_elsewhere_and_take_each_number_once(tmp_path: Path, mounts: Path) -> None:
    settings = {"again": [4, 7, 9], "claims": for_tasks(tmp_path)}
    place = [LocalLocation(mounts / "b1")]
    first = Turns(settings).of(batches(1), lambda _: place)
    assert next(first) == 7
    assert list(Turns(settings).of(batches(0), lambda _: place)) == [4, 9]
    assert list(first) == []


def test_workers_that_lack_mounts_find_what_one_process_finds(tmp_path: Path) -> None:
    """By its default a root has all disks of the hosts; each worker has an empty directory there
    where it lacks the mount of a broker."""
    if why := why_no_own_mount(tmp_path):
        pytest.skip(f"a mount for one process alone can't be made ({why}): run as root")
    disks = tmp_path / "mnt"
    for broker, tail in ((1, 5), (2, 0), (3, 3)):
        disk(disks, {0: numbered(0, 10 + tail)}, broker=broker)
    names = [str(disks / f"broker-{broker}") for broker in (1, 2)]
    short = {number: ("-t", "tmpfs", "none", name) for number, name in enumerate(names)}
    output, saved, plan = tmp_path / "out", tmp_path / "saved", tmp_path / "plan.json"
    plan.write_text(plan_text())
    with spark_cluster(tmp_path, workers=2, mounts=short) as cluster:
        flags = ["--master", cluster.url, *DRIVER]
        words = ["spark", "scan", str(disks), "--output", str(output), "--mode", "deep", *flags]
        done = run_tool(words, cluster.python, tmp_path)
        assert done.returncode == 0, done.stderr[-3000:]
        info = info_in(output)
        assert info == in_one_process([disks], info, ScanMode.DEEP)
        assert f"can't be read on {HERE}: {names[0]} (and 1 more)" in done.stderr
        words = ["spark", "salvage", "--summaries", str(output), "--plan", str(plan)]
        done = run_tool([*words, "--output", str(saved), *flags], cluster.python, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json.loads((saved / "manifest.json").read_text())["replicas"]
    assert [(row["broker"], row["records"], row["problems"]) for row in rows] == [
        (1, 5, []),
        (3, 3, []),
    ]
