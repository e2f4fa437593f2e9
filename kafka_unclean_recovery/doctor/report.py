"""A diagnosis is reported as lines for a terminal and as JSON (schemas/doctor-1.schema.json). This
module does no I/O."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.diagnosis import Diagnosis
from kafka_unclean_recovery.wording import one_line

FORMAT_VERSION = 1
_INDENT = " " * 9


def render_text(diagnosis: Diagnosis) -> str:
    """Return each check with what is so, and where that is not well, why it matters and what to
    do."""
    lines = [line for check in diagnosis.checks for line in _lines(check)]
    return "\n".join([*lines, "", _summary(diagnosis)]) + "\n"


def _lines(check: Check) -> Iterator[str]:
    yield f"{check.status:<9}{check.code}: {one_line(check.what)}"
    if check.status is not Status.OK:
        yield f"{_INDENT}why: {one_line(check.why)}"
        if check.to_do:
            yield f"{_INDENT}do:  {one_line(check.to_do)}"


def _summary(diagnosis: Diagnosis) -> str:
    counts = Counter(check.status for check in diagnosis.checks)
    told = ", ".join(f"{counts[s]} {s}" for s in reversed(Status) if counts[s])
    return f"cluster {one_line(diagnosis.cluster_id)}: {told}"


def render_json(diagnosis: Diagnosis) -> str:
    """Return one object with a line for each check."""
    counts = Counter(check.status for check in diagnosis.checks)
    head = {
        "format_version": FORMAT_VERSION,
        "kind": "doctor",
        "cluster_id": diagnosis.cluster_id,
        "checked_at": diagnosis.checked_at,
        "worst": diagnosis.worst.value,
        "counts": {status.value: counts[status] for status in Status},
    }
    start = json.dumps(head)[:-1]
    rows = ",\n".join(f"  {json.dumps(_json(check))}" for check in diagnosis.checks)
    return f'{start}, "checks": [\n{rows}\n]}}\n'


def _json(check: Check) -> dict[str, str | None]:
    return {
        "code": check.code,
        "status": check.status.value,
        "what": check.what,
        "why": check.why,
        "to_do": check.to_do or None,
    }
