"""The fields of a JSON object, read strictly; errors name the file, the path and the fix. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kafka_unclean_recovery.files.json_text import JsonObject, Place, an_object, shown

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Fields:
    """One object and where it stands. Every method raises InputError, for a missing key too."""

    place: Place
    values: JsonObject

    def only(self, keys: Collection[str]) -> None:
        """Raises InputError for a key that is not one of `keys`."""
        for key in self.values:
            if key not in keys:
                raise self.place.error(f"has {shown(key)}, which is not known here; remove it")

    def value(self, key: str) -> object:
        if key not in self.values:
            raise self.place.error(f'has no "{key}"; use the file as it was written')
        return self.values[key]

    def known(self, key: str) -> bool:
        """False for null."""
        return self.value(key) is not None

    def text(self, key: str) -> str:
        value = self.value(key)
        if not isinstance(value, str):
            raise self.place.at(key).error(f"must be a text in double quotes, not {shown(value)}")
        return value

    def text_or_unknown(self, key: str) -> str | None:
        return self.text(key) if self.known(key) else None

    def one_of(self, key: str, allowed: Collection[str]) -> str:
        value = self.value(key)
        if not isinstance(value, str) or value not in allowed:
            choices = ", ".join(f'"{choice}"' for choice in allowed)
            raise self.place.at(key).error(f"must be one of {choices}, not {shown(value)}")
        return value

    def flag(self, key: str) -> bool:
        value = self.value(key)
        if not isinstance(value, bool):
            raise self.place.at(key).error(f"must be true or false, not {shown(value)}")
        return value

    def int32(self, key: str, least: int = 0) -> int:
        return self._number(key, least, INT32_MAX)

    def int32_or_unknown(self, key: str, least: int = 0) -> int | None:
        return self.int32(key, least) if self.known(key) else None

    def int64(self, key: str) -> int:
        return self._number(key, 0, INT64_MAX)

    def int64_or_unknown(self, key: str) -> int | None:
        return self.int64(key) if self.known(key) else None

    def _number(self, key: str, least: int, most: int) -> int:
        value = self.value(key)
        if type(value) is int and least <= value <= most:  # a bool is none
            return value
        return whole_number(value, self.place.at(key), least, most)

    def items(self, key: str) -> Iterator[tuple[Place, object]]:
        value, place = self.value(key), self.place.at(key)
        if not isinstance(value, list):
            raise place.error(f"must be a list [...], not {shown(value)}")
        return ((place.item(index), item) for index, item in enumerate(value))

    def broker_ids(self, key: str) -> tuple[int, ...]:
        """In the order of the file, none twice."""
        ids = [whole_number(item, place, 0, INT32_MAX) for place, item in self.items(key)]
        if len(set(ids)) < len(ids):
            raise self.place.at(key).error("names a broker twice; remove one of the two")
        return tuple(ids)

    def texts(self, key: str) -> tuple[str, ...]:
        found = []
        for place, item in self.items(key):
            if not isinstance(item, str):
                raise place.error(f"must be a text in double quotes, not {shown(item)}")
            found.append(item)
        return tuple(found)

    def objects(self, key: str) -> Iterator[Fields]:
        return (fields_of(item, place) for place, item in self.items(key))

    def object_at(self, key: str) -> Fields:
        return fields_of(self.value(key), self.place.at(key))


def fields_of(value: object, place: Place) -> Fields:
    return Fields(place, an_object(value, place))


def whole_number(value: object, place: Place, least: int, most: int) -> int:
    """`least` and `most` are inclusive."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise place.error(f"must be a whole number, not {shown(value)}")
    if not least <= value <= most:
        raise place.error(f"must be a number from {least} to {most}, not {shown(value)}")
    return value
