"""Build the one file once more, elsewhere, and say what differs from that in a directory.

A line for each part that differs, and exit code 1 with any. The second build has the packages that
the list beside the first one names; the rest must be as it was there: this source, the same Python,
and the same C library and other libraries of the system. Nothing of the first file is run.

    python .ci/dist/rebuild.py DIST
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME = "kafka-unclean-recovery"
NOT_SOURCE = {".git", ".venv", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", "dist"}
# How gzip begins in build.py: no name, no time, best compression.
PACKED = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
# Whatever can be unlike the first build is.
ELSEWHERE = {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "12345"}
UMASK = 0o077


def rebuilt(dist: Path, scratch: Path) -> Path:
    """Build in a copy of this tree, and return the directory with what was built."""
    source, made = scratch / "source", scratch / "made"
    shutil.copytree(ROOT, source, symlinks=True, ignore=_not_source)
    constraints = scratch / "constraints.txt"
    versions = _versions(dist).items()
    constraints.write_text("".join(f"{n}=={v}\n" for n, v in versions if n != NAME))
    (scratch / "tmp").mkdir()
    own = {"PIP_CONSTRAINT": str(constraints), "TMPDIR": str(scratch / "tmp")}
    subprocess.run(
        ["make", "--silent", "binary", f"DIST={made}", f"PYTHON={sys.executable}"],
        check=True,
        cwd=source,
        env={**os.environ, **ELSEWHERE, **own},
        umask=UMASK,
        stdout=subprocess.DEVNULL,
    )
    return made


def _not_source(directory: str, names: list[str]) -> set[str]:
    left_out = NOT_SOURCE if Path(directory) == ROOT else {"__pycache__"}
    return left_out.intersection(names)


def differences(dist: Path, other: Path) -> Iterator[str]:
    """Yield what differs between the files of two builds, the most telling first."""
    one, two = _versions(dist), _versions(other)
    for name in sorted(one.keys() | two.keys()):
        if one.get(name) != two.get(name):
            yield f"package {name}: {one.get(name)} and {two.get(name)}"
    ours, theirs = _binary(dist), _binary(other)
    if ours.read_bytes() != theirs.read_bytes():
        inner, outer = _parts(ours), _parts(theirs)
        unlike = [n for n in sorted(inner.keys() | outer.keys()) if inner.get(n) != outer.get(n)]
        yield from (f"part {name}" for name in unlike)
        if not unlike:
            yield "part that unpacks the others"
    for suffix in (".cdx.json", ".sha256"):
        files = [file.with_name(file.name + suffix) for file in (ours, theirs)]
        if files[0].read_bytes() != files[1].read_bytes():
            yield f"file {files[0].name}"


def _binary(dist: Path) -> Path:
    (bill,) = dist.glob(f"{NAME}-*-linux-{os.uname().machine}.cdx.json")
    return bill.with_name(bill.name.removesuffix(".cdx.json"))


def _versions(dist: Path) -> dict[str, str]:
    binary = _binary(dist)
    bill = json.loads(binary.with_name(f"{binary.name}.cdx.json").read_text())
    return {component["name"]: component["version"] for component in bill["components"]}


def _parts(binary: Path) -> Mapping[str, tuple[object, ...]]:
    """Return what is packed in the file, by name."""
    content = binary.read_bytes()
    start = content.find(PACKED)
    if start < 0:
        raise SystemExit(f"{binary}: nothing is packed in it")
    unpacked = zlib.decompressobj(wbits=31).decompress(content[start:])
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
        return {info.name: _part(archive, info) for info in archive}


def _part(archive: tarfile.TarFile, info: tarfile.TarInfo) -> tuple[object, ...]:
    file = archive.extractfile(info) if info.isreg() else None
    digest = hashlib.sha256(file.read()).hexdigest() if file else None
    return info.type, info.mode, info.linkname, digest


def main(dist: Path) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        found = list(differences(dist, rebuilt(dist.absolute(), Path(scratch))))
    for line in found:
        print(line, file=sys.stderr)
    print(f"{NAME}: a second build {'differs' if found else 'has the same bytes'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
