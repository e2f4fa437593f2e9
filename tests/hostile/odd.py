"""What hostile brokers, disks and files say, and what of it must never come through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FORGED = "kafka-unclean-recovery: all is well"
EVIL = f"x\x1b[2J\x1b]0;owned\x07\u202e\x9b1m\n{FORGED}\r"
TEXTS: Mapping[str, str] = {
    "all at once": EVIL,
    "escape codes": "x\x1b[2J\x1b[1A\x1b]0;owned\x07\x9b2J",
    "line ends": f"x\n{FORGED}\r\n\u2028{FORGED}",
    "turned round": "x\u202e\u2066\u200b\u061c",
    "a MiB": "x" * (1 << 20),
    "nothing": "",
}
EXTREMES: Mapping[str, tuple[int, ...]] = {
    "b": (-128, 127),
    "h": (-(2**15), 2**15 - 1),
    "H": (0, 2**16 - 1),
    "i": (-(2**31), 2**31 - 1),
    "q": (-(2**63), 2**63 - 1),
}
"""By the kinds of layout.py."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command put out, however it ended."""

    code: int
    stdout: str
    stderr: str
    seconds: float = 0.0


def wrong(said: Said) -> list[str]:
    """Return what reached the terminal that must not."""
    text = said.stdout + said.stderr
    raw = sorted({c for c in text.replace("\n", "") if not c.isprintable()})
    found = [f"raw characters {raw}"] * bool(raw)
    forged = any(line.startswith(FORGED) for line in text.split("\n"))
    found += ["a line in our name"] * forged
    found += ["a traceback"] * ("Traceback" in text)
    return found + [f"exit code {said.code}"] * (said.code not in range(5))
