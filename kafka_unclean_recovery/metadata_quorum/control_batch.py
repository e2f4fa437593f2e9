"""The one batch that makes a dynamic quorum elect a new voter: LeaderChange and Voters. Pure.

A node of kraft.version 1 takes its voters from the log, so a batch behind the log's end that names
other voters is all that it needs, and all other nodes get the same batch when they follow
(KIP-853; org.apache.kafka.raft.internals.KRaftControlRecordStateMachine).
"""

from __future__ import annotations

import struct
import uuid

from kafka_unclean_recovery.log_dir.metadata.encoding import encode_batch, string, unsigned_varint
from kafka_unclean_recovery.log_dir.metadata.records import KRAFT_VOTERS, LEADER_CHANGE
from kafka_unclean_recovery.log_dir.segments.batches import CONTROL
from kafka_unclean_recovery.metadata_quorum.copies import Voter

_INT16, _INT32, _UINT16 = (struct.Struct(f">{code}").pack for code in "hiH")
_NO_TAGS = b"\0"
_ONE = unsigned_varint(2)
# Kafka 4.3.1 reads every LeaderChangeMessage as version 0 and dies of another.
_LEADER_CHANGE_VERSION = 0
_VOTERS_VERSION = 0
_KRAFT_VERSIONS = (0, 1)


def forced_batch(voter: Voter, base_offset: int, epoch: int, time_ms: int) -> bytes:
    """Return the batch that makes `voter` the only voter and the leader of `epoch`. base_offset:
    the end of the log (exclusive). time_ms: ms since the Unix epoch."""
    records: list[tuple[bytes | None, bytes]] = [
        (_key(LEADER_CHANGE), _leader_change(voter)),
        (_key(KRAFT_VOTERS), _voters(voter)),
    ]
    return encode_batch(records, CONTROL, base_offset, epoch, time_ms)


def _key(control_type: int) -> bytes:
    return _INT16(0) + _INT16(control_type)


def _leader_change(voter: Voter) -> bytes:
    only = _ONE + _INT32(voter.id) + _NO_TAGS
    return _INT16(_LEADER_CHANGE_VERSION) + _INT32(voter.id) + only + only + _NO_TAGS


def _voters(voter: Voter) -> bytes:
    if voter.directory_id is None:
        raise ValueError("a voter of a dynamic quorum has a directory id")
    listeners = b"".join(
        string(each.name) + string(each.host) + _UINT16(each.port) + _NO_TAGS
        for each in voter.listeners
    )
    described = (
        _INT32(voter.id)
        + uuid.UUID(voter.directory_id).bytes
        + unsigned_varint(len(voter.listeners) + 1)
        + listeners
        + _INT16(_KRAFT_VERSIONS[0])
        + _INT16(_KRAFT_VERSIONS[1])
        + _NO_TAGS
        + _NO_TAGS
    )
    return _INT16(_VOTERS_VERSION) + _ONE + described + _NO_TAGS
