"""A variable that looks like ours and that no flag has is an error of usage: a limit or a check
that somebody relies on would be missing without a word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kafka_unclean_recovery.cli.environment import PREFIX

VARIABLES = Path(__file__).parent.parent / "help" / "variables.txt"
"""The variables of all flags of both commands, a line each; `make completions` writes it."""

_ELECTION = "KAFKA_ELECT_LEADERS_"
_OURS = (f"{PREFIX}_", _ELECTION)
_ALIKE = 0.85
# Kubernetes gives each container variables for every service beside it, whatever its name.
_SERVICE = re.compile(
    r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)
# Images of brokers give properties of a broker this form, and KIP-966 has these.
_OF_BROKERS = {f"{PREFIX}_{name}" for name in ("STRATEGY", "TIMEOUT_MS", "MANAGER_ENABLED")}


def unknown_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each variable that is not empty and may be a slip of one of ours."""
    given = sorted(name for name, value in environ.items() if value)
    suspects = [name for name in given if name.upper().startswith("KAFKA")]
    if not suspects:
        return
    known = frozenset(VARIABLES.read_text(encoding="ascii").split())
    for name in suspects:
        if name in known or name in _OF_BROKERS or _SERVICE.fullmatch(name):
            continue
        if (nearest := _nearest(name, known)) is not None:
            yield f"{name}: no flag has this variable; rename it to {nearest}, or unset it"


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the variable that was most likely meant; None for a variable that is not ours."""
    from difflib import get_close_matches

    word = name.upper()
    ours = word.startswith(_OURS)
    if word.startswith(_ELECTION):
        word = f"{PREFIX}_{word.removeprefix('KAFKA_')}"
    # Sorted, so that the same one of several is named each time.
    found = get_close_matches(word, sorted(known), 1, 0.0 if ours else _ALIKE)
    return found[0] if found else None
