"""A root directory with nothing in it but the one file: no Python, libc or shell."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RUN_TIMEOUT = 60.0
PROGRAM = "/kafka-unclean-recovery"
NOEXEC = "mount -t tmpfs -o noexec none {root}{place}"
# What `sh` and `chroot` are found by; the program itself needs no variable.
BARE = {"PATH": os.environ["PATH"]}


@dataclass(frozen=True, slots=True)
class Root:
    """A directory that is the whole world of the program."""

    path: Path

    def command(self, *words: str, mounts: Sequence[str] = ()) -> list[str]:
        """Return the command, in a namespace of its own: mounts end with the process."""
        made = [f"mount -t proc none {self.path}/proc", *mounts]
        line = shlex.join(["chroot", str(self.path), *words])
        return ["unshare", "--mount", "sh", "-ec", "\n".join([*made, f"exec {line}"])]

    def run(
        self, *words: str, mounts: Sequence[str] = (), variables: Mapping[str, str] = {}
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words, mounts=mounts),
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT,
            check=False,
            env={**BARE, **variables},
        )

    def unpacked(self) -> list[Path]:
        return list((self.path / "tmp").glob("*/*/kafka-unclean-recovery"))

    def journals(self) -> list[Path]:
        return sorted((self.path / "tmp" / ".local").rglob("*.jsonl"))

    def noexec(self, *places: str) -> list[str]:
        for place in places:
            (self.path / place.lstrip("/")).mkdir(parents=True, exist_ok=True)
        return [NOEXEC.format(root=self.path, place=place) for place in places]
