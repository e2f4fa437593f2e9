"""The result of an aftercare is reported as JSON (schemas/aftercare-1.schema.json). Unknown is
null, never 0. This module does no I/O."""

from __future__ import annotations

from kafka_unclean_recovery.aftercare.result import Aftercare, PartitionCare
from kafka_unclean_recovery.aftercare.returning import Returning
from kafka_unclean_recovery.aftercare.transactions import Hanging
from kafka_unclean_recovery.cluster.requests.transactions import ProducerState
from kafka_unclean_recovery.files.plan_file import Json, partitions_by_line
from kafka_unclean_recovery.model import GroupBeyond

FORMAT_VERSION = 1


def render_json(found: Aftercare) -> str:
    """Return the artefact of --format json: one object with a line for each partition."""
    head = {
        "format_version": FORMAT_VERSION,
        "kind": "aftercare",
        "cluster_id": found.cluster_id,
        "over": found.over,
        "unknown": list(found.unknown),
    }
    return partitions_by_line(head, map(row_json, found.partitions), {})


def row_json(row: PartitionCare) -> Json:
    """Return the entry of a partition in the artefact, as values."""
    state = row.state
    return {
        "topic": state.topic,
        "topic_id": state.topic_id,
        "partition": state.partition,
        "over": row.over,
        "leader": None if state.offline else state.leader,
        "leader_epoch": state.leader_epoch,
        "replicas": list(state.replicas),
        "isr": list(state.isr),
        "out_of_sync": list(row.out_of_sync),
        "offline_replicas": list(state.offline_replicas),
        "log_end_offset": row.log_end_offset,
        "transactions": list(map(_transaction, row.transactions)),
        "groups": list(map(_group, row.groups)),
        "returning": list(map(_returning, row.returning)),
        "producers": None if row.producers is None else list(map(_producer, row.producers)),
        "problems": list(row.problems),
    }


def _transaction(found: Hanging) -> Json:
    here, told = found.transaction, found.told
    return {
        "replica": found.replica,
        "producer_id": here.producer_id,
        "producer_epoch": here.producer_epoch,
        "start_offset": here.start_offset,
        "last_timestamp_ms": here.last_timestamp_ms,
        "transactional_id": None if told is None else told.transactional_id,
        "coordinator_state": None if told is None else told.state,
        "coordinator_producer_epoch": None if told is None else told.producer_epoch,
        "coordinator_start_time_ms": None if told is None else told.start_time_ms,
        "ending": str(found.verdict.ending),
        "reason": found.verdict.reason,
    }


def _producer(found: ProducerState) -> Json:
    return {
        "producer_id": found.producer_id,
        "producer_epoch": found.producer_epoch,
        "last_sequence": found.last_sequence,
        "last_timestamp_ms": found.last_timestamp_ms,
        "transactional": found.transactional,
    }


def _returning(found: Returning) -> Json:
    return {
        "broker": found.broker,
        "back": found.back,
        "records": found.records,
        "offset": found.offset,
        "directory": found.directory,
        "why": found.why,
    }


def _group(found: GroupBeyond) -> Json:
    commit = found.commit
    return {
        "group": commit.group,
        "committed_offset": commit.offset,
        "committed_leader_epoch": commit.leader_epoch,
        "resume_offset": found.resume,
        "refilled": found.refilled,
    }
