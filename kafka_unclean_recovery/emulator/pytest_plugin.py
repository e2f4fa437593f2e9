"""The fixture `kafka_cluster` gives one test an emulated Kafka cluster.

    def test_orders_survive_a_broker(kafka_cluster):
        kafka_cluster.create_topic("orders", partitions=3, replication_factor=3)
        ...                                 # any client on kafka_cluster.bootstrap_servers
        kafka_cluster.kill(1)

    @pytest.mark.kafka_cluster(brokers=3, release="3.9.1", scenario=Path("outage.scenario"))
    def test_...

The marker takes the fields of emulator.Options, and `scenario`, a file of commands or their text.
pytest imports this module in every run on a machine that has the package, so the module imports
nothing else of the package before a test asks for the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kafka_unclean_recovery.emulator import Cluster, Options

_NAME = "kafka_cluster"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{_NAME}(scenario=None, **options): what the fixture {_NAME} starts; options are those of"
        " kafka_unclean_recovery.emulator.Options, such as brokers and release",
    )


@pytest.fixture
def kafka_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Yield a running kafka_unclean_recovery.emulator.Cluster, with four brokers by default."""
    from kafka_unclean_recovery.emulator import Cluster
    from kafka_unclean_recovery.emulator.control.commands import BadCommand
    from kafka_unclean_recovery.emulator.control.executing import run

    wanted = _wanted(request)
    scenario = wanted.pop("scenario", None)
    with Cluster(_options(wanted)) as cluster:
        try:
            run(cluster, _commands(scenario))
        except (BadCommand, OSError) as error:
            raise pytest.UsageError(f"{_NAME}: {error}") from None
        yield cluster


def _wanted(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the options of the nearest marker around the test."""
    marker = request.node.get_closest_marker(_NAME)
    if marker is not None and marker.args:
        raise pytest.UsageError(f"{_NAME}: its options have names, as in brokers=3")
    return {} if marker is None else dict(marker.kwargs)


def _options(wanted: dict[str, Any]) -> Options:
    from dataclasses import fields

    from kafka_unclean_recovery.emulator import Options

    known = [field.name for field in fields(Options)]
    for name in wanted.keys() - known:
        listed = ", ".join(["scenario", *known])
        raise pytest.UsageError(f"{_NAME}: {name} is none of its options, which are {listed}")
    return Options(**wanted)


def _commands(scenario: str | Path | None) -> Iterator[Any]:
    from kafka_unclean_recovery.emulator.control.commands import parse_scenario

    if isinstance(scenario, Path):
        return parse_scenario(scenario.read_text(), str(scenario))
    return parse_scenario(scenario or "", "scenario")
