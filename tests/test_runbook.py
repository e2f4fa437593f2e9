"""The runbook has an entry for each finding and each check that the code can make, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from completions.runbook import runbook_pages
from kafka_unclean_recovery.model import Effect, OutcomeKind
from kafka_unclean_recovery.runbook import Entry, entries
from tests.cli.in_process import RECOVERY, invoke

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "kafka_unclean_recovery"
ENTRIES = entries()
# Made of a right's name.
COMPOSED = {"right_cluster_alter", "right_topic_describe", "right_topic_read"}


def _codes(made: str, folder: Path) -> set[str]:
    """Return the first argument of each call of `made` in the folder: a text, or its name."""
    return {code for path in folder.rglob("*.py") for code in _codes_of(made, path)}


def _codes_of(made: str, path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    texts = dict(_texts(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == made and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant):
                yield str(first.value)
            elif isinstance(first, ast.Name):
                yield from texts.get(first.id, set())
        if made == "Check" and node.func.id == "_judged" and isinstance(node.args[0], ast.Constant):
            yield str(node.args[0].value)


def _texts(tree: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Yield the texts that each name stands for, at any place of the module."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for name, value in zip(names, values, strict=False):
                if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                    found.setdefault(name.id, set()).add(str(value.value))
    yield from found.items()


def test_every_finding_has_an_entry_and_no_other() -> None:
    made = _codes("Finding", PACKAGE)
    assert len(made) > 20
    assert made == {entry.code for entry in ENTRIES.values() if entry.kind == "finding"}


def test_every_check_of_doctor_has_an_entry_and_no_other() -> None:
    made = _codes("Check", PACKAGE / "doctor") | COMPOSED
    assert len(made) > 30
    assert made == {entry.code for entry in ENTRIES.values() if entry.kind == "check"}


def test_every_label_beneath_the_table_has_an_entry_and_no_other() -> None:
    made = re.findall(r'f"\{name\} (\w+): \{', (PACKAGE / "report" / "table.py").read_text())
    assert made
    assert set(made) == {entry.code for entry in ENTRIES.values() if entry.kind == "label"}


def test_every_word_for_waiting_and_for_an_outcome_has_an_entry_and_no_other() -> None:
    made = {word.value for words in (Effect, OutcomeKind) for word in words}
    assert made == {entry.code for entry in ENTRIES.values() if entry.kind == "word"}


@pytest.mark.parametrize("given", ["no better", "no_better", "No-Better", " no better "])
def test_a_word_is_known_as_it_stands_on_the_screen(given: str) -> None:
    assert invoke(RECOVERY, "explain", given).stdout.startswith("# no_better\n")


def test_the_list_has_a_line_of_meaning_for_each() -> None:
    lines = invoke(RECOVERY, "explain").stdout.splitlines()
    assert max(map(len, lines)) < 80
    heads = [n for n, line in enumerate(lines) if not line.startswith(" ")]
    assert [lines[n].split(" (")[0] for n in heads] == list(ENTRIES)
    assert all(lines[n + 1].startswith("    ") for n in heads)


def test_a_partition_whose_replicas_are_all_lost_is_told_the_disk_first_and_then_the_way() -> None:
    said = " ".join(invoke(RECOVERY, "explain", "no_designated_leader").stdout.split())
    assert said.startswith("# no_designated_leader A label of a plan.")
    assert 0 < said.index("kafka-unclean-recovery salvage") < said.index("kafka-reassign-partition")
    assert "gives up every record" in said


def test_the_table_of_findings_lists_each_with_its_page() -> None:
    table = (ROOT / "docs" / "findings.md").read_text()
    linked = dict(re.findall(r"^\| \[`(\w+)`\]\((runbook/\w+\.md)\)", table, re.MULTILINE))
    findings = {e.code for e in ENTRIES.values() if e.kind == "finding"}
    assert linked == {code: f"runbook/{code}.md" for code in findings}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.code)
def test_an_entry_says_something_under_each_heading(entry: Entry) -> None:
    for text in (entry.meaning, entry.impact, entry.look_at, entry.to_do):
        assert text.strip().endswith((".", "?", ":"))
    assert bool(entry.severity) == (entry.kind == "finding")


def test_no_page_is_left_of_an_entry_that_is_gone() -> None:
    assert set((ROOT / "docs" / "runbook").glob("*")) == set(runbook_pages())


def test_a_code_is_explained_and_an_unknown_one_is_told_what_is_like_it() -> None:
    done = invoke(RECOVERY, "explain", "tie")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("# tie\n\nA finding of a plan (notice).\n")
    done = invoke(RECOVERY, "explain", "tye")
    assert (done.code, done.stdout) == (2, "")
    assert "no finding, label, check or word is called 'tye'; did you mean tie?" in done.stderr
