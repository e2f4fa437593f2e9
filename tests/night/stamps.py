"""What passed on this commit, kept in .cache: a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Stamp:
    """How a part ended that passed. closing: the last line it printed."""

    closing: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Stamps:
    """Of the tree that `root` is the work tree of. Only a clean tree is what its commit says."""

    root: Path
    kept: Path

    def commit(self) -> str | None:
        """Return the commit, None where something is not committed, or nothing tells."""
        if self._git("status", "--porcelain") != "":
            return None
        return self._git("rev-parse", "HEAD")

    def passed(self, commit: str | None) -> Mapping[str, Stamp]:
        if commit is None:
            return {}
        files = (self.kept / commit).glob("*.json")
        return {path.stem: Stamp(**json.loads(path.read_text())) for path in files}

    def keep(self, commit: str, part: str, stamp: Stamp) -> bool:
        """Keep the stamp if the tree is what it was at the part's begin; return whether it is."""
        if self.commit() != commit:
            return False
        directory = self.kept / commit
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{part}.json").write_text(json.dumps(asdict(stamp)) + "\n")
        return True

    def _git(self, *arguments: str) -> str | None:
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, check=False, capture_output=True, text=True
        )
        return done.stdout.strip() if done.returncode == 0 else None
