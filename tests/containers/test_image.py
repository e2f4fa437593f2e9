"""`make image`: the container image of what is committed, as a file that `docker load` reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from kafka_unclean_recovery import __version__
from tests.containers.build_image import KafkaImage
from tests.containers.image_files import TIMEOUT
from tests.containers.running import run
from tests.containers.tool_image import trusting
from tests.dist_scripts import make, run_make

NAME = f"kafka-unclean-recovery:{__version__}"


@pytest.fixture
def client(docker_host: str) -> Iterator[docker.DockerClient]:
    found = docker.DockerClient(docker_host, timeout=TIMEOUT)
    yield found
    found.close()


def test_its_file_is_loaded_elsewhere_and_is_the_tool(
    docker_host: str, image: KafkaImage, client: docker.DockerClient, tmp_path: Path
) -> None:
    # What salvage needs is large; a private engine has no bridge to the outside.
    arguments = ["--network host", "--build-arg EXTRAS="]
    if not image.pulled:
        arguments.append(f"--build-arg BASE={trusting(client, image.name)}")
    make("image", tmp_path, f"IMAGE_FLAGS={' '.join(arguments)}")
    client.images.remove(NAME)
    (archive,) = tmp_path.iterdir()
    assert archive.name == f"kafka-unclean-recovery-{__version__}-image.tar"
    with archive.open("rb") as saved:
        (loaded,) = client.images.load(saved)
    assert loaded.tags == [NAME]
    told = run(docker_host, NAME, ["--version"])
    assert told.stdout.split() == ["kafka-unclean-recovery", __version__]


def test_without_an_engine_it_says_what_is_missing(tmp_path: Path) -> None:
    nobody = f"unix://{tmp_path / 'docker.sock'}"
    done = run_make("image", f"DIST={tmp_path / 'dist'}", DOCKER_HOST=nobody)
    assert done.returncode != 0
    assert "no container engine answers: start Docker, or set DOCKER_HOST" in done.stderr
    assert not (tmp_path / "dist").exists()
