"""The failed log directory of tests/real, on the emulator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.mission.cluster import EmulatedCluster
from tests.mission.conftest import Means
from tests.real.cluster import KafkaCluster
from tests.real.releases import ONE
from tests.real.test_faults_log_directory import (  # noqa: F401
    test_replicas_in_a_failed_log_directory_are_not_candidates,
    two_are_back,
)


@pytest.fixture
def two_directories(means: Means) -> Iterator[KafkaCluster]:
    options = replace(means.options(ONE), brokers=3, log_directories=2)
    with EmulatedCluster.as_real(options) as cluster:
        two_are_back(cluster)
        yield cluster
