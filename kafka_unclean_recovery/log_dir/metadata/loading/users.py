"""Replay what is about users: ACLs, credentials, tokens, producer ids."""

from __future__ import annotations

from kafka_unclean_recovery.log_dir.metadata.loading.state import ABSENT, Fields, Refusal, State

_OF_AN_ACL = (
    *("resource_type", "resource_name", "pattern_type"),
    *("principal", "host", "operation", "permission_type"),
)
_NEXT_PRODUCER_ID = "next producer id"


def add_acl(state: State, fields: Fields) -> Refusal:
    acl = tuple(fields[name] for name in _OF_AN_ACL)
    state.put(state.acls, fields["id"], acl)
    state.put(state.acls_there, acl, None)
    return None


def remove_acl(state: State, fields: Fields) -> Refusal:
    """Remove the ACL with this id. An ACL that has two ids is gone with the first of them."""
    acl = state.acls.get(fields["id"])
    if acl is None:
        return f"no ACL has id {fields['id']}"
    if acl not in state.acls_there:
        return f"the ACL with id {fields['id']} was removed under another id"
    state.put(state.acls, fields["id"], ABSENT)
    state.put(state.acls_there, acl, ABSENT)
    return None


def set_scram(state: State, fields: Fields) -> Refusal:
    state.put(state.scram, (fields["name"], fields["mechanism"]), None)
    return None


def remove_scram(state: State, fields: Fields) -> Refusal:
    credential = fields["name"], fields["mechanism"]
    if credential not in state.scram:
        return f"user {fields['name']} has no credential of mechanism {fields['mechanism']}"
    state.put(state.scram, credential, ABSENT)
    return None


def hand_out_producer_ids(state: State, fields: Fields) -> Refusal:
    following = fields["next_producer_id"]
    before = state.numbers.get(_NEXT_PRODUCER_ID)
    if before is not None and following <= before:
        return f"producer ids go back from {before} to {following}"
    state.put(state.numbers, _NEXT_PRODUCER_ID, following)
    return None


def add_token(_: State, fields: Fields) -> Refusal:
    for principal in (fields["owner"], fields["requester"], *fields["renewers"]):
        if ":" not in principal and principal:
            return f"{principal} is no principal, which is type:name"
    return None
