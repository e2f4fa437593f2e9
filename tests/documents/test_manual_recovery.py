"""What an operator may write in a partitions file, and what each slip is told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.documents.manual_recovery import (
    parse_elections,
    parse_partitions,
    parse_undesignated,
)
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import TopicPartition

FOO_0 = TopicPartition("foo", 0)
FOO_3 = TopicPartition("foo", 3)
BAR_1 = TopicPartition("bar", 1)


def entries(*texts: str) -> str:
    return f'{{"partitions": [{", ".join(texts)}]}}'


def entry(**fields: object) -> str:
    return entries(json.dumps({"topic": "foo", "partition": 0} | fields))


def test_both_forms_may_be_mixed_and_keep_their_order() -> None:
    text = entries(
        '{"topic": "foo", "partitions": [3, 0]}', '{"topic": "bar", "partition": 1, "note": "x"}'
    )
    assert parse_partitions(text, "f") == (FOO_3, FOO_0, BAR_1)


def test_a_byte_order_mark_and_other_keys_are_let_pass() -> None:
    text = '\ufeff{"version": 1, "partitions": [{"topic": "foo", "partition": 0}]}'
    assert parse_partitions(text, "f") == (FOO_0,)


def test_a_leader_is_ignored_where_only_partitions_are_asked_for() -> None:
    assert parse_partitions(entry(designatedLeader="whoever"), "f") == (FOO_0,)


def test_elections_take_the_key_of_either_kip() -> None:
    text = entries(
        '{"topic": "foo", "partition": 0, "designatedLeader": 4}',
        '{"topic": "foo", "partition": 3, "desiredLeader": 0}',
        '{"topic": "bar", "partitions": [1]}',
    )
    assert parse_elections(text, "f") == ((FOO_0, 4), (FOO_3, 0), (BAR_1, None))


def test_both_keys_may_stand_together_when_they_agree() -> None:
    text = entry(designatedLeader=4, desiredLeader=4)
    assert parse_elections(text, "f") == ((FOO_0, 4),)


# The third is that of a rich plan.
@pytest.mark.parametrize(
    "key", ["designatedLeader", "desiredLeader", "designated_leader", "DesignatedLeader", "leader"]
)
@pytest.mark.parametrize("leader", [0, 3, None, "3"])
def test_an_election_that_would_ignore_a_designated_leader_is_refused(
    key: str, leader: object
) -> None:
    assert parse_undesignated(entry(), "f") == (FOO_0,)
    with pytest.raises(InputError, match=rf"^f: partitions\[0\]\.{key}: the controller chooses"):
        parse_undesignated(entry(**{key: leader}), "f")


def test_what_a_leader_wrote_is_no_leader() -> None:
    assert parse_undesignated(entry(leader_epoch=3, leaders=[1]), "f") == (FOO_0,)


def test_a_leader_beside_a_list_is_meant_for_each_partition() -> None:
    text = entries('{"topic": "foo", "partitions": [0, 3], "designatedLeader": 2}')
    assert parse_elections(text, "f") == ((FOO_0, 2), (FOO_3, 2))


BAD_JSON = [
    ("", "p.json: line 1: the file is empty"),
    (" \n", "p.json: line 1: the file is empty"),
    (
        '{"partitions": [\n {topic: "foo", partitions: [0]}]}',
        "p.json: line 2 column 3: Expecting property name enclosed in double quotes; names and",
    ),
    ('{"partitions": [\n  {"topic": "foo",\n', "p.json: line 3 column 1: "),
    ('{"partitions": []} {}', "p.json: line 1 column 20: Extra data"),
    ('\ufeff{"partitions": [}', "p.json: line 1 column 17: "),
    ('{"a": "NaN",\n "partitions": NaN}', "p.json: line 2 column 16: NaN is not a JSON number"),
    ('{"partitions":\n-Infinity}', "p.json: line 2 column 1: -Infinity is not a JSON number"),
    (f'{{"a": "{"9" * 5000}",\n"b": {"9" * 5000}}}', "p.json: line 2: a number has too many dig"),
    ("[" * 200_000, "p.json: nested too deeply"),
    ('{"partitions":' * 200_000, "p.json: nested too deeply"),
]

BAD_SHAPE = [
    ("[]", "p.json: must be an object {...}, not a list"),
    ("null", "p.json: must be an object {...}, not null"),
    ("{}", 'p.json: has no "partitions"'),
    ('{"partitions": [], "partitions": []}', 'p.json: has "partitions" twice; remove one'),
    ('{"partitions": {}}', "p.json: partitions: must be a list [...], not an object"),
    ('{"partitions": []}', "p.json: partitions: is an empty list; name at least one partition"),
    (entries("3"), "p.json: partitions[0]: must be an object {...}, not 3"),
    (
        entries('{"topic": "foo", "partition": 0}', '{"partition": 0, "topic": "b", "topic": "c"}'),
        'p.json: partitions[1]: has "topic" twice; remove one of the two',
    ),
    (entries('{"partition": 0}'), 'p.json: partitions[0]: has no "topic"; add the name'),
    (entry(topic=7), "partitions[0].topic: must be the name of a topic in double quotes, not 7"),
    (entry(topic=""), 'partitions[0].topic: "" is not a legal topic name; it has 1 to 249'),
    (entry(topic="."), 'partitions[0].topic: "." is not a legal topic name'),
    (entry(topic=".."), 'partitions[0].topic: ".." is not a legal topic name'),
    (entry(topic="foo\n"), r'partitions[0].topic: "foo\n" is not a legal topic name'),
    (entry(topic="f/o"), 'partitions[0].topic: "f/o" is not a legal topic name'),
    (entry(topic="x" * 250), f'partitions[0].topic: "{"x" * 59}... is not a legal topic name'),
    (entries('{"topic": "foo"}'), "partitions[0]: has neither of"),
    (entry(partitions=[1]), "partitions[0]: has both of"),
    (
        entry(partition="3"),
        'partitions[0].partition: must be a partition number, a whole number, not "3"; remove the',
    ),
    (entry(partition=True), "partitions[0].partition: must be a partition number, a whole number,"),
    (entry(partition=None), "partitions[0].partition: must be a partition number, a whole number,"),
    (entry(partition=1.0), "a whole number, not 1.0"),
    (entry(partition=[0]), "a whole number, not a list"),
    (entry(partition=-1), "partitions[0].partition: must be a partition number from 0 to 21474836"),
    (entry(partition=2**31), "from 0 to 2147483647, not 2147483648"),
    (entries('{"topic": "foo", "partition": 1e999}'), "a whole number, not Infinity"),
    (entries('{"topic": "f", "partitions": 0}'), "partitions[0].partitions: must be a list [...],"),
    (entries('{"topic": "f", "partitions": []}'), "partitions[0].partitions: is an empty list"),
    (
        entries('{"topic": "f", "partitions": [0, false]}'),
        "partitions[0].partitions[1]: must be a partition number, a whole number, not false",
    ),
    (
        entries('{"topic": "foo", "partitions": [1, 0]}', '{"topic": "foo", "partition": 0}'),
        "partitions[1].partition: foo-0 was already named at partitions[0].partitions[1]; remove",
    ),
    (
        entries('{"topic": "foo", "partitions": [1, 1]}'),
        "partitions[0].partitions[1]: foo-1 was already named at partitions[0].partitions[0]",
    ),
]

BAD_LEADER = [
    (entry(designatedLeader=None), "partitions[0].designatedLeader: must be a broker id, a whole"),
    (
        entry(designatedLeader="1"),
        "partitions[0].designatedLeader: must be a broker id, a whole nu",
    ),
    (entry(desiredLeader=True), "partitions[0].desiredLeader: must be a broker id, a whole number"),
    (entry(designatedLeader=-1), "partitions[0].designatedLeader: must be a broker id from 0 to"),
    (
        entry(designatedLeader=1, desiredLeader=2),
        "partitions[0]: has designatedLeader 1 and desiredLeader 2, which differ; keep one of them",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD_JSON + BAD_SHAPE)
def test_bad_input_is_named_by_line_or_entry(text: str, message: str) -> None:
    for parse in (parse_partitions, parse_elections):
        with pytest.raises(InputError) as caught:
            parse(text, "p.json")
        assert message in str(caught.value)
        assert str(caught.value).startswith("p.json: ")


@pytest.mark.parametrize(("text", "message"), BAD_LEADER)
def test_a_bad_leader_is_named_by_its_entry(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_elections(text, "p.json")
    assert message in str(caught.value)


def test_a_value_nested_just_below_the_bound_is_told_as_any_other() -> None:
    depth = 900
    text = entries(f'{{"topic": "foo", "partition": {"[" * depth}{"]" * depth}}}')
    with pytest.raises(InputError, match=r"partition: must be .* not a list|nested too deeply"):
        parse_partitions(text, "p.json")


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.sampled_from(["foo", "", "3"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["partitions", "topic", "partition", "designatedLeader"]), inner
        )
    ),
)


@given(ANY_JSON)
def test_any_json_is_read_or_refused(value: object) -> None:
    try:
        read = parse_elections(json.dumps({"partitions": value}), "p.json")
    except InputError as error:
        assert str(error).startswith("p.json: ")  # noqa: PT017
    else:
        assert read


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^p\.json: "):
        parse_partitions(text, "p.json")
