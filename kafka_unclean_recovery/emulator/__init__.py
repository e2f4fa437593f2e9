"""An emulated Kafka cluster. Its controller never imports what it is the judge of: the planner."""

from __future__ import annotations

from kafka_unclean_recovery.emulator.cluster import Cluster, Options
from kafka_unclean_recovery.emulator.damage import Damage
from kafka_unclean_recovery.emulator.emulation import Settings

__all__ = ["Cluster", "Damage", "Options", "Settings"]
