"""This package emulates a Kafka cluster. Its controller never imports the planner, whose results it
judges.

`Cluster` and the other names below are imported on first use: Kafka's codec takes 0.2 s to import,
and the language of commands does not need it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_unclean_recovery.emulator.cluster import Cluster
    from kafka_unclean_recovery.emulator.disks.damage import Damage
    from kafka_unclean_recovery.emulator.emulation import Settings
    from kafka_unclean_recovery.emulator.options import Options
    from kafka_unclean_recovery.emulator.security.settings import Security, Tls

__all__ = ["Cluster", "Damage", "Options", "Security", "Settings", "Tls"]

_HOMES = {
    "Cluster": "cluster",
    "Options": "options",
    "Damage": "disks.damage",
    "Security": "security.settings",
    "Settings": "emulation",
    "Tls": "security.settings",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
