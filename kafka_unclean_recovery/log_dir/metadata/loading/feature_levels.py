"""Which levels of features a controller supports: one with a level above ends its process. Pure.

The log does not tell the release of the controller that is to load it. The controllers and brokers
that registered tell what theirs support; where none has, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

KRAFT_VERSIONS = (0, 1)
# QuorumFeatures of 3.9.1, 4.3.1 and 4.4.0 together: nodes may leave out what they don't need.
_KNOWN = {
    "kraft.version": (0, 1),
    "transaction.version": (0, 2),
    "group.version": (0, 1),
    "eligible.leader.replicas.version": (0, 1),
    "share.version": (0, 2),
    "streams.version": (0, 1),
}


@dataclass(slots=True)
class FeatureLevels:
    """The levels that the log sets, and those that are supported."""

    _set: dict[tuple[str, int], tuple[int, bool]] = field(default_factory=dict)
    """Where each (feature, level) is set first: (offset, whether in a checkpoint)."""
    _supported: dict[str, tuple[int, int]] = field(default_factory=dict)

    def set(self, record: Mapping[str, Any], offset: int, in_snapshot: bool) -> None:
        level = record["name"], record["feature_level"]
        self._set.setdefault(level, (offset, in_snapshot))

    def supported(self, features: Iterable[Mapping[str, Any]]) -> None:
        """Note what a node that registered supports."""
        for each in features:
            name = each["name"]
            least, most = each["min_supported_version"], each["max_supported_version"]
            before = self._supported.get(name, (least, most))
            self._supported[name] = min(before[0], least), max(before[1], most)

    def unsupported(self) -> tuple[int, bool, str] | None:
        """Return the first level that is not supported as (offset, in a checkpoint, why)."""
        if not self._supported:
            return None
        for (name, level), (offset, in_snapshot) in self._set.items():
            least, most = self._supported.get(name, _KNOWN.get(name, (0, 0)))
            if not least <= level <= most:
                why = f"level {level} of {name}, which is supported from {least} to {most}"
                return offset, in_snapshot, why
        return None
