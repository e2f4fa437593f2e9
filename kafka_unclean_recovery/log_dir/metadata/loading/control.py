"""Read the quorum's own records as a controller does (KRaftControlRecordStateMachine)."""

from __future__ import annotations

from kafka_unclean_recovery.log_dir.metadata import records as keys
from kafka_unclean_recovery.log_dir.metadata.loading.feature_levels import KRAFT_VERSIONS
from kafka_unclean_recovery.log_dir.metadata.loading.state import Fields, Refusal
from kafka_unclean_recovery.log_dir.metadata.records import ControlRecord


def control_refusal(record: ControlRecord) -> Refusal:
    if record.type == keys.LEADER_CHANGE and record.version != 0:
        return f"version {record.version}, where a controller reads version 0"
    if record.type == keys.KRAFT_VERSION and record.fields["k_raft_version"] not in (
        KRAFT_VERSIONS
    ):
        return f"kraft.version {record.fields['k_raft_version']} is not known"
    if record.type == keys.KRAFT_VOTERS:
        return _voters(record.fields["voters"])
    return None


def _voters(voters: tuple[Fields, ...]) -> Refusal:
    if not voters:
        return "it names no voter"
    for voter in voters:
        range_ = voter["k_raft_version_feature"]
        least, most = range_["min_supported_version"], range_["max_supported_version"]
        if not 0 <= least <= most:
            return f"voter {voter['voter_id']} supports kraft.version from {least} to {most}"
    return None
