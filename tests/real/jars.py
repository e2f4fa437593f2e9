"""Fetches Kafka's published jars with Maven: `python -m tests.real.jars 4.3.1 3.9.1`."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from zipfile import ZipFile

from tests.real.cache import CACHE, made_once

POM = Path(__file__).with_name("kafka-jars.pom.xml")
FETCH_TIMEOUT = 900.0
# Published without its tools: those of another release serve it, with all jars of that release, as
# they don't run on those of this one.
TOOLS_OF = {"4.4.0": "4.3.1"}


def jars(version: str) -> Path:
    """Return the directory with every jar that a Kafka node of this version needs."""
    return made_once(CACHE / "kafka" / version / "libs", lambda made: _fetch(version, made))


@cache
def class_path(version: str) -> str:
    """Return every jar in a fixed order: a class archive serves one exact class path."""
    return ":".join(str(jar) for jar in sorted(jars(version).glob("*.jar")))


def main_class(version: str, *candidates: str) -> tuple[str, str]:
    """Return the release that runs a tool for this version, and the first of the candidates that it
    has: tools move between packages."""
    releases = [version, TOOLS_OF[version]] if version in TOOLS_OF else [version]
    for release in releases:
        names = _classes(release)
        for candidate in candidates:
            if candidate.replace(".", "/") + ".class" in names:
                return release, candidate
    raise LookupError(f"Kafka {' or '.join(releases)} has none of {', '.join(candidates)}")


@cache
def _classes(version: str) -> frozenset[str]:
    names: set[str] = set()
    for jar in jars(version).glob("kafka[-_]*.jar"):
        with ZipFile(jar) as archive:
            names.update(archive.namelist())
    return frozenset(names)


def _fetch(version: str, directory: Path) -> None:
    command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
    arguments = [
        f"-DoutputDirectory={directory}",
        f"-Dkafka.version={version}",
        *([] if version in TOOLS_OF else ["-Ptools"]),
    ]
    done = subprocess.run(
        [*command, *arguments],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=FETCH_TIMEOUT,
    )
    if done.returncode != 0:
        raise RuntimeError(f"Maven could not fetch Kafka {version}:\n{done.stdout}")


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        print(jars(wanted))
