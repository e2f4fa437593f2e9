"""Say what keeps this tree from being a release, a line each; exit code 1 with any.

The version must be the same wherever it is named, and have its section in the changelog. The wheels
must install without a network in an empty virtual environment, and both commands of it and the one
file must tell that version.

    python .ci/dist/check_release.py DIST
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME, OTHER_NAME = "kafka-unclean-recovery", "kafka-elect-leaders"
TIMEOUT = 300.0
_ASSIGNED = re.compile(r'__version__ = "(.+)"')
_NAMED = re.compile(rf"{NAME}[: -](\d+\.\d+\.\d+)")
_NAMES_IT = ("README.md", "docs/**/*.md", "examples/**/*", "kafka_unclean_recovery/man/*")


def version_of(root: Path) -> str:
    found = _ASSIGNED.search((root / "kafka_unclean_recovery" / "__init__.py").read_text())
    if found is None:
        raise SystemExit("kafka_unclean_recovery/__init__.py: no __version__")
    return found[1]


def disagreements(root: Path) -> Iterator[str]:
    """Yield each place that names another version, and what the changelog lacks."""
    version = version_of(root)
    for pattern in _NAMES_IT:
        for path in sorted(root.glob(pattern)):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            others = set(_NAMED.findall(path.read_text())) - {version}
            yield from (f"{path.relative_to(root)}: names version {other}" for other in others)
    changelog = (root / "CHANGELOG.md").read_text()
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        yield f"CHANGELOG.md: no section [{version}] with its date: what is unreleased goes there"


def unlike(dist: Path, version: str) -> Iterator[str]:
    """Yield what of the built files does not install, or tells another version."""
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        programs = Path(scratch) / "bin"
        wheels = ["--no-index", "--find-links", str(dist / "wheelhouse")]
        found = _output(str(programs / "python"), "-m", "pip", "install", "-q", *wheels, NAME)
        if found is None:
            yield f"{dist / 'wheelhouse'}: does not install without a network"
            return
        yield from _versions([programs / NAME, programs / OTHER_NAME], version)
    machine = os.uname().machine
    yield from _versions([dist / f"{NAME}-{version}-linux-{machine}"], version)


def _versions(programs: list[Path], version: str) -> Iterator[str]:
    for program in programs:
        told = (_output(str(program), "--version") or "nothing").strip()
        if not told.endswith(f" {version}"):
            yield f"{program}: tells {told!r} as its version, not {version}"


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def main(dist: Path) -> int:
    found = [*disagreements(ROOT), *unlike(dist, version_of(ROOT))]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
