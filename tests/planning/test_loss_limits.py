"""--accept-loss, partition by partition."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import Loss
from kafka_unclean_recovery.planning.loss_limits import over_limit, parse_loss_limits
from tests.reports import plan

LOSS = "its certain loss is 500 records"
NONE = "its certain loss is 0 records"
ANY = "--accept-loss orders would accept any"
UNKNOWN = "its certain loss is unknown"


@pytest.mark.parametrize(
    ("values", "certain", "says"),
    [
        (["orders:500"], 500, None),
        (["orders:501"], 500, None),
        (["orders:0"], 0, None),
        (["orders:499"], 500, f"{LOSS}, and --accept-loss orders:499 accepts 499 records"),
        (["orders"], 500, None),
        (["orders"], None, None),
        (
            ["orders:9"],
            None,
            f"{UNKNOWN}, and --accept-loss orders:9 accepts 9 records; {ANY}",
        ),
        (["*:500"], 500, None),
        (["*"], None, None),
        (["*:1"], 500, f"{LOSS}, and --accept-loss *:1 accepts 1 record"),
        # The name counts before the star, wherever it stands.
        (["orders:0", "*"], 500, f"{LOSS}, and --accept-loss orders:0 accepts 0 records"),
        (["*:0", "orders:500"], 500, None),
        (
            ["order:500", "orders2"],
            0,
            f"{NONE}, and no --accept-loss names orders; --accept-loss orders:MAX_RECORDS would",
        ),
    ],
)
def test_a_limit(values: list[str], certain: int | None, says: str | None) -> None:
    given = plan(loss=Loss(certain, None))
    assert over_limit(given, parse_loss_limits(values)) == says


def test_the_loss_is_that_of_the_leader_designated_by_hand() -> None:
    limits = parse_loss_limits(["orders:499"])
    assert over_limit(plan(designated=3), limits) is None
    assert over_limit(plan(designated=4), limits) is not None


@pytest.mark.parametrize(
    "value",
    ["", ":5", "orders:", "orders:x", "orders:-1", "orders:1.5", "or ders", "orders:1:2", "ord*"],
)
def test_what_is_no_limit_is_named(value: str) -> None:
    with pytest.raises(InputError, match=r"--accept-loss .*give TOPIC:MAX_RECORDS, as orders:500"):
        parse_loss_limits(["fine:1", value])


def test_a_topic_has_one_limit() -> None:
    with pytest.raises(InputError, match="--accept-loss orders: orders was given before"):
        parse_loss_limits(["orders:1", "orders"])
