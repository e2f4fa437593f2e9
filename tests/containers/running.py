"""One command in a container of its own, and what it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import docker
from docker.models.containers import Container

from tests.containers.image_files import TIMEOUT
from tests.real.cli import Finished


def run(host: str, image: str, command: Sequence[str], **options: Any) -> Finished:
    """Run a container to its end; options are those of docker.containers.create."""
    with running(host, image, command, **options) as container:
        code = container.wait(timeout=TIMEOUT)["StatusCode"]
        stdout, stderr = container.logs(stderr=False), container.logs(stdout=False)
        return Finished(code, stdout.decode(), stderr.decode())


@contextmanager
def running(host: str, image: str, command: Sequence[str], **options: Any) -> Iterator[Container]:
    """Yield a container that is removed at the end, whatever it does then."""
    client = docker.DockerClient(host, timeout=TIMEOUT)
    try:
        container = client.containers.create(image, list(command), **options)
        try:
            container.start()
            yield container
        finally:
            container.remove(force=True, v=True)
    finally:
        client.close()
