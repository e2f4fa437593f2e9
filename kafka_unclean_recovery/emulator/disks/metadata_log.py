"""The MetadataLog keeps the controller's records on disk, so that a cluster survives a restart.

The file has one JSON object a line: first the cluster's id and release, then a list of records for
each event. A last line that is cut short was not committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any
from uuid import UUID

from kafka_unclean_recovery.kraft_rules import records as rec
from kafka_unclean_recovery.kraft_rules.records import Record, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.replay import replay
from kafka_unclean_recovery.kraft_rules.state import State

_CLASSES: dict[str, type[Record]] = {
    cls.__name__: cls
    for cls in (
        rec.RegisterBrokerRecord,
        rec.UnregisterBrokerRecord,
        rec.BrokerRegistrationChangeRecord,
        rec.TopicRecord,
        rec.RemoveTopicRecord,
        rec.PartitionRecord,
        rec.PartitionChangeRecord,
        rec.ConfigRecord,
        rec.ClearElrRecord,
        rec.FeatureLevelRecord,
    )
}
# The fields of each class with their defaults.
_DEFAULTS = {cls: [(f.name, f.default) for f in fields(cls)] for cls in _CLASSES.values()}


class MetadataLog:
    """The metadata log in the file `path`. A caller reads its records before appending."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self, cluster_id: str, release: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        header = {"cluster_id": cluster_id, "release": release}
        self._path.write_text(json.dumps(header) + "\n")

    def append(self, records: Sequence[Record]) -> None:
        """Append an event's records, without those that only a controller's memory holds."""
        lasting = [_plain(record) for record in records if not isinstance(record, rec.IN_MEMORY)]
        if lasting:
            with self._path.open("a") as file:
                file.write(json.dumps({"records": lasting}) + "\n")

    def header(self) -> dict[str, str] | None:
        """Return the header, or None when there is no log yet."""
        if not self._path.exists():
            return None
        with self._path.open("rb") as file, self._damage_named(1):
            found: dict[str, str] = json.loads(file.readline())
            return {name: found[name] for name in ("cluster_id", "release")}

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield the records in order, each with its line number. A torn last line is cut off, so
        that more can be appended. Raises ValueError."""
        content = self._path.read_bytes()
        whole = content.rpartition(b"\n")[0] + b"\n"
        if whole != content:
            self._path.write_bytes(whole)
        for number, line in enumerate(whole.splitlines()[1:], 2):
            with self._damage_named(number):
                found = [_record(plain) for plain in json.loads(line)["records"]]
            yield from ((number, record) for record in found)

    def replayed(self, state: State) -> list[Record]:
        """Replay all records in the state and return them. Raises ValueError."""
        found = []
        for number, record in self.records():
            with self._damage_named(number):
                replay(state, record)
            found.append(record)
        return found

    @contextmanager
    def _damage_named(self, line: int) -> Iterator[None]:
        """Raise ValueError that names the line for an error within the block."""
        try:
            yield
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ValueError(f"{self._path}, line {line} is damaged: {error!r}") from None


def _plain(record: Record) -> dict[str, Any]:
    """Return a record as JSON values, without the fields that have their defaults."""
    plain: dict[str, Any] = {"type": type(record).__name__}
    for name, default in _DEFAULTS[type(record)]:
        value = getattr(record, name)
        if value != default:
            plain[name] = _plain_value(value)
    return plain


def _plain_value(value: Any) -> Any:
    if isinstance(value, UUID):
        return {"uuid": str(value)}
    if isinstance(value, TopicIdPartition):
        return {"topic_id": str(value.topic_id), "partition": value.partition}
    return [_plain_value(each) for each in value] if isinstance(value, tuple) else value


def _record(plain: dict[str, Any]) -> Record:
    values = {name: _value(value) for name, value in plain.items() if name != "type"}
    return _CLASSES[plain["type"]](**values)


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, value))
    if isinstance(value, dict):
        if "uuid" in value:
            return UUID(value["uuid"])
        return TopicIdPartition(UUID(value["topic_id"]), value["partition"])
    return value
