"""The image beside a broker, as `kubectl debug` starts it: a shell, whatever user, no volume of
ours, and the processes of the broker's container. There is no kubectl here; Docker does the same
by --pid=container.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery import __version__
from tests.cli.disks import log_directory
from tests.containers import tool_image
from tests.containers.build_image import KafkaImage
from tests.containers.emulated import OUTAGE, RECOVERED, RECOVERY
from tests.containers.running import run, running
from tests.real.cli import Finished

DATA, STATE = "/var/lib/kafka/data", "/var/lib/kafka-unclean-recovery"
KAFKA = 1000
BROKER = f"{KAFKA}:{KAFKA}"
OURS, ROOT, WITHOUT_HOME, OF_NO_GROUP = None, "0:0", "12345:0", "12345:12345"
SCAN = ("scan-log-dirs", f"/proc/1/root{DATA}", "--workers", "2", "--format", "json")
# Docker would give the image's volume a place that can be written to; Kubernetes does not.
READ_ONLY = {"read_only": True, "tmpfs": {STATE: "ro,mode=0755"}}


@pytest.fixture(scope="module")
def tool(docker_host: str, image: KafkaImage) -> str:
    return tool_image.build(docker_host, image)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("broker") / "data"
    log_directory(path, 1, {"orders-0": 5, "carts-0": 1})
    for each in (path, *path.rglob("*")):
        os.chown(each, KAFKA, KAFKA)
    path.chmod(0o700)
    return path


@pytest.fixture(scope="module")
def broker(docker_host: str, image: KafkaImage, data: Path) -> Iterator[str]:
    """Yield a container with a broker's user and disk; its process does nothing."""
    options = {"entrypoint": "sleep", "user": BROKER, "network_mode": "none"}
    volumes = [f"{data}:{DATA}"]
    with running(docker_host, image.name, ["600"], volumes=volumes, **options) as container:
        yield str(container.id)


def _shell(host: str, tool: str, script: str, user: str | None, **options: Any) -> Finished:
    command = ["-ec", script]
    return run(host, tool, command, entrypoint="bash", user=user, network_mode="none", **options)


@pytest.mark.parametrize("options", [{}, READ_ONLY], ids=["writable", "read-only"])
@pytest.mark.parametrize("user", [OURS, ROOT, WITHOUT_HOME, OF_NO_GROUP])
def test_a_shell_runs_as_any_user(
    docker_host: str, tool: str, user: str | None, options: dict[str, Any]
) -> None:
    script = "kafka-unclean-recovery --version; kafka-elect-leaders --version; cd; ls"
    done = _shell(docker_host, tool, script, user, **options)
    assert (done.code, done.stderr) == (0, "")
    names = ("kafka-unclean-recovery", "kafka-elect-leaders")
    assert done.stdout == "".join(f"{name} {__version__}\n" for name in names)


@pytest.mark.parametrize("options", [{}, READ_ONLY], ids=["writable", "read-only"])
@pytest.mark.parametrize(
    ("user", "more"), [(BROKER, {}), (ROOT, {"cap_add": ["SYS_PTRACE"]})], ids=["broker", "root"]
)
def test_the_disks_of_the_broker_are_scanned_through_its_process(
    docker_host: str,
    tool: str,
    broker: str,
    data: Path,
    user: str,
    more: dict[str, Any],
    options: dict[str, Any],
) -> None:
    before = _all_of(data)
    beside = {"pid_mode": f"container:{broker}", **options, **more}
    done = _shell(docker_host, tool, " ".join(("kafka-unclean-recovery", *SCAN)), user, **beside)
    assert (done.code, done.stderr) == (0, "")
    found = json.loads(done.stdout)["partitions"]
    ends = {
        (row["topic"], row["partition"]): [log["log_end_offset"] for log in row["replica_logs"]]
        for row in found
    }
    assert ends == {("orders", 0): [5], ("carts", 0): [1]}
    assert _all_of(data) == before


def _all_of(directory: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in (directory, *directory.rglob("*"))
    }


@pytest.mark.parametrize("user", [OURS, ROOT, OF_NO_GROUP])
def test_another_user_than_the_broker_is_told_that_it_may_not(
    docker_host: str, tool: str, broker: str, user: str | None
) -> None:
    script = " ".join(("kafka-unclean-recovery", *SCAN))
    done = _shell(docker_host, tool, script, user, pid_mode=f"container:{broker}")
    assert done.code == 2
    assert "Permission denied" in done.stderr


def test_a_user_without_a_home_elects_and_keeps_the_journal(docker_host: str, tool: str) -> None:
    script = f"{OUTAGE}{RECOVERY}ls {STATE}/kafka-unclean-recovery/*/*.jsonl | wc -l"
    done = _shell(docker_host, tool, script, WITHOUT_HOME)
    assert done.code == 0, done
    assert done.stdout.splitlines()[-2:] == [RECOVERED, "1"]


def test_a_user_who_can_keep_no_journal_elects_nobody_and_is_told_what_to_set(
    docker_host: str, tool: str
) -> None:
    done = _shell(docker_host, tool, f"{OUTAGE}{RECOVERY}", OF_NO_GROUP)
    assert done.code == 2
    assert "set XDG_STATE_HOME" in done.stderr
