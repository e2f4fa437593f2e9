"""Every command line that a reader may copy is one that our programs understand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from completions.man import MAN
from tests.command_lines import ROOT, CommandLine, Wrong, check, in_blocks, inline


def _documents() -> Iterator[CommandLine]:
    # Its table names what was measured, a flag that is refused among it.
    pages = sorted(set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "performance.md"})
    for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *pages):
        text = path.read_text()
        yield from in_blocks(path, text)
        yield from inline(path, text)


def _examples() -> Iterator[CommandLine]:
    for path in sorted((ROOT / "examples").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            # In scripts the connection is in a variable.
            text = path.read_text().replace('"${connect[@]}"', "...")
            yield from in_blocks(path, text)


def _man_pages() -> Iterator[CommandLine]:
    for path in MAN.glob("*.1"):
        shown = "\n".join(re.findall(r"^\.nf$(.*?)^\.fi$", path.read_text(), re.M | re.S))
        yield from in_blocks(path, shown.replace("\\-", "-").replace("\\e", "\\"))


@pytest.mark.parametrize(
    ("lines", "least"),
    [(_documents, 90), (_examples, 4), (_man_pages, 6)],
    ids=["documents", "examples", "man pages"],
)
def test_each_is_understood(lines: object, least: int) -> None:
    assert callable(lines)
    found = list(lines())
    # Fewer: what takes them out of the text no longer sees them.
    assert len(found) >= least
    wrong = []
    for line in found:
        try:
            check(line)
        except Wrong as error:
            wrong.append(str(error))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "kafka-unclean-recovery ... --all-ofline-partitions",
        "kafka-unclean-recovery --all-offline-partitions",
        "kafka-unclean-recovery docter ...",
        "kafka-unclean-recovery doctor ... --format xml",
        "kafka-unclean-recovery doctor --format json",
        "kafka-unclean-recovery salvage replay ... --execute",
        "kafka-elect-leaders --bootstrap-server ... --election-type bold",
        "--automatic-recovery --yes",
        "make everything",
        "pip install '.[sparks]'",
        "python -m tests.fidelity --speed 4",
        "python examples/none.py",
        "docker build --file examples/Dockerfile -",
        "docker run kafka-unclean-recovery:0.1.0 docter",
        "spark-submit examples/spark_submit.py spark scam /mnt",
    ],
)
def test_a_wrong_one_is_found(text: str) -> None:
    with pytest.raises(Wrong):
        check(CommandLine("here", text))


def test_they_are_found_in_a_text() -> None:
    text = "\n".join(
        [
            "kafka-unclean-recovery is a program, `--yes` a flag,",
            "and `make all` is run; `topic` is neither.",
            "",
            "    kafka-unclean-recovery doctor \\",
            "        --format json      # comment",
            "    import typer",
        ]
    )
    path = Path("x.md")
    assert list(inline(path, text)) == [
        CommandLine("x.md:1", "--yes", whole=False),
        CommandLine("x.md:2", "make all", whole=False),
    ]
    (block,) = in_blocks(path, text)
    assert block.place == "x.md:4"
    assert " ".join(block.text.split()) == "kafka-unclean-recovery doctor --format json # comment"
