"""An archive is written file by file, with the index last: an archive without it is not whole."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.bundle.masking import Masks, NotMasked
from kafka_unclean_recovery.documents.bundle import (
    BundledJson,
    BundleJson,
    ConfigJson,
    LackingJson,
    LibraryJson,
    TopicConfigsJson,
)
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.documents.writing import digest_text

INDEX = "index.json"
_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Of:
    """What an archive is of. made_at: ISO 8601 with its offset from UTC. libraries: those that took
    part, with their versions."""

    cluster_id: str
    made_at: str
    libraries: tuple[LibraryJson, ...]


@dataclass(slots=True)
class Archive:
    """An archive that is being written. files, lacking: what its index will tell. made_at_s: the
    time of all its files, in seconds since the Unix epoch. masks: None where names stay; with masks
    all files are kept in memory until the end, since the last one may have a name that stands in
    the first."""

    out: tarfile.TarFile
    made_at_s: int
    masks: Masks | None = None
    files: list[BundledJson] = field(default_factory=list)
    lacking: list[LackingJson] = field(default_factory=list)
    _waiting: list[tuple[str, str, bytes]] = field(default_factory=list)

    def add(self, name: str, what: str, content: bytes) -> None:
        """Add a file. Raises OSError."""
        if self.masks is None:
            self._add(name, what, content)
            return
        try:
            self.masks.learn_from(content)
        except NotMasked as error:
            self.lacks(name, f"its names can't be masked: {error}")
        else:
            self._waiting.append((name, what, content))

    def lacks(self, what: str, why: str) -> None:
        self.lacking.append(LackingJson(what, why))

    def finish(self, of: Of, topics: tuple[TopicConfigsJson, ...]) -> str:
        """Write the index, and return it. topics: their configs. Raises OSError."""
        if self.masks is not None:
            for name, what, content in self._waiting:
                self._add(name, what, self.masks.masked(content))
            topics, self.lacking = _masked(topics, self.lacking, self.masks)
        index = json_line(
            BundleJson(
                cluster_id=of.cluster_id,
                made_at=of.made_at,
                version=__version__,
                libraries=of.libraries,
                topics=topics,
                files=tuple(self.files),
                lacking=tuple(self.lacking),
            )
        )
        self._write(INDEX, index.encode())
        return index

    def _add(self, name: str, what: str, content: bytes) -> None:
        self._write(name, content)
        digest = digest_text(hashlib.sha256(content))
        self.files.append(BundledJson(name, what, len(content), digest))

    def _write(self, name: str, content: bytes) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = len(content), self.made_at_s, _MODE
        self.out.addfile(entry, io.BytesIO(content))


def _masked(
    topics: tuple[TopicConfigsJson, ...], lacking: Iterable[LackingJson], masks: Masks
) -> tuple[tuple[TopicConfigsJson, ...], list[LackingJson]]:
    """Return what an index tells beside its files, with words instead of names."""
    masks.learn("topic", (row.topic for row in topics))
    told = tuple(
        TopicConfigsJson(
            masks.words[row.topic],
            tuple(
                ConfigJson(each.key, None if each.value is None else masks.text(each.value))
                for each in row.configs
            ),
        )
        for row in topics
    )
    return told, [LackingJson(masks.text(row.what), masks.text(row.why)) for row in lacking]
