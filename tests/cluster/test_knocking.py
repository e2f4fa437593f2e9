"""A knock at whatever a disk or a broker told to be an address says what is there, and raises
nothing."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire.knocking import Knocked, knock

from .fake_node import ample, in_loop


@pytest.mark.parametrize("host", ["a..b", "x" * 60_000, "\ud800", "x\0y", "", "[::1%]"])
@in_loop
async def test_a_host_that_can_be_none_is_not_reached(host: str) -> None:
    assert await knock(f"{host}:9092", ClientConfig(), ample()) is Knocked.UNREACHABLE
