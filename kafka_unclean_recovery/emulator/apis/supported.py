"""The table lists every API that is answered; NOT_EMULATED lists what Kafka has besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafka_unclean_recovery.emulator.apis import (
    alter_configs,
    alter_partition_reassignments,
    alter_share_group_offsets,
    api_versions,
    create_partitions,
    create_topics,
    delete_groups,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_quorum,
    describe_share_group_offsets,
    describe_topic_partitions,
    describe_transactions,
    elect_leaders,
    fetch,
    find_coordinator,
    get_replica_log_info,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_groups,
    list_offsets,
    list_partition_reassignments,
    list_transactions,
    metadata,
    offset_commit,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    read_share_group_state,
    sasl_authenticate,
    sasl_handshake,
    sync_group,
)
from kafka_unclean_recovery.emulator.apis.api import Api
from kafka_unclean_recovery.kraft_rules.releases import Release
from kafka_unclean_recovery.mechanisms import Dialect

MODULES = (
    alter_configs,
    alter_partition_reassignments,
    alter_share_group_offsets,
    api_versions,
    create_partitions,
    create_topics,
    delete_groups,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_quorum,
    describe_share_group_offsets,
    describe_topic_partitions,
    describe_transactions,
    elect_leaders,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_groups,
    list_offsets,
    list_partition_reassignments,
    list_transactions,
    metadata,
    offset_commit,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    read_share_group_state,
    sasl_authenticate,
    sasl_handshake,
    sync_group,
)

OF_SHARE_GROUPS = (alter_share_group_offsets, describe_share_group_offsets, read_share_group_state)

NOT_EMULATED: Mapping[str, str] = {
    "other groups": "the classic protocol alone: none of KIP-848's or streams groups",
    "consumers of share groups": "how far a share group has read is put there; none is served",
    "static members": "a group.instance.id is ignored",
    "the topic of the groups": "groups and their offsets are in memory, and end with the cluster",
    "transactions": "InitProducerId and Produce refuse a transactional id; none is ever listed",
    "log cleaning": "nothing is deleted or compacted, and a log is one segment",
    "message formats 0 and 1": "Produce answers CORRUPT_MESSAGE",
    "LogAppendTime": "records keep the time that their producer gave them",
    "fetch sessions": "every Fetch is a full one",
    "moving replicas between disks": "a replica stays in the directory that it was put into",
    "split segments": "whatever base offset damage makes of a batch, it stays in the one segment",
    "preallocated indexes": "an index ends with its last entry, also while it is written",
    "the rest of the metadata log": "it is one segment, with no snapshot, index or quorum-state",
    "endpoints in the metadata log": "registrations hold no address, feature or rack",
    "other topic configs": "they are kept and described, whatever they say; max.message.bytes alone"
    " has an effect",
    "configs of one broker": "they are kept and described, whatever they say, and have no effect",
    "lists in configs": "IncrementalAlterConfigs sets and deletes; APPEND and SUBTRACT are refused",
    "configs of brokers that were not set": "DescribeConfigs leaves them out",
    "configs of other things": "DescribeConfigs refuses groups, client metrics and broker loggers",
    "types of brokers' configs": "DescribeConfigs tells those that a topic may have, too; else 0",
    "other features": "metadata.version and eligible.leader.replicas.version alone are told",
    "topics by mention": "Metadata creates none",
    "huge requests": "one of more than 500,000 elements closes its connection",
    "other security": "no Kerberos, OAuth, delegation tokens or re-authentication",
    "other releases' versions": "the versions of requests are at most 4.3's whatever the release",
    "what came with 4.4": "StreamsGroupTopologyDescriptionUpdate and UnregisterController are"
    " announced in 4.4.0, and close the connection",
    "moved log starts": "DeleteRecords is not answered, and every log starts at offset 0",
    "standby controllers": "one controller, paused or not, and no other that takes over from it",
}


def apis(release: Release, dialect: Dialect | None) -> dict[int, Api]:
    """Return the APIs by key, with GetReplicaLogInfo if the cluster speaks a dialect of it."""
    left_out = () if release.share_groups else OF_SHARE_GROUPS
    chosen: list[Api] = [module.API for module in MODULES if module not in left_out]
    if dialect is not None:
        chosen.append(get_replica_log_info.api(dialect))
    found = {api.request.API_KEY: api for api in chosen}
    if not release.designated_elections:
        found |= _at_most(elect_leaders.API, elect_leaders.HIGHEST_WITHOUT_DESIGNATION)
    if not release.names_nodes:
        found |= _at_most(api_versions.API, api_versions.HIGHEST_WITHOUT_NODES)
    return found


def _at_most(api: Api, highest: int) -> dict[int, Api]:
    return {api.request.API_KEY: replace(api, highest=highest)}
