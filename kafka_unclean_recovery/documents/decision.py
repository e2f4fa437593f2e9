"""A line of a journal that tells of one partition's plan."""

from __future__ import annotations

from kafka_unclean_recovery.documents.report import GroupBeyondJson, WaitingJson
from kafka_unclean_recovery.documents.values import BrokerIds, Entry, OrNone


class DecisionJson(Entry, frozen=True):
    """What the decision knew beside the entry of the rich plan that stands in the same line."""

    leader: OrNone
    offline_replicas: BrokerIds
    adding_replicas: BrokerIds
    removing_replicas: BrokerIds
    waiting: tuple[WaitingJson, ...]
    groups_beyond: tuple[GroupBeyondJson, ...]
