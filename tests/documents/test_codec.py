"""Values to JSON and back: what fits, and what is said of the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_unclean_recovery.documents.plan import read_plan
from kafka_unclean_recovery.documents.reading.codec import (
    canonical_json,
    compact_json,
    decode,
    decode_newer,
    json_text,
    to_json,
    to_model,
)
from kafka_unclean_recovery.documents.reading.json_text import Place, load_object
from kafka_unclean_recovery.documents.report import ReportJson
from kafka_unclean_recovery.documents.shared import ReplicaLogJson
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import ReplicaLog
from tests.golden import FORMATS, ON_DISK

LOG = json.loads(json.dumps(to_json(ON_DISK)))
HERE = Place("f.json").at("replica_logs").item(2)


ANY_TEXT = st.text(st.characters(categories=None, exclude_categories=()))
ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | ANY_TEXT | st.just(ON_DISK),
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
)


@given(ANY_VALUE)
@example({"topic": "\udcff", "reason": 'a "b"\\ \x7f\x1f\n/\u2028'})
def test_a_text_is_byte_for_byte_what_the_standard_library_writes(value: object) -> None:
    plain = to_json(value)
    assert json_text(value) == json.dumps(plain)
    assert compact_json(value) == json.dumps(plain, separators=(",", ":")).encode()
    assert canonical_json(value) == json.dumps(plain, sort_keys=True, separators=(",", ":"))


def test_a_value_comes_back_as_it_went() -> None:
    read = decode(LOG, ReplicaLogJson, HERE)
    assert to_model(read, ReplicaLog) == ON_DISK


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"broker": "1"}, 'f.json: replica_logs[2].broker: must be a whole number, not "1"'),
        ({"broker": 2**31}, "replica_logs[2].broker: must be a number from 0 to 2147483647, not"),
        ({"broker": 10**400}, "replica_logs[2].broker: must be a number from 0 to 2147483647, not"),
        ({"log_end_offset": 2**63}, "log_end_offset: must be a number from 0 to 92233720368547758"),
        ({"live": 1}, "replica_logs[2].live: must be true or false, not 1"),
        ({"source": None}, "replica_logs[2].source: must be a text in double quotes, not null"),
        (
            {"scanned": LOG["scanned"] | {"mode": "slow"}},
            'mode: must be one of "fast", "recover", ',
        ),
        ({"epochs": {}}, "replica_logs[2].epochs: must be a list [...], not an object"),
        ({"epochs": [3]}, "replica_logs[2].epochs[0]: must be an object {...}, not 3"),
        ({"colour": 1}, 'replica_logs[2]: has "colour", which is not known here; remove it'),
        ({"\ud800": 1}, 'replica_logs[2]: has "\\ud800", which is not known here; remove it'),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], says: str) -> None:
    value = load_object(json.dumps(LOG | change), "f.json")
    with pytest.raises(InputError) as caught:
        decode(value, ReplicaLogJson, HERE)
    assert says in str(caught.value)


def test_texts_by_broker_are_texts() -> None:
    report = load_object((FORMATS / "report.json").read_text(), "r") | {"silent_brokers": {"2": 3}}
    with pytest.raises(InputError, match=r"^r: silent_brokers\.2: must be a text"):
        decode(load_object(json.dumps(report), "r"), ReportJson, Place("r"))


def test_a_key_given_twice_is_refused_though_the_last_one_fits() -> None:
    text = json.dumps(LOG).replace('"epoch": 0', '"epoch": 0, "epoch": 0')
    with pytest.raises(InputError, match=r'epochs\[0\]: has "epoch" twice; remove one'):
        decode(load_object(text, "f.json"), ReplicaLogJson, Place("f.json"))


def test_what_a_later_version_knows_more_is_passed_over_where_that_is_asked_for() -> None:
    later = load_object(json.dumps({**LOG, "colour": {"deep": []}}), "f.json")
    assert to_model(decode_newer(later, ReplicaLogJson, HERE), ReplicaLog) == ON_DISK
    with pytest.raises(InputError, match="colour"):
        decode(later, ReplicaLogJson, HERE)


def test_what_does_not_fit_is_named_past_what_a_later_version_knows() -> None:
    later = load_object(json.dumps({"colour": {}, **LOG, "live": 1}), "f.json")
    with pytest.raises(InputError, match=r"replica_logs\[2\]\.live: must be true or false, not 1"):
        decode_newer(later, ReplicaLogJson, HERE)


def test_a_key_that_is_not_known_is_found_however_deep() -> None:
    text = json.dumps(LOG).replace('"epoch": 0', '"colour": 1, "epoch": 0')
    with pytest.raises(InputError, match=r'epochs\[0\]: has "colour", which is not known here'):
        decode(load_object(text, "f.json"), ReplicaLogJson, Place("f.json"))


def test_the_plan_of_a_later_version_is_read() -> None:
    document = json.loads((FORMATS / "plan.json").read_text())
    document["more"] = document["partitions"][0]["replica_logs"][0]["more"] = [1]
    document["digest"] = plan_digest(document)
    now = read_plan((FORMATS / "plan.json").read_text(), "plan.json")
    assert read_plan(json.dumps(document), "plan.json").partitions == now.partitions
