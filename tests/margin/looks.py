"""One look at a cluster made by hand."""

from __future__ import annotations

from kafka_unclean_recovery.formats.margin import MarginJson
from kafka_unclean_recovery.formats.ok_to_stop import ObservationJson
from kafka_unclean_recovery.margin.margins import document, margins


def looked(seen: ObservationJson, before: ObservationJson | None = None) -> MarginJson:
    """What is told of it; before: what was seen at the look before."""
    return document(seen, margins(seen), None if before is None else margins(before))
