"""Command lines as people read them: taken out of documents, and parsed by the real parsers.

Nothing is run. `...` in a line stands for the connection, or for its address behind
--bootstrap-server.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

import typer

from completions.commands import PROGRAMS, command, every_command
from tests.cli.in_process import prepared

ROOT = Path(__file__).parent.parent
_ADDRESS = "b1:9092"
_CONFIG = ROOT / "tests/testdata/config"
_BOOTSTRAP = "--bootstrap-server"
_SUBMITTED = "examples/spark_submit.py"
_IMAGE = "kafka-unclean-recovery"
_FLAG = re.compile(r"--[a-z][a-z.-]+")
# Flags of other programs that our documents name.
_SHELL = {"|", "||", "&&", "&", ";", ">", ">>", "<", "2>"}
_OTHERS = {"--rewrite", "--pdb", "--releases"}


@dataclass(frozen=True)
class CommandLine:
    """`place`: file:line. What is not whole names a command in prose, by a part of its flags."""

    place: str
    text: str
    whole: bool = True


class Wrong(Exception):
    """The sentence says what is wrong with a command line."""


class Incomplete(Wrong):
    """A required flag is missing."""


def in_blocks(path: Path, text: str) -> Iterator[CommandLine]:
    """Yield the command lines of indented or fenced blocks and comments: lines that begin with a
    program we know, joined where they end in a backslash."""
    joined, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        start = start if joined else number
        joined += line.strip().lstrip("#*$ ") if not joined else f" {line.strip()}"
        if joined.endswith("\\"):
            joined = joined.removesuffix("\\")
            continue
        # Of a pipeline, what it ends in.
        joined = joined.rpartition(" | ")[2]
        if joined.split(" ")[0] in CHECKS and _is_block(line, path):
            yield CommandLine(f"{path.name}:{start}", joined)
        joined = ""


def _is_block(line: str, path: Path) -> bool:
    """Return whether the line is in a block: in prose a program's name may begin one, too."""
    return path.suffix != ".md" or line.startswith("    ")


def inline(path: Path, text: str) -> Iterator[CommandLine]:
    """Yield what stands in backticks in Markdown and begins with a program or a flag."""
    prose = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
    for found in re.finditer(r"`([^`]+)`", prose):
        words = " ".join(found[1].split())
        number = prose[: found.start()].count("\n") + 1
        if words.split(" ")[0] in CHECKS or words.startswith("--"):
            yield CommandLine(f"{path.name}:{number}", words, whole=False)


def check(line: CommandLine) -> None:
    """Raise Wrong for a line that our programs would refuse."""
    words = _words(line.text)
    try:
        if words[0].startswith("--"):
            _check_flags(words)
        else:
            CHECKS[words[0]](words)
    except Incomplete as wrong:
        if line.whole:
            raise Incomplete(f"{line.place}: {line.text}\n{wrong}") from None
    except Wrong as wrong:
        raise Wrong(f"{line.place}: {line.text}\n{wrong}") from None


def _words(text: str) -> list[str]:
    """Return the command's words without what a shell does; a variable is its default."""
    # In a table of Markdown | is escaped.
    plain = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text.replace("\\|", "|"))
    words = shlex.split(plain, comments=True)
    return list(itertools.takewhile(lambda word: word not in _SHELL, words))


@cache
def _known_flags() -> set[str]:
    return _OTHERS | {
        name
        for top in PROGRAMS
        for _, called in every_command(command(top))
        for flag in called.flags
        for name in flag.names
    }


def _check_flags(words: Sequence[str]) -> None:
    for flag in {found for word in words for found in _FLAG.findall(word)}:
        if flag not in _known_flags():
            raise Wrong(f"no command has {flag}")


def parse(words: Sequence[str]) -> None:
    """Parse as the program would, up to where it would begin, with the clusters that documents
    name. Raises Wrong."""
    with patch.dict(os.environ, XDG_CONFIG_HOME=str(_CONFIG)):
        _parse(words)


def _parse(words: Sequence[str]) -> None:
    if len(words) == 1:
        return
    parser = prepared(words[0])
    arguments, name, context = list(_filled(words[1:])), words[0], None
    while True:
        try:
            context = parser.make_context(name, arguments, parent=context)
            rest = [*getattr(context, "_protected_args", []), *context.args]
            if not rest or not hasattr(parser, "commands"):
                break
            name, parser, arguments = parser.resolve_command(context, rest)
        except typer.Exit:
            return
        except Exception as error:  # noqa: BLE001 - typer does not export the errors of its click
            kind = Incomplete if type(error).__name__ == "MissingParameter" else Wrong
            raise kind(str(error) or getattr(error, "message", "") or repr(error)) from None
    in_quorum = context.parent is not None and context.parent.info_name == "quorum"
    on_disks = context.info_name == "start-order" and context.params["log_dirs"]
    asks_nobody = in_quorum or on_disks or context.params.get("replica_info_file")
    if not asks_nobody and context.params.get("bootstrap_server", "") is None:
        raise Incomplete(f"Missing option '{_BOOTSTRAP}'.")


def _filled(words: Sequence[str]) -> Iterator[str]:
    before = ""
    for word in words:
        if word != "...":
            yield word
        elif before == _BOOTSTRAP:
            yield _ADDRESS
        else:
            yield from (_BOOTSTRAP, _ADDRESS)
        before = word


def _check_submitted(words: Sequence[str]) -> None:
    if _SUBMITTED not in words:
        raise Wrong(f"only {_SUBMITTED} is submitted")
    parse(["kafka-unclean-recovery", *words[words.index(_SUBMITTED) + 1 :]])


def _check_make(words: Sequence[str]) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in (word for word in words[1:] if "=" not in word):
        if not re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE):
            raise Wrong(f"the Makefile has no target {target}")


def _check_pip(words: Sequence[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in re.findall(r"\[([a-z,]+)\]", " ".join(words)):
        if missing := set(extra.split(",")) - project["optional-dependencies"].keys():
            raise Wrong(f"pyproject.toml has no extra {missing}")


def _check_python(words: Sequence[str]) -> None:
    """Check that it is a module or a script of ours, and that its source knows the flags."""
    target = words[2] if words[1] == "-m" else words[1]
    named = importlib.util.find_spec(target) if words[1] == "-m" else None
    if named is not None and named.submodule_search_locations:
        named = importlib.util.find_spec(f"{target}.__main__")
    source = ROOT / target if named is None else Path(named.origin or "")
    if not source.is_file():
        raise Wrong(f"there is no {target}")
    text = source.read_text()
    for flag in (word for word in words if word.startswith("--")):
        if f'"{flag}"' not in text:
            raise Wrong(f"{target} knows no {flag}")


def _check_docker(words: Sequence[str]) -> None:
    """Check what our image is run with, and that the files named are there."""
    for index, word in enumerate(words):
        if word == "--file" and not (ROOT / words[index + 1]).is_file():
            raise Wrong(f"there is no {words[index + 1]}")
        if word.startswith(f"{_IMAGE}:") and words[1] == "run":
            parse([_IMAGE, *words[index + 1 :]])


CHECKS: dict[str, Callable[[Sequence[str]], None]] = {
    **dict.fromkeys(PROGRAMS, parse),
    "spark-submit": _check_submitted,
    "make": _check_make,
    "pip": _check_pip,
    "python": _check_python,
    "docker": _check_docker,
}
