"""The commands as their console scripts start them, but in this process: many in little time."""

from __future__ import annotations

import contextlib
import functools
import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kafka_unclean_recovery import cli
from kafka_unclean_recovery.cli import entry

RECOVERY, ELECTION = cli.RECOVERY, cli.ELECTION
# Typer takes longer to build all commands than most of them take to run; none changes them.
prepared = functools.cache(entry.prepared)


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str


def invoke(
    name: str, *args: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Done:
    """Run the program. env: beside what this process has."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, env or {}),
        contextlib.chdir(cwd or Path.cwd()),
        # Nobody is there to be asked.
        patch("sys.stdin", io.StringIO()),
        patch.object(entry, "prepared", prepared),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = entry.run(name, args)
    return Done(code, out.getvalue(), err.getvalue())


def commands() -> Iterator[tuple[str, Any]]:
    """Yield (its words, the command) of each, prepared as it runs."""
    for name in (RECOVERY, ELECTION):
        yield from _below(name, prepared(name))


def _below(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _below(f"{words} {name}", below)
