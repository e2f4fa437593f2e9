"""Schemas are what the types of documents/ say, and files come back from the types unchanged."""

from __future__ import annotations

import json
import re

import pytest

from kafka_unclean_recovery.documents.reading.codec import decode, to_json
from kafka_unclean_recovery.documents.reading.json_text import Place, load_object
from tests.generate_schemas import DOCUMENTS, KINDS, SCHEMAS, schema_file, schema_text
from tests.golden import FORMATS


@pytest.mark.parametrize("name", KINDS)
def test_a_schema_is_generated(name: str) -> None:
    stored = schema_file(name).read_text()
    assert stored == schema_text(name), "run `make schemas`"


def test_every_schema_has_its_type() -> None:
    stored = {path.name for path in SCHEMAS.iterdir() if path.suffix == ".json"}
    assert {schema_file(name).name for name in KINDS} == stored


# Who reads a key alone, in an editor or on the page of the formats, has no sentence before it.
HANGS_ON_ANOTHER = re.compile(
    r"(Of|Those|That|These|The same|As|Else|By|From|For|To|Its|Their|In all|None)\b"
)


@pytest.mark.parametrize("name", KINDS)
def test_each_key_has_a_text_that_is_understood_alone(name: str) -> None:
    schema = json.loads(schema_file(name).read_text())
    for entry in (schema, *schema.get("$defs", {}).values()):
        for key, told in entry["properties"].items():
            text = told.get("description") or told.get("items", {}).get("description") or ""
            assert re.fullmatch(r"[A-Z0-9].*\.", text), f"{entry['description']} {key}: {text!r}"
            assert not HANGS_ON_ANOTHER.match(text), f"{entry['description']} {key}: {text!r}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_type_has_every_key_in_the_order_of_the_file(name: str) -> None:
    path = FORMATS / f"{name}.json"
    document = load_object(path.read_text(), path.name)
    kind: type[object] = DOCUMENTS[name][0]
    read = decode(document, kind, Place(path.name))
    assert json.dumps(to_json(read)) == json.dumps(document)
