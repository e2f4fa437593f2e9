"""This module has the requests about share groups (KIP-932) that kafka-python lacks."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

from kafka_unclean_recovery import messages


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=messages):
    """The request names groups, and of each the topics; None for all of its topics."""


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=messages):
    """The answer has a start offset for each partition."""


class AlterShareGroupOffsetsRequest(ApiMessage, load_json=messages):
    """The request names the start offsets that one group is to have."""


class AlterShareGroupOffsetsResponse(ApiMessage, load_json=messages):
    """The answer has one error code per partition."""


class ReadShareGroupStateRequest(ApiMessage, load_json=messages):
    """The request names partitions with the leader epoch of who asks."""


class ReadShareGroupStateResponse(ApiMessage, load_json=messages):
    """The answer has the state of each partition: what is done with beyond its start offset."""
