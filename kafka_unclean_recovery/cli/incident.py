"""What a command learns after the elections goes into the journal of the run that elected, where
the post-mortem reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from kafka_unclean_recovery.cli.terminal.console import Console, read_input
from kafka_unclean_recovery.documents.journal_lines import JournalError
from kafka_unclean_recovery.errors import usage
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.files.state_directory import last_elected
from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from kafka_unclean_recovery.post_mortem.story import PostMortem

FLAG = "--journal"


def last_journal(console: Console) -> Path:
    """Return the journal of this user's last run that elected, and say which it is. Raises
    Exit(2)."""
    path, complaints = last_elected(os.environ)
    for complaint in complaints.values():
        console.say(f"{complaint}; passed over")
    if path is None:
        raise usage(
            "--last: no run of this user that elected has left a journal in the state directory;"
            " name one"
        )
    console.say(f"the last run that elected: {path}")
    return path


def read_incident(path: Path) -> PostMortem:
    """Return what the journal of --journal tells. Raises Exit(2), InputError."""
    try:
        path.stat()
    except FileNotFoundError:
        raise usage(
            f"{FLAG} {path}: no such file on this host; copy it from the host of the run that"
            " elected, and give what it holds in the end to report --copy there"
        ) from None
    except (OSError, ValueError):
        pass  # Whoever reads it says why it can't be read.
    return read_post_mortem(read_input(path, FLAG, torn=True), f"{FLAG} {path}")


def check_cluster(told: PostMortem, cluster_id: str | None, what: str) -> None:
    """Raise Exit(2) where the journal is of another cluster than `what` it is used with."""
    if None not in (told.cluster_id, cluster_id) and told.cluster_id != cluster_id:
        raise usage(f"{told.journal}: it is of cluster {told.cluster_id}, {what} of {cluster_id}")


def note(console: Console, path: Path | None, write: Callable[[Journal], object]) -> None:
    """Write into the journal, if there is one. Where it can't be written, that is only said: what
    it would tell of is done."""
    if path is None:
        return
    try:
        with Journal.open(path) as journal:
            write(journal)
        failure = journal.failure
    except JournalError as error:
        failure = str(error)
    if failure is not None:
        console.say(f"the journal lacks this result, and so will a report of it: {failure}")
