"""A task does what it can do where it runs. What is missing there it leaves to tasks elsewhere."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.tree import META_PROPERTIES, Location, Unreadable
from kafka_unclean_recovery.spark.result_paths import (
    ResultPath,
    claimed,
    in_task,
    make_directory,
)
from kafka_unclean_recovery.spark.tasks import numbers
from kafka_unclean_recovery.wording import and_more

TRIES = 2
"""How often what is left is tried: a task may die with what it has claimed."""


@dataclass(slots=True)
class Turns:
    """The numbers that are done in one task. settings: those of the job, with what elsewhere.py
    adds: `again`, all numbers that are left, of which each task does those that nobody claimed yet
    in the directory `claims`; `anyhow`: a missing place keeps nothing from being done.

    said: what the task has to tell of its numbers: {"took": NUMBER}, or {"away": NUMBER} with the
    place that is missing and the host.
    """

    settings: Mapping[str, Any]
    said: list[dict[str, Any]] = field(default_factory=list)

    def of(
        self, batches: Iterable[Any], places: Callable[[int], Iterable[Location]]
    ) -> Iterator[int]:
        """Yield the numbers to do here. places: the log directories that a number needs."""
        for number in self._given(batches):
            missing = next((place for place in places(number) if not self._counts(place)), None)
            if missing is not None:
                told = {"away": number, "place": str(missing), "host": os.uname().nodename}
                self.said.append(told)
            elif self._claimed(number):
                yield number
                self.said.append({"took": number})

    def _given(self, batches: Iterable[Any]) -> Iterator[int]:
        again = self.settings.get("again")
        for number in numbers(batches):
            if again is None:
                yield number
            else:
                # Each task begins elsewhere, so that they share the work.
                first = number % len(again)
                yield from (*again[first:], *again[:first])

    def _counts(self, place: Location) -> bool:
        return bool(self.settings.get("anyhow")) or is_here(place)

    def _claimed(self, number: int) -> bool:
        claims = self.settings.get("claims")
        return claims is None or claimed(in_task(claims), str(number))


def new_claims(work: ResultPath) -> ResultPath:
    """Return a directory for the claims of one job. Raises OSError."""
    claims = work / "claims" / uuid.uuid4().hex
    make_directory(claims)
    return claims


def sentences(missing: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield a sentence for each group of places that are missing on the same hosts."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for place, hosts in sorted(missing.items()):
        groups.setdefault(tuple(sorted(hosts)), []).append(place)
    for names, places in groups.items():
        yield f"can't be read on {', '.join(names)}: {places[0]}{and_more(places)}"


def is_here(place: Location) -> bool:
    """Return whether this process can read a log directory; what is in a store it can."""
    if not isinstance(place, LocalLocation):
        return True
    try:
        with place.open() as folder:
            return folder.read_whole(META_PROPERTIES) is not None
    except Unreadable:
        return False
