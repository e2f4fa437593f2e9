"""`.kafka_cleanshutdown` of all generations."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.clean_shutdown import (
    CleanShutdown,
    parse_clean_shutdown,
)
from tests.log_dir.segments import outcome


@pytest.mark.parametrize(
    ("data", "epoch"),
    [
        (b"", None),  # 3.6.2
        (b'{"version":0,"brokerEpoch":73}', 73),  # 4.3.1
        (b'{"version":0,"BrokerEpoch":"10"}', 10),
        (b'{"version":1,"brokerEpoch":9223372036854775807,"more":[]}', 2**63 - 1),
        (b"version: 0\nbrokerEpoch: 12", 12),
    ],
)
def test_broker_epoch(data: bytes, epoch: int | None) -> None:
    assert parse_clean_shutdown(data) == CleanShutdown(epoch)


@pytest.mark.parametrize(
    "data",
    [
        b" ",
        b"{}",
        b"73",
        b'{"brokerEpoch":true}',
        b'{"brokerEpoch":1.0}',
        b'{"brokerEpoch":NaN}',
        b'{"brokerEpoch":-1}',
        b'{"brokerEpoch":9223372036854775808}',
        b'{"brokerEpoch":' + b"9" * 5000 + b"}",
        b'{"brokerEpoch":"x"}',
        b"\xff",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda data: data[:24],
)
def test_bad_contents(data: bytes) -> None:
    with pytest.raises(BadFormat, match=r"^\.kafka_cleanshutdown: "):
        parse_clean_shutdown(data)


@given(st.binary() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
    lambda value: json.dumps({"brokerEpoch": value}).encode()
))  # fmt: skip
@example(b'{"brokerEpoch": null}')
def test_any_bytes_give_a_value_or_bad_format(data: bytes) -> None:
    assert len(outcome(lambda: parse_clean_shutdown(data))) < 200
