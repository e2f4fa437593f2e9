"""Parse and apply --accept-loss, the certain loss that each partition may have; no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import PartitionPlan
from kafka_unclean_recovery.planning.losses import loss_under
from kafka_unclean_recovery.wording import loss_text

FLAG = "--accept-loss"
ANY_TOPIC = "*"

LossLimits = Mapping[str, int | None]
"""The limit in records by topic, or ANY_TOPIC for topics not named; None accepts any loss, also an
unknown one."""

_LIMIT = re.compile(r"(?P<topic>[a-zA-Z0-9._-]{1,249}|\*)(:(?P<records>[0-9]{1,18}))?")


def parse_loss_limits(values: Iterable[str]) -> LossLimits:
    """Parse values of the form TOPIC and TOPIC:MAX_RECORDS. Raises InputError."""
    limits: dict[str, int | None] = {}
    for value in values:
        match = _LIMIT.fullmatch(value)
        if match is None:
            raise InputError(
                f"{FLAG} {value}: give TOPIC:MAX_RECORDS, as orders:500, or TOPIC for any loss; a"
                f" topic is its whole name, or {ANY_TOPIC} for those not named"
            )
        topic, records = match["topic"], match["records"]
        if topic in limits:
            raise InputError(f"{FLAG} {value}: {topic} was given before; remove one of the two")
        limits[topic] = None if records is None else int(records)
    return limits


def over_limit(plan: PartitionPlan, limits: LossLimits) -> str | None:
    """Return why the loss of this election is not accepted; None when it is. The exact name of a
    topic counts before ANY_TOPIC."""
    topic = plan.state.topic
    named = topic if topic in limits else ANY_TOPIC
    certain = loss_under(plan, plan.designated_leader).certain
    loss = f"its certain loss is {loss_text(certain, plan.state)}"
    if named not in limits:
        return f"{loss}, and no {FLAG} names {topic}; {FLAG} {topic}:MAX_RECORDS would"
    limit = limits[named]
    if limit is None or (certain is not None and certain <= limit):
        return None
    hint = f"; {FLAG} {named} would accept any" if certain is None else ""
    return f"{loss}, and {FLAG} {named}:{limit} accepts {loss_text(limit)}{hint}"
