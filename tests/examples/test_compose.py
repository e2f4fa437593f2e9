"""The emulator for docker compose: valid by its schema, and its commands run without containers."""

from __future__ import annotations

import copy
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.command_lines import ROOT
from tests.examples.programs import PATH_WITH_OURS
from tests.examples.schemas import compose_complaints
from tests.real.waiting import wait_until

COMPOSE = ROOT / "examples" / "compose" / "compose.yaml"


def _services() -> Any:
    return yaml.safe_load(COMPOSE.read_text())["services"]


def test_it_is_valid() -> None:
    document = yaml.safe_load(COMPOSE.read_text())
    assert compose_complaints(document) == []
    wrong = copy.deepcopy(document)
    wrong["services"]["emulator"]["unheardOf"] = True
    assert any("unheardOf" in complaint for complaint in compose_complaints(wrong))
    for service in document["services"].values():
        for mount in service["volumes"]:
            source = mount.split(":")[0]
            there = (
                (COMPOSE.parent / source).exists()
                if "/" in source
                else source in (document["volumes"])
            )
            assert there, mount


def test_what_its_services_run_rehearses_the_outage(tmp_path: Path) -> None:
    services = _services()
    environment = {
        **os.environ,
        "PATH": PATH_WITH_OURS,
        "XDG_STATE_HOME": str(tmp_path),
        "SCENARIO": services["emulator"]["environment"]["SCENARIO"],
    }
    with _running(services["emulator"], environment) as emulator:
        (_, healthy) = services["emulator"]["healthcheck"]["test"]
        wait_until(
            lambda: (
                subprocess.run(
                    ["sh", "-c", healthy.replace("$$", "$")],
                    env=environment,
                    stderr=subprocess.DEVNULL,
                ).returncode
                == 0
            ),
            60.0,
            lambda: f"healthy; emulator ended with {emulator.poll()}",
        )
        looked = _run(services["look"], environment)
        assert (looked.returncode, looked.stdout.count("orders-")) == (0, 6), looked
        recovered = _run(services["recover"], environment)
        assert recovered.returncode == 0, recovered.stderr
        assert "3 elected" in recovered.stdout


def _command(service: Any) -> list[str]:
    return [word.replace("$$", "$") for word in service["entrypoint"]]


def _run(service: Any, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(service),
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def _running(service: Any, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(_command(service), env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)
