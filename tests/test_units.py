"""The order in which workers are given units of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.units import (
    APART,
    CLUSTER,
    CONTAINERS,
    KILLS,
    LONG,
    ON_KAFKA,
    SPARK,
    TOGETHER,
    kafka_first,
    next_unit,
    unit_of,
)

ROOT = Path(__file__).parents[1]
SHORT = "tests/real/test_harness.py"
COMPUTES = "tests/planning/test_planner.py"


@pytest.mark.parametrize(
    ("nodeid", "unit"),
    [
        ("tests/real/test_harness.py::test_it[4.4.0]", "tests/real/test_harness.py"),
        ("tests/cli/test_flags.py::test_it[a::b]", "tests/cli/test_flags.py"),
        ("tests/spark/test_fold.py::test_it", SPARK),
        ("tests/spark/test_kills.py::test_it[a]", "tests/spark/test_kills.py"),
        ("tests/containers/test_image.py::test_it", CONTAINERS),
    ],
)
def test_a_unit_is_a_file_or_what_shares_a_session(nodeid: str, unit: str) -> None:
    assert unit_of(nodeid) == unit


@pytest.mark.parametrize(
    ("workers", "begin_on_kafka"), [(1, [0]), (2, [0]), (3, [0, 1]), (4, [0, 1])]
)
def test_at_most_two_workers_begin_on_kafka(workers: int, begin_on_kafka: list[int]) -> None:
    assert [n for n in range(workers) if kafka_first(n, workers)] == begin_on_kafka


def test_a_worker_keeps_to_its_kind_and_then_helps_the_others() -> None:
    left = [COMPUTES, SHORT, SPARK, CONTAINERS]
    given = []
    for kafka in (True, True, True, False):
        given.append(next_unit(left, kafka=kafka))
        left.remove(given[-1])
    assert given == [CONTAINERS, SHORT, SPARK, COMPUTES]


def test_clusters_of_spark_run_one_at_a_time_until_nothing_else_is_left() -> None:
    left = [KILLS, SPARK, SHORT, COMPUTES]
    assert next_unit(left, kafka=False) == KILLS
    left.remove(KILLS)
    assert next_unit(left, kafka=False, busy={KILLS}) == COMPUTES
    assert next_unit(left, kafka=True, busy={KILLS, COMPUTES}) == SHORT
    assert next_unit([SPARK, SHORT], kafka=False, busy={KILLS}) == SHORT
    assert next_unit([SPARK, CLUSTER], kafka=False, busy={KILLS}) == SPARK
    assert next_unit(left, kafka=False, busy={COMPUTES}) == SPARK


def test_of_equals_the_first_is_taken() -> None:
    assert next_unit(["tests/b.py", "tests/a.py"], kafka=False) == "tests/b.py"


@pytest.mark.parametrize("name", sorted({*LONG, *ON_KAFKA, *TOGETHER, *APART}))
def test_what_is_named_is_there(name: str) -> None:
    assert (ROOT / name).exists()
