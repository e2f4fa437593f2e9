"""Lost commits are shown as a table, and as JSON (schemas/salvage-offsets-1.schema.json).

This module does no I/O.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from kafka_unclean_recovery.documents.printed import LostCommitJson, SalvageOffsetsJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.report.table import columns, page, table
from kafka_unclean_recovery.salvage.offsets.resets import Decision, Reset
from kafka_unclean_recovery.wording import count_text, number_text

_COLUMNS = columns(
    *("group", "topic", ">partition", ">committed|now", ">saved|offset", "committed at", ""),
)
_WORDS = {
    Decision.BRING_BACK: "to be brought back",
    Decision.GONE_ON: "the group has gone on",
    Decision.DELETED: "was deleted",
    Decision.NO_PARTITION: "! there is no such partition",
    Decision.ANOTHER_TOPIC: "! the topic was deleted and made again since",
    Decision.BEYOND_LOG_END: "! beyond the end of the log: a consumer would begin anew",
    Decision.BELOW_LOG_START: "! below the start of the log: a consumer would begin anew",
    Decision.OTHER_RECORDS: "! the log has other records there: the group would pass over them",
    Decision.NOT_SURE: "! not sure that the log has what the group read",
    Decision.IN_USE: "! the group has members: stop them first",
}


def render_offsets(found: Sequence[Reset], brought_back: int | None) -> str:
    """Return a row for each commit and the total. brought_back: None where nothing was tried."""
    return page(table(_COLUMNS, [_cells(reset) for reset in found]), _total(found, brought_back))


def render_offsets_json(found: Sequence[Reset], brought_back: int | None) -> str:
    """Return a JSON object in one line."""
    rows = tuple(_row(reset) for reset in found)
    return json_line(SalvageOffsetsJson(brought_back=brought_back or 0, commits=rows))


def _cells(reset: Reset) -> Sequence[str]:
    saved, where = reset.saved, reset.saved.topic_partition
    committed = "none" if reset.committed is None else str(reset.committed)
    offset = "-" if saved.offset is None else str(saved.offset)
    at = _time(saved.committed_at)
    words = _WORDS[reset.decision]
    return (saved.group, where.topic, str(where.partition), committed, offset, at, words)


def _time(ms: int | None) -> str:
    if ms is None:
        return "-"
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(" ", "seconds")
    except (OverflowError, ValueError, OSError):
        return number_text(ms)


def _total(found: Sequence[Reset], brought_back: int | None) -> str:
    counts = Counter(reset.decision for reset in found)
    wanted = counts[Decision.BRING_BACK]
    saved = f"{count_text(len(found), 'commit')} saved"
    if brought_back is None:
        return f"{saved}; {wanted} to be brought back"
    return f"{saved}; {brought_back} of {wanted} brought back"


def _row(reset: Reset) -> LostCommitJson:
    saved = reset.saved
    return LostCommitJson(
        group=saved.group,
        topic=saved.topic_partition.topic,
        partition=saved.topic_partition.partition,
        offset=saved.offset,
        leader_epoch=saved.leader_epoch,
        metadata=saved.metadata,
        committed_at=saved.committed_at,
        saved_at=saved.saved_at,
        committed=reset.committed,
        decision=reset.decision.value,
    )
