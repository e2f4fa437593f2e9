"""This module has ElectLeaders up to version 3, which names the leaders; kafka-python and Kafka end
at 2."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

from kafka_unclean_recovery import messages

DESIGNATED = 2
"""This type of election goes with `designated_leaders`."""


class ElectLeadersRequest(ApiMessage, load_json=messages):
    """The request names the leaders; `designated_leaders` is parallel to `partitions`."""


class ElectLeadersResponse(ApiMessage, load_json=messages):
    """The answer has one error code per partition."""
