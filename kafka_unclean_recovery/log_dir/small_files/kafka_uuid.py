"""Parse Kafka's text form of UUIDs: 22 characters of base64url.

Source: org.apache.kafka.common.Uuid.
"""

from __future__ import annotations

import base64
import re
import uuid

from kafka_unclean_recovery.log_dir.errors import BadFormat, excerpt

_TEXT = re.compile(r"[A-Za-z0-9_-]{22}(==)?")


def parse_uuid(what: str, text: str) -> str:
    """Return the UUID in the form of `model.PartitionState.topic_id`: 8-4-4-4-12 hex digits. Raises
    BadFormat, also for the zero UUID, which Kafka gives to nothing."""
    if _TEXT.fullmatch(text) is None:
        raise BadFormat(what, f"{excerpt(text)} is not a base64url UUID")
    value = uuid.UUID(bytes=base64.urlsafe_b64decode(text[:22] + "=="))
    if value.int == 0:
        raise BadFormat(what, "the UUID is zero")
    return str(value)
