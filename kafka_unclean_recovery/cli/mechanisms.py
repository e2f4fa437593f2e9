"""The flags that name mechanisms are turned into wishes, and wishes into flags."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.cli.exits import usage
from kafka_unclean_recovery.mechanisms import Dialect, ElectionMethod, Transport, Wishes


def wishes_of(transport: Transport, method: ElectionMethod, dialect: Dialect | None) -> Wishes:
    """Return the wishes that these flags express. Raises Exit(2) when two flags exclude each
    other."""
    if dialect is not None and transport is Transport.LIST_OFFSETS:
        raise usage("--replica-log-info-dialect and --transport list-offsets exclude each other")
    return Wishes(transport, method, dialect)


def mechanism_flags(wishes: Wishes) -> Iterator[str]:
    """Return the flags for these wishes on a command line; defaults need no flag."""
    if wishes.transport is not Transport.AUTO:
        yield from ("--transport", wishes.transport)
    if wishes.election_method is not ElectionMethod.AUTO:
        yield from ("--election-method", wishes.election_method)
    if wishes.dialect is not None:
        yield from ("--replica-log-info-dialect", wishes.dialect)
