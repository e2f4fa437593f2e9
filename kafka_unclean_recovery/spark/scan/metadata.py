"""Tasks find the newest metadata log: each replays one node's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pyarrow

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import ClusterMetadata
from kafka_unclean_recovery.log_dir.metadata.following import can_be_followed
from kafka_unclean_recovery.log_dir.metadata.image import (
    BrokerRegistration,
    MetadataImage,
    partition_states,
)
from kafka_unclean_recovery.log_dir.metadata.newest import (
    NONE_BELIEVED,
    apart,
    compacted_topics,
    doubts,
    reach_of,
    read_node,
    repeats,
)
from kafka_unclean_recovery.log_dir.scan_rows import directories_in_metadata
from kafka_unclean_recovery.log_dir.tree import Location, Unreadable
from kafka_unclean_recovery.model import PartitionInfo, PartitionState
from kafka_unclean_recovery.spark.new_files import write_rows
from kafka_unclean_recovery.spark.places import location_of
from kafka_unclean_recovery.spark.scan.job import asked_there
from kafka_unclean_recovery.spark.tables import PARTITIONS, partition_row
from kafka_unclean_recovery.spark.tasks import told
from kafka_unclean_recovery.spark.turns import Turns, is_here

_arrow: Any = pyarrow

# directories: ids of the log directories of `replicas`, as their brokers told the controller; empty
# where they told none.
STATES: Any = PARTITIONS.remove_metadata().append(
    _arrow.field("directories", _arrow.list_(_arrow.string()))
)


@dataclass(frozen=True, slots=True)
class Known:
    """The newest metadata log without the states of its partitions; empty where there is no log.

    image: only the registered brokers, for log_dir.scan. end_offset: exclusive. problems: the
    problems of all metadata logs. read: the numbers of the logs that could be read. states: how
    many there are.
    """

    image: MetadataImage
    epoch: int | None
    end_offset: int | None
    compacted: frozenset[str]
    problems: tuple[str, ...]
    read: frozenset[int]
    states: int = 0


def rank_metadata(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Tell how far the metadata logs with these numbers among the locations of the settings go by
    the sizes of their files; for DataFrame.mapInArrow."""
    turns = Turns(settings)
    for number in turns.of(batches, lambda n: [_log_at(settings, n)]):
        reach = reach_of(_log_at(settings, number)) or (0,)
        yield told({"number": number, "reach": reach})
    yield told(*turns.said)


