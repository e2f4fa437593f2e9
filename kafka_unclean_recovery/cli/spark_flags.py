"""Flags that several of the spark commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="As spark-submit has it, or sc://HOST:PORT; by default spark-submit's, else local[*].",
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; may be given again."),
]
Summaries = Annotated[
    list[Path],
    typer.Option(
        metavar="DIR",
        help="What spark scan --output wrote; may be given again. Of a replica that two scans have"
        " the later counts.",
    ),
]
StoreEndpoint = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Of an object store that is not its maker's own."),
]
StoreRegion = Annotated[str | None, typer.Option(metavar="REGION", help="Of an S3 bucket.")]


def store_options(endpoint: str | None, region: str | None) -> dict[str, str]:
    """Those that were given, by the names that stores have for them."""
    given = (("endpoint", endpoint), ("region", region))
    return {name: value for name, value in given if value is not None}
