"""Real clusters for tests: shared ones to look at, fresh ones to change."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.faults import Trouble, secured, trouble, with_partitions_left
from tests.real.outages import Outage, restore
from tests.real.releases import TESTED
from tests.real.sharing import SharedClusters
from tests.real.watching import Commands

HERE = Path(__file__).parent
SHARED = pytest.StashKey[SharedClusters]()
NEEDED = {
    "java": "a Java runtime, 17 or newer (Debian: openjdk-17-jre-headless)",
    "mvn": "Maven, which fetches Kafka's jars (Debian: maven)",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.real)


@pytest.fixture(scope="session", autouse=True)
def real_kafka() -> None:
    """Skip, or fail where Kafka is required, with what to install for a real Kafka."""
    missing = [what for program, what in NEEDED.items() if shutil.which(program) is None]
    if not missing:
        return
    reason = f"real Kafka needs {' and '.join(missing)}"
    if os.environ.get("CI") == "true" or os.environ.get("KUR_REQUIRE_REAL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_clusters(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[SharedClusters]:
    clusters = SharedClusters(lambda: tmp_path_factory.mktemp("cluster"))
    pytestconfig.stash[SHARED] = clusters
    yield clusters
    clusters.keep(0)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End shared clusters with their file, but the newest if the next file shares some."""
    clusters = item.config.stash.get(SHARED, None)
    if clusters and (nextitem is None or nextitem.path != item.path):
        clusters.keep(int("shared_clusters" in getattr(nextitem, "fixturenames", ())))


@pytest.fixture
def restored(tmp_path: Path) -> Iterator[Callable[[Outage], KafkaCluster]]:
    """Yield `restored(outage)`, which is this test's own copy of it, to do anything to."""
    with ExitStack() as running:

        def start(outage: Outage) -> KafkaCluster:
            directory = tmp_path / f"{outage.name}-{outage.version}"
            return running.enter_context(restore(outage, directory))

        yield start


@pytest.fixture(params=TESTED)
def troubled(shared_clusters: SharedClusters, request: pytest.FixtureRequest) -> Trouble:
    """Return the outage shared by tests of trouble: take partitions, leave 3 and 4 up."""
    return with_partitions_left(shared_clusters, trouble(request.param))


@pytest.fixture
def guarded(shared_clusters: SharedClusters) -> Trouble:
    """Return the outage of trouble behind an authoriser, of the newest release."""
    return with_partitions_left(shared_clusters, secured())


@pytest.fixture
def new_cluster(tmp_path: Path) -> Iterator[KafkaCluster]:
    """Yield four brokers that run, with nothing on them."""
    with KafkaCluster.create(tmp_path / "cluster") as cluster:
        cluster.start()
        yield cluster


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Yield our commands, to be watched; what still runs at the end of the test is killed."""
    started = Commands(tmp_path)
    yield started
    started.close()
