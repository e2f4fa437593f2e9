"""A Release sets apart the controllers of Kafka's releases and of the KIP's text, one field per
difference.

Rules that all controllers share are in the code alone. To get the behaviour of another release, or
one guard less, `dataclasses.replace` a field.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class LastKnown(Enum):
    """The facts that are remembered of a partition that has lost its eligible leader replicas."""

    LEADER = "leader"
    """The releases record only the last leader, in the field `last_known_elr`
    (PartitionChangeBuilder, useLastKnownLeaderInBalancedRecovery)."""

    ELR = "elr"
    """KIP-966 records former members in `last_known_elr`, and the leader in a field of its own."""


@dataclass(frozen=True, slots=True)
class Release:
    """The behaviour of one release's controller.

    elr: eligible.leader.replicas.version is 1; without it the last member stays in the ISR. A
        cluster begins with this value, and UpdateFeatures changes it where there is another level.
    highest_elr_version: the highest level of eligible.leader.replicas.version; the lowest is 0.
    elr_ends_when_off: once ELR is off, ELR, last known ELR and last known leader elect nobody any
        more, and the partition's next change removes them; else the ELR still elects and the last
        known leader stays where it is.
    election_may_end_elr: when a member of the ELR is elected and alone reaches min ISR, the others
        leave the ELR.
    last_known: see LastKnown.
    new_incarnation_is_fenced: a registration ends what the old incarnation led, ELR or not.
    session_outlives_fencing: a fenced broker that still has a session can't be registered anew.
    reassignment_awaits_target: completion needs the whole target in the ISR, not just the added
        replicas.
    reassignment_needs_min_isr: completion and cancellation need ISR >= min ISR.
    min_isr_change_clears_elr: a new min ISR always clears ELRs, by ClearElrRecord; else it clears
        them only where the ISR has reached the new min ISR, as a change of the partition.
    leaderless_topic_stays_in_directories: a partition that is deleted while its ISR is empty stays
        in the index of directories, and the controller fails when one of these directories does.
    min_isr_of_partition_0: min ISR is at most the number of replicas of partition 0; else at most
        the number that the partition itself is to have.
    cluster_min_isr_stays: with ELR, min.insync.replicas for all brokers always has a value: it is
        set when ELR is switched on, and can't be removed.
    names_nodes: ApiVersions goes up to version 5, which names the node that is meant (KIP-1242).
    share_groups: share groups have their requests.
    share_state_needs_epoch: ReadShareGroupState refuses a leader epoch below 0; else it reads then,
        and fences nobody.
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
    names_nodes: bool = False
    share_groups: bool = True
    share_state_needs_epoch: bool = False
    designated_elections: bool = False
    unclean_recovery: bool = False


KAFKA_4_3_1 = Release("4.3.1", elr=True, leaderless_topic_stays_in_directories=True)

# Its controller does not differ, in random steps (tests.fidelity) as in the bugs that are known of
# 4.3.1.
KAFKA_4_4_0 = replace(KAFKA_4_3_1, name="4.4.0", names_nodes=True, share_state_needs_epoch=True)

KAFKA_3_9_1 = Release(
    "3.9.1",
    elr=False,
    highest_elr_version=0,
    new_incarnation_is_fenced=False,
    session_outlives_fencing=False,
    reassignment_awaits_target=True,
    share_groups=False,
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

RELEASES = {release.name: release for release in (KAFKA_4_4_0, KAFKA_4_3_1, KAFKA_3_9_1, KIP_966)}
