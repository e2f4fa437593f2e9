"""Requests to an emulated cluster, one connection each."""

from __future__ import annotations

from typing import Any

from kafka_unclean_recovery.emulator import Cluster
from tests.fidelity.wire import Wire
from tests.messages.building import build

Address = tuple[str, int]


def address(cluster: Cluster, broker: int) -> Address:
    host, _, port = cluster.bootstrap_servers.split(",")[broker - 1].rpartition(":")
    return host, int(port)


def ask(cluster: Cluster, broker: int, request: Any, version: int, values: Any) -> Any:
    with Wire(*address(cluster, broker)) as wire:
        return wire.ask(build(request, values), version)
