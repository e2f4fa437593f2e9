"""The result of an aftercare is reported as metrics. This module does no I/O."""

from __future__ import annotations

from kafka_unclean_recovery.aftercare.result import Aftercare
from kafka_unclean_recovery.report.prometheus import Metric, gauge

_PREFIX = "kafka_unclean_recovery_aftercare"


def aftercare_metrics(found: Aftercare) -> list[Metric]:
    """Return the metrics of one look. Facts that could not be seen have a metric of their own,
    because a 0 in another metric does not include them."""
    rows = found.partitions
    unknown = len(found.unknown) + sum(len(row.problems) for row in rows)
    hanging = list(found.hanging())
    unsure = sum(not each.verdict.sure for each in hanging)
    figures = {
        "over": ("1 when nothing is left and nothing may be hidden.", int(found.over)),
        "partitions": ("Partitions looked at.", len(rows)),
        "partitions_left": ("Partitions that are not well yet.", sum(not r.over for r in rows)),
        "offline_partitions": ("Without a leader.", sum(r.state.offline for r in rows)),
        "out_of_sync_replicas": ("Not back in the ISR.", sum(len(r.out_of_sync) for r in rows)),
        "hanging_transactions": ("Nobody ends them by himself.", len(hanging)),
        "hanging_transactions_unknown": ("Those of unknown ending.", unsure),
        "groups_beyond": ("Commits beyond where the log parts.", len(list(found.groups()))),
        "unknown": ("What could not be seen, and hides what it hides.", unknown),
    }
    return [gauge(f"{_PREFIX}_{name}", *figure) for name, figure in figures.items()]
