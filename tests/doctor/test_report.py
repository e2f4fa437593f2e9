"""A diagnosis on a terminal and as JSON, held against its schema."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema

from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.diagnosis import (
    Diagnosis,
    diagnose,
    render_json,
    render_text,
)
from kafka_unclean_recovery.documents.reading import json_text
from tests.doctor.facts import HEALTHY, REFUSED

SCHEMA = Path(json_text.__file__).parents[2] / "schemas" / "doctor-1.schema.json"
AT = "2026-01-01T00:00:00+00:00"


def test_the_json_is_as_its_schema_says() -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    found = diagnose(replace(HEALTHY, reordering=REFUSED), AT)
    text = render_json(found)
    document = json.loads(text)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["worst"] == "failure"
    assert document["counts"]["failure"] == 1
    assert sum(document["counts"].values()) == len(document["checks"]) == len(found.checks)
    assert text.count("\n") == len(found.checks) + 2


def test_nothing_from_a_broker_breaks_a_line_or_reaches_the_terminal() -> None:
    nasty = Check("a_code", Status.WARNING, "what\n\x1b[31m", "why\r\n", "do\tit")
    assert render_text(Diagnosis("id\x1b", AT, (nasty,))) == (
        "warning  a_code: what \\x1b[31m\n"
        "         why: why\n"
        "         do:  do it\n"
        "\n"
        "cluster id\\x1b: 1 warning; not well: a recovery may fail or do harm by what is named\n"
    )


def test_what_is_well_takes_one_line() -> None:
    fine = Check("fine", Status.OK, "it is", "because")
    assert render_text(Diagnosis("id", AT, (fine,))).splitlines()[0] == "ok       fine: it is"


def test_no_check_at_all_is_a_document_too() -> None:
    assert json.loads(render_json(Diagnosis("id", AT, ())))["checks"] == []
