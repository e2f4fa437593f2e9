"""The start is foretold from disks alone: scans, and the newest metadata log. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from kafka_unclean_recovery.before_start.absent import not_given, with_absent
from kafka_unclean_recovery.before_start.outside import of_others
from kafka_unclean_recovery.before_start.replica import OwnDisk, wanted_of
from kafka_unclean_recovery.before_start.result import BeforeStart, foretell
from kafka_unclean_recovery.before_start.verdict import Known
from kafka_unclean_recovery.model import PartitionInfo, ReplicaInfo, TopicPartition
from kafka_unclean_recovery.planning.merged_scans import NOT_IN_NEWEST, merge_infos

_NO_METADATA = (
    "no metadata log was read, so nobody knows who leads: scan a controller's log directory"
    " (scan-log-dirs), and give it as --replica-info-file"
)
_UNCLEAN = "is not known from disks"
_LED_BY_GONE = (
    "its leader by the metadata log, broker {}, is gone, so the controllers choose another one:"
    " start-order tells whom; then scan a controller's log directory again"
)
_SHOWN = 5


def from_disks(
    disk: OwnDisk, others: ReplicaInfo, gone: frozenset[int] = frozenset()
) -> BeforeStart:
    """Foretell the start by scans. The controllers are taken to go on from the newest metadata log
    that was read, and leaders to come back as leaders, but those in `gone`, whose disks are
    lost."""
    if others.cluster_id not in (None, disk.cluster_id):
        why = (
            f"its disk is of cluster {disk.cluster_id}, and the scans are of cluster"
            f" {others.cluster_id}: brokers of that cluster refuse it"
        )
        return foretell(replace(disk, refused=disk.refused or why), {})
    merged = merge_infos([("--replica-info-file", others), ("--log-dirs", disk.info)])
    rows = {part.topic_partition: part for part in merged.partitions}
    states = [row.state for row in merged.partitions if row.state is not None]
    disk = with_absent(disk, states)
    if merged.metadata_end_offset is None:
        untold = Known(untold=_NO_METADATA)
        return foretell(disk, dict.fromkeys(wanted_of(disk.replicas), untold))
    known = {tp: _known(disk, rows.get(tp), gone) for tp in wanted_of(disk.replicas)}
    rests_on = (
        f"the metadata log up to offset {merged.metadata_end_offset}"
        f" (epoch {merged.metadata_epoch})"
    )
    own = (disk.info.metadata_epoch, disk.info.metadata_end_offset)
    newest = (merged.metadata_epoch, merged.metadata_end_offset)
    cut = [disk.metadata_cut] if disk.metadata_cut and own == newest else []
    unknown = (*cut, *not_given(disk), *others.problems, *_torn(merged, known))
    return replace(foretell(disk, known, unknown), rests_on=rests_on)


def _torn(merged: ReplicaInfo, wanted: Container[TopicPartition]) -> Iterator[str]:
    """Yield what speaks against one quorum having written all the metadata logs."""
    said = [
        f"{part.topic_partition}: {finding.message}"
        for part in merged.partitions
        if part.state is not None and part.topic_partition in wanted
        for finding in part.findings
        if finding.code == NOT_IN_NEWEST
    ]
    yield from said[:_SHOWN]
    if len(said) > _SHOWN:
        yield f"the same of {len(said) - _SHOWN} more partitions"


def _known(disk: OwnDisk, row: PartitionInfo | None, gone: frozenset[int]) -> Known:
    if row is None or row.state is None:
        return Known(gone=True, live=False)
    if row.state.leader in gone:
        return Known(untold=_LED_BY_GONE.format(row.state.leader), live=False)
    logs = of_others(disk.broker, row.state, {}, row, gone)
    return Known(row.state, logs=logs, unclean_untold=_UNCLEAN, live=False, lost=gone)
