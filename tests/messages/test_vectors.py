"""Our messages against bytes written by hand."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
from kafka.protocol.admin.topics import ElectLeadersRequest as TheirElectLeadersRequest
from kafka.protocol.admin.topics import ElectLeadersResponse as TheirElectLeadersResponse

from kafka_unclean_recovery import messages
from kafka_unclean_recovery.cluster.wire.frames import response_class
from kafka_unclean_recovery.messages import (
    api_versions,
    elect_leaders,
    get_replica_log_info,
    share_groups,
)
from tests import controller_messages
from tests.controller_messages import controller
from tests.messages.building import build, plain
from tests.messages.vectors import VECTORS, Vector

CLASSES = {
    name: found
    for module in (api_versions, controller, elect_leaders, get_replica_log_info, share_groups)
    for name, found in vars(module).items()
    if name.endswith(("Request", "Response"))
}
each_vector = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)


@each_vector
def test_a_message_is_encoded_to_the_byte(vector: Vector) -> None:
    message = build(vector.message_class, vector.values)
    assert message.encode(version=vector.version).hex(" ") == vector.data.hex(" ")


@each_vector
def test_the_bytes_of_a_message_are_decoded(vector: Vector) -> None:
    found = vector.message_class.decode(vector.data, version=vector.version)
    assert plain(found) == vector.values


@pytest.mark.parametrize("message_class", CLASSES.values(), ids=CLASSES)
def test_every_version_has_a_vector(message_class: Any) -> None:
    low, high = message_class.valid_versions
    written = {v.version for v in VECTORS if v.message_class is message_class}
    assert written == set(range(low, high + 1))


def test_every_file_has_its_class() -> None:
    names = {
        path.name for where in (messages, controller_messages) for path in files(where).iterdir()
    }
    assert {f"{name}.json" for name in CLASSES} == {n for n in names if n.endswith(".json")}


def test_no_two_dialects_share_a_key() -> None:
    keys = [found.API_KEY for found in CLASSES.values() if found.is_request()]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("name", [name for name in CLASSES if name.endswith("Request")])
def test_each_answer_stands_beside_its_request(name: str) -> None:
    answer = response_class(CLASSES[name]())
    assert answer is CLASSES[name.removesuffix("Request") + "Response"]
    assert answer.API_KEY == CLASSES[name].API_KEY


@pytest.mark.parametrize("version", range(3))
def test_elect_leaders_is_what_kafka_python_has_up_to_its_last_version(version: int) -> None:
    pairs = {
        elect_leaders.ElectLeadersRequest: TheirElectLeadersRequest,
        elect_leaders.ElectLeadersResponse: TheirElectLeadersResponse,
    }
    vectors = [v for v in VECTORS if v.version == version and v.message_class in pairs]
    assert len(vectors) >= 2
    for vector in vectors:
        theirs = build(pairs[vector.message_class], vector.values)
        assert theirs.encode(version=version) == vector.data
