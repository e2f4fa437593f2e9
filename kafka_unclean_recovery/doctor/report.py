"""A diagnosis is reported as lines for a terminal and as JSON (schemas/doctor-1.schema.json). This
module does no I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.diagnosis import Diagnosis
from kafka_unclean_recovery.documents.doctor import DoctorJson
from kafka_unclean_recovery.documents.reading.codec import to_json, to_model
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import one_line

_INDENT = " " * 9


def render_text(diagnosis: Diagnosis) -> str:
    """Return each check with what is so, and where that is not well, why and what to do."""
    lines = [line for check in diagnosis.checks for line in _lines(check)]
    return shown_lines([*lines, "", _summary(diagnosis)]) + "\n"


def _lines(check: Check) -> Iterator[str]:
    yield f"{check.status:<9}{check.code}: {one_line(check.what)}"
    if check.status is not Status.OK:
        yield f"{_INDENT}why: {one_line(check.why)}"
        if check.to_do:
            yield f"{_INDENT}do:  {one_line(check.to_do)}"


def _summary(diagnosis: Diagnosis) -> str:
    counts = diagnosis.counts
    told = ", ".join(f"{counts[s]} {s}" for s in reversed(Status) if counts[s])
    return f"cluster {one_line(diagnosis.cluster_id)}: {told}"


def render_json(diagnosis: Diagnosis) -> str:
    """Return one JSON object with a line for each check."""
    document = to_json(to_model(diagnosis, DoctorJson))
    told = ({**check, "to_do": check["to_do"] or None} for check in document["checks"])
    rows = ",\n".join(f"  {json.dumps(check)}" for check in told)
    start = json.dumps(document | {"checks": []}).removesuffix("]}")
    return f"{start}\n{rows}\n]}}\n"
