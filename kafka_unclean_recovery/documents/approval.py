"""The sign-off of a plan."""

from __future__ import annotations

from typing import Literal

from kafka_unclean_recovery.documents.values import (
    Digest,
    Entry,
)


class ApprovalJson(Entry, frozen=True):
    """What `approve` writes and --require-approval takes. It guards against mistakes, not against
    forgery.

    plan_digest: The digest in the plan that was approved.
    cluster_id: Id of the Kafka cluster that the plan is for.
    approved_by: The operating system's user who approved; another one has to run it.
    approved_at: ISO 8601 with the offset from UTC.
    digest: SHA-256 of all else as JSON with sorted keys, no blanks and ASCII only.
    """

    format_version: Literal[1]
    kind: Literal["approval"]
    plan_digest: Digest
    cluster_id: str
    approved_by: str
    approved_at: str
    digest: Digest
