"""Records of metadata logs as kafka-dump-log.sh prints them, and as ours reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile, read_batches
from kafka_unclean_recovery.log_dir.metadata.records import (
    UnknownRecord,
    decode_control_record,
    decode_record,
)
from tests.log_dir.cluster_metadata_json import as_dumped, dumped_type
from tests.real.tools import run_tool

DUMPING = re.compile(r"Dumping (.+)")
RECORD = re.compile(r"\| offset: (\d+) .*? headerKeys: \[\] (.*)")
PAYLOAD = re.compile(r"payload: ?(.*)")
CONTROL = re.compile(r"(?:(\w+):? (\{.*\})|controlType: (\w+)\(\d+\))")


class Dumped(NamedTuple):
    """A record by kafka-dump-log: its kind, and what the kind's JSON says, as far as it says it."""

    offset: int
    kind: str
    version: int | None
    data: dict[str, Any] | None


def records(file: MetadataFile) -> Iterator[Any]:
    for batch in read_batches(file):
        for found in batch.records():
            assert found.value is not None
            yield (
                decode_control_record(found.key or b"", found.value)
                if batch.control
                else decode_record(found.value)
            )


def ours(path: Path, theirs: list[Dumped]) -> Iterator[Dumped]:
    """Yield our records as far as this kafka-dump-log tells of control records."""
    file = MetadataFile.of(path.name, path.read_bytes())
    offsets = [b.base_offset + n for b in read_batches(file) for n in range(b.count)]
    for offset, record, said in zip(offsets, records(file), theirs, strict=True):
        assert not isinstance(record, UnknownRecord)
        data = as_dumped(record.name, record.fields)
        if said.version is not None:
            yield Dumped(offset, dumped_type(record.name), record.version, data)
        else:
            kind = re.sub("Record$|Message$", "", record.name)
            kind = kind if said.data is not None else dumped_type(kind)
            yield Dumped(offset, kind, None, data if said.data is not None else None)


def dumped(version: str, paths: list[Path]) -> dict[Path, list[Dumped]]:
    files = ("--files", ",".join(map(str, paths)))
    done = run_tool(
        version,
        "kafka-dump-log",
        "--cluster-metadata-decoder",
        *files,
        timeout=120.0,
        check=True,
    )
    found: dict[Path, list[Dumped]] = {path: [] for path in paths}
    current = paths[0]
    for line in done.stdout.splitlines():
        if dumping := DUMPING.fullmatch(line):
            current = Path(dumping[1])
        elif record := RECORD.fullmatch(line):
            found[current].append(_dumped_record(int(record[1]), record[2]))
    return found


def _dumped_record(offset: int, text: str) -> Dumped:
    if payload := PAYLOAD.fullmatch(text):
        said = json.loads(payload[1])
        return Dumped(offset, said["type"], said["version"], said["data"])
    control = CONTROL.fullmatch(text)
    assert control is not None, text
    if control[3]:
        return Dumped(offset, control[3], None, None)
    return Dumped(offset, control[1], None, json.loads(control[2]))
