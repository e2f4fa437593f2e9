"""A bulk scan by the executors of a real cluster, which have never heard of this package."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_unclean_recovery.mechanisms import ScanMode
from tests.real.ports import PortLease, answers
from tests.real.waiting import wait_until
from tests.salvage.batches import numbered
from tests.salvage.disks import disk, plan_text
from tests.spark.cluster import (
    DRIVER,
    JOB_SECONDS,
    SPARK_HOME,
    SparkCluster,
    bare_python,
    daemon,
    environment,
    run_tool,
    spark_cluster,
)
from tests.spark.scans import in_one_process, info_in
from tests.spark.sparse_disks import sparse_disks

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sparse_disks(tmp_path_factory.mktemp("disks"), brokers=3, replicas=4, size=256 << 20)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with spark_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as cluster:
        yield cluster


def command(roots: list[Path], output: Path) -> list[str]:
    names = map(str, roots)
    return ["spark", "scan", *names, "--output", str(output), "--mode", "deep"]


def done_files(output: Path) -> int:
    return len(list((output / "work" / "done").glob("[0-9]*.parquet")))


def test_a_worker_is_killed_in_mid_job(
    cluster: SparkCluster, disks: list[Path], tmp_path: Path
) -> None:
    # As long as that of a container of YARN.
    place = tmp_path / "appcache" / ("container_" * 12)
    place.mkdir(parents=True)
    long = ("--conf", f"spark.executor.extraJavaOptions=-Djava.io.tmpdir={place}")
    submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", cluster.url, *DRIVER, *long]
    example = str(ROOT / "examples" / "spark_submit.py")
    output = tmp_path / "out"
    log = tmp_path / "driver.log"
    with log.open("w") as said:
        job = subprocess.Popen(
            [*submit, example, *command(disks, output)],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd=tmp_path,
            env=environment(cluster.python),
        )
    try:
        wait_until(
            lambda: done_files(output) > 0 or job.poll() is not None,
            JOB_SECONDS,
            lambda: log.read_text()[-3000:],
        )
        # Before the kill, which may take as long as the rest of the job.
        assert (output / "work").is_dir(), log.read_text()[-3000:]
        cluster.workers[0].kill_all()
        assert job.wait(JOB_SECONDS) == 0, log.read_text()[-3000:]
    finally:
        if job.poll() is None:
            job.kill()
    info = info_in(output)
    assert info == in_one_process(disks, info, ScanMode.DEEP)
    assert "12 replicas (12 trusted" in log.read_text()


def test_executors_without_pyarrow_are_named(
    cluster: SparkCluster, disks: list[Path], tmp_path: Path
) -> None:
    lacking = bare_python(tmp_path / "lacking", without="pyarrow")
    words = [
        *command(disks[:1], tmp_path / "out"),
        *("--master", cluster.url, *DRIVER, "--conf", f"spark.pyspark.python={lacking}"),
        # What is missing is missing the fourth time, too.
        *("--conf", "spark.task.maxFailures=1"),
    ]
    done = run_tool(words, cluster.python, tmp_path)
    assert done.returncode == 1, done.stderr[-3000:]
    assert f"{lacking} of {os.uname().nodename} has no pyarrow, and executors need" in done.stderr
    assert "\tat " not in done.stderr, "lines of a JVM are not for operators"


def test_a_local_cluster_finds_what_one_process_finds(disks: list[Path], tmp_path: Path) -> None:
    """Its executors are processes of their own, whose Python has never heard of this package."""
    python = bare_python(tmp_path / "bare")
    output = tmp_path / "out"
    words = [*command(disks[:2], output), "--master", "local-cluster[2,1,1024]", *DRIVER]
    done = run_tool(words, python, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    info = info_in(output)
    assert info == in_one_process(disks[:2], info, ScanMode.DEEP)


@pytest.fixture(scope="module")
def connect(cluster: SparkCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a Spark Connect server of the cluster."""
    lease = PortLease.of(1)
    (port,) = lease.ports
    server = (
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--master", cluster.url, *DRIVER),
        *("--conf", f"spark.connect.grpc.binding.port={port}"),
        *("--conf", "spark.connect.grpc.binding.address=127.0.0.1"),
        "spark-internal",
    )
    log = tmp_path_factory.mktemp("connect") / "server.log"
    with daemon("spark-submit", server, log, cluster.python, memory="640m") as started:
        wait_until(
            lambda: answers(port) or started.process.poll() is not None,
            60.0,
            lambda: log.read_text()[-3000:],
        )
        assert started.process.poll() is None, log.read_text()[-3000:]
        yield f"sc://127.0.0.1:{port}"
    lease.release()


def test_over_spark_connect(
    cluster: SparkCluster, connect: str, disks: list[Path], tmp_path: Path
) -> None:
    small = disks[:1]
    words = [*command(small, tmp_path / "out"), "--master", connect]
    done = run_tool(words, cluster.python, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    info = info_in(tmp_path / "out")
    assert info == in_one_process(small, info, ScanMode.DEEP)


def test_salvage_and_plan_over_spark_connect(
    cluster: SparkCluster, connect: str, tmp_path: Path
) -> None:
    root, out, saved, plan, leaders = (
        tmp_path / name for name in ("disks", "out", "saved", "plan.json", "leaders.json")
    )
    disk(root, {0: numbered(0, 15)}, broker=1)
    plan.write_text(plan_text())

    def run(*words: object) -> tuple[int, str]:
        every = ["spark", *map(str, words), "--master", connect]
        done = run_tool(every, cluster.python, tmp_path)
        return done.returncode, done.stderr

    code, said = run("scan", root, "--output", out, "--mode", "deep")
    assert code == 0, said
    code, said = run("plan", "--summaries", out, "--manual-recovery-output-file", leaders)
    assert (code, leaders.exists()) == (1, True), said
    assert "1 partition has no designated leader: orders-0: no metadata log" in said
    code, said = run("salvage", "--summaries", out, "--plan", plan, "--output", saved)
    assert code == 0, said
    (row,) = json.loads((saved / "manifest.json").read_text())["replicas"]
    assert (row["broker"], row["records"], row["problems"]) == (1, 5, [])
