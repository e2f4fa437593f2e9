"""A JSON value held against what it must be; errors name the file, the path and the fix. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kafka_unclean_recovery.documents.reading.json_text import Place, shown


def a_text(value: object, place: Place) -> str:
    if not isinstance(value, str):
        raise place.error(f"must be a text in double quotes, not {shown(value)}")
    return value


def a_flag(value: object, place: Place) -> bool:
    if not isinstance(value, bool):
        raise place.error(f"must be true or false, not {shown(value)}")
    return value


def a_choice(value: object, place: Place, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        choices = ", ".join(f'"{choice}"' for choice in allowed)
        raise place.error(f"must be one of {choices}, not {shown(value)}")
    return value


def a_list(value: object, place: Place) -> list[object]:
    if not isinstance(value, list):
        raise place.error(f"must be a list [...], not {shown(value)}")
    return value


def whole_number(value: object, place: Place, least: int, most: int) -> int:
    """Return a whole number from `least` to `most`, both included. Raises InputError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise place.error(f"must be a whole number, not {shown(value)}")
    if not least <= value <= most:
        raise place.error(f"must be a number from {least} to {most}, not {shown(value)}")
    return value


def no_other_keys(values: Collection[str], known: Collection[str], place: Place) -> None:
    for key in values:
        if key not in known:
            raise place.error(f"has {shown(key)}, which is not known here; remove it")


def missing(key: str, place: Place) -> Exception:
    return place.error(f'has no "{key}"; use the file as it was written')


def each_once(brokers: Sequence[int], place: Place) -> None:
    if len(set(brokers)) < len(brokers):
        raise place.error("names a broker twice; remove one of the two")
