"""What entries of JSON documents are made of. Numbers are bounded as Kafka's are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, TypeVar

from msgspec import UNSET, Meta, Struct

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
ABSENT = UNSET
"""Of a key that is not written."""

Int32 = Annotated[int, Meta(ge=0, le=INT32_MAX)]
Int64 = Annotated[int, Meta(ge=0, le=INT64_MAX)]
OrNone = Annotated[int, Meta(ge=-1, le=INT32_MAX)]
"""A leader or its epoch: -1 is none."""
BrokerId = Annotated[Int32, Meta(description="The id of a broker (a process, not a replica).")]
BrokerIds = tuple[BrokerId, ...]
ToldNumber = Annotated[int, Meta(extra_json_schema={"minimum": 0})]
"""As a broker or a disk tells it: only schemas say that it is not negative."""
Witnessed = Annotated[Int64, Meta(extra_json_schema={"minimum": 1})]

# What only schemas say: readers have better words for it, or none.
TopicName = Annotated[str, Meta(extra_json_schema={"pattern": "^[a-zA-Z0-9._-]{1,249}$"})]
Digest = Annotated[str, Meta(extra_json_schema={"pattern": "^sha256:[0-9a-f]{64}$"})]
Code = Annotated[str, Meta(extra_json_schema={"minLength": 1})]
DateTime = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
BrokerNumber = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9]+$"})]


class Entry(Struct, frozen=True, gc=False):
    """A JSON object: its keys in the order in which they are written. Those with a default are
    missing in files of before they were told; those with a constant as their default never are.

    Readers choose whether a key that is not here is refused or passed over (reading/codec.py).
    Docstrings of entries are the descriptions in schemas/: of the entry, then of its keys.
    `COMMON_TEXTS` has those of keys that most documents have.
    """


COMMON_TEXTS: Mapping[str, str] = {
    "format_version": "Version of the format.",
    "kind": "Kind of the document.",
    "cluster_id": "Id of the Kafka cluster.",
    "topic": "Name of the topic.",
    "topic_id": "Id of the topic.",
    "partition": "Partition number.",
    "leader_epoch": "Leader epoch of the partition.",
    "replicas": "The replica set in assignment order.",
    "isr": "In-sync replicas.",
    "elr": "Eligible leader replicas; empty where the cluster has no ELR.",
    "last_known_elr": "Last known ELR; empty where the cluster has no ELR.",
    "adding_replicas": "Replicas that a reassignment in progress adds.",
    "removing_replicas": "Replicas that a reassignment in progress removes.",
    "observed_at": "When the look at the cluster ended, in ISO 8601 with its offset from UTC.",
    "at_ms": "Milliseconds since the Unix epoch.",
    "group": "Id of the group.",
    "producer_id": "Id of the producer.",
    "producer_epoch": "Epoch of the producer.",
}
"""What a key is, in every document whose docstring does not say it otherwise."""

TITLES: dict[type[Entry], str] = {}
"""Of each document that has a schema."""

T = TypeVar("T", bound=type[Entry])


def published(title: str) -> Callable[[T], T]:
    """Give a document a schema with this title in schemas/."""

    def note(document: T) -> T:
        TITLES[document] = title
        return document

    return note
