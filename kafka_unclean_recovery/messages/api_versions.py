"""This module has ApiVersions up to version 5, which names the node that is meant (KIP-1242);
kafka-python ends at 4."""

from __future__ import annotations

from typing import Any

from kafka.protocol.api_message import ApiMessage

from kafka_unclean_recovery import messages


class ApiVersionsRequest(ApiMessage, load_json=messages):
    """The request names the cluster and the node that it is meant for."""


class ApiVersionsResponse(ApiMessage, load_json=messages):
    """The answer has a header without tagged fields in each version (KIP-511)."""

    @classmethod
    def parse_header(cls, data: Any, version: int | None = None) -> Any:
        return cls.header_class.decode(data, flexible=False)

    def encode_header(self, flexible: bool = False) -> Any:
        return super().encode_header(flexible=False)  # type: ignore[no-untyped-call]
