"""Pushed filters decide which replicas are read at all. This module does no I/O.

A criterion is a tuple of plain values, because it travels to where our classes may not be.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Criterion = tuple[str, str, Any, bool]
"""A criterion is (column, name of the filter's class, value, whether it is negated)."""

# These columns are known before a replica is read, and are never null.
_COLUMNS = frozenset(("topic", "partition", "broker"))
_HOLDS: Mapping[str, Callable[[Any, Any], bool]] = {
    "EqualTo": operator.eq,
    "EqualNullSafe": operator.eq,
    "In": lambda found, values: found in values,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "StringStartsWith": str.startswith,
    "StringEndsWith": str.endswith,
    "StringContains": operator.contains,
}


def criterion(pushed: Any) -> Criterion | None:
    """Return the criterion of a pyspark.sql.datasource filter; None if Spark must filter."""
    negated = type(pushed).__name__ == "Not"
    inner = pushed.child if negated else pushed
    kind = type(inner).__name__
    if kind not in _HOLDS or len(inner.attribute) != 1 or inner.attribute[0] not in _COLUMNS:
        return None
    value = tuple(inner.value) if kind == "In" else inner.value
    # Nothing equals null, and nothing differs from it.
    if any(one is None for one in (value if kind == "In" else (value,))):
        return None
    return inner.attribute[0], kind, value, negated


def holds(criteria: Iterable[Criterion], replica: Mapping[str, str | int]) -> bool:
    """Return whether all criteria hold for a replica, which is given by the columns' names."""
    return all(
        _HOLDS[kind](replica[column], value) is not negated
        for column, kind, value, negated in criteria
    )
