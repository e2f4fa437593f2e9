"""Groups that have read what is gone, seen by the log end and by leader epochs."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.model import Commit, TopicPartition
from kafka_unclean_recovery.planning.committed_offsets import group_beyond

COMMIT = Commit("g", TopicPartition("orders", 0), 1500, 0)


@pytest.mark.parametrize(
    ("log_end", "epoch_end", "expected"),
    [
        pytest.param(1500, None, None, id="at the end"),
        pytest.param(1500, 1500, None, id="at the end of its epoch too"),
        pytest.param(1000, None, (1000, False), id="beyond the end"),
        pytest.param(1000, 1000, (1000, False), id="beyond the end, its epoch says the same"),
        pytest.param(2000, None, None, id="refilled: without an epoch nothing tells"),
        pytest.param(2000, 1000, (1000, True), id="refilled: its epoch ended before"),
        pytest.param(1200, 1000, (1000, True), id="refilled in part"),
        pytest.param(2000, 1800, None, id="its epoch went on"),
    ],
)
def test_what_is_gone(
    log_end: int, epoch_end: int | None, expected: tuple[int, bool] | None
) -> None:
    found = group_beyond(COMMIT, log_end, epoch_end)
    assert (found and (found.resume, found.refilled)) == expected
