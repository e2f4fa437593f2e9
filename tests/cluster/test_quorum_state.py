"""What DescribeQuorum is taken for, also where the node that answers is not Apache's."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum, _quorum

NOW = 1_700_000_000_000
LEADER, FOLLOWER, BROKER = 100, 101, 3


def _node(id_: int, fetched: int, end: int = 50) -> Any:
    return {"replica_id": id_, "log_end_offset": end, "last_fetch_timestamp": fetched}


def _told(voters: list[Any], observers: list[Any], high_watermark: int = 50) -> Quorum:
    return _quorum(
        {
            "leader_id": LEADER,
            "leader_epoch": 5,
            "high_watermark": high_watermark,
            "current_voters": voters,
            "observers": observers,
        }
    )


def test_directory_ids_are_told_as_the_metadata_log_has_them() -> None:
    id_ = UUID("af84dc1d-93ee-415b-8217-4d454083d558")
    voter = {**_node(LEADER, NOW), "replica_directory_id": id_.bytes}
    none = {**_node(FOLLOWER, NOW), "replica_directory_id": bytes(16)}
    found = _told([voter, none], [_node(BROKER, NOW)])
    assert [node.directory_id for node in found.voters] == [str(id_), None]
    assert found.observers[0].directory_id is None


def test_a_quorum_that_tells_no_times_is_up_and_not_silent() -> None:
    found = _told([_node(LEADER, -1), _node(FOLLOWER, -1)], [_node(BROKER, -1)])
    assert not found.tells_times
    assert found.up


def test_a_quorum_without_high_watermark_is_not_up_whatever_it_tells() -> None:
    assert not _told([_node(LEADER, -1)], [], high_watermark=-1).up


def test_a_leader_without_a_majority_that_fetches_is_not_up() -> None:
    voters = [_node(LEADER, NOW), _node(FOLLOWER, NOW - 9000), _node(102, -1)]
    found = _told(voters, [])
    assert found.tells_times
    assert not found.up


@pytest.mark.parametrize(
    ("observers", "ends", "tells"),
    [
        ([_node(BROKER, NOW, 44)], 44, True),
        ([_node(BROKER, NOW, 44), _node(BROKER, NOW, 50)], 50, True),
        ([_node(BROKER, -1, -1)], None, False),
        ([], None, False),
    ],
)
def test_how_far_a_broker_has_got_is_unknown_where_nobody_tells(
    observers: list[Any], ends: int | None, tells: bool
) -> None:
    found = _told([_node(LEADER, NOW)], observers)
    assert (found.log_end_offset(BROKER), found.tells_ends) == (ends, tells)
