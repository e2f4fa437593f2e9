"""What entries of JSON documents are made of. Numbers are bounded as Kafka's are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from msgspec import Meta, Struct

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

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
    """


TITLES: dict[type[Entry], str] = {}
"""Of each document that has a schema."""

T = TypeVar("T", bound=type[Entry])


def published(title: str) -> Callable[[T], T]:
    """Give a document a schema with this title in schemas/."""

    def note(document: T) -> T:
        TITLES[document] = title
        return document

    return note
