"""The wheelhouse on a host that has Python and no network, by the commands of the document."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import docker
import pytest

from kafka_unclean_recovery import __version__
from tests.containers.build_image import KafkaImage
from tests.containers.emulated import OUTAGE, RECOVERED, RECOVERY
from tests.containers.image_files import TIMEOUT
from tests.containers.running import run
from tests.dist_scripts import make
from tests.real.cache import ROOT
from tests.real.cli import Finished

# With the same Python as the wheels; where there is no registry, Kafka's own base is a Debian.
PUBLISHED = "python:{}.{}-slim".format(*sys.version_info)
# It has no interface but the loopback, no route, and none of our packages.
LONELY = """
tail -n +2 /proc/net/route
ls /sys/class/net
if python3 -c 'import msgspec' 2>/dev/null; then exit 9; fi
"""
VERSIONS = """
PATH="$PWD/recovery/bin:$PATH"
kafka-elect-leaders --version
"""


@pytest.fixture(scope="module")
def debian(docker_host: str, image: KafkaImage) -> str:
    """Return an image with Python and its venv, and with no package of Python."""
    if not image.pulled:
        told = run(docker_host, image.name, ["--version"], entrypoint="python3").stdout
        if not told.startswith("Python {}.{}.".format(*sys.version_info)):
            pytest.skip(f"the wheels are of {sys.version}, the container has {told}")
        return image.name
    client = docker.DockerClient(docker_host, timeout=TIMEOUT)
    try:
        client.images.pull(PUBLISHED)
    finally:
        client.close()
    return PUBLISHED


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the archive of `make wheelhouse` and its checksum."""
    directory = tmp_path_factory.mktemp("dist")
    make("wheelhouse", directory)
    (archive,) = directory.glob("*.tar.gz")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    (directory / "wheelhouse.sha256").write_text(f"{digest}  {archive.name}\n")
    return directory


def _installation() -> str:
    """Return what docs/air-gapped.md has one type on the host, for the Python of the wheels."""
    text = (ROOT / "docs" / "air-gapped.md").read_text()
    (block,) = re.findall(r"(?m)^    sha256sum --check wheelhouse.*\n(?:    .*\n)+", text)
    return re.sub(r"-cp\d+-\w+\.tar", "-*.tar", block)


def _alone(host: str, image: str, brought: Path, script: str) -> Finished:
    return run(
        host,
        image,
        ["-ec", f"cp /brought/*.tar.gz /brought/*.sha256 .\n{script}"],
        entrypoint="sh",
        working_dir="/root",
        network_mode="none",
        volumes=[f"{brought}:/brought:ro"],
    )


def test_it_installs_where_no_network_is_and_recovers(
    docker_host: str, debian: str, brought: Path
) -> None:
    done = _alone(
        docker_host, debian, brought, f"{LONELY}{_installation()}{VERSIONS}{OUTAGE}{RECOVERY}"
    )
    assert done.code == 0, done
    interface, checked, *told = done.stdout.splitlines()
    assert interface == "lo"
    assert checked.endswith(".tar.gz: OK")
    versions = [
        f"{name} {__version__}" for name in ("kafka-unclean-recovery", "kafka-elect-leaders")
    ]
    assert [line for line in told if line.endswith(__version__)] == versions
    assert told[-1] == RECOVERED


def test_without_one_of_the_wheels_nothing_is_had_from_elsewhere(
    docker_host: str, debian: str, brought: Path
) -> None:
    commands = _installation().split("\n")
    (pip,) = [number for number, line in enumerate(commands) if "--no-index" in line]
    commands.insert(pip, "rm wheelhouse/msgspec-*")
    done = _alone(docker_host, debian, brought, "\n".join(commands))
    assert done.code == 1
    assert "No matching distribution found for msgspec" in done.stderr
