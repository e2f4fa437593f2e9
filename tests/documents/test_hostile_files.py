"""Files that somebody may have changed: each value in turn replaced by an odd one. They are read,
or refused in a sentence that names the file; nothing else is ever raised."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.boot_clock import BootTime
from kafka_unclean_recovery.documents.journal_lines import (
    JournalError,
    elected,
    outstanding,
    parse,
    unfinished,
)
from kafka_unclean_recovery.documents.manual_recovery import parse_elections, parse_partitions
from kafka_unclean_recovery.documents.replica_info import parse_replica_info, replica_info_json
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.salvage.designated import designated_leaders
from kafka_unclean_recovery.salvage.replay.checkpoint import read_checkpoint
from kafka_unclean_recovery.salvage.replay.saved import read_saved
from tests.cli.disks import info, partition, replica_log
from tests.salvage.batches import numbered
from tests.salvage.disks import plan_text
from tests.salvage.replay.saved import salvaged

NAME = "file.json"
DEEP = json.loads("[" * 400 + "]" * 400)
BIG = (2**31, 2**63, 10**400)
ODD: tuple[Any, ...] = (None, True, -1, *BIG, 1.5, "", "../..", "\ud800", "x" * 300, [], {}, DEEP)
JOURNAL = [
    {"v": 1, "at_ms": 1, "event": "begin", "cluster_id": "c"},
    {
        "v": 1,
        "at_ms": 1,
        "event": "reorder",
        "partitions": [
            {"topic": "a", "topic_id": "t", "partition": 0, "original": [1, 2], "written": [2, 1]}
        ],
    },
    {"v": 1, "at_ms": 1, "event": "elect", "partitions": [{"topic": "a", "partition": 0}]},
    {"v": 1, "at_ms": 1, "event": "sent", "number": 1, "boot_id": "b", "boot_ms": 1},
    {"v": 1, "at_ms": 1, "event": "answered", "number": 1},
    {"v": 1, "at_ms": 1, "event": "sent", "number": 2, "boot_id": "b", "boot_ms": 1},
    {"v": 1, "at_ms": 1, "event": "restored", "partitions": [{"topic": "a", "partition": 0}]},
]


def changed(value: Any) -> Iterator[Any]:
    """Yield the value with each part of it replaced by each odd one, and left out."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield {k: v for k, v in value.items() if k != key}
            yield from ({**value, key: other} for other in (*ODD, *changed(part)))
    elif isinstance(value, list):
        yield value * 2
        for at, part in enumerate(value):
            others = (*ODD, *changed(part))
            yield from ([*value[:at], other, *value[at + 1 :]] for other in others)


def _signed(document: Any) -> Any:
    """Return the document with its right digest: it keeps out slips, and nobody who means it."""
    if "digest" in document and isinstance(document["digest"], str):
        document["digest"] = plan_digest(document)
    return document


def _journal(text: str) -> None:
    lines = parse("\n".join(map(json.dumps, json.loads(text))), NAME)
    unfinished(lines)
    elected(lines)
    for each in outstanding(lines):
        BootTime("b", 5).seconds_since(each.at)


def _manifest(directory: Path) -> Callable[[str], object]:
    def read(text: str) -> object:
        (directory / "manifest.json").write_text(text)
        return read_saved(directory, lambda _: True)

    return read


def _checkpoint(path: Path) -> Callable[[str], object]:
    def read(text: str) -> object:
        path.write_text("".join(f"{json.dumps(line)}\n" for line in json.loads(text)))
        return read_checkpoint(path, "digest")

    return read


CHECKPOINT = [
    {"format_version": 1, "kind": "salvage-replay", "salvage": "digest"},
    {
        "topic": "a",
        "partition": 0,
        "target": "b",
        "target_topic_id": "t",
        "next_offset": 1,
        "done": {"settled": [1, 2, 3]},
    },
]
SCAN = json.loads(replica_info_json(info(partition(0, replica_log(1, 9), replica_log(2, 7)))))
NAMED = {"partitions": [{"topic": "a", "partitions": [0, 1]}, {"topic": "b", "partition": 0}]}


def _refusal(read: Callable[[str], object], text: str) -> str | None:
    try:
        read(text)
    except (InputError, JournalError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", ["plan", "scan", "names", "journal", "manifest", "checkpoint"])
def test_a_changed_file_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    saved = salvaged(tmp_path, {1: numbered(0, 10) + numbered(10, 5)})
    kinds: dict[str, tuple[Any, Callable[[str], object], str]] = {
        "plan": (json.loads(plan_text()), lambda text: designated_leaders(text, NAME), NAME),
        "scan": (SCAN, lambda text: parse_replica_info(text, NAME), NAME),
        "names": (
            NAMED,
            lambda text: (parse_partitions(text, NAME), parse_elections(text, NAME)),
            NAME,
        ),
        "journal": (JOURNAL, _journal, NAME),
        "manifest": (
            json.loads((saved / "manifest.json").read_text()),
            _manifest(saved),
            "manifest.json",
        ),
        "checkpoint": (CHECKPOINT, _checkpoint(tmp_path / "checkpoint"), "checkpoint"),
    }
    document, read, name = kinds[kind]
    read(json.dumps(document))
    refused = 0
    for odd in changed(document):
        text = json.dumps(_signed(odd) if isinstance(odd, dict) else odd)
        said = _refusal(read, text)
        assert said is None or name in said
        refused += said is not None
    assert refused > 100


@pytest.mark.parametrize("text", ["NaN", "[" * 5000, '{"a": NaN}', "9" * 5000, "\x00", '{"a":1'])
def test_what_json_readers_choke_on_is_refused(text: str, tmp_path: Path) -> None:
    for read in (designated_leaders, parse_replica_info, parse_partitions, parse_elections, parse):
        with pytest.raises((InputError, JournalError), match=NAME):
            read(text, NAME)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json"):
        read_saved(tmp_path, lambda _: True)
    with suppress(InputError):
        read_checkpoint(tmp_path / "manifest.json", "digest")


def test_a_plan_that_says_a_thing_twice_is_refused() -> None:
    plan = json.loads(plan_text())
    (row,) = plan["partitions"]
    for twice in ([row, row], [{**row, "replica_logs": row["replica_logs"] * 2}]):
        text = json.dumps(_signed({**plan, "partitions": twice}))
        with pytest.raises(
            InputError, match=r"(was already there|names a broker twice); make a new plan"
        ):
            designated_leaders(text, NAME)


def test_orders_are_put_back_only_to_the_brokers_that_were_there() -> None:
    step = JOURNAL[1]["partitions"][0]  # type: ignore[index]
    for order in ([1, 3], [1], [1, 1], [1, 2, 2]):
        line = {**JOURNAL[1], "partitions": [{**step, "original": order}]}
        with pytest.raises(JournalError, match="line 2: not as it was written"):
            parse("\n".join(map(json.dumps, [JOURNAL[0], line])), NAME)
