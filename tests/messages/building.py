"""Messages of nested plain values: a struct is a mapping by field name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def build(message_class: Any, values: Mapping[str, Any]) -> Any:
    """Return the message; fields that are not named have their defaults."""
    return message_class(**_fields(message_class, values))


def plain(message: Any) -> dict[str, Any]:
    """Return the fields that the version of a decoded message has, as `build` takes them."""
    found: dict[str, Any] = message.to_dict(json=False)
    return found


def _fields(container: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(container.fields[name], value) for name, value in values.items()}


def _value(field: Any, value: Any) -> Any:
    if value is None or not field.is_struct_array():
        return value
    return [field.data_class(**_fields(field.data_class, each)) for each in value]
