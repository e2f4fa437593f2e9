"""Parse and write quorum-state: what a node of KRaft knows about the leader and its own vote.

It begins with one JSON object (org.apache.kafka.raft.generated.QuorumStateData) on the first line.
What follows, as NULs after a crash, is not read by any node. Version 0 has the voters of a static
quorum, version 1 (KIP-853) leaves them to the log:

    {"clusterId":"","leaderId":-1,"leaderEpoch":7,"votedId":-1,"appliedOffset":0,
     "currentVoters":[{"voterId":3}],"data_version":0}
    {"leaderId":-1,"leaderEpoch":7,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA",
     "data_version":1}

Source: QuorumStateData.json, org.apache.kafka.raft.FileQuorumStateStore, starts of real brokers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX, decoded

QUORUM_STATE = "quorum-state"
_NOBODY = -1
_BLANKS = " \t"
_OF_ALL = ("leaderId", "leaderEpoch", "votedId")
_MANDATORY = {
    0: (*_OF_ALL, "clusterId", "appliedOffset", "currentVoters"),
    1: (*_OF_ALL, "votedDirectoryId"),
}
"""The fields by version: a node that starts does without none of them."""
_NO_DIRECTORY = "AAAAAAAAAAAAAAAAAAAAAA"


@dataclass(frozen=True, slots=True)
class QuorumState:
    """A node's quorum-state. `leader` is None where the node knows of none. `voters` are those of a
    static quorum, empty in version 1."""

    version: int
    leader_epoch: int
    leader: int | None
    voters: tuple[int, ...]


def parse_quorum_state(data: bytes) -> QuorumState:
    """Parse a whole quorum-state. Raises BadFormat where a node can't read it."""
    fields = _object(data)
    version = _number(fields, "data_version")
    if version not in _MANDATORY:
        raise BadFormat(QUORUM_STATE, f"data_version {version} is not known")
    if missing := [name for name in _MANDATORY[version] if name not in fields]:
        raise BadFormat(QUORUM_STATE, f"{missing[0]} is missing, without which no node reads it")
    leader = _number(fields, "leaderId")
    listed = fields.get("currentVoters") or []
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise BadFormat(QUORUM_STATE, "currentVoters is no list of voters")
    return QuorumState(
        version,
        _number(fields, "leaderEpoch"),
        None if leader == _NOBODY else leader,
        tuple(sorted(_number(each, "voterId") for each in listed)),
    )


def quorum_state_json(leader_epoch: int, static_voters: Iterable[int] | None) -> bytes:
    """Return a quorum-state without a leader and without a vote, after which the node stands for
    election in the epoch above. `static_voters` is None for a quorum whose voters are in the
    log."""
    if static_voters is None:
        fields: dict[str, Any] = {
            "leaderId": _NOBODY,
            "leaderEpoch": leader_epoch,
            "votedId": _NOBODY,
            "votedDirectoryId": _NO_DIRECTORY,
            "data_version": 1,
        }
    else:
        fields = {
            "clusterId": "",
            "leaderId": _NOBODY,
            "leaderEpoch": leader_epoch,
            "votedId": _NOBODY,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter} for voter in static_voters],
            "data_version": 0,
        }
    return json.dumps(fields, separators=(",", ":")).encode()


def _object(data: bytes) -> Mapping[str, Any]:
    if not data:
        raise BadFormat(QUORUM_STATE, "it is empty")
    first = decoded(QUORUM_STATE, data.splitlines()[0]).lstrip(_BLANKS)
    try:
        found, _ = json.JSONDecoder().raw_decode(first)
    except (ValueError, RecursionError):
        raise BadFormat(QUORUM_STATE, "is no JSON") from None
    if not isinstance(found, dict):
        raise BadFormat(QUORUM_STATE, "is no JSON object")
    return found


def _number(fields: Mapping[str, Any], key: str) -> int:
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not _NOBODY <= value <= INT32_MAX:
        raise BadFormat(QUORUM_STATE, f"{key} is no number of 32 bits")
    return value
