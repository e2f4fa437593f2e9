"""The commands to run before a start so that nothing is lost by it, each a line to paste; no I/O.

A replica whose directory is not there begins empty, and may be elected all the same: all others are
then cut to nothing. So a directory is moved aside only where somebody else leads, and copied
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from kafka_unclean_recovery.before_start.result import BeforeStart
from kafka_unclean_recovery.before_start.verdict import Verdict
from kafka_unclean_recovery.shown import shell_join


def commands(found: BeforeStart) -> Iterator[str]:
    """Yield each command as a line without anything else in it. One that only a person can decide
    on is a comment."""
    if found.unsettled is not None:
        return
    for verdict in found.verdicts:
        if verdict.remedy is not None and verdict.replica.topic_id is None:
            yield verdict.remedy
        elif verdict.remedy is not None:
            yield f"# only if this log is of the topic that is there now: {verdict.remedy}"
        elif _is_here(verdict) and (verdict.destroys_own or verdict.effect.untold):
            yield _aside(verdict.replica.directory, moved=is_moved(verdict))


def _is_here(verdict: Verdict) -> bool:
    return verdict.replica.gone is None and verdict.replica.not_given is None


def is_moved(verdict: Verdict) -> bool:
    """Return True for a replica that does no harm when it begins empty: it is sure to follow."""
    return verdict.destroys_own and not verdict.may_lead


def _aside(replica: str, *, moved: bool) -> str:
    """Return the command that saves the replica's directory out of its log directory, in a new
    directory beside that, on the same disk where the log directory is no mount point."""
    directory = PurePath(replica)
    aside = directory.parent.with_name(f"{directory.parent.name}.aside")
    how = ["mv", "-n"] if moved else ["cp", "-an"]
    made = shell_join(["mkdir", "-p", str(aside)])
    saved = shell_join([*how, str(directory), f"{aside}/"])
    return f"{made} && {saved}"


SCRIPT_BEGINS = "#!/bin/sh\n# Before broker "


def script(found: BeforeStart) -> str:
    """Return the commands as a script that ends at the first that fails."""
    head = f"{SCRIPT_BEGINS}{found.broker} starts.\nset -e\n"
    return head + "".join(f"{line}\n" for line in commands(found))
