"""The files of the image that the tests build where no registry can be reached, as a tar file in
.cache: Debian with a Java runtime, by debootstrap from the mirror that apt uses, and Kafka's
published jars where apache/kafka has them.

`python -m tests.containers.image_files` makes it, by any Python, where the tests would: as root,
with debootstrap, and where no engine answers that may pull one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from tests.real.cache import CACHE, made_once, scratch_directory
from tests.real.jars import jars
from tests.real.releases import ONE

VERSION = ONE
PUBLISHED = f"apache/kafka:{VERSION}"
# The Java and the Python that this Debian comes with, 17 and 3.11 or newer: our tool's own image
# is built on it too.
PACKAGES = ("default-jre-headless", "python3-venv")
LIBS = "opt/kafka/libs"
# A slow mirror is no failure.
TIMEOUT = 900


class NoImageError(Exception):
    """There is no image of Kafka, and none can be made; says what to do."""


def image_files() -> Path:
    """Return its files as a tar file, for `docker import`."""
    release = _release()
    name = "-".join(("kafka", VERSION, release, *PACKAGES))
    return made_once(CACHE / "containers" / f"{name}.tar", lambda made: _build(release, made))


def _build(release: str, tar: Path) -> None:
    if not _can_build():
        raise NoImageError(
            f"{PUBLISHED} can't be pulled: set KAFKA_IMAGE to an image that can;"
            " as root with debootstrap one is built"
        )
    with scratch_directory(tar.parent) as root:
        included = f"--include={','.join(PACKAGES)}"
        _run("debootstrap", "--variant=minbase", included, release, str(root), _mirror(release))
        shutil.copytree(jars(VERSION), root / LIBS)
        left_out = ("./var/cache/apt/archives/*.deb", "./var/lib/apt/lists/*")
        excluded = (f"--exclude={pattern}" for pattern in left_out)
        _run("tar", "--create", f"--file={tar}", f"--directory={root}", *excluded, ".")


def _can_build() -> bool:
    return os.geteuid() == 0 and shutil.which("debootstrap") is not None


def _release() -> str:
    """Return the code name of this Debian."""
    lines = Path("/etc/os-release").read_text().splitlines()
    (name,) = [line.partition("=")[2] for line in lines if line.startswith("VERSION_CODENAME=")]
    return name


def _mirror(release: str) -> str:
    """Return where apt gets this release from."""
    listed = _run("apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)")
    for line in listed.splitlines():
        codename, component, uri = line.split()
        if (codename, component) == (release, "main"):
            return uri
    raise NoImageError(f"apt has no mirror of {release}")


def _run(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        said = f"{done.stdout}\n{done.stderr}"[-2000:]
        raise NoImageError(f"{' '.join(command)} ended with {done.returncode}:\n{said}")
    return done.stdout


def _wanted() -> bool:
    if "KAFKA_IMAGE" in os.environ or not _can_build():
        return False
    answers = subprocess.run(["docker", "version"], check=False, capture_output=True, timeout=60)
    return answers.returncode != 0


if __name__ == "__main__":
    # What fails here is told by the tests, which try it again.
    with suppress(NoImageError, OSError, subprocess.TimeoutExpired):
        if _wanted():
            image_files()
