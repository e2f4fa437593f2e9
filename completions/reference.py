"""The pages of docs/reference: the help of each command, the schema of each JSON document, and the
events of the journal."""

from __future__ import annotations

import json
from pathlib import Path

from completions.help import FLAGS, help_files
from kafka_unclean_recovery.cli.environment import VARIABLES
from kafka_unclean_recovery.documents.journal import EVENTS

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "docs" / "reference"
SCHEMAS = ROOT / "kafka_unclean_recovery" / "schemas"


def reference_pages() -> dict[Path, str]:
    """Return the text of each page."""
    return {
        REFERENCE / "commands.md": _commands(),
        REFERENCE / "formats.md": _formats(),
        REFERENCE / "journal.md": _journal(),
    }


def _commands() -> str:
    lines = ["# Commands", "", "What `--help` of each command says."]
    for path, text in help_files().items():
        if path not in (FLAGS, VARIABLES):
            title = path.stem.replace("_", " ")
            lines += ["", f"## {title}", "", "```text", text.rstrip(), "```"]
    return "\n".join([*lines, ""])


def _formats() -> str:
    lines = ["# JSON formats", "", "The schemas lie in `kafka_unclean_recovery/schemas`."]
    for path in sorted(SCHEMAS.glob("*.schema.json")):
        schema = json.loads(path.read_text())
        lines += ["", f"## {schema['title']}", "", f"`{path.name}`", "", schema["description"]]
        lines += ["", "| key | type | | |", "|---|---|---|---|"]
        required = set(schema.get("required", ()))
        for key, of in schema.get("properties", {}).items():
            optional = "" if key in required else "optional"
            lines.append(f"| `{key}` | {_type(of)} | {optional} | {of.get('description', '')} |")
    return "\n".join([*lines, ""])


def _journal() -> str:
    lines = ["# The journal", "", "A run notes what it does to the cluster before it does it."]
    lines += [
        "A line is one JSON object: `v` (1), `at` (ISO 8601, UTC), `at_ms` (ms since the Unix"
    ]
    lines += ["epoch), `event`, and what stands in the table. Pass over events that are not in it."]
    lines += [
        "",
        "| event | what stands in the line besides | what a later run does |",
        "|---|---|---|",
    ]
    lines += [f"| `{event}` | {row.keys} | {row.later} |" for event, row in EVENTS.items()]
    return "\n".join([*lines, ""])


def _type(schema: dict[str, object]) -> str:
    """Return such as "integer or null"; of a reference its name."""
    if "anyOf" in schema:
        alternatives = schema["anyOf"]
        assert isinstance(alternatives, list)
        return " or ".join(map(_type, alternatives))
    if "$ref" in schema:
        return f"`{str(schema['$ref']).rpartition('/')[2]}`"
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        items = schema["items"]
        assert isinstance(items, dict)
        return f"array of {_type(items)}"
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        assert isinstance(values, list)
        return " or ".join(f"`{json.dumps(value)}`" for value in values)
    told = schema.get("type", "any")
    return " or ".join(told) if isinstance(told, list) else str(told)
