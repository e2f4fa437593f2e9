"""librdkafka's admin client reads what groups have committed, and commits for groups without
members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import confluent_kafka
import confluent_kafka.admin

from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.offsets.commits import SavedCommit
from kafka_unclean_recovery.salvage.offsets.resets import Now, Reset
from kafka_unclean_recovery.salvage.replay.producing import TIMEOUT, Client, ProducingFailed

_EMPTY = ("EMPTY", "DEAD")

_URL_SAFE = str.maketrans("+/", "-_")

# confluent-kafka's annotations are not correct.
_confluent: Any = confluent_kafka
_admin: Any = confluent_kafka.admin


class GroupFailed(ProducingFailed):
    """The cluster refused a request on one group; the message names both."""


def read_now(
    client: Client,
    commits: Sequence[SavedCommit],
    epoch_ends: Mapping[tuple[TopicPartition, int], int],
    going_on: Callable[[], None],
) -> Now:
    """Return the cluster as it is, as far as these commits are concerned. Raises NotReached,
    ProducingFailed, and what `going_on` raises."""
    admin = client.admin()
    there = client.partitions({commit.topic_partition.topic for commit in commits})
    wanted = sorted({c.topic_partition for c in commits} & there)
    going_on()
    starts = _offsets(admin, wanted, _admin.OffsetSpec.earliest())
    ends = _offsets(admin, wanted, _admin.OffsetSpec.latest())
    committed: dict[tuple[str, TopicPartition], int] = {}
    names = sorted({commit.group for commit in commits})
    for group in names:
        going_on()
        committed |= {(group, tp): offset for tp, offset in _committed(admin, group).items()}
    return Now(
        committed,
        frozenset(_active(admin, names)),
        {tp: (starts[tp], ends[tp]) for tp in wanted},
        _topic_ids(admin, sorted({tp.topic for tp in wanted})),
        epoch_ends,
    )


@dataclass(slots=True)
class BroughtBack:
    """What became of the commits. done: how many were brought back. changed: as they are now, those
    that are not any more as they were shown, and were left alone."""

    done: int = 0
    changed: list[Reset] = field(default_factory=list)


LookAgain = Callable[[Sequence[Reset]], Sequence[Reset]]
"""Return what is to become of these lost commits as the cluster is now, in the same order."""


def bring_back(
    client: Client,
    wanted: Iterable[Reset],
    look_again: LookAgain,
    going_on: Callable[[], None],
    result: BroughtBack,
) -> None:
    """Commit these offsets, group by group, each directly after another look at the group, and
    count them in `result`. A commit that is not as it was shown is left alone. Raises GroupFailed,
    and what `look_again` and `going_on` raise; groups before that one have their commits."""
    admin = client.admin()
    ordered = sorted(wanted, key=_group)
    for group, its in groupby(ordered, _group):
        going_on()
        before = list(its)
        now = look_again(before)
        result.changed += [n for b, n in zip(before, now, strict=True) if b != n]
        same = [_place(n.saved) for b, n in zip(before, now, strict=True) if b == n]
        if same:
            _commit(admin, group, same)
            result.done += len(same)


def _group(reset: Reset) -> str:
    return reset.saved.group


def _commit(admin: Any, group: str, places: Sequence[Any]) -> None:
    asked = _confluent.ConsumerGroupTopicPartitions(group, places)
    answered = _result(admin.alter_consumer_group_offsets([asked])[group], group)
    refused = [p for p in answered.topic_partitions if p.error is not None]
    if refused:
        raise GroupFailed(f"group {group}: {refused[0].topic}: {refused[0].error.str()}")


def _place(commit: SavedCommit) -> Any:
    where = commit.topic_partition
    # librdkafka's texts end at the first NUL; its own clients commit one behind the metadata.
    metadata, _, _ = commit.metadata.partition("\0")
    place = (where.topic, where.partition, commit.offset, metadata)
    epoch = () if commit.leader_epoch is None else (commit.leader_epoch,)
    return _confluent.TopicPartition(*place, *epoch)


def _offsets(admin: Any, wanted: Sequence[TopicPartition], spec: Any) -> dict[TopicPartition, int]:
    if not wanted:
        return {}
    places = {tp: _confluent.TopicPartition(tp.topic, tp.partition) for tp in wanted}
    futures = admin.list_offsets(dict.fromkeys(places.values(), spec))
    return {tp: _result(futures[place], str(tp)).offset for tp, place in places.items()}


def _topic_ids(admin: Any, topics: Sequence[str]) -> dict[str, str]:
    if not topics:
        return {}
    described = admin.describe_topics(_confluent.TopicCollection(topics))
    return {topic: _id(_result(described[topic], topic).topic_id) for topic in topics}


def _id(topic_id: Any) -> str:
    """Return the id as Kafka writes it; librdkafka has the other alphabet of base64."""
    return str(topic_id).translate(_URL_SAFE)


def _committed(admin: Any, group: str) -> dict[TopicPartition, int]:
    future = admin.list_consumer_group_offsets([_confluent.ConsumerGroupTopicPartitions(group)])
    found = _result(future[group], f"group {group}").topic_partitions
    return {TopicPartition(p.topic, p.partition): p.offset for p in found if p.offset >= 0}


def _active(admin: Any, groups: Sequence[str]) -> Iterable[str]:
    """Yield the groups that have members, or may have."""
    for group, future in admin.describe_consumer_groups(groups).items() if groups else ():
        if _result(future, f"group {group}").state.name not in _EMPTY:
            yield group


def _result(future: Any, what: str) -> Any:
    try:
        return future.result(TIMEOUT)
    except _confluent.KafkaException as error:
        raise GroupFailed(f"{what}: {error.args[0].str()}") from None
    except FutureTimeout:
        raise GroupFailed(f"{what}: no answer within {TIMEOUT:.0f} s") from None
