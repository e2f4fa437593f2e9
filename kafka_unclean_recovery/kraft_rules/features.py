"""This module switches the feature eligible.leader.replicas.version while the cluster runs
(FeatureControlManager).

metadata.version is not here. 4.3.1 and 4.4.0 refuse to downgrade below the version that a cluster
is formatted with, and 3.9.1 goes down to 3.7, in which the version decides nothing about leaders.
"""

from __future__ import annotations

from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS, Errors
from kafka_unclean_recovery.kraft_rules.events import (
    SAFE_DOWNGRADE,
    UNSAFE_DOWNGRADE,
    UPGRADE,
    Response,
    UpdateElrVersion,
)
from kafka_unclean_recovery.kraft_rules.records import (
    ConfigRecord,
    FeatureLevelRecord,
    Record,
)
from kafka_unclean_recovery.kraft_rules.state import DEFAULTS, State


def update_elr_version(state: State, event: UpdateElrVersion) -> tuple[list[Record], Response]:
    """Write the feature's level, even when the feature already has it.

    Switching ELR on gives min.insync.replicas a value for all brokers, so that brokers with other
    defaults can't disagree with the controller (maybeGenerateElrSafetyRecords).
    """
    if not _allowed(state, event):
        return [], Response(Errors.INVALID_UPDATE_VERSION)
    records: list[Record] = []
    on = event.level > 0
    if (
        on
        and state.release.cluster_min_isr_stays
        and MIN_INSYNC_REPLICAS not in state.cluster_configs
    ):
        default = DEFAULTS[MIN_INSYNC_REPLICAS]
        records.append(ConfigRecord(None, MIN_INSYNC_REPLICAS, default))
    return [*records, FeatureLevelRecord(event.level)], Response()


def _allowed(state: State, event: UpdateElrVersion) -> bool:
    """Return whether the update's type fits its level: UPGRADE to a higher level, a downgrade, safe
    or not, to a lower one, and any type to the present one."""
    now = int(state.release.elr)
    if not 0 <= event.level <= state.release.highest_elr_version:
        return False
    if event.level < now:
        return event.upgrade_type in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
    if event.level > now:
        return event.upgrade_type == UPGRADE
    return event.upgrade_type in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
