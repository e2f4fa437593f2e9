"""A diagnosis holds all checks of one examination, and says how much is wrong, as metrics too. This
module does no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kafka_unclean_recovery.doctor.brokers import broker_checks
from kafka_unclean_recovery.doctor.check import Check, Status, worst
from kafka_unclean_recovery.doctor.controllers import controller_checks
from kafka_unclean_recovery.doctor.facts import Facts
from kafka_unclean_recovery.doctor.partitions import partition_checks
from kafka_unclean_recovery.doctor.rights import right_checks
from kafka_unclean_recovery.doctor.room import room_checks
from kafka_unclean_recovery.report.prometheus import Metric, gauges


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
