"""kafka-unclean-recovery explain prints one entry of the runbook, or the list of all codes."""

from __future__ import annotations

from difflib import get_close_matches

from kafka_unclean_recovery.cli.commands.explain import Options
from kafka_unclean_recovery.cli.exits import OK, usage
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.runbook import entries, shown


def explain(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit(2) for an unknown code."""
    known = entries()
    if options.code is None:
        width = max(map(len, known))
        lines = (f"{e.code:<{width}}  {e.severity or e.kind}\n" for e in known.values())
        console.artefact("".join(lines))
        return OK
    if options.code not in known:
        alike = get_close_matches(options.code, known)
        hint = f"; did you mean {' or '.join(alike)}?" if alike else ""
        raise usage(f"no finding, label or check is called {options.code!r}{hint}")
    console.artefact(shown(known[options.code]))
    return OK
