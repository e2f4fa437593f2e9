"""What filters leave out is what Spark itself would leave out."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from pyspark.sql import datasource as spark_filters

from kafka_unclean_recovery.spark.notebook.pushed_filters import criterion, holds

if not hasattr(spark_filters, "EqualTo"):
    pytest.skip(
        "Spark before 4.1 gives data sources no filters: pip install 'pyspark>=4.1'",
        allow_module_level=True,
    )

REPLICAS: list[dict[str, str | int]] = [
    {"topic": topic, "partition": partition, "broker": broker}
    for topic, partition, broker in itertools.product(
        ("orders", "orders-2", "__consumer_offsets"), (0, 1, 7), (1, 2)
    )
]


@pytest.mark.parametrize(
    ("pushed", "wanted"),
    [
        (spark_filters.EqualTo(("topic",), "orders"), lambda r: r["topic"] == "orders"),
        (spark_filters.EqualNullSafe(("broker",), 2), lambda r: r["broker"] == 2),
        (spark_filters.In(("partition",), (0, 7)), lambda r: r["partition"] in (0, 7)),
        (spark_filters.In(("topic",), ()), lambda r: False),
        (spark_filters.GreaterThan(("partition",), 1), lambda r: r["partition"] > 1),
        (spark_filters.GreaterThanOrEqual(("partition",), 1), lambda r: r["partition"] >= 1),
        (spark_filters.LessThan(("partition",), 1), lambda r: r["partition"] < 1),
        (spark_filters.LessThanOrEqual(("partition",), 1), lambda r: r["partition"] <= 1),
        (spark_filters.StringStartsWith(("topic",), "ord"), lambda r: r["topic"][:3] == "ord"),
        (spark_filters.StringEndsWith(("topic",), "-2"), lambda r: r["topic"] == "orders-2"),
        (spark_filters.StringContains(("topic",), "_off"), lambda r: "_off" in r["topic"]),
    ],
)
def test_a_filter_that_is_taken_is_obeyed(pushed: Any, wanted: Any) -> None:
    for negated, one in ((False, pushed), (True, spark_filters.Not(pushed))):
        taken = criterion(one)
        assert taken is not None
        for replica in REPLICAS:
            assert holds([taken], replica) is (wanted(replica) is not negated)


def test_all_of_several_hold() -> None:
    both = [criterion(f) for f in (TOPIC, spark_filters.EqualTo(("broker",), 2))]
    held = [r for r in REPLICAS if holds([c for c in both if c], r)]
    assert [(r["topic"], r["broker"]) for r in held] == [("orders", 2)] * 3


TOPIC = spark_filters.EqualTo(("topic",), "orders")


@pytest.mark.parametrize(
    "pushed",
    [
        spark_filters.EqualTo(("log_end_offset",), 5),
        spark_filters.EqualTo(("topic", "inner"), "orders"),
        spark_filters.EqualTo(("topic",), None),
        spark_filters.In(("broker",), (1, None)),
        spark_filters.IsNull(("topic",)),
        spark_filters.IsNotNull(("topic",)),
        spark_filters.Not(spark_filters.EqualTo(("size",), 5)),
        spark_filters.Not(spark_filters.In(("broker",), (1, None))),
        spark_filters.Not(spark_filters.Not(TOPIC)),
    ],
)
def test_what_is_not_understood_is_left_to_spark(pushed: Any) -> None:
    assert criterion(pushed) is None
