"""Documents held against the schemas that users get."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema

SCHEMAS = {
    path.name: json.loads(path.read_text())
    for path in (files("kafka_unclean_recovery") / "schemas").iterdir()
    if path.name.endswith(".schema.json")
}


def validated(text: str) -> Any:
    """Return one JSON document, checked as a whole against the schema that it names. The manual
    file is the KIP's and names none."""
    document = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMAS[schema_of(document)]).validate(document)
    return document


def checked_row(table: str, row: dict[str, Any]) -> None:
    """Check a row of a table of spark scan against its schema."""
    jsonschema.Draft202012Validator(SCHEMAS[f"spark-{table}-1.schema.json"]).validate(row)


def schema_of(document: dict[str, Any]) -> str:
    if "kind" not in document:
        return "manual-recovery.schema.json"
    return f"{document['kind']}-{document['format_version']}.schema.json"
