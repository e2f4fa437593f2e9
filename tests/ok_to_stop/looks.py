"""One look at a cluster made by hand."""

from __future__ import annotations

from kafka_unclean_recovery.documents.margin import MarginJson
from kafka_unclean_recovery.documents.observation import ObservationJson
from kafka_unclean_recovery.ok_to_stop.margins import document, margins, quorum_margin


def looked(seen: ObservationJson, before: ObservationJson | None = None) -> MarginJson:
    """Return what is told while the quorum leads; before: what was seen at the look before."""
    known = None if before is None else margins(before)
    return document(seen, margins(seen), known, quorum_margin(seen, "up"))
