"""`python -m tests.generate_schemas`: kafka_unclean_recovery/schemas, from the types in documents/.

Descriptions are the docstrings: a paragraph on the entry, then "key: text" for its keys. Upper
bounds of numbers are not told: they are of Kafka's types, and readers say so.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import inspect

import kafka_unclean_recovery
from kafka_unclean_recovery import documents
from kafka_unclean_recovery.documents.spark_tables import ROWS
from kafka_unclean_recovery.documents.values import COMMON_TEXTS, TITLES

SCHEMAS = Path(kafka_unclean_recovery.__file__).parent / "schemas"
for _module in pkgutil.iter_modules(documents.__path__, f"{documents.__name__}."):
    importlib.import_module(_module.name)


def _name_of(document: type) -> str:
    """Return the kind that a document calls itself; the KIP's own has none."""
    kinds = [field.type for field in _fields(document) if field.name == "kind"]
    literal = next(iter(kinds), None)
    return str(literal.values[0]) if isinstance(literal, inspect.LiteralType) else "manual-recovery"


def _fields(document: type) -> Sequence[inspect.Field]:
    kind = inspect.type_info(document)
    assert isinstance(kind, inspect.StructType)
    return kind.fields


DOCUMENTS: Mapping[str, tuple[type, str]] = {
    _name_of(document): (document, title) for document, title in TITLES.items()
}
KINDS: Mapping[str, tuple[type, str]] = {**DOCUMENTS, **ROWS}
"""All that has a schema: documents, and rows of tables."""
NULL = {"type": "null"}

Json = dict[str, Any]


def schema_file(name: str) -> Path:
    """Return the file of a document's schema; the KIP's own document has no version."""
    of_ours = name in ROWS or "format_version" in DOCUMENTS[name][0].__annotations__
    version = "-1" if of_ours else ""
    return SCHEMAS / f"{name}{version}.schema.json"


def schema_text(name: str) -> str:
    """Return what belongs into the file of a document."""
    document, title = KINDS[name]
    kind = inspect.type_info(document)
    assert isinstance(kind, inspect.StructType)
    defs: dict[str, Json] = {}
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _urn(name),
        "title": title,
        **_entry(kind, defs),
    }
    if defs:
        head["$defs"] = defs
    return json.dumps(head, indent=2, ensure_ascii=False) + "\n"


def _urn(name: str) -> str:
    version = schema_file(name).name.removeprefix(name).removesuffix(".schema.json")
    return f"urn:kafka-unclean-recovery:{name}{version.replace('-', ':')}"


def _entry(kind: inspect.StructType, defs: dict[str, Json]) -> Json:
    about, keys = _described(kind.cls)
    known = [field.name for field in kind.fields]
    assert keys.keys() <= set(known), f"{kind.cls.__name__}: {keys.keys() - set(known)}"
    keys = {**{key: COMMON_TEXTS[key] for key in known if key in COMMON_TEXTS}, **keys}
    keys = {**{key: COMMON_TEXTS[key] for key in known if key in COMMON_TEXTS}, **keys}
    properties = {}
    for field in kind.fields:
        said = {"description": keys[field.name]} if field.name in keys else {}
        properties[field.encode_name] = {**said, **_schema(field.type, defs), **said}
    return {
        "description": about,
        "type": "object",
        "properties": properties,
        "required": [field.encode_name for field in kind.fields if _required(field)],
        "additionalProperties": False,
    }


def _required(field: inspect.Field) -> bool:
    return field.required or isinstance(field.type, inspect.LiteralType)


def _described(entry: type) -> tuple[str, dict[str, str]]:
    """Return what the docstring says of the entry, and of its keys."""
    about, _, rest = (entry.__doc__ or "").partition("\n\n")
    items = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", rest, re.M)
    return _one_line(about), {key: _one_line(text) for key, text in items}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _schema(kind: inspect.Type, defs: dict[str, Json]) -> Json:
    match kind:
        case inspect.Metadata():
            return {**_schema(kind.type, defs), **(kind.extra_json_schema or {})}
        case inspect.UnionType():
            others = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
            if len(others) > 1:
                return {"oneOf": [_schema(other, defs) for other in others]}
            return _or_null(_schema(others[0], defs))
        case inspect.StructType():
            name = _name(kind.cls)
            if name not in defs:
                defs[name] = {}
                defs[name] = _entry(kind, defs)
            return {"$ref": f"#/$defs/{name}"}
        case inspect.VarTupleType():
            return {"type": "array", "items": _schema(kind.item_type, defs)}
        case inspect.DictType():
            return _mapping(kind, defs)
    return _plain(kind)


def _plain(kind: inspect.Type) -> Json:
    match kind:
        case inspect.EnumType():
            return {"enum": [each.value for each in kind.cls]}
        case inspect.LiteralType():
            return _literal(kind.values)
        case inspect.IntType():
            return {"type": "integer"} | ({} if kind.ge is None else {"minimum": kind.ge})
        case inspect.BoolType():
            return {"type": "boolean"}
        case inspect.StrType():
            return {"type": "string"}
        case inspect.AnyType():
            return {}
    raise AssertionError(kind)


def _literal(values: Sequence[object]) -> Json:
    return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}


def _mapping(kind: inspect.DictType, defs: dict[str, Json]) -> Json:
    names = {key: value for key, value in _schema(kind.key_type, defs).items() if key != "type"}
    return {
        "type": "object",
        **({"propertyNames": names} if names else {}),
        "additionalProperties": _schema(kind.value_type, defs),
    }


def _or_null(schema: Json) -> Json:
    if "$ref" in schema:
        return {"anyOf": [NULL, schema]}
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]}


def _name(entry: type) -> str:
    """Return the entry's name, as epoch_span of EpochSpanJson."""
    words = re.findall("[A-Z][a-z0-9]*", entry.__name__.removesuffix("Json"))
    return "_".join(words).lower()


if __name__ == "__main__":
    for document in KINDS:
        schema_file(document).write_text(schema_text(document))
