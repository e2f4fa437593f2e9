"""A diagnosis is reported as metrics. This module does no I/O."""

from __future__ import annotations

from collections import Counter

from kafka_unclean_recovery.doctor.check import Status
from kafka_unclean_recovery.doctor.diagnosis import Diagnosis
from kafka_unclean_recovery.report.prometheus import Metric, gauges


def doctor_metrics(diagnosis: Diagnosis) -> list[Metric]:
    """Return the number of checks of each status."""
    counts = Counter(check.status for check in diagnosis.checks)
    by_status = {status.value: counts[status] for status in Status}
    name = "kafka_unclean_recovery_doctor_checks"
    return [gauges(name, "Checks by how they came out.", "status", by_status)]
