"""The sign-off of a plan by a second person, as a file: schemas/approval-1.schema.json. Pure.

It guards against mistakes: another plan, a plan or a sign-off that was changed, the same person
twice. Its digest is no signature, so whoever wants to forge one can.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.json_fields import Fields
from kafka_unclean_recovery.files.json_text import Place, load_object
from kafka_unclean_recovery.files.plan_file import plan_digest

FORMAT_VERSION = 1
KIND = "approval"
_KEYS = ("plan_digest", "cluster_id", "approved_by", "approved_at")


@dataclass(frozen=True, slots=True)
class Approval:
    """plan_digest: of the rich plan. approved_by: a user of an operating system. approved_at:
    ISO 8601 with its offset from UTC."""

    plan_digest: str
    cluster_id: str
    approved_by: str
    approved_at: str


def approval_json(approval: Approval) -> str:
    head = {"format_version": FORMAT_VERSION, "kind": KIND, **asdict(approval)}
    return json.dumps({**head, "digest": plan_digest(head)}, indent=2) + "\n"


def parse_approval(text: str, source: str) -> Approval:
    """Raises InputError, which names `source`."""
    document = Fields(Place(source), load_object(text, source))
    if document.values.get("kind") != KIND:
        raise InputError(f'{source}: kind: is not "{KIND}"; give a file that `approve` wrote')
    version = document.values.get("format_version")
    if version != FORMAT_VERSION or isinstance(version, bool):  # True == 1
        raise InputError(
            f"{source}: format_version: only {FORMAT_VERSION} is known here; use the version of"
            " this tool that approved"
        )
    document.only(("format_version", "kind", "digest", *_KEYS))
    approval = Approval(*(document.text(key) for key in _KEYS))
    if document.text("digest") != plan_digest(document.values):
        raise InputError(f"{source}: digest: it was changed after it was written; approve again")
    return approval
