"""The requests of a recovery and their answers (org.apache.kafka.common.protocol.ApiKeys).

kafka-python has them too, but takes several times as long to import and to decode them, and bounds
nothing that it makes of an answer. The layouts have the fields of the versions that each names, and
tests hold them against kafka-python's and kio's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from kafka_unclean_recovery.cluster.wire.layout import Each, Read, Write, reader, writer
from kafka_unclean_recovery.cluster.wire.notation import row


class Api(NamedTuple):
    """A request and its answer. valid_versions: (lowest, highest) that the layouts have. flexible:
    the first flexible version. request, answer: their layouts as text (notation.py).

    The names that kafka-python's classes have, too, are theirs.
    """

    API_KEY: int
    name: str
    valid_versions: tuple[int, int]
    flexible: int
    request: str
    answer: str

    def is_flexible(self, version: int) -> bool:
        return version >= self.flexible


class Message(NamedTuple):
    """A request to send: its fields by name. each: what is made of the rows of its answer."""

    api: Api
    fields: Mapping[str, Any]
    each: Each | None = None

    @property
    def name(self) -> str:
        return f"{self.api.name}Request"


@cache
def request_writer(api: Api, version: int) -> Write:
    """Return the function that writes requests of this version, without their header."""
    return writer(row(api.request), version, api.is_flexible(version))


@cache
def answer_reader(api: Api, version: int, each: Each | None = None) -> Read:
    """Return the function that reads answers of this version, behind their header."""
    return reader(row(api.answer), version, api.is_flexible(version), each)
