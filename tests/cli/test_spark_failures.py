"""What Spark says of a job that failed: in a file, where there is room for it."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.spark_failures import KEPT, job_failed, no_session
from kafka_unclean_recovery.errors import NOT_ALL, USAGE, Exit
from kafka_unclean_recovery.spark.running import JobFailed
from kafka_unclean_recovery.spark.session import NoSession

WHOLE = "Caused by: 331 lines\n\tat org.apache.spark of s3cret"
FAILED = JobFailed("on host a: no room", WHOLE)
CONF = ("spark.hadoop.fs.s3a.secret.key=s3cret", "spark.executor.cores=2")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "kafka-unclean-recovery" / "spark-failures"


def _ended(conf: tuple[str, ...] = CONF) -> Exit:
    return job_failed(FAILED, conf, "run it again")


def test_the_sentence_names_a_file_of_ours_alone_that_has_all_but_secrets(state: Path) -> None:
    ended = _ended()
    (file,) = state.iterdir()
    assert ended.code == NOT_ALL
    assert str(ended) == (
        f"the Spark job failed: on host a: no room; run it again; all that Spark said is in {file}"
    )
    assert file.read_text() == f"{WHOLE.replace('s3cret', '*********(redacted)')}\n"
    assert (file.stat().st_mode & 0o777, state.stat().st_mode & 0o777) == (0o600, 0o700)


def test_the_sentence_has_no_secret_either(state: Path) -> None:
    ended = job_failed(JobFailed("S3Exception: s3cret is no key", WHOLE), CONF, "run it again")
    assert "S3Exception: *********(redacted) is no key; run it again" in str(ended)
    assert len(list(state.iterdir())) == 1


def test_a_session_that_does_not_begin_leaves_all_but_secrets_too(state: Path) -> None:
    error = NoSession("no Spark session: t0ken is refused", "t0ken is refused\n\tat s3cret")
    ended = no_session(error, CONF, "sc://spark.example:15002/;user_id=me;token=t0ken")
    (file,) = state.iterdir()
    assert ended.code == USAGE
    assert str(ended) == (
        "no Spark session: *********(redacted) is refused; all that Spark said is in {file}"
    ).replace("{file}", str(file))
    hidden = "*********(redacted)"
    assert file.read_text() == f"{hidden} is refused\n\tat {hidden}\n"


def test_of_one_line_there_is_no_file(state: Path) -> None:
    ended = no_session(NoSession("no Spark session: no", "no\n"), CONF, None)
    assert str(ended) == "no Spark session: no"
    assert not state.exists()


def test_the_newest_files_are_kept(state: Path) -> None:
    state.mkdir(parents=True)
    for number in range(KEPT + 5):
        (state / f"20200101T0000{number:02}Z-1.txt").touch()
    _ended()
    found = sorted(path.name for path in state.iterdir())
    assert len(found) == KEPT
    assert found[0] == "20200101T000006Z-1.txt"
    assert not found[-1].startswith("2020")


def test_where_no_file_can_be_written_the_sentence_is_all_there_is(state: Path) -> None:
    state.parent.touch()
    assert str(_ended()) == "the Spark job failed: on host a: no room; run it again"


def test_of_a_file_that_has_no_room_nothing_is_left(state: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    heard = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        ended = _ended()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, heard)
    assert "all that Spark said" not in str(ended)
    assert list(state.iterdir()) == []


def test_without_a_home_a_directory_of_somebody_else_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        "kafka_unclean_recovery.cli.spark_failures.why_not_to_use", lambda _, where: str(where)
    )
    assert "all that Spark said" not in str(_ended())
    assert os.environ.get("HOME") is None