def weigh_metadata(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Tell the authority of the metadata logs with these numbers among the locations of the
    settings, and whether others can be compared with it; of those that only repeat the furthest
    log of the settings, that; for DataFrame.mapInArrow."""
    furthest = settings.get("furthest")
    turns = Turns(settings)
    for number in turns.of(batches, lambda n: [_log_at(settings, n)]):
        location = _log_at(settings, number)
        try:
            if furthest is not None:
                best = location_of(furthest["location"], settings["store"])
                if is_here(best) and repeats(best, tuple(furthest["authority"]), location):
                    yield told({"number": number, "repeats": True})
                    continue
            metadata = read_node(location)
        except (BadFormat, Unreadable) as error:
            yield told({"number": number, "problem": f"{location}: {error}"})
        else:
            sound = can_be_followed(metadata)
            yield told({"number": number, "authority": metadata.authority, "sound": sound})
    yield told(*turns.said)


def compare_metadata(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Tell what speaks against one quorum having written the newest metadata log and those with
    these numbers among the others; for DataFrame.mapInArrow."""
    best, *others = (location_of(each, settings["store"]) for each in settings["locations"])
    newest: ClusterMetadata | None = None
    turns = Turns(settings)
    for number in turns.of(batches, lambda n: [best, others[n]]):
        try:
            newest = newest or read_node(best)
            other = read_node(others[number])
            found = apart((best, newest), (others[number], other))
        except (BadFormat, Unreadable) as error:
            yield told({"number": number, "said": f"{others[number]}: {error}", "sure": False})
            continue
        if found is not None:
            both = compacted_topics(newest.image) | compacted_topics(other.image)
            topics = sorted(both) if found.sure else []
            yield told(
                {"number": number, "said": found.said, "sure": found.sure, "compacted": topics}
            )
    yield told(*turns.said)


def newest_of(weighed: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the number of the metadata log that counts, from what weigh_metadata told."""
    read = [row for row in weighed if "authority" in row]
    if not read:
        return None
    best = max(read, key=lambda row: (*row["authority"], -row["number"]))
    return int(best["number"])


def write_states(settings: Mapping[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Write the states of the metadata log at the settings' location to a file, and tell the rest
    of what it says; for DataFrame.mapInArrow."""
    home, asked = asked_there(dict(settings))
    location = location_of(settings["location"], dict(asked.store))
    turns = Turns(settings)
    for _ in turns.of(batches, lambda _: [location]):
        metadata = read_node(location)
        image, wanted = metadata.image, asked.wanted()
        states = [s for s in partition_states(image) if wanted(s.topic_partition)]
        write_rows(home.states, (_state_row(image, state) for state in states), STATES)
        problems = [f"{location}: {doubt}" for doubt in doubts(metadata)]
        yield told({**_known_row(metadata), "problems": problems, "states": len(states)})
    yield told(*turns.said)


def _log_at(settings: Mapping[str, Any], number: int) -> Location:
    return location_of(settings["locations"][number], settings["store"])


def of_two_histories(
    weighed: Sequence[Mapping[str, Any]], compared: Sequence[Mapping[str, Any]]
) -> Known:
    """Return what is known where the metadata logs are of two histories. compared: what
    compare_metadata told of those that are not of the newest's."""
    compacted = frozenset(topic for row in compared for topic in row["compacted"])
    first = min(compared, key=lambda row: int(row["number"]))
    problems = (*_problems(weighed), str(first["said"]) + NONE_BELIEVED)
    return Known(MetadataImage(), None, None, compacted, problems, frozenset())


def _problems(weighed: Sequence[Mapping[str, Any]]) -> list[str]:
    ordered = sorted(weighed, key=lambda row: int(row["number"]))
    return [str(row["problem"]) for row in ordered if "problem" in row]


def known_of(
    weighed: Sequence[Mapping[str, Any]],
    newest: Mapping[str, Any] | None,
    doubts_of_others: Sequence[str] = (),
) -> Known:
    """Return what the metadata logs say. newest: as write_states told, None without a log."""
    problems = [*_problems(weighed), *doubts_of_others]
    read = frozenset(int(row["number"]) for row in weighed if "problem" not in row)
    if newest is None:
        return Known(MetadataImage(), None, None, frozenset(), tuple(problems), read)
    return Known(
        image=_brokers_only(newest["brokers"]),
        epoch=newest["epoch"],
        end_offset=newest["end_offset"],
        compacted=frozenset(newest["compacted"]),
        problems=(*problems, *newest["problems"]),
        read=read,
        states=newest["states"],
    )


def _state_row(image: MetadataImage, state: PartitionState) -> dict[str, Any]:
    row = partition_row(PartitionInfo(state.topic_partition, state, ()))
    return {**row, "directories": directories_in_metadata(image, state)}


def _known_row(metadata: ClusterMetadata) -> dict[str, Any]:
    image = metadata.image
    return {
        "epoch": metadata.last_epoch,
        "end_offset": metadata.end_offset,
        "compacted": sorted(compacted_topics(image)),
        "brokers": [[b.id, [str(id_) for id_ in b.log_dirs]] for b in image.brokers.values()],
    }


def _brokers_only(brokers: Iterable[tuple[int, Sequence[str]]]) -> MetadataImage:
    """Return as much of the image as log_dir.scan asks of it."""
    return MetadataImage(
        brokers={
            id_: BrokerRegistration(
                id=id_,
                epoch=0,
                incarnation_id=UUID(int=0),
                fenced=True,
                in_controlled_shutdown=False,
                endpoints=(),
                log_dirs=tuple(UUID(text) for text in log_dirs),
            )
            for id_, log_dirs in brokers
        }
    )
