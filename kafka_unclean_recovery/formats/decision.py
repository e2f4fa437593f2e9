"""A line of a journal that tells of one partition's plan."""

from __future__ import annotations

from typing import Literal

from kafka_unclean_recovery.formats.plan import PartitionJson
from kafka_unclean_recovery.formats.report import GroupBeyondJson, WaitingJson
from kafka_unclean_recovery.formats.values import BrokerIds, Int64, OrNone


class DecisionJson(PartitionJson, frozen=True):
    """An entry of the rich plan, and what else the decision knew."""

    v: Literal[1]
    at_ms: Int64
    event: Literal["decision"]
    leader: OrNone
    offline_replicas: BrokerIds
    adding_replicas: BrokerIds
    removing_replicas: BrokerIds
    waiting: tuple[WaitingJson, ...]
    groups_beyond: tuple[GroupBeyondJson, ...]
    at: str = ""
