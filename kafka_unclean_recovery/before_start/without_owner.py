"""Log directories whose meta.properties does not tell whose they are, beside others of a broker.

Source: org.apache.kafka.metadata.properties.MetaPropertiesEnsemble.Loader (load) and
kafka.server.KafkaRaftServer (initializeLogDirs): a file that can't be parsed takes the directory
offline, one without a node ends the broker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafka_unclean_recovery.log_dir.log_directory import LogDirectory, NoOwner, read_log_directory
from kafka_unclean_recovery.log_dir.metadata.newest import CLUSTER_METADATA
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    META_PROPERTIES,
    NO_BROKER_ID,
)
from kafka_unclean_recovery.log_dir.start.fate import Cause, DirectoryStart, Fate
from kafka_unclean_recovery.log_dir.tree import Location, Unreadable

_OWNER_ANEW = (
    "write it anew as in the broker's other log directories, with the directory.id that the"
    " cluster's metadata has for it"
)


def without_owner(
    found: Sequence[LogDirectory],
    unread: Sequence[tuple[Location, Unreadable]],
    unseen: Sequence[str],
) -> tuple[list[tuple[LogDirectory, DirectoryStart]], list[str]]:
    """Return (the log directories whose meta.properties tells no owner, each with what its broker
    makes of it; sentences on all else that could not be read)."""
    lost, left = [], list(unseen)
    for location, error in unread:
        try:
            if not isinstance(error, NoOwner):
                raise error
            meta = replace(found[0].meta, directory_id=None)
            directory = read_log_directory(location, meta)
        except Unreadable as why:
            left.append(f"{location}: left out: {why}")
            continue
        fate = Fate.ENDS if f"{META_PROPERTIES}: {NO_BROKER_ID}" in str(error) else Fate.OFFLINE
        cause = Cause(fate, str(location / META_PROPERTIES), str(error), _OWNER_ANEW)
        metadata = CLUSTER_METADATA in directory.replicas
        lost.append((directory, DirectoryStart(str(location), (cause,), metadata)))
    return lost, left


def directory_ids(
    found: Sequence[LogDirectory],
    lost: Sequence[tuple[LogDirectory, DirectoryStart]],
    registered: Sequence[str],
) -> dict[Location, str | None]:
    """Return the id of each directory. The one whose owner is not told has the id that is left of
    those that its broker registered."""
    ids = {d.location: d.meta.directory_id for d in found}
    left = [id_ for id_ in registered if id_ not in ids.values()]
    lone = left[0] if len(lost) == len(left) == 1 else None
    return ids | {directory.location: lone for directory, _ in lost}
