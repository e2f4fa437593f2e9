"""Put together all that tells of brokers. The controllers are asked whether those are active of
which nothing else tells.

Before Kafka 4.0 fenced brokers are not listed, so one without the listener that is read through
looks as a dead one does; where nobody tells when brokers were last heard from, so it does on any
release. One small request asks about all of them, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from kafka_unclean_recovery.model import Cluster
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.liveness import Heard, suspects
from kafka_unclean_recovery.survey.reading import Reader


async def heard_of(
    reader: Reader,
    brokers: Iterable[int],
    cluster: Cluster,
    in_sync: Mapping[int, str],
    lived: Collection[int] = (),
) -> Heard:
    """Return all that tells of these brokers. in_sync, lived: as in Heard."""
    heard = Heard(cluster, reader.controllers, in_sync, lived)
    asked = suspects(brokers, heard)
    return replace(heard, placement=await reader.placement(asked, budgets.ACTIVE.seconds))
