"""The file of KIP-1275, in which an operator names partitions and leaders: written, and read
strictly. It names no kind and no version. Pure.

Accepted, mixed freely (KIP-1275, "kafka-unclean-recovery.sh" and "kafka-elect-leaders.sh"):

    {"partitions": [{"topic": "foo", "partitions": [0, 3]},
                    {"topic": "bar", "partition": 0, "designatedLeader": 1}]}

A slip in such a file elects the wrong replica, so nothing is guessed and nothing given twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import field

from kafka_unclean_recovery.documents.reading.codec import (
    json_text,
)
from kafka_unclean_recovery.documents.reading.json_text import (
    JsonObject,
    Place,
    an_object,
    load_object,
    shown,
)
from kafka_unclean_recovery.documents.values import Entry, Int32, TopicName, published
from kafka_unclean_recovery.documents.writing import partitions_by_chunk
from kafka_unclean_recovery.model import (
    PartitionPlan,
    TopicPartition,
)

STOCK_SCRIPT_WARNING = (
    "warning: kafka-leader-election.sh of today's Kafka accepts this file and ignores the "
    "designated leaders in it, so it may elect a replica that loses more; "
    "use kafka-elect-leaders --election-type designated"
)
"""For stderr, wherever the KIP's file is written."""


class ElectionJson(Entry, frozen=True):
    """One election.

    designated_leader: Broker id of the replica to elect.
    """

    topic: TopicName
    partition: Int32
    designated_leader: Int32 = field(name="designatedLeader")


@published("File of --manual-recovery-output-file (KIP-1275)")
class ManualRecoveryJson(Entry, frozen=True):
    """Partitions and their designated leaders, for kafka-elect-leaders --election-type designated.
    May be edited.

    partitions: One election for each partition, by topic and partition.
    """

    partitions: tuple[ElectionJson, ...]


def manual_recovery_json(plans: Iterable[PartitionPlan]) -> str:
    """Return the file of --manual-recovery-output-file (KIP-1275), by topic and partition, a line
    each.

    Plans without a designated leader are left out.
    """
    lines = (
        leader_line(plan.state.topic, plan.state.partition, plan.designated_leader)
        for plan in sorted(plans, key=lambda plan: plan.state.topic_partition)
        if plan.designated_leader is not None
    )
    return "".join(partitions_by_chunk({}, lines, dict))


def leader_line(topic: str, partition: int, leader: int) -> str:
    """Return one partition's line of the manual recovery file."""
    return json_text(ElectionJson(topic, partition, leader))


LEADER_KEYS = ("designatedLeader", "desiredLeader")
"""The key of KIP-1275, and that of KIP-966 before it."""

_INT32_MAX = 2**31 - 1
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def parse_partitions(text: str, source: str) -> tuple[TopicPartition, ...]:
    """Return the partitions that `text` names, in its order; other keys (a leader) are ignored.

    `source` is what errors call the file. Raises InputError.
    """
    seen: dict[TopicPartition, Place] = {}
    for place, entry in _entries(text, source):
        for where, topic_partition in _partitions_of(entry, place):
            _claim(seen, topic_partition, where)
    return tuple(seen)


def parse_elections(text: str, source: str) -> tuple[tuple[TopicPartition, int | None], ...]:
    """Return (partition, broker id of its designated leader or None), in the order of `text`.

    A leader beside a list of partitions is meant for each of them. Raises InputError.
    """
    seen: dict[TopicPartition, Place] = {}
    elections: list[tuple[TopicPartition, int | None]] = []
    for place, entry in _entries(text, source):
        leader = _leader(entry, place)
        for where, topic_partition in _partitions_of(entry, place):
            _claim(seen, topic_partition, where)
            elections.append((topic_partition, leader))
    return tuple(elections)


def parse_undesignated(text: str, source: str) -> tuple[TopicPartition, ...]:
    """Return the partitions of elections whose leaders the controller chooses, in the order of
    `text`. Raises InputError, for a designated leader too: the controller would choose another."""
    for place, entry in _entries(text, source):
        for key in entry:
            if _names_leader(key):
                raise place.at(key).error(
                    "the controller chooses the leaders of preferred and unclean elections, and"
                    " would not look at this one; give --election-type designated to elect it, or"
                    f" remove each {key} from the file"
                )
    return parse_partitions(text, source)


def _names_leader(key: str) -> bool:
    """Return True for a key that names a leader, also in another spelling, as in a rich plan."""
    return re.sub(r"[^a-z]", "", key.lower()).endswith("leader")


def _entries(text: str, source: str) -> Iterator[tuple[Place, JsonObject]]:
    place = Place(source).at("partitions")
    root = load_object(text, source)
    if "partitions" not in root:
        raise Place(source).error('has no "partitions"; write {"partitions": [{"topic": ...}]}')
    for index, entry in enumerate(_as_list(root["partitions"], place)):
        yield place.item(index), an_object(entry, place.item(index))


def _partitions_of(entry: JsonObject, place: Place) -> Iterator[tuple[Place, TopicPartition]]:
    topic = _topic(entry, place)
    if ("partition" in entry) == ("partitions" in entry):
        has = "both" if "partition" in entry else "neither"
        raise place.error(
            f'has {has} of "partition" (a number) and "partitions" (a list); give one'
        )
    if "partition" in entry:
        where = place.at("partition")
        yield where, TopicPartition(topic, _number(entry["partition"], where, "partition number"))
        return
    for index, number in enumerate(_as_list(entry["partitions"], place.at("partitions"))):
        where = place.at("partitions").item(index)
        yield where, TopicPartition(topic, _number(number, where, "partition number"))


def _claim(seen: dict[TopicPartition, Place], named: TopicPartition, where: Place) -> None:
    first = seen.setdefault(named, where)
    if first is not where:
        raise where.error(f"{named} was already named at {first.path}; remove one of the two")


def _leader(entry: JsonObject, place: Place) -> int | None:
    given = [_number(entry[key], place.at(key), "broker id") for key in LEADER_KEYS if key in entry]
    if len(set(given)) > 1:
        both = " and ".join(f"{key} {id_}" for key, id_ in zip(LEADER_KEYS, given, strict=True))
        raise place.error(f"has {both}, which differ; keep one of them")
    return given[0] if given else None


def _topic(entry: JsonObject, place: Place) -> str:
    if "topic" not in entry:
        raise place.error('has no "topic"; add the name of the topic')
    name, where = entry["topic"], place.at("topic")
    if not isinstance(name, str):
        raise where.error(f"must be the name of a topic in double quotes, not {shown(name)}")
    check_topic(name, where)
    return name


def check_topic(name: str, where: Place) -> None:
    """Raise InputError for what can't name a topic."""
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise where.error(
            f"{shown(name)} is not a legal topic name; "
            'it has 1 to 249 of a-z A-Z 0-9 . _ - and is not "." or ".."'
        )


def _number(value: object, place: Place, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        fix = "; remove the quotes" if isinstance(value, str) and value.isdecimal() else ""
        raise place.error(f"must be a {what}, a whole number, not {shown(value)}{fix}")
    if not 0 <= value <= _INT32_MAX:
        raise place.error(f"must be a {what} from 0 to {_INT32_MAX}, not {shown(value)}")
    return value


def _as_list(value: object, place: Place) -> list[object]:
    if not isinstance(value, list):
        raise place.error(f"must be a list [...], not {shown(value)}")
    if not value:
        raise place.error("is an empty list; name at least one partition")
    return value
