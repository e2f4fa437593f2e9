"""Transcripts: a file holds an input, a line `----`, and the expected output.

`pytest --rewrite` writes what the code says now; the diff is reviewed like code.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

TESTDATA = Path(__file__).parent / "testdata"
_SEPARATOR = "----\n"


def scenarios(folder: str) -> list[Path]:
    return sorted(p for p in (TESTDATA / folder).iterdir() if p.is_file())


def check(path: Path, run: Callable[[str], str], *, rewrite: bool) -> None:
    text = path.read_text()
    given, _, expected = text.partition(_SEPARATOR)
    actual = run(given).rstrip("\n") + "\n"
    if rewrite:
        path.write_text(given + _SEPARATOR + actual)
        return
    assert expected, f"{path.name}: no expected part; run pytest --rewrite and review the diff"
    assert actual == expected
