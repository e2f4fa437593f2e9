"""A partition that has a leader again takes acks=all only once min.insync.replicas of its replicas
are in the ISR; where too few of them live, the run says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from kafka_unclean_recovery.cluster.requests.configs import ConfigValue, number
from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS
from kafka_unclean_recovery.model import PartitionState
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.any_broker import FAILURES
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.wording import count_text

MinIsrs = Mapping[str, int]
"""min.insync.replicas by topic, as far as it was told."""


async def min_isrs(reader: Reader, states: Iterable[PartitionState]) -> MinIsrs:
    """Return what one broker tells of the topics of partitions of which not all replicas live; a
    topic of which it tells nothing is left out, as all are without DESCRIBE_CONFIGS. Raises
    nothing."""
    wanted = sorted({state.topic for state in states if state.offline_replicas})
    told: Mapping[str, ConfigValue] = {}
    if wanted:
        try:
            async with asyncio.timeout(budgets.MIN_ISRS.seconds):
                told = await reader.settings(wanted, MIN_INSYNC_REPLICAS)
        except (TimeoutError, *FAILURES):
            return {}
    values = {name: number(found) for name, found in told.items()}
    return {name: value for name, value in values.items() if value is not None}


def too_few_live(states: Iterable[PartitionState | None], least: MinIsrs) -> str | None:
    """Return a sentence on the partitions with a leader of which fewer replicas live than
    acks=all needs; None where there is none."""
    refused = [
        (str(state.topic_partition), needed, live)
        for state in states
        if state is not None and not state.offline
        if (live := len(state.online_replicas))
        < (needed := min(least.get(state.topic, 0), len(state.replicas)))
    ]
    if not refused:
        return None
    name, needed, live = refused[0]
    many = len(refused) > 1
    return (
        f"{count_text(len(refused), 'partition')}, {'the first ' if many else ''}{name} (live"
        f" replicas {live}, min.insync.replicas {needed}), {'have' if many else 'has'} a leader and"
        f" {'refuse' if many else 'refuses'} what is written with acks=all, and who asks for the"
        " end may get OFFSET_NOT_AVAILABLE, until more replicas are back in the ISR: aftercare"
        " tells when"
    )
