"""Turn --bootstrap-server into one open connection."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import NoBrokerReachable
from kafka_unclean_recovery.cluster.wire.race import first_success
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.errors import ConfigError

_PORT = re.compile(r"[0-9]{1,5}")

Address = tuple[str, int]


def parse_bootstrap(value: str) -> tuple[Address, ...]:
    """Parse "host:port,[::1]:9092" into (host, port) pairs, repeated ones once. Raises
    ConfigError."""
    entries = [entry.strip() for entry in value.split(",")]
    addresses = dict.fromkeys(_parse_entry(entry) for entry in entries if entry)
    if not addresses:
        raise ConfigError("no bootstrap server given: write host:port, comma-separated")
    return tuple(addresses)


async def connect_any(
    addresses: Sequence[Address], config: ClientConfig, deadline: Deadline
) -> Connection:
    """Return a connection to the address that answers first. Raises NoBrokerReachable.

    All addresses are tried side by side, each until the deadline. A refused login ends the attempt
    at once, as the other nodes would refuse it too.
    """
    result = await first_success(
        [partial(Connection.open, host, port, config, deadline) for host, port in addresses]
    )
    if isinstance(result, Connection):
        return result
    raise NoBrokerReachable(result)


def _parse_entry(entry: str) -> Address:
    host, _, port = entry.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if "://" in entry:
        raise _bad_entry(entry, "leave out the protocol; --command-config says it")
    if ":" in host and not bracketed:
        raise _bad_entry(entry, "put an IPv6 address in brackets, as in [::1]:9092")
    host = host[1:-1] if bracketed else host
    if not host or not port:
        raise _bad_entry(entry, "write host:port")
    if not (_PORT.fullmatch(port) and 0 < int(port) < 65536):
        raise _bad_entry(entry, "the port is a number from 1 to 65535")
    return host, int(port)


def _bad_entry(entry: str, fix: str) -> ConfigError:
    return ConfigError(f"bootstrap server {entry!r}: {fix}")
