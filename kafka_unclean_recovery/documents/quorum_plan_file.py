"""The plan of a new metadata quorum, read back. Pure."""

from __future__ import annotations

from kafka_unclean_recovery.documents.plan_file import plan_digest
from kafka_unclean_recovery.documents.quorum import QuorumPlanJson
from kafka_unclean_recovery.documents.reading.codec import decode, load_kind
from kafka_unclean_recovery.documents.reading.json_text import Place, load_object
from kafka_unclean_recovery.errors import InputError

KIND = "quorum-plan"


def is_quorum_plan(text: str, source: str) -> bool:
    """Whether it says so. Raises InputError for what is no JSON object."""
    return load_object(text, source).get("kind") == KIND


def read_quorum_plan(text: str, source: str) -> QuorumPlanJson:
    """Of a file of `quorum plan --plan-output-file`. Raises InputError, which names `source`."""
    give = "give a file that `quorum plan --plan-output-file` wrote"
    document = load_kind(text, source, KIND, give, "use the version of this tool that wrote it")
    plan = decode(document, QuorumPlanJson, Place(source))
    if plan.digest != plan_digest(document):
        raise InputError(f"{source}: digest: it was changed after it was written; plan again")
    return plan
