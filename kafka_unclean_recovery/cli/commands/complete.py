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
    """What may stand in place of the last word of a line, one a line, and nothing when in doubt.

    The cluster that the line names is asked, for a second at most.
    """

    kind: Annotated[Kind, typer.Argument(help="What the last word is one of.")]
    line: Annotated[str, typer.Argument(help="The command line up to the cursor, as typed.")]


complete = command(Options, "complete:print_candidates")
