"""Flags of salvage, with Spark and without."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

PLAN: Any = typer.Option(
    "--plan",
    metavar="FILE",
    help="What --plan-output-file wrote: who is to lead, and how far its log goes.",
)
DesignatedByHand = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Designated leaders as they were elected, where they are not the plan's.",
    ),
]
RawOnly = Annotated[
    bool,
    typer.Option("--raw-only", help="Write segment files only, no Parquet, which needs pyarrow."),
]
