"""How a cluster is reached: the client file, the flags for the same connection in commands that are
printed, and what a person sees until the first node answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.deadline import Deadline

_COUNT_SECONDS = 1.0


def connection_flags(bootstrap_server: str, config: Path | None) -> list[str]:
    """Return the flags for the same connection, for a command that is printed."""
    given = [] if config is None else ["--command-config", str(config)]
    return ["--bootstrap-server", bootstrap_server, *given]


def client_config(path: Path | None) -> ClientConfig:
    """Return the configuration of a client file; plaintext without one. Raises ConfigError."""
    if path is None:
        return ClientConfig()
    # The readers of key stores and tokens, for which a run without a file should not wait.
    from kafka_unclean_recovery.cluster.config.security import load_client_config

    return load_client_config(str(path))


def check_connection(bootstrap_server: str, command_config: Path | None) -> None:
    """Refuse early, before long work, a connection that `run` would refuse. Raises Exit(2)."""
    # A pipe, as of <(vault ...), can be read only once, and `run` reads it.
    piped = command_config is not None and command_config.is_fifo()
    parse_bootstrap(bootstrap_server)
    client_config(None if piped else command_config)


async def count_down(console: Console, nodes: Nodes, seconds: float) -> None:
    """Show for how long the first answer of any node is waited for still, until there is one."""
    deadline = Deadline.after(seconds)
    first, *others = (address_text(*address) for address in nodes.addresses())
    more = f" and {len(others)} more" if others else ""
    while not deadline.expired:
        await asyncio.sleep(_COUNT_SECONDS)
        if nodes.connected:
            return
        console.progress(f"connecting to {first}{more}: {deadline.remaining():.0f} s left")
