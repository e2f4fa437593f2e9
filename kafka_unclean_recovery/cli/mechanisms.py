"""The flags that name mechanisms, as the wishes of transport/choosing.py and back."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.cli import flags
from kafka_unclean_recovery.cli.exits import usage
from kafka_unclean_recovery.messages.dialects import Dialect
from kafka_unclean_recovery.transport.choosing import ElectionMethod, Transport, Wishes


def wishes_of(
    transport: flags.Transport, method: flags.ElectionMethod, dialect: flags.Dialect | None
) -> Wishes:
    """Raises Exit(2)."""
    if dialect is not None and transport is flags.Transport.LIST_OFFSETS:
        raise usage("--replica-log-info-dialect and --transport list-offsets exclude each other")
    return Wishes(
        Transport(transport.value),
        ElectionMethod(method.value),
        None if dialect is None else Dialect(dialect.value),
    )


def mechanism_flags(wishes: Wishes) -> Iterator[str]:
    """What stands on a command line for them; nothing for what is so anyway."""
    if wishes.transport is not Transport.AUTO:
        yield from ("--transport", wishes.transport)
    if wishes.election_method is not ElectionMethod.AUTO:
        yield from ("--election-method", wishes.election_method)
    if wishes.dialect is not None:
        yield from ("--replica-log-info-dialect", wishes.dialect)
