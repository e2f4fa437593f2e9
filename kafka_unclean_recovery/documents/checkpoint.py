"""The lines of a replay's checkpoint."""

from __future__ import annotations

from typing import Literal

from kafka_unclean_recovery.documents.values import Entry, Int32, Int64


class BeginJson(Entry, frozen=True, kw_only=True):
    """The first line.

    salvage: The digest of the salvage that is replayed.
    """

    format_version: Literal[1] = 1
    kind: Literal["salvage-replay"] = "salvage-replay"
    salvage: str


class ProgressJson(Entry, frozen=True):
    """How far one partition is, in any later line.

    target: The topic that its records go to.
    next_offset: An end in the target, exclusive.
    done: The position up to which all is in the target, three numbers, by fate.
    """

    topic: str
    partition: Int32
    target: str
    target_topic_id: str
    next_offset: Int64
    done: dict[str, tuple[int, ...]]
