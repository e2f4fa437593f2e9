"""The sign-off of a plan by a second person, as a file: schemas/approval-1.schema.json. Pure.

It guards against mistakes: another plan, a plan or a sign-off that was changed, the same person
twice. Its digest is no signature, so whoever wants to forge one can.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from kafka_unclean_recovery.documents.reading.codec import decode, load_kind, to_json, to_model
from kafka_unclean_recovery.documents.reading.json_text import Place
from kafka_unclean_recovery.documents.values import (
    Digest,
    Entry,
    published,
)
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.errors import InputError


@published("Approval of a plan of kafka-unclean-recovery, format 1")
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


FORMAT_VERSION = 1
KIND = "approval"


@dataclass(frozen=True, slots=True)
class Approval:
    """plan_digest: of the rich plan. approved_by: a user of an operating system. approved_at:
    ISO 8601 with its offset from UTC."""

    plan_digest: str
    cluster_id: str
    approved_by: str
    approved_at: str


def approval_json(approval: Approval) -> str:
    head = {"format_version": FORMAT_VERSION, "kind": KIND, **to_json(approval)}
    return json.dumps({**head, "digest": plan_digest(head)}, indent=2) + "\n"


def parse_approval(text: str, source: str) -> Approval:
    """Return the approval. Raises InputError, which names `source`."""
    use = "use the version of this tool that approved"
    document = load_kind(text, source, KIND, "give a file that `approve` wrote", use)
    approval = decode(document, ApprovalJson, Place(source))
    if approval.digest != plan_digest(document):
        raise InputError(f"{source}: digest: it was changed after it was written; approve again")
    return to_model(approval, Approval)
