"""spark plan, the command: its files, its table, its exit codes."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from kafka_unclean_recovery.cli import spark_session
from kafka_unclean_recovery.cli.command import carry_out
from kafka_unclean_recovery.cli.commands.spark_plan import Options, plan
from kafka_unclean_recovery.documents.manual_recovery import leader_line, manual_recovery_json
from kafka_unclean_recovery.documents.plan import parse_plan, plan_json
from kafka_unclean_recovery.model import Cluster, PartitionReport, ReplicaInfo
from kafka_unclean_recovery.planning.merged_scans import merge_infos
from kafka_unclean_recovery.planning.offline_plan import plan_from_disks
from kafka_unclean_recovery.spark.plan import plan_texts, planning
from tests.cli.in_process import RECOVERY, invoke
from tests.mission.terminal import Terminal, shows
from tests.report.test_loss_page import SCHEMA, Page
from tests.spark.cluster import run_tool
from tests.spark.conftest import CONF_FLAGS
from tests.spark.random_partitions import random_info
from tests.spark.summaries_of import write_summaries


def run(*arguments: object) -> tuple[int, str, str]:
    """Return (exit code, stdout, stderr)."""
    done = invoke(RECOVERY, "spark", "plan", *map(str, arguments))
    return done.code, done.stdout, done.stderr


def test_a_job_that_fails_is_one_sentence_and_a_file_with_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    leaders = tmp_path / "leaders.json"
    words = ("spark", "plan", "--summaries", str(small(tmp_path)), *CONF_FLAGS)
    python = Path("/nowhere/python")
    done = run_tool((*words, "--manual-recovery-output-file", str(leaders)), python, tmp_path)
    state = tmp_path / ".local" / "state" / "kafka-unclean-recovery"
    (file,) = (state / "spark-failures").iterdir()
    *_, sentence = done.stderr.splitlines()
    assert done.returncode == 1
    assert sentence.startswith("kafka-unclean-recovery: the Spark job failed: there is no /nowhere")
    assert sentence.endswith(f"; all that Spark said is in {file}")
    assert "\n\tat org.apache.spark." in file.read_text()
    assert not leaders.exists()


def test_a_session_that_does_not_begin_is_one_sentence_and_a_file_with_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    leaders = tmp_path / "leaders.json"
    words = ("spark", "plan", "--summaries", str(small(tmp_path)), *CONF_FLAGS)
    too_little = ("--conf", "spark.testing.memory=1000")
    done = run_tool(
        (*words, *too_little, "--manual-recovery-output-file", str(leaders)),
        Path(sys.executable),
        tmp_path,
    )
    state = tmp_path / ".local" / "state" / "kafka-unclean-recovery"
    (file,) = (state / "spark-failures").iterdir()
    *_, told = done.stderr.splitlines()
    assert done.returncode == 2
    assert told.startswith("kafka-unclean-recovery: no Spark session: ")
    assert "IllegalArgumentException: [INVALID_DRIVER_MEMORY" in told
    assert told.endswith(f"; all that Spark said is in {file}")
    assert "\n\tat org.apache.spark." in file.read_text()
    assert not leaders.exists()


def small(tmp_path: Path, name: str = "scan", **head: object) -> Path:
    return write_summaries(tmp_path / name, random_info(1, 3, **head))


def pure(
    found: Sequence[tuple[Path, ReplicaInfo]], excluded: frozenset[int]
) -> tuple[PartitionReport, ...]:
    return plan_from_disks(merge_infos([(str(name), info) for name, info in found]), excluded)


def test_on_a_terminal_it_is_one_screen_however_many_there_are(tmp_path: Path) -> None:
    scan = write_summaries(tmp_path / "scan", random_info(21, 400))
    leaders = ("--manual-recovery-output-file", str(tmp_path / "leaders.json"))
    words = ("spark", "plan", "--summaries", str(scan), *leaders)
    screen = Terminal((80, 24), *words, *CONF_FLAGS, seconds=180.0).finish()
    assert screen.code in (0, 1), screen.text
    # What the JVM says of itself comes before.
    begin = next(n for n, line in enumerate(screen.lines) if ": partitions " in line)
    assert shows(screen.window, screen.lines[begin:]), screen.text
    assert "next, once brokers are started: kafka-elect-leaders " in screen.lines[-1]


@pytest.mark.usefixtures("spark")
def test_the_files_are_those_of_the_pure_planner(tmp_path: Path) -> None:
    infos = (
        random_info(11, 1500, metadata_epoch=2, problems=("a disk is missing",)),
        random_info(12, 1000, scanned_at="2026-01-02T04:04:05+00:00"),
    )
    found = [(tmp_path / f"scan-{n}", info) for n, info in enumerate(infos)]
    for directory, info in found:
        write_summaries(directory, info)
    manual, rich, page = (tmp_path / name for name in ("leaders.json", "plan.json", "page.html"))
    code, out, err = run(
        *(word for directory, _ in found for word in ("--summaries", directory)),
        *("--manual-recovery-output-file", manual, "--plan-output-file", rich, "--html", page),
        *("--exclude-brokers", "2,3", "--format", "json"),
    )
    reports = pure(found, frozenset({2, 3}))
    plans = [report.plan for report in reports if report.plan is not None]
    assert manual.read_text() == manual_recovery_json(plans)
    created_at = parse_plan(rich.read_text(), "plan")["created_at"]
    assert rich.read_text() == plan_json(Cluster("cluster-1", {}), plans, str(created_at))
    assert [topic["topic"] for topic in json.loads(out)["topics"]] == sorted(_losses(reports))
    for topic in json.loads(out)["topics"]:
        assert topic == _losses(reports)[topic["topic"]]
    SCHEMA.validate(json.loads(out))
    assert code == 1
    without = [r for r in reports if (r.plan or r.outcome) and not _leads(r)]
    assert f"{len(without)} partitions have no designated leader, the first: Z-" in err
    gone = [report for report in reports if report.plan is None and report.outcome is None]
    assert f"{len(gone)} partitions are on disks only" in err
    assert "1 problem: " in err
    assert "next, once brokers are started: kafka-elect-leaders" in err
    assert not list(tmp_path.glob(".*"))
    _check_page(Page(page.read_text()), reports)


def _leads(report: PartitionReport) -> bool:
    return report.plan is not None and report.plan.designated_leader is not None


def _losses(reports: Sequence[PartitionReport]) -> dict[str, object]:
    """Return losses by topic, as the JSON has them, but only the number without a leader."""
    by_topic: dict[str, list[PartitionReport]] = defaultdict(list)
    for report in reports:
        if report.plan or report.outcome:
            by_topic[report.topic_partition.topic].append(report)
    return {topic: _topic(topic, found) for topic, found in by_topic.items()}


def _topic(topic: str, found: Sequence[PartitionReport]) -> dict[str, object]:
    losses = [r.plan.ranking[0].loss for r in found if r.plan and _leads(r)]
    return {
        "topic": topic,
        "partitions": len(found),
        "designated": len(losses),
        "without": dict(sorted(Counter(_why(r) for r in found if not _leads(r)).items())),
        "certain": _count([loss.certain for loss in losses]),
        "possible": _count([loss.possible for loss in losses]),
    }


def _why(report: PartitionReport) -> str:
    refusal = report.plan.refusal if report.plan else ""
    if report.plan is None:
        return "state_unknown"
    if refusal is None:
        return "no_candidate"
    starts = {
        "a reassignment": "reassignment",
        "every replica": "only_suspects",
        "no replica that can": "unranked_holds_records",
        "the log of broker": "unranked_ends_further",
        "the best log": "without_epochs",
    }
    return next(code for start, code in starts.items() if refusal and refusal.startswith(start))


def _count(records: Sequence[int | None]) -> dict[str, int | None]:
    known = [count for count in records if count is not None]
    unknown = len(records) - len(known)
    total = None if unknown else sum(known)
    return {"records": total, "known_records": sum(known), "unknown_partitions": unknown}


def _check_page(page: Page, reports: Sequence[PartitionReport]) -> None:
    """Check that the first of the worst is that which loses most."""
    lost = {
        str(report.topic_partition): sum(
            filter(
                None, (report.plan.ranking[0].loss.certain, report.plan.ranking[0].loss.possible)
            )
        )
        for report in reports
        if report.plan and _leads(report)
    }
    named = [text for text in page.texts if text in lost]
    assert len(named) == 100
    assert lost[named[0]] == max(lost.values())
    assert [lost[name] for name in named] == sorted((lost[n] for n in named), reverse=True)


@pytest.mark.usefixtures("spark")
def test_all_with_a_leader_is_exit_0(tmp_path: Path) -> None:
    info = random_info(1, 40)
    rows = zip(info.partitions, plan_from_disks(info, ()), strict=True)
    led = replace(info, partitions=tuple(part for part, report in rows if _leads(report)))
    manual = tmp_path / "leaders.json"
    scan = write_summaries(tmp_path / "scan", led)
    code, out, _ = run("--summaries", scan, "--manual-recovery-output-file", manual)
    assert code == 0
    assert f"{len(led.partitions)} with a designated leader, 0 without" in out
    code, _, err = run("--summaries", scan, "--manual-recovery-output-file", manual)
    assert code == 2
    assert "the file exists and is never overwritten" in err


@pytest.mark.usefixtures("spark")
def test_a_stranger_can_not_be_excluded(tmp_path: Path) -> None:
    manual = tmp_path / "leaders.json"
    flags = ("--summaries", small(tmp_path), "--manual-recovery-output-file", manual)
    code, out, err = run(*flags, "--exclude-brokers", "99")
    assert (code, out) == (2, "")
    assert "--exclude-brokers: broker 99 appears nowhere in what was read" in err
    assert not manual.exists()


@pytest.mark.parametrize(
    ("second", "more", "said"),
    [
        ("nowhere", (), "no scan.json here"),
        ("again", (), "is given twice"),
        ("foreign", (), "give the disks of one cluster"),
        (None, ("--exclude-brokers", "one"), "give broker ids as in 1,2"),
        (None, ("--plan-output-file", "leaders.json"), "name the same file"),
        (None, ("--html", "."), "never overwritten"),
        (None, ("--conf", "spark.x"), "give a setting of Spark as KEY=VALUE"),
    ],
)
def test_a_slip_is_told_before_spark_is_started(
    second: str | None,
    more: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    scan = small(Path())
    others = {"nowhere": Path("nowhere"), "again": scan.absolute()}
    if second == "foreign":
        others["foreign"] = small(Path(), "foreign", cluster_id="cluster-2")
    scans = [scan, *([others[second]] if second else [])]
    words = [word for path in scans for word in ("--summaries", path)]
    code, out, err = run(*words, "--manual-recovery-output-file", "leaders.json", *more)
    assert (code, out) == (2, "")
    assert said in err
    assert not Path("leaders.json").exists()


def test_a_rich_plan_needs_the_id_of_the_cluster(tmp_path: Path) -> None:
    flags = ("--manual-recovery-output-file", tmp_path / "m", "--plan-output-file", tmp_path / "p")
    code, _, err = run("--summaries", small(tmp_path, cluster_id=None), *flags)
    assert code == 2
    assert "--plan-output-file needs the id of the cluster" in err


def test_without_the_extra_it_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_session, "find_spec", lambda _: None)
    code, _, err = run("--summaries", tmp_path, "--manual-recovery-output-file", tmp_path / "m")
    assert code == 2
    assert "pip install 'kafka-unclean-recovery[spark]'" in err


def test_lines_come_in_chunks_that_join_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_texts, "_CHUNK", 100)
    lines = plan_texts._Lines(plan_texts.LEADERS)
    batches = [b for n in range(9) for b in lines.add(leader_line("t", n, 3), "")]
    chunks = [row for rows in (*batches, *lines.rest()) for row in rows.to_pylist()]
    assert len(chunks) > 2
    joined = ",\n".join(plan_texts.unpacked(chunk["text"]) for chunk in chunks).split(",\n")
    assert [json.loads(line)["partition"] for line in joined] == list(range(9))


def test_interrupted_it_leaves_no_file(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A signal that comes while the leaders are written."""

    def lines(*_: object) -> Iterator[tuple[str, str]]:
        os.kill(os.getpid(), signal.SIGTERM)
        while spark.range(3).count():
            yield "{}", ""

    monkeypatch.setattr(planning.Texts, "lines", lines)
    manual = tmp_path / "leaders.json"
    options = Options(summaries=[str(small(tmp_path))], manual_recovery_output_file=manual)
    assert carry_out(plan, options) == 143
    assert "interrupted; nothing was elected" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == [tmp_path / "scan"]
