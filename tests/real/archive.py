"""Packs a stopped cluster and unpacks it elsewhere.

A killed broker leaves indexes of 10 MiB that are nearly all holes, so both ends must know holes:
4.5 MB on disk are 2 GB apparent. Python's tarfile reads sparse members and cannot write them.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

TIMEOUT = 600.0
# Ports change and what was printed is no part of the state.
LEFT_OUT = ("--exclude=output.log", "--exclude=format.log", "--exclude=server.properties")


def suffix() -> str:
    return ".tar.zst" if shutil.which("zstd") else ".tar.gz"


def pack(directory: Path, target: Path) -> None:
    compress = "--zstd" if target.suffix == ".zst" else "--gzip"
    _tar("--create", "--sparse", compress, f"--file={target}", *LEFT_OUT, f"-C{directory}", ".")


def unpack(archive: Path, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    _tar("--extract", "--sparse", "--no-same-owner", f"--file={archive}", f"-C{directory}")


def _tar(*arguments: str) -> None:
    done = subprocess.run(
        ["tar", *arguments], check=False, capture_output=True, text=True, timeout=TIMEOUT
    )
    if done.returncode != 0:
        raise RuntimeError(f"tar {' '.join(arguments)} failed: {done.stderr}")
