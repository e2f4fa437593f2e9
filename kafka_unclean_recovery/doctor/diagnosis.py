"""A diagnosis holds all checks of one examination, and says how much is wrong, as lines for a
terminal, as JSON (schemas/doctor-1.schema.json) and as metrics. This module does no I/O."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_unclean_recovery.doctor.brokers import broker_checks
from kafka_unclean_recovery.doctor.check import Check, Status, worst
from kafka_unclean_recovery.doctor.controllers import controller_checks
from kafka_unclean_recovery.doctor.facts import Facts
from kafka_unclean_recovery.doctor.partitions import partition_checks
from kafka_unclean_recovery.doctor.rights import right_checks
from kafka_unclean_recovery.doctor.room import room_checks
from kafka_unclean_recovery.documents.doctor import DoctorJson
from kafka_unclean_recovery.documents.reading.codec import to_json, to_model
from kafka_unclean_recovery.errors import CANNOT_TELL, NOT_ALL, OK
from kafka_unclean_recovery.report.prometheus import Metric, gauges
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import one_line

_INDENT = " " * 9
_VERDICTS = {
    OK: "nothing that was found stands in the way of a recovery",
    NOT_ALL: "not well: a recovery may fail or do harm by what is named",
    CANNOT_TELL: "not known whether a recovery would work: ask again for what was not found out",
}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The checks of one examination. checked_at: ISO 8601 with its offset from UTC. checks: the
    gravest first."""

    cluster_id: str
    checked_at: str
    checks: tuple[Check, ...]

    @property
    def worst(self) -> Status:
        return worst(self.checks)

    @property
    def exit_code(self) -> int:
        """Return OK, NOT_ALL when something is known to stand in the way of a recovery, and
        CANNOT_TELL when nothing is, and something that it depends on was not found out."""
        bad = [check for check in self.checks if check.status.bad]
        if any(check.known for check in bad):
            return NOT_ALL
        return CANNOT_TELL if bad else OK

    @property
    def counts(self) -> Counter[str]:
        """Return how many checks have each status, 0 included."""
        counts = Counter({status.value: 0 for status in Status})
        counts.update(check.status.value for check in self.checks)
        return counts


def diagnose(facts: Facts, checked_at: str) -> Diagnosis:
    checks = [
        *broker_checks(facts),
        *controller_checks(facts),
        *partition_checks(facts),
        *right_checks(facts),
        *room_checks(facts),
    ]
    checks.sort(key=lambda check: -check.status.gravity)
    return Diagnosis(facts.cluster.cluster_id, checked_at, tuple(checks))


def doctor_metrics(diagnosis: Diagnosis) -> list[Metric]:
    """Return the number of checks of each status."""
    name = "kafka_unclean_recovery_doctor_checks"
    return [gauges(name, "Number of checks by status.", "status", diagnosis.counts)]


def render_text(diagnosis: Diagnosis) -> str:
    """Return each check with what is so, and where that is not well, why and what to do."""
    lines = [line for check in diagnosis.checks for line in sentences_of(check)]
    return shown_lines([*lines, "", summary(diagnosis)]) + "\n"


def sentences_of(check: Check) -> Iterator[str]:
    """Yield what is so, and where that is not well, why it matters and what to do, if anything."""
    yield f"{check.status:<9}{check.code}: {one_line(check.what)}"
    if check.status is not Status.OK:
        yield f"{_INDENT}why: {one_line(check.why)}"
        if check.to_do:
            yield f"{_INDENT}do:  {one_line(check.to_do)}"


def summary(diagnosis: Diagnosis) -> str:
    """Return how many checks have each status, and the verdict."""
    counts = diagnosis.counts
    told = ", ".join(f"{counts[s]} {s}" for s in reversed(Status) if counts[s])
    verdict = _VERDICTS[diagnosis.exit_code]
    return f"cluster {one_line(diagnosis.cluster_id)}: {told}; {verdict}"


def render_json(diagnosis: Diagnosis) -> str:
    """Return one JSON object with a line for each check."""
    document = to_json(to_model(diagnosis, DoctorJson))
    told = ({**check, "to_do": check["to_do"] or None} for check in document["checks"])
    rows = ",\n".join(f"  {json.dumps(check)}" for check in told)
    start = json.dumps(document | {"checks": []}).removesuffix("]}")
    return f"{start}\n{rows}\n]}}\n"
