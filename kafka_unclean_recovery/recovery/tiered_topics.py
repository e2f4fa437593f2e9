"""Topics that may have records in remote storage (KIP-405), which nothing here reads.

What can't be read of a topic's config counts as yes, unless the cluster has no remote storage at
all: its brokers keep the list of remote segments in a topic of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from kafka_unclean_recovery.cluster.requests.configs import ConfigValue
from kafka_unclean_recovery.cluster.wire.error_codes import UNAUTHORIZED, error_name
from kafka_unclean_recovery.kafka_names import REMOTE_LOG_METADATA, REMOTE_STORAGE_ENABLE, Errors
from kafka_unclean_recovery.model import TIERED
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.any_broker import FAILURES
from kafka_unclean_recovery.survey.reading import Reader

_GRANT = "grant Topic:DESCRIBE_CONFIGS"
_SILENT = "no broker answered in time"


async def tiered_topics(reader: Reader, topics: Sequence[str]) -> Mapping[str, str]:
    """Return why each of the topics may have records in remote storage; a topic that has none is
    left out. Raises nothing."""
    if not topics:
        return {}
    why = _SILENT
    told: Mapping[str, ConfigValue] = {}
    try:
        async with asyncio.timeout(budgets.TIERED_TOPICS.seconds):
            told = await reader.settings(topics, REMOTE_STORAGE_ENABLE)
    except (TimeoutError, *FAILURES) as error:
        why = str(error) or why
    tiered = {name: TIERED for name in topics if name in told and told[name].value == "true"}
    untold = {name: _why_untold(told.get(name), why) for name in topics}
    unread = {name: reason for name, reason in untold.items() if reason is not None}
    if unread and await _has_remote_storage(reader):
        tiered |= {name: _may_be(reason) for name, reason in unread.items()}
    return tiered


def not_read(topics: Iterable[str], why: str) -> Mapping[str, str]:
    """Return for topics that were not told of that each may have records in remote storage."""
    return {name: _may_be(why) for name in topics}


def _may_be(why: str) -> str:
    return f"whether its {REMOTE_STORAGE_ENABLE} is true is not known ({why})"


def _why_untold(told: ConfigValue | None, why: str) -> str | None:
    """Return why a topic's config is not known; None where it is. A release without remote storage
    does not know the config, and reports no error."""
    if told is None:
        return why
    if told.error == Errors.NONE:
        return None
    name = error_name(told.error)
    return f"{name}: {_GRANT}" if told.error in UNAUTHORIZED else name


async def _has_remote_storage(reader: Reader) -> bool:
    """Return False only where a broker says that the topic of remote segments does not exist."""
    try:
        found = await reader.topics([REMOTE_LOG_METADATA])
    except FAILURES:
        return True
    return any(topic.error != Errors.UNKNOWN_TOPIC_OR_PARTITION for topic in found)
