"""The fixture that comes with the package, as other people's tests use it."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from kafka_unclean_recovery.emulator import Cluster, pytest_plugin

pytest_plugins = ["pytester"]


def test_a_cluster_of_four_brokers_is_given_without_a_word(kafka_cluster: Cluster) -> None:
    kafka_cluster.create_topic("orders", replication_factor=4)
    assert len(kafka_cluster.partition("orders", 0).isr) == 4


@pytest.mark.kafka_cluster(
    brokers=2, release="3.9.1", scenario="create-topic a\nproduce a-0 3\nkill 2"
)
def test_the_marker_says_what_cluster_and_what_happened_to_it(kafka_cluster: Cluster) -> None:
    assert kafka_cluster.options.release == "3.9.1"
    assert [broker.process for broker in kafka_cluster.status().brokers] == ["running", "dead"]
    assert kafka_cluster.partition("a", 0).logs[0].log_end_offset == 3


@pytest.mark.kafka_cluster(brokers=2)
class TestMarkers:
    def test_that_of_a_class_counts(self, kafka_cluster: Cluster) -> None:
        assert kafka_cluster.options.brokers == 2

    @pytest.mark.kafka_cluster(brokers=1)
    def test_that_of_the_test_counts_more(self, kafka_cluster: Cluster) -> None:
        assert kafka_cluster.options.brokers == 1


WRONG = {
    "brokrs=3": "brokrs is none of its options, which are scenario, brokers",
    "3": "its options have names, as in brokers=3",
    "scenario='kill 9'": "scenario, line 1: kill: there is no broker 9",
    "scenario='oops'": "scenario, line 1: 'oops' is no command",
    "scenario=Path('no.scenario')": "No such file or directory: 'no.scenario'",
}


def test_a_scenario_can_be_a_file_and_a_wrong_marker_is_named(pytester: pytest.Pytester) -> None:
    (pytester.path / "outage.scenario").write_text("create-topic a\nkill 1\n")
    right = "scenario=Path('outage.scenario')"
    tests = (
        f"""
@pytest.mark.kafka_cluster({marker})
def test_{number}(kafka_cluster):
    assert kafka_cluster.status().brokers[0].process == "dead"
"""
        for number, marker in enumerate((right, *WRONG))
    )
    pytester.makepyfile("from pathlib import Path\nimport pytest\n" + "".join(tests))
    result = pytester.runpytest_inprocess("--strict-markers", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=len(WRONG))
    result.stdout.fnmatch_lines([f"*{says}*" for says in WRONG.values()])


def test_the_marker_is_described(pytestconfig: pytest.Config) -> None:
    described = [
        line for line in pytestconfig.getini("markers") if line.startswith("kafka_cluster(")
    ]
    assert len(described) == 1


def test_the_package_has_the_entry_point() -> None:
    (found,) = entry_points(group="pytest11", name="kafka_unclean_recovery")
    assert found.value == pytest_plugin.__name__
