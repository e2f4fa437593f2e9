"""claims.toml: each sentence that promises something, and the tests that try to make it false."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "kafka_unclean_recovery"
TOLD = tomllib.loads((Path(__file__).parent / "claims.toml").read_text())
CLAIMS, EXCEPTIONS = TOLD["claim"], TOLD["exception"]

DOCUMENTS = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
OF_DOCUMENTS = re.compile(
    r"\b(never|nothing|nobody|always|harmless|no file|lossless)\b", re.IGNORECASE
)
WATCHED = [
    *(f"{PACKAGE}/post_mortem/{name}.py" for name in ("markdown", "next_steps", "page")),
    *(f"{PACKAGE}/post_mortem/{name}.py" for name in ("story", "timeline", "words")),
    *(f"{PACKAGE}/{name}.py" for name in ("recovery/consent", "report/table", "shutdown")),
    *(
        f"{PACKAGE}/planning/{name}.py"
        for name in ("broker_return", "dead_leaders", "disk_findings")
    ),
    *(f"{PACKAGE}/planning/{name}.py" for name in ("election_rules", "findings", "loss_limits")),
    *(f"{PACKAGE}/aftercare/{name}.py" for name in ("result", "returning", "care_table")),
    *(f"{PACKAGE}/before_start/{name}.py" for name in ("absent", "advice", "electing")),
    *(
        f"{PACKAGE}/before_start/{name}.py"
        for name in ("following", "judging", "result", "start_table")
    ),
    *(f"{PACKAGE}/planning/{name}.py" for name in ("led_on_return", "member_findings")),
    *(f"{PACKAGE}/planning/{name}.py" for name in ("self_election", "start_cuts")),
    *(f"{PACKAGE}/cli/commands/{name}.py" for name in ("salvage_replay", "unclean_recovery_work")),
    *(f"{PACKAGE}/cli/{name}.py" for name in ("live_salvaging", "session")),
    *(f"{PACKAGE}/recovery/{name}.py" for name in ("partitions", "recover", "terms")),
    *(f"{PACKAGE}/doctor/{name}.py" for name in ("brokers", "controllers", "room")),
    *(f"{PACKAGE}/transport/{name}.py" for name in ("electing", "reorder_elector")),
]
OF_SOURCES = re.compile(
    r"\b(lossless|without loss|no loss|nothing|nobody|never|always|as before|put back|by itself"
    r"|every committed|all (was|had|is)|none (is|goes)|no \w+ (is|was) lost|has kept all)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    source: str
    text: str


def _folded(text: str) -> str:
    return " ".join(text.split())


@cache
def _literals(source: str) -> tuple[str, ...]:
    """Return the texts of a module but for docstrings, with {} for what is put in."""
    tree = ast.parse((ROOT / source).read_text())
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    passed |= {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    return tuple(
        _folded(_text(node))
        for node in ast.walk(tree)
        if id(node) not in passed and isinstance(node, ast.JoinedStr | ast.Constant)
    )


def _text(node: ast.JoinedStr | ast.Constant) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(_text(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)


@cache
def _sentences_of(document: str) -> tuple[str, ...]:
    """Return the sentences; what is indented is commands, and each cell of a table is one."""
    lines = (ROOT / document).read_text().splitlines()
    prose = "\n".join(line for line in lines if not line.startswith("    "))
    parts = re.split(r"(?<=[.:;?!|])\s|\n\n|^- ", prose, flags=re.MULTILINE)
    return tuple(filter(None, map(_folded, parts)))


def _texts(source: str) -> tuple[str, ...]:
    if source in DOCUMENTS:
        return (_folded((ROOT / source).read_text()),)
    return _literals(source)


def _promises() -> Iterator[Sentence]:
    for document in DOCUMENTS:
        for text in _sentences_of(document):
            if OF_DOCUMENTS.search(text):
                yield Sentence(document, text)
    for source in WATCHED:
        for text in _literals(source):
            if " " in text and OF_SOURCES.search(text):
                yield Sentence(source, text)


def _speaks_of(entry: dict[str, str], sentence: Sentence) -> bool:
    """Return whether the entry speaks of the sentence; a fragment may reach beyond one sentence."""
    says = _folded(entry["says"])
    beyond = sentence.source in DOCUMENTS and sentence.text in says
    return entry["in"] == sentence.source and (says in sentence.text or beyond)


def _name(entry: dict[str, str]) -> str:
    return f"{Path(entry['in']).name}: {entry['says'][:50]}"


@pytest.mark.parametrize("entry", [*CLAIMS, *EXCEPTIONS], ids=_name)
def test_it_stands_where_it_is_said_to_stand(entry: dict[str, str]) -> None:
    assert any(_folded(entry["says"]) in text for text in _texts(entry["in"]))


@cache
def _functions(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


def _is_there(test: str) -> bool:
    path, _, function = test.partition("::")
    if not (ROOT / path).is_file():
        return False
    if not function:
        return path.startswith("tests/testdata/")
    return function.startswith("test_") and function in _functions(path)


@pytest.mark.parametrize("entry", CLAIMS, ids=_name)
def test_some_test_tries_to_make_it_false(entry: dict[str, list[str]]) -> None:
    assert entry["tests"]
    assert [test for test in entry["tests"] if not _is_there(test)] == []


def test_no_promise_is_left_out() -> None:
    listed = [*CLAIMS, *EXCEPTIONS]
    missing = [s for s in _promises() if not any(_speaks_of(entry, s) for entry in listed)]
    assert missing == [], "list each in claims.toml with a test that tries to make it false"


def test_each_exception_is_needed_and_has_its_reason() -> None:
    assert all(entry["why"] for entry in EXCEPTIONS)
    promises = list(_promises())
    idle = [e["says"] for e in EXCEPTIONS if not any(_speaks_of(e, s) for s in promises)]
    assert idle == []


def test_nothing_is_listed_twice() -> None:
    said = [(entry["in"], entry["says"]) for entry in (*CLAIMS, *EXCEPTIONS)]
    assert len(set(said)) == len(said)
