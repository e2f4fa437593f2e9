"""The image of the tests: `apache/kafka`, another by KAFKA_IMAGE, or one of the files that are
built here where no registry can be reached (image_files.py).

`python -m tests.containers.build_image` gets it, or makes it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import docker
from docker.errors import DockerException, ImageNotFound

from tests.containers.engine import engine
from tests.containers.image_files import PUBLISHED, TIMEOUT, VERSION, NoImageError, image_files

BUILT = "kafka-unclean-recovery-tests/kafka"


@dataclass(frozen=True, slots=True)
class KafkaImage:
    name: str
    pulled: bool  # There is a registry, or somebody was there before.


def kafka_image(host: str) -> KafkaImage:
    """Return an image that the engine at this DOCKER_HOST has now.

    One that was asked for by KAFKA_IMAGE is had or fails; only the default has a substitute.
    """
    wanted = os.environ.get("KAFKA_IMAGE")
    client = docker.DockerClient(host, timeout=TIMEOUT)
    try:
        problem = _pull(client, wanted or PUBLISHED)
        if problem is None:
            return KafkaImage(wanted or PUBLISHED, pulled=True)
        if wanted:
            raise NoImageError(f"KAFKA_IMAGE={wanted} can't be pulled: {problem}")
        client.api.import_image_from_file(str(image_files()), repository=BUILT, tag=VERSION)
        return KafkaImage(f"{BUILT}:{VERSION}", pulled=False)
    finally:
        client.close()


def _pull(client: docker.DockerClient, name: str) -> str | None:
    """Return what prevents it, if anything does."""
    try:
        client.images.get(name)
    except ImageNotFound:
        try:
            client.images.pull(name)
        except DockerException as error:
            return str(error)
    return None


if __name__ == "__main__":
    with engine() as found:
        print(kafka_image(found).name)
