"""The fixtures of tests/real, on the emulator: a test that takes them runs on either.

Each mechanism has a cluster to go with: one that offers nothing but what Kafka of today does, and
one that speaks the new RPCs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.mechanisms import Dialect
from tests.mission.cluster import EmulatedCluster
from tests.real.cli import Cli, Mechanism
from tests.real.cluster import KafkaCluster
from tests.real.faults import Trouble, trouble
from tests.real.outages import Outage, last_replica_standing
from tests.real.releases import ONE, TESTED
from tests.real.watching import Commands

HERE = Path(__file__).parent
# As with Kafka: who is killed is taken for alive until a test says otherwise.
SESSION = Settings(session_timeout=9.0)
SHORT_SESSION = Settings(session_timeout=0.5)


@dataclass(frozen=True, slots=True)
class Means:
    """A mechanism of the tool, and the cluster that offers it; a `release` of None is the version
    that the test asks for."""

    name: str
    mechanism: Mechanism
    release: str | None = None
    dialect: Dialect | None = None

    def options(self, version: str) -> Options:
        release = self.release or version
        return Options(release=release, dialect=self.dialect, settings=SESSION)


def _by_the_rpcs(dialect: Dialect) -> Means:
    flags = ("--transport", "replica-log-info", "--election-method", "designated")
    return Means(dialect.value, Mechanism(flags, ("elect",)), "kip-966", dialect)


PROBES = Means(
    "probes",
    Mechanism(("--transport", "list-offsets", "--election-method", "reorder")),
)
RPCS = {dialect: _by_the_rpcs(dialect) for dialect in Dialect}
# Where only the mechanism matters, one dialect stands for all.
ONE_OF_EACH = (PROBES, RPCS[Dialect.REVERTED])


@pytest.fixture(scope="session", params=ONE_OF_EACH, ids=lambda means: means.name)
def means(request: pytest.FixtureRequest) -> Means:
    found: Means = request.param
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Try each version and each min.insync.replicas, and not each with each.

    `items` are those of the whole session, and other directories have a `min_isr` too.
    """
    ours = [item for item in items if HERE in item.path.parents]
    repeated = [item for item in ours if _repeats_another(item)]
    config.hook.pytest_deselected(items=repeated)
    items[:] = [item for item in items if item not in repeated]


def _repeats_another(item: pytest.Item) -> bool:
    params = getattr(getattr(item, "callspec", None), "params", {})
    means, version = params.get("means"), params.get("version")
    # The new RPCs belong to no release.
    by_the_rpcs = isinstance(means, Means) and means.release is not None
    if by_the_rpcs and version in TESTED and version != ONE:
        return True
    with_two = by_the_rpcs or version == "3.9.1"
    return "min_isr" in params and bool(params["min_isr"] != (2 if with_two else 1))


@pytest.fixture
def restored(means: Means) -> Iterator[Callable[[Outage], KafkaCluster]]:
    """Yield `restored(outage)`, which is this test's own, made on the spot."""
    with ExitStack() as running:

        def start(outage: Outage) -> KafkaCluster:
            return running.enter_context(in_outage(means, outage))

        yield start


def in_outage(means: Means, outage: Outage) -> KafkaCluster:
    """Return the cluster as tests.real.outages.restore gives it. Close it when done."""
    cluster = EmulatedCluster.as_real(means.options(outage.version))
    try:
        outage.recipe(cluster)
        cluster.start(outage.survivors)
    except BaseException:
        cluster.close()
        raise
    return cluster


@pytest.fixture(scope="module")
def outage(means: Means) -> Iterator[KafkaCluster]:
    """Yield the outage of the manual way, whose tests take partitions of it."""
    with in_outage(means, last_replica_standing()) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def troubles() -> Iterator[dict[Means, Trouble]]:
    found: dict[Means, Trouble] = {}
    yield found
    for shared in found.values():
        shared.cluster.close()


@pytest.fixture
def troubled(means: Means, troubles: dict[Means, Trouble]) -> Trouble:
    """Return the outage shared by tests of trouble: take partitions, leave 3 and 4 up."""
    if means in troubles:
        troubles[means].heal()
        if troubles[means].used_up:
            troubles.pop(means).cluster.close()
    if means not in troubles:
        troubles[means] = Trouble(in_outage(means, trouble()))
    return troubles[means]


@pytest.fixture
def new_cluster(means: Means) -> Iterator[KafkaCluster]:
    """Yield four brokers that run, with nothing on them."""
    options = replace(means.options(ONE), settings=SHORT_SESSION)
    with EmulatedCluster.as_real(options) as cluster:
        yield cluster


@pytest.fixture
def cli(tmp_path: Path, means: Means) -> Cli:
    return Cli(tmp_path, means.mechanism)


@pytest.fixture
def commands(tmp_path: Path, means: Means) -> Iterator[Commands]:
    """Yield our commands, to be watched; what still runs at the end of the test is killed."""
    started = Commands(tmp_path, means.mechanism)
    yield started
    started.close()


@pytest.fixture
def stale() -> Iterator[Cluster]:
    """Yield a cluster whose broker 1 is dead, and 2 is no member of the ISR."""
    with Cluster(Options(brokers=2, settings=Settings(session_timeout=60.0))) as running:
        running.create_topic("orders", assignment=[[1, 2]])
        running.produce("orders", 0, 10)
        for broker in (2, 1):
            running.kill(broker)
            running.fence(broker)
        running.start(2)
        yield running
