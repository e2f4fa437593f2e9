"""kafka-unclean-recovery quorum brings a metadata quorum back that lost its majority for good: the
flags that several of its commands have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import Command

Directories = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR",
        help="Metadata directory (__cluster_metadata-0), log directory, or a directory that holds"
        " several, of controllers and brokers, whether they run or not.",
    ),
]
RunningBrokers = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT[,...]",
        help="Brokers that still run; by default none is asked.",
    ),
]
Scans = Annotated[
    list[Path] | None,
    typer.Option(
        "--replica-info-file",
        metavar="FILE",
        help="Result of scan-log-dirs of brokers whose disks are not among DIR: what it tells of"
        " replicas is held against the best copy. Can be repeated.",
    ),
]
RequireApproval = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write nothing without this approval of the plan, which another user gave with"
        " approve.",
    ),
]
PLAN_FILE = typer.Option(metavar="FILE", help="Plan that quorum plan wrote.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Bring a metadata quorum back whose majority is lost for good."""


COMMAND = Command(Options, None)
