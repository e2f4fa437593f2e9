"""The judges' look at a cluster that has just changed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import KafkaException

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.kafka_names import Errors
from tests.real.witnesses import leader_epochs

TOPIC = "orders"


def _epochs(cluster: Cluster) -> dict[int, int | None]:
    connection = {"bootstrap.servers": cluster.bootstrap_servers}
    seen = SimpleNamespace(connection=lambda: connection)
    return leader_epochs(cast(Any, seen), TOPIC, (0, 1))


def test_epochs_are_asked_for_anew_where_a_broker_was_behind() -> None:
    with Cluster(Options(brokers=1)) as cluster:
        cluster.create_topic(TOPIC, assignment=[(1,), (1,)])
        behind = cluster.intercept("ListOffsets", Fail(Errors.FENCED_LEADER_EPOCH), times=2)
        assert _epochs(cluster) == {0: 0, 1: 0}
        assert behind.left == 0


def test_another_error_is_not_waited_out() -> None:
    with Cluster(Options(brokers=1)) as cluster:
        cluster.create_topic(TOPIC, assignment=[(1,), (1,)])
        refused = Fail(Errors.TOPIC_AUTHORIZATION_FAILED)
        cluster.intercept("ListOffsets", refused, times=100)
        with pytest.raises(KafkaException, match=r"TOPIC_AUTHORIZATION_FAILED"):
            _epochs(cluster)
