"""--log-format json: each sentence on stderr is a JSON object; and nothing is ever coloured."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.cli.environment import PREFIX
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, write_log_as
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Delay
from tests.cli.disks import log_directory
from tests.cli.in_process import ELECTION, RECOVERY, invoke
from tests.cli.run import NOWHERE, command_line
from tests.cli.run import RECOVERY as MODULE


def _lines(stderr: str) -> list[dict[str, Any]]:
    """Return the lines, each with the three fields, and a time with its offset from UTC."""
    found = [json.loads(line) for line in stderr.splitlines()]
    for line in found:
        assert line.keys() == {"at", "command", "message"}
        assert datetime.fromisoformat(line["at"]).tzinfo is not None
    return found


@pytest.mark.parametrize(
    ("name", "args", "code", "command", "message"),
    [
        (RECOVERY, f"{' '.join(NOWHERE)}", 2, RECOVERY, "give exactly one of"),
        (RECOVERY, "doctor --bootstrap-server 127.0.0.1:1", 3, f"{RECOVERY} doctor", "no broker"),
        (RECOVERY, "aftercare --bootstrap-server h", 2, f"{RECOVERY} aftercare", "bootstrap"),
        (RECOVERY, "scan-log-dirs nowhere", 2, f"{RECOVERY} scan-log-dirs", "no log directory"),
        (RECOVERY, "plan --log-dirs x", 2, f"{RECOVERY} plan", "See kafka-unclean-recovery plan"),
        (RECOVERY, "salvage --log-dirs x", 2, f"{RECOVERY} salvage", "Missing option '--output'"),
        (
            RECOVERY,
            "salvage replay nowhere --bootstrap-server h:1",
            2,
            f"{RECOVERY} salvage replay",
            "nowhere",
        ),
        (RECOVERY, "spark scan --output o", 2, f"{RECOVERY} spark scan", "no ROOT"),
        (RECOVERY, "emulator ctl dance", 2, f"{RECOVERY} emulator ctl", "dance"),
        (RECOVERY, "emulator --scenario nowhere", 2, f"{RECOVERY} emulator", "nowhere"),
        (RECOVERY, "dance", 2, RECOVERY, "No such command 'dance'"),
        (RECOVERY, "doctor --dance", 2, f"{RECOVERY} doctor", "No such option: --dance"),
        (ELECTION, f"{' '.join(NOWHERE)} --election-type unclean", 2, ELECTION, "exactly one of"),
    ],
)
def test_each_sentence_is_an_object(
    tmp_path: Path, name: str, args: str, code: int, command: str, message: str
) -> None:
    env = {f"{PREFIX}_LOG_FORMAT": "json"}
    done = invoke(name, *args.split(), cwd=tmp_path, env=env)
    assert (done.code, done.stdout) == (code, ""), done.stderr
    *_, last = _lines(done.stderr)
    assert last["command"] == command
    assert message in last["message"]


def test_the_flag_does_what_the_variable_does(tmp_path: Path) -> None:
    for flag in (("--log-format", "json"), ("--log-format=json",)):
        wrong = invoke(RECOVERY, "doctor", *flag, "--dance")
        assert "--dance" in _lines(wrong.stderr)[0]["message"]
    done = invoke(RECOVERY, "scan-log-dirs", "nowhere", "--log-format", "json", cwd=tmp_path)
    assert "no log directory" in _lines(done.stderr)[0]["message"]
    # The next command in this process begins anew.
    assert invoke(RECOVERY, "scan-log-dirs").stderr.startswith("Usage:")


def test_last_words_are_an_object_too(
    capfd: pytest.CaptureFixture[str],
) -> None:
    write_log_as(LogFormat.JSON, "a command")
    try:
        Console("kafka").last_words("stopping: 1 ä")
    finally:
        write_log_as(LogFormat.TEXT, "")
    (line,) = _lines(capfd.readouterr().err)
    assert (line["command"], line["message"]) == ("a command", "stopping: 1 ä")


def test_a_signal_is_told_as_an_object(tmp_path: Path) -> None:
    """It comes while brokers are waited for."""
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[(1,)])
        cluster.kill(1)
        cluster.wait_until(lambda e: e.state.partition(e.partition_key("orders", 0)).leader == -1)
        asked = cluster.intercept("ApiVersions", Delay(0.0))
        flags = ["--all-offline-partitions", "--show-replica-info", "--wait-for-brokers", "1"]
        where = ["--bootstrap-server", cluster.bootstrap_servers, "--log-format", "json"]
        process = subprocess.Popen(
            command_line(MODULE, *where, *flags, "--recovery-duration-ms", "600000"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {f"{PREFIX}_YES": "1", "XDG_STATE_HOME": str(tmp_path)},
        )
        try:
            # Whoever asks a broker takes signals already.
            cluster.wait_until(lambda _: bool(asked.requests), 60)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=60)
        finally:
            process.kill()
            process.communicate()
    assert process.returncode == 130
    sentences = [line["message"] for line in _lines(told)]
    assert sentences[0].startswith(f"from the environment: --yes ({PREFIX}_YES)")
    assert any(each.startswith("stopping:") for each in sentences)


def _on_a_terminal(args: list[str], cwd: Path, env: dict[str, str]) -> str:
    """Return all that a terminal would get."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command_line(MODULE, *args), stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=env
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # EIO: nobody has the other end any more
            pass
        finally:
            os.close(ours)
        process.wait(60)
    return shown.decode()


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}])
def test_nothing_is_coloured(tmp_path: Path, environ: dict[str, str]) -> None:
    log_directory(tmp_path / "disk", 1, {"orders-0": 5})
    env = {**os.environ, "TERM": "xterm-256color", **environ}
    for args in (["--help"], ["doctor", "--dance"], ["scan-log-dirs", "disk"]):
        shown = _on_a_terminal(args, tmp_path, env)
        assert shown.strip()
        # Erasing a line of progress is no colour; SGR, which ends in m, is.
        assert re.search(r"\x1b\[[0-9;]*m", shown) is None
