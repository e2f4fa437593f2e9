"""Commands on documents that are changed in one place; the places are listed from the schemas."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.documents.replica_info import replica_info_json
from kafka_unclean_recovery.documents.writing import plan_digest
from tests.cli.disks import info, partition, replica_log
from tests.hostile.odd import TEXTS
from tests.salvage.batches import numbered
from tests.salvage.disks import plan_text
from tests.salvage.replay.saved import salvaged
from tests.schemas import SCHEMAS

Path_ = tuple[str, ...]
NOBODY = ("--bootstrap-server", "127.0.0.1:1")
NUMBERS: Mapping[str, object] = {
    "least": -(2**63),
    "most": 2**63 - 1,
    "beyond": 10**400,
    "no number": float("nan"),
    "a half": 0.5,
}
NO_TEXT: Mapping[str, object] = {"half a character": "x\ud800\udcff"}
"""JSON can say it, and UTF-8 has no bytes for it."""
_EACH = "[]"


@dataclass(frozen=True, slots=True)
class Document:
    """A document that a command reads. words: the command; given the file's path and a new name for
    what it writes."""

    name: str
    sample: dict[str, Any]
    schema: str
    words: Callable[[Path, Path], tuple[str, ...]]
    file: Path


def documents(directory: Path) -> list[Document]:
    saved = salvaged(directory, {1: numbered(0, 10) + numbered(10, 5)})
    disks = directory / "saved.disks"
    scan = replica_info_json(info(partition(0, replica_log(1, 9), replica_log(2, 7))))
    return [
        Document(
            "scan",
            json.loads(scan),
            "replica-info-1.schema.json",
            lambda file, new: (
                *("plan", "--replica-info-file", str(file)),
                *("--manual-recovery-output-file", str(new)),
            ),
            directory / "scan.json",
        ),
        Document(
            "plan",
            json.loads(plan_text()),
            "plan-1.schema.json",
            lambda file, new: (
                *("salvage", "--log-dirs", str(disks), "--plan", str(file)),
                *("--output", str(new)),
            ),
            directory / "plan.json",
        ),
        Document(
            "manifest",
            json.loads((saved / "manifest.json").read_text()),
            "salvage-1.schema.json",
            lambda _, __: ("salvage", "replay", str(saved), *NOBODY, "--target", "back"),
            saved / "manifest.json",
        ),
        Document(
            "elections",
            {"partitions": [{"topic": "a", "partition": 0, "designatedLeader": 1}]},
            "manual-recovery.schema.json",
            lambda file, _: (
                *("kafka-elect-leaders", *NOBODY, "--election-type", "designated"),
                *("--path-to-json-file", str(file)),
            ),
            directory / "elections.json",
        ),
    ]


def leaves(schema: str) -> Iterator[tuple[Path_, bool]]:
    """Yield (the way to a value, whether it is a text) for each text and number of a schema."""
    document = SCHEMAS[schema]
    yield from _leaves(document, document, (), ())


def _leaves(
    root: dict[str, Any], at: dict[str, Any], path: Path_, within: tuple[str, ...]
) -> Iterator[tuple[Path_, bool]]:
    if "$ref" in at:
        name = at["$ref"].rpartition("/")[2]
        if name not in within:
            yield from _leaves(root, root["$defs"][name], path, (*within, name))
        return
    for each in (*at.get("anyOf", ()), *at.get("oneOf", ())):
        yield from _leaves(root, each, path, within)
    kinds = at.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if "string" in kinds:
        yield path, True
    if {"integer", "number"} & set(kinds):
        yield path, False
    for key, below in at.get("properties", {}).items():
        yield from _leaves(root, below, (*path, key), within)
    if isinstance(at.get("items"), dict):
        yield from _leaves(root, at["items"], (*path, _EACH), within)


def put(document: Any, path: Path_, value: object) -> Any:
    """Return the document with this value there, and with what is missing on the way to it."""
    if not path:
        return value
    step, *rest = path
    if step == _EACH:
        rows = document if isinstance(document, list) and document else [None]
        return [put(row, tuple(rest), value) for row in rows]
    row = dict(document) if isinstance(document, dict) else {}
    row[step] = put(row.get(step), tuple(rest), value)
    return row


def trials(document: Document, texts: tuple[str, ...] = tuple(TEXTS)) -> Iterator[tuple[str, str]]:
    """Yield (place and value, the text of the file) for each."""
    for path, is_text in leaves(document.schema):
        values = {**{what: TEXTS[what] for what in texts}, **NO_TEXT} if is_text else NUMBERS
        for what, value in values.items():
            found = put(deepcopy(document.sample), path, value)
            if isinstance(found, dict) and "digest" in found and path != ("digest",):
                found["digest"] = _digest(found)
            yield f"{document.name}: {'.'.join(path)}: {what}", json.dumps(found)


def _digest(found: dict[str, Any]) -> str:
    """Return the digest as it should be: it keeps out slips, and nobody who means it."""
    try:
        return plan_digest(found)
    except (KeyError, TypeError, ValueError):
        return "sha256:" + "0" * 64


def new_names(directory: Path) -> Iterator[Path]:
    return (directory / f"new-{number}" for number in count())
