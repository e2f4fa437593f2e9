"""The options of a store: where it is, and how long a request to it may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.shown import shown


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """The options of a store. endpoint: URL of a store that is not its maker's (s3, gs, abfs).
    region: that of an s3 bucket, None for the client's own setting. attempts and timeout_seconds:
    those of one request (s3; gs gives up after their product); the clients of the other stores have
    their own."""

    endpoint: str | None = None
    region: str | None = None
    attempts: int = 5
    timeout_seconds: float = 30.0


def store_options(told: Mapping[str, str]) -> StoreOptions:
    """Return the options given by name, endpoint and region. Raises InputError for other names."""
    if unknown := sorted(told.keys() - {"endpoint", "region"}):
        raise InputError(f"{shown(unknown[0])} is no option of a store: endpoint and region are")
    return StoreOptions(told.get("endpoint"), told.get("region"))
