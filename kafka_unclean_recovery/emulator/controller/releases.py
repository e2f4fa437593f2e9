"""Whose controller it is: what sets the releases and the texts apart, one line a difference.

Rules that all share are in the code alone. To have another one's behaviour, or one guard less,
`dataclasses.replace` a field.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class LastKnown(Enum):
    """What is remembered of a partition that has lost its eligible leader replicas."""

    LEADER = "leader"
    """The last leader, in the field `last_known_elr`: all that the releases record
    (PartitionChangeBuilder, useLastKnownLeaderInBalancedRecovery)."""

    ELR = "elr"
    """The former members in `last_known_elr`, the leader in a field of its own (KIP-966)."""


@dataclass(frozen=True, slots=True)
class Release:
    """
    elr: eligible.leader.replicas.version is 1; without it the last member stays in the ISR. This
        is what a cluster begins with; UpdateFeatures switches it where there is another level.
    highest_elr_version: of which eligible.leader.replicas.version knows levels from 0 on.
    elr_ends_when_off: ELR, last known ELR and last known leader elect nobody any more, and go with
        the next change of the partition; else the ELR still elects and the last known leader
        stays where it is.
    election_may_end_elr: when a member of the ELR is elected and is all that min ISR asks for, the
        others leave the ELR.
    last_known: see LastKnown.
    new_incarnation_is_fenced: a registration ends what the old incarnation led, ELR or not.
    session_outlives_fencing: a fenced broker that was heard of can't be registered anew.
    reassignment_awaits_target: completion needs the whole target in the ISR, not just what is
        added.
    reassignment_needs_min_isr: completion and cancellation need ISR >= min ISR.
    min_isr_change_clears_elr: always, by ClearElrRecord; else only where the ISR has reached the
        new min ISR, as a change of the partition.
    leaderless_topic_stays_in_directories: a partition that is deleted while its ISR is empty stays
        in the index of directories; the failure of one is then the end of the controller.
    min_isr_of_partition_0: min ISR is at most the number of replicas that partition 0 has; else
        that the partition itself is to have.
    cluster_min_isr_stays: with ELR, min.insync.replicas of all brokers has a value: it is set when
        ELR is switched on, and can't be removed.
    designated_elections: ElectLeaders knows the type DESIGNATED.
    unclean_recovery: unclean.recovery.manager.enabled has an effect.
    """

    name: str
    elr: bool
    highest_elr_version: int = 1
    elr_ends_when_off: bool = False
    election_may_end_elr: bool = False
    last_known: LastKnown = LastKnown.LEADER
    new_incarnation_is_fenced: bool = True
    session_outlives_fencing: bool = True
    reassignment_awaits_target: bool = False
    reassignment_needs_min_isr: bool = False
    min_isr_change_clears_elr: bool = True
    leaderless_topic_stays_in_directories: bool = False
    min_isr_of_partition_0: bool = True
    cluster_min_isr_stays: bool = True
    designated_elections: bool = False
    unclean_recovery: bool = False


KAFKA_4_3_1 = Release("4.3.1", elr=True, leaderless_topic_stays_in_directories=True)

KAFKA_3_9_1 = Release(
    "3.9.1",
    elr=False,
    highest_elr_version=0,
    new_incarnation_is_fenced=False,
    session_outlives_fencing=False,
    reassignment_awaits_target=True,
)

KIP_966 = Release(
    "kip-966",
    elr=True,
    elr_ends_when_off=True,
    election_may_end_elr=True,
    last_known=LastKnown.ELR,
    reassignment_needs_min_isr=True,
    min_isr_change_clears_elr=False,
    min_isr_of_partition_0=False,
    cluster_min_isr_stays=False,
    designated_elections=True,
    unclean_recovery=True,
)

RELEASES = {release.name: release for release in (KAFKA_4_3_1, KAFKA_3_9_1, KIP_966)}
