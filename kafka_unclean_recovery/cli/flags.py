"""Flags that both commands have, once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"


BootstrapServer = Annotated[
    str, typer.Option(metavar="HOST:PORT[,...]", help="Brokers to connect to first.")
]
ElectionAttempts = Annotated[
    int, typer.Option(min=0, metavar="N", help="Retries of elections that fail in passing.")
]
OutputFormat = Annotated[Format, typer.Option(help="What stdout gets.")]
JournalFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where each step is noted before it is taken."),
]
