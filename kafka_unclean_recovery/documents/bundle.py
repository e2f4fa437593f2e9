"""The index of an archive that is made for a ticket, a second pair of eyes or a post-mortem."""

from __future__ import annotations

from typing import Literal

from kafka_unclean_recovery.documents.values import (
    DateTime,
    Digest,
    Entry,
    Int64,
    published,
)


class BundledJson(Entry, frozen=True):
    """A file of the archive.

    name: Path in the archive.
    what: What the file tells, in words.
    size: Number of bytes.
    digest: SHA-256 of the bytes.
    """

    name: str
    what: str
    size: Int64
    digest: Digest


class LackingJson(Entry, frozen=True):
    """What could not be had, and is not in the archive.

    what: The name of what is missing.
    why: The reason, in words.
    """

    what: str
    why: str


class ConfigJson(Entry, frozen=True):
    """A config of a topic that is not the default.

    key: Name of the config.
    value: The value; null where the broker calls it sensitive.
    """

    key: str
    value: str | None


class TopicConfigsJson(Entry, frozen=True):
    """The configs of a topic with an offline partition.

    topic: Name of the topic.
    configs: The configs that are set on the topic, or for brokers.
    """

    topic: str
    configs: tuple[ConfigJson, ...]


class LibraryJson(Entry, frozen=True):
    """A program or library of this machine.

    name: Name of the distribution.
    version: The version that is installed.
    """

    name: str
    version: str


@published("The index of an archive of kafka-unclean-recovery bundle, format 1")
class BundleJson(Entry, frozen=True, kw_only=True):
    """What is in an archive, and what is not. Nothing was changed for it.

    made_at: ISO 8601 with its offset from UTC.
    version: Version of kafka-unclean-recovery.
    libraries: Python and the libraries that took part.
    topics: The configs of topics with an offline partition.
    files: The files of the archive but for this one.
    lacking: What could not be had.
    """

    format_version: Literal[1] = 1
    kind: Literal["bundle"] = "bundle"
    cluster_id: str
    made_at: DateTime
    version: str
    libraries: tuple[LibraryJson, ...]
    topics: tuple[TopicConfigsJson, ...]
    files: tuple[BundledJson, ...]
    lacking: tuple[LackingJson, ...]
