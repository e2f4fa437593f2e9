"""The diagnosis of a cluster."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.values import DateTime, Entry, Int64, published

CheckCode = Annotated[str, Meta(extra_json_schema={"pattern": "^[a-z_]+$"})]
Status = Annotated[
    Literal["ok", "notice", "unknown", "warning", "failure"],
    Meta(
        description="How grave it is. unknown: it can't be found out, and a recovery does not"
        " hang on it. The exit code is 0 below warning."
    ),
]


class CountsJson(Entry, frozen=True):
    """How many checks have each status.

    ok: Number of checks with the status ok.
    notice: Number of checks with the status notice.
    unknown: Number of checks with the status unknown.
    warning: Number of checks with the status warning.
    failure: Number of checks with the status failure.
    """

    ok: Int64
    notice: Int64
    unknown: Int64
    warning: Int64
    failure: Int64


class CheckJson(Entry, frozen=True):
    """One check of the cluster or of this machine.

    code: Stable; several checks may have the same.
    what: What is so.
    why: Why it matters for a recovery.
    to_do: What to do; null where nothing is to be done.
    known: It is false where the check says only that something could not be found out. The exit
        code is 4 when that holds for each warning and failure.
    """

    code: CheckCode
    status: Status
    what: str
    why: str
    to_do: str | None
    known: bool


@published("What kafka-unclean-recovery doctor found, format 1")
class DoctorJson(Entry, frozen=True, kw_only=True):
    """Checks of a cluster and of this machine, the gravest first. Nothing was changed for them.

    checked_at: ISO 8601 with its offset from UTC.
    worst: The gravest status among the checks.
    counts: How many checks have each status.
    checks: All checks, the gravest first.
    """

    format_version: Literal[1] = 1
    kind: Literal["doctor"] = "doctor"
    cluster_id: str
    checked_at: DateTime
    worst: Status
    counts: CountsJson
    checks: tuple[CheckJson, ...]
