"""Documents as text: their partitions a line each, and a digest over all of it. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from kafka_unclean_recovery.documents.reading.codec import canonical_json, json_text, to_json

Json = dict[str, object]
"""A JSON object under construction."""


def partitions_by_line(head: Json, rows: Iterable[Json], tail: Json) -> str:
    """Return a JSON object: `head`, then "partitions" with a line for each row, then `tail`.

    It is quick to write and to grep; rows are taken one at a time, so that they need not all exist.
    """
    return "".join(partitions_by_chunk(head, map(json_text, rows), lambda: tail))


def document_by_line(document: Struct) -> str:
    """Return a whole document as partitions_by_line does; its "partitions" come last."""
    head = to_json(document)
    rows = head.pop("partitions")
    return partitions_by_line(head, rows, {})


def partitions_by_chunk(
    head: Json, chunks: Iterable[str], tail: Callable[[], Json]
) -> Iterator[str]:
    r"""Yield what partitions_by_line returns, part by part. chunks: lines, or many joined by ",\n".
    `tail` is asked last."""
    before = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    yield f'{{{before}"partitions": ['
    end = "]"
    for chunk in chunks:
        yield f"\n{chunk}" if end == "]" else f",\n{chunk}"
        end = "\n]"
    after = "".join(f",\n{json.dumps(key)}: {json.dumps(value)}" for key, value in tail().items())
    yield f"{end}{after}}}\n"


def plan_digest(document: Mapping[str, object]) -> str:
    """Return "sha256:" and the hex digest of `document` in canonical form without "digest"."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    return digest_text(hashlib.sha256(canonical_json(rest).encode("ascii")))


def digest_text(hashed: hashlib._Hash) -> str:
    """Return a digest as documents have it."""
    return f"sha256:{hashed.hexdigest()}"
