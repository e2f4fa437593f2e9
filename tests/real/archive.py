"""Packs a stopped cluster and unpacks it elsewhere.

A killed broker leaves indexes of 10 MiB that are nearly all holes, so both ends must know holes:
4.5 MB on disk are 2 GB apparent. Python's tarfile reads sparse members and cannot write them.

Some archives are in the repository. So Python compresses them and reads them, whatever programs a
machine has, and by xz: replicas are alike, and far from one another (gzip makes it thirty times the
size).
"""

from __future__ import annotations

import lzma
import subprocess
from pathlib import Path

TIMEOUT = 600.0
SUFFIX = ".tar.xz"
# Ports change, what was printed is no part of the state, and no key is kept, so that none is in the
# repository: whoever unpacks a secured cluster makes it new ones.
LEFT_OUT = (
    *("output.log", "format.log", "server.properties", "client-*.properties"),
    *("*.pem", "jwks.json"),
)
# Who made it is no part of it either.
OWNERS = ("--owner=0", "--group=0", "--numeric-owner")


def pack(directory: Path, target: Path) -> None:
    without = (f"--exclude={pattern}" for pattern in LEFT_OUT)
    packed = _tar("--create", "--sparse", *OWNERS, *without, f"-C{directory}", ".")
    target.write_bytes(lzma.compress(packed))


def unpack(archive: Path, directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    packed = lzma.decompress(archive.read_bytes())
    _tar("--extract", "--sparse", "--no-same-owner", f"-C{directory}", packed=packed)


def _tar(*arguments: str, packed: bytes | None = None) -> bytes:
    done = subprocess.run(
        ["tar", "--file=-", *arguments],
        check=False,
        capture_output=True,
        input=packed,
        timeout=TIMEOUT,
    )
    if done.returncode != 0:
        raise RuntimeError(f"tar {' '.join(arguments)} failed: {done.stderr.decode()}")
    return done.stdout
