"""The fields of a JSON object, read strictly; errors name the file, the path and the fix. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kafka_unclean_recovery.files.json_text import JsonObject, Place, an_object
from kafka_unclean_recovery.files.json_values import (
    a_choice,
    a_flag,
    a_list,
    a_text,
    each_once,
    missing,
    no_other_keys,
    whole_number,
)

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Fields:
    """One object and where it stands. Every method raises InputError, for a missing key too."""

    place: Place
    values: JsonObject

    def only(self, keys: Collection[str]) -> None:
        """Raises InputError for a key that is not one of `keys`."""
        no_other_keys(self.values, keys, self.place)

    def value(self, key: str) -> object:
        if key not in self.values:
            raise missing(key, self.place)
        return self.values[key]

    def known(self, key: str) -> bool:
        """False for null."""
        return self.value(key) is not None

    def text(self, key: str) -> str:
        return a_text(self.value(key), self.place.at(key))

    def text_or_unknown(self, key: str) -> str | None:
        return self.text(key) if self.known(key) else None

    def one_of(self, key: str, allowed: Collection[str]) -> str:
        return a_choice(self.value(key), self.place.at(key), allowed)

    def flag(self, key: str) -> bool:
        return a_flag(self.value(key), self.place.at(key))

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
        place = self.place.at(key)
        found = a_list(self.value(key), place)
        return ((place.item(index), item) for index, item in enumerate(found))

    def broker_ids(self, key: str) -> tuple[int, ...]:
        """In the order of the file, none twice."""
        ids = [whole_number(item, place, 0, INT32_MAX) for place, item in self.items(key)]
        each_once(ids, self.place.at(key))
        return tuple(ids)

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(a_text(item, place) for place, item in self.items(key))

    def objects(self, key: str) -> Iterator[Fields]:
        return (fields_of(item, place) for place, item in self.items(key))

    def object_at(self, key: str) -> Fields:
        return fields_of(self.value(key), self.place.at(key))


def fields_of(value: object, place: Place) -> Fields:
    return Fields(place, an_object(value, place))
