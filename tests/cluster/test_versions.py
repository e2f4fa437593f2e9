"""What a node lacks of the requests that a recovery sends, by what it advertises."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.api_versions import missing_requests, tells_fenced
from kafka_unclean_recovery.cluster.wire.connection import Connection

from .fake_node import VERSIONS, Kafka, ample, in_loop, listening

# Of Kafka 3.9: Fetch, ListOffsets, ElectLeaders, the two about reassignments, DescribeCluster.
ENOUGH = {**VERSIONS, 1: (4, 17), 2: (1, 9), 43: (0, 2), 45: (0, 0), 46: (0, 0), 60: (0, 1)}


async def _told(versions: Mapping[int, tuple[int, int]]) -> tuple[tuple[str, ...], bool]:
    async with listening(Kafka(versions=versions)) as port:
        connection = await Connection.open("127.0.0.1", port, ClientConfig(), ample())
        async with connection:
            return missing_requests(connection), tells_fenced(connection)


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({}, ()),
        ({1: (13, 18)}, ("Fetch v12",)),
        ({1: (0, 11)}, ("Fetch v12",)),
        ({2: (8, 9)}, ("ListOffsets",)),
        ({43: (0, 0)}, ("ElectLeaders v1",)),
        ({43: (3, 4)}, ("ElectLeaders v1",)),
    ],
)
@in_loop
async def test_what_is_missing_is_named(
    changed: Mapping[int, tuple[int, int]], missing: tuple[str, ...]
) -> None:
    assert (await _told(ENOUGH | dict(changed)))[0] == missing


@in_loop
async def test_a_node_that_speaks_none_of_them_lacks_them_all() -> None:
    missing, _ = await _told(VERSIONS)
    assert missing == (
        "DescribeCluster",
        "ListOffsets",
        "Fetch v12",
        "ListPartitionReassignments v0",
        "AlterPartitionReassignments",
        "ElectLeaders v1",
    )


@pytest.mark.parametrize(("highest", "told"), [(1, False), (2, True)])
@in_loop
async def test_fenced_brokers_are_told_from_version_2_on(highest: int, told: bool) -> None:
    assert (await _told({**ENOUGH, 60: (0, highest)}))[1] is told
