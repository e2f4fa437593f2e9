"""The sign-off of a plan as a file."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.documents.approval import Approval, approval_json, parse_approval
from kafka_unclean_recovery.errors import InputError
from tests.schemas import validated

SIGNED = Approval("sha256:" + "0" * 64, "cluster-1", "alice", "2026-01-02T03:04:05+00:00")
TEXT = approval_json(SIGNED)


def test_an_approval_is_read_as_it_was_written() -> None:
    validated(TEXT)
    assert parse_approval(TEXT, "a") == SIGNED


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("alice", "bob", "digest: it was changed after it was written; approve again"),
        ("0000", "1111", "digest: it was changed"),
        ('"format_version": 1', '"format_version": true', "format_version: only 1 is known"),
        ('"kind": "approval"', '"kind": "plan"', 'kind: is not "approval"'),
        ('"approved_by": "alice"', '"approved_by": 1', "approved_by: must be a text"),
        ('"cluster_id": "cluster-1",', "", 'has no "cluster_id"'),
        ('"kind"', '"more": [], "kind"', 'has "more", which is not known here'),
        ("{", "[", "line"),
    ],
)
def test_what_is_no_approval_is_named(old: str, new: str, says: str) -> None:
    with pytest.raises(InputError, match=f"mine.json: .*{says}"):
        parse_approval(TEXT.replace(old, new, 1), "mine.json")
