"""kafka-unclean-recovery complete gives completion scripts words that only a cluster knows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import command

NAME = "complete"


class Kind(StrEnum):
    TOPICS = "topics"
    OFFLINE_BROKERS = "offline-brokers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Print candidates for the last word of a command line, one on each line; none when in doubt.

    The command asks the cluster that the command line names, and takes at most one second.
    """

    kind: Annotated[Kind, typer.Argument(help="Kind of the last word.")]
    line: Annotated[str, typer.Argument(help="The command line up to the cursor, as typed.")]


complete = command(Options, "complete:print_candidates")
