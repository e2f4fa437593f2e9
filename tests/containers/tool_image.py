"""Our own image, built by examples/container/Dockerfile."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterable
from pathlib import Path

import docker

from tests.containers.build_image import KafkaImage
from tests.containers.image_files import TIMEOUT
from tests.real.cache import ROOT

DOCKERFILE = "examples/container/Dockerfile"
COPIED = re.compile(r"^COPY (?!--)(.*) \S+$", re.MULTILINE)
NAME = "kafka-unclean-recovery-tests/tool"
BASE = "kafka-unclean-recovery-tests/python"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


def build(host: str, kafka: KafkaImage) -> str:
    """Build the image on the engine at this DOCKER_HOST, and return its name.

    It is on its own base where that can be pulled, else on Kafka's image, which was built then.
    """
    client = docker.DockerClient(host, timeout=TIMEOUT)
    sources = " ".join(COPIED.findall((ROOT / DOCKERFILE).read_text())).split()
    # What salvage needs is large, and not what is tried.
    arguments = {"EXTRAS": ""}
    try:
        if not kafka.pulled:
            arguments["BASE"] = trusting(client, kafka.name)
        client.images.build(
            fileobj=_tar(ROOT, (*sources, DOCKERFILE)),
            custom_context=True,
            dockerfile=DOCKERFILE,
            buildargs=arguments,
            # A private engine has no bridge to the outside.
            network_mode="host",
            tag=NAME,
            rm=True,
        )
    finally:
        client.close()
    return NAME


def user(host: str, name: str) -> str:
    """Return whom the image runs as: UID:GID."""
    client = docker.DockerClient(host)
    try:
        found: str = client.images.get(name).attrs["Config"]["User"]
        return found
    finally:
        client.close()


def trusting(client: docker.DockerClient, image: str) -> str:
    """Return an image in which pip trusts whom it trusts on this machine."""
    container = client.containers.create(image, "true")  # Never started.
    try:
        container.put_archive("/", _tar(Path("/"), (CERTIFICATES,)))
        container.commit(BASE)
    finally:
        container.remove()
    return BASE


def _tar(root: Path, names: Iterable[str]) -> io.BytesIO:
    def clean(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if "__pycache__" in entry.name else entry

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            tar.add(root / name, name, filter=clean)
    packed.seek(0)
    return packed
