"""The fixtures of tests/real, on containers: a test that takes them runs on either."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from testcontainers.core.config import testcontainers_config

from tests.containers import clusters
from tests.containers.build_image import KafkaImage, kafka_image
from tests.containers.engine import NoEngineError, engine
from tests.containers.image_files import VERSION, NoImageError
from tests.containers.nodes import OwnNetwork, own_network
from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.faults import secured
from tests.real.outages import Outage
from tests.real.watching import Commands

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take the image's version, and try a parameter that makes a cluster once."""
    ours = [item for item in items if HERE in item.path.parents]
    for item in ours:
        item.add_marker(pytest.mark.containers)
    left_out = [item for item in ours if _repeats_another(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _repeats_another(item: pytest.Item) -> bool:
    params: dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    return params.get("version", VERSION) != VERSION or params.get("min_isr", 1) != 1


@pytest.fixture(scope="session")
def docker_host() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, _or_skip(NoEngineError), engine() as host:
        patch.setenv("DOCKER_HOST", host)
        yield host


@pytest.fixture(scope="session")
def image(docker_host: str) -> Iterator[KafkaImage]:
    with pytest.MonkeyPatch.context() as patch, _or_skip(NoImageError):
        found = kafka_image(docker_host)
        # The reaper of testcontainers is an image, too.
        patch.setattr(testcontainers_config, "ryuk_disabled", not found.pulled)
        yield found


@contextmanager
def _or_skip(missing: type[Exception]) -> Iterator[None]:
    try:
        yield
    except missing as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def network(docker_host: str) -> Iterator[OwnNetwork]:
    with own_network() as found:
        yield found


@pytest.fixture(scope="module")
def cluster(
    image: KafkaImage, network: OwnNetwork, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KafkaCluster]:
    with clusters.running(image.name, network, tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="module")
def secured_cluster(
    image: KafkaImage, network: OwnNetwork, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KafkaCluster]:
    """Yield a cluster in the outage of tests.real.faults.secured."""
    directory = tmp_path_factory.mktemp("cluster")
    with clusters.running(image.name, network, directory, secured=True) as found:
        yield clusters.in_outage(found, secured())


@pytest.fixture
def new_cluster(cluster: KafkaCluster) -> KafkaCluster:
    """Return four brokers that run, with nothing on them."""
    return clusters.emptied(cluster)


@pytest.fixture
def restored(cluster: KafkaCluster) -> Callable[[Outage], KafkaCluster]:
    """Return `restored(outage)`, which is made on the spot."""
    return lambda outage: clusters.in_outage(cluster, outage)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Yield our commands, to be watched; what still runs at the end of the test is killed."""
    started = Commands(tmp_path)
    yield started
    started.close()
