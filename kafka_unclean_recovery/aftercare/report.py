"""The result of an aftercare is reported as JSON (schemas/aftercare-1.schema.json), and what is
left to do is noted in the journal, for the post-mortem. Unknown is null, never 0."""

from __future__ import annotations

from dataclasses import replace

from kafka_unclean_recovery.aftercare.gone_disks import GoneDisks
from kafka_unclean_recovery.aftercare.result import Aftercare, PartitionCare
from kafka_unclean_recovery.aftercare.returning import Returning
from kafka_unclean_recovery.aftercare.transactions import Hanging
from kafka_unclean_recovery.documents.aftercare import (
    AftercareJson,
    GoneDisksJson,
    GroupJson,
    PartitionCareJson,
    ProducerJson,
    ReturningJson,
    TransactionJson,
)
from kafka_unclean_recovery.documents.reading.codec import to_json, to_model
from kafka_unclean_recovery.documents.shared import TopicPartitionJson
from kafka_unclean_recovery.documents.values import ABSENT
from kafka_unclean_recovery.documents.writing import Json, document_by_line
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.model import GroupBeyond


def render_json(found: Aftercare) -> str:
    """Return the artefact of --format json: one object with a line for each partition."""
    rows = tuple(map(care_entry, found.partitions))
    return document_by_line(
        AftercareJson(
            cluster_id=found.cluster_id,
            over=found.over,
            unknown=found.unknown,
            gone=tuple(map(_gone, found.gone)) or ABSENT,
            partitions=rows,
        )
    )


def care_entry(row: PartitionCare) -> PartitionCareJson:
    """Return the entry of a partition in the artefact."""
    state, producers = row.state, row.producers
    return PartitionCareJson(
        topic=state.topic,
        topic_id=state.topic_id,
        partition=state.partition,
        over=row.over,
        leader=None if state.offline else state.leader,
        leader_epoch=state.leader_epoch,
        replicas=state.replicas,
        isr=state.isr,
        out_of_sync=row.out_of_sync,
        offline_replicas=state.offline_replicas,
        log_end_offset=row.log_end_offset,
        transactions=tuple(map(_transaction, row.transactions)),
        groups=tuple(map(_group, row.groups)),
        returning=tuple(map(_returning, row.returning)),
        producers=None if producers is None else to_model(producers, tuple[ProducerJson, ...]),
        reassigning=state.reassigning,
        gone=row.gone or ABSENT,
        min_isr=ABSENT if row.min_isr is None else row.min_isr,
        refuses_acks_all=ABSENT if row.min_isr is None else row.refuses_acks_all,
        problems=row.problems,
    )


def _returning(found: Returning) -> ReturningJson:
    return ReturningJson(
        broker=found.broker,
        back=found.back,
        records=found.records,
        offset=found.offset,
        directory=found.directory,
        why=found.why,
        gone=found.gone or ABSENT,
    )


def _gone(found: GoneDisks) -> GoneDisksJson:
    return GoneDisksJson(
        broker=found.broker,
        partitions=found.partitions,
        leaderless=tuple(TopicPartitionJson(*tp) for tp in found.leaderless),
        lives=found.lives,
    )


def _transaction(found: Hanging) -> TransactionJson:
    here, told = found.transaction, found.told
    return TransactionJson(
        replica=found.replica,
        producer_id=here.producer_id,
        producer_epoch=here.producer_epoch,
        start_offset=here.start_offset,
        last_timestamp_ms=here.last_timestamp_ms,
        transactional_id=None if told is None else told.transactional_id,
        coordinator_state=None if told is None else told.state,
        coordinator_producer_epoch=None if told is None else told.producer_epoch,
        coordinator_start_time_ms=None if told is None else told.start_time_ms,
        ending=found.verdict.ending,
        reason=found.verdict.reason,
    )


def _group(found: GroupBeyond) -> GroupJson:
    commit = found.commit
    return GroupJson(
        commit.group,
        commit.offset,
        commit.leader_epoch,
        found.resume,
        found.refilled,
        commit.share_done_to,
    )


def note_aftercare(journal: Journal, found: Aftercare) -> None:
    """Write what is left to do after the run; partitions with nothing left to do are left out."""
    journal.note(
        "aftercare",
        cluster_id=found.cluster_id,
        over=found.over,
        unknown=list(found.unknown),
        looked_at=len(found.partitions),
        **_gone_brokers(found),
        partitions=[_left(row) for row in found.partitions if not row.over],
    )


def _gone_brokers(found: Aftercare) -> Json:
    gone = [each.broker for each in found.gone if each.lives is None]
    return {"gone": gone} if gone else {}


def _left(row: PartitionCare) -> Json:
    """Return the partition's row without its producers, of which there may be very many."""
    entry: Json = to_json(care_entry(replace(row, producers=None)))
    del entry["producers"]
    return entry
