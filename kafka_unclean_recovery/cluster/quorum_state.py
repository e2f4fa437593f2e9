"""Whether the controllers can commit anything at all.

Only DescribeQuorum tells. ListPartitionReassignments does not: a controller that has lost its
quorum goes on answering it from memory, without an error.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.cluster import DescribeQuorumRequest

from kafka_unclean_recovery.cluster.connection import Connection
from kafka_unclean_recovery.cluster.describe import RequestFailed, list_reassignments
from kafka_unclean_recovery.cluster.error_codes import NONE, NOT_LEADER_OR_FOLLOWER, UNSURE
from kafka_unclean_recovery.deadline import Deadline

_TOPIC = "__cluster_metadata"
# A voter that follows fetches every half second; a leader resigns after 3 s without a majority.
_FRESH_MS = 3_000
_LEADERLESS = UNSURE | {NOT_LEADER_OR_FOLLOWER}


async def quorum_is_up(connection: Connection, deadline: Deadline) -> bool:
    """True when an active controller answers that a majority of the voters follows it.

    A broker may as well keep silent while there is none. Needs DESCRIBE on the cluster, which
    ALTER implies. Raises RequestFailed.
    """
    request = DescribeQuorumRequest
    version = connection.version_for(request)
    if version is None:  # No KRaft: the one controller answers, or nobody does.
        await list_reassignments(connection, deadline)
        return True
    topic = request.TopicData
    message = request(
        version=version,
        topics=[topic(topic_name=_TOPIC, partitions=[topic.PartitionData(partition_index=0)])],
    )
    answer = await connection.request(message, deadline, version=version)
    found = [p for t in answer.topics for p in t.partitions]
    codes = [answer.error_code, *(p.error_code for p in found)]
    failed = [code for code in codes if code != NONE]
    if failed and failed[0] not in _LEADERLESS:
        raise RequestFailed("DescribeQuorum", failed[0], getattr(answer, "error_message", None))
    return not failed and bool(found) and _majority_follows(found[0])


def _majority_follows(partition: Any) -> bool:
    """The leader counts its own fetch as just now, and that of one never seen as -1."""
    fetches = [getattr(v, "last_fetch_timestamp", -1) for v in partition.current_voters]
    if partition.high_watermark < 0:
        return False
    if partition.version == 0:  # Kafka before 3.3 gives no times.
        return True
    fresh = [at for at in fetches if at >= max(fetches) - _FRESH_MS]
    return 2 * len(fresh) > len(fetches)
