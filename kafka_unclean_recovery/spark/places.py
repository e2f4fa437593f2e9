"""Where a log directory is, as text that a task on another machine opens it by."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.tree import Location
from kafka_unclean_recovery.stores import location

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def location_of(root: str, store: Mapping[str, str]) -> Location:
    """A path, a URI, or what `address_of` made of one. store: endpoint and region, where given.

    Raises InputError.
    """
    return location.location_of(root, location.store_options(store))


def address_of(place: Location) -> str:
    """Plain Unicode, as tables and JSON are; names of files need not be."""
    assert isinstance(place, LocalLocation | location.StoreLocation)
    return location.address_of(place)


def identities(place: Location, identity: Hashable) -> Iterator[str]:
    """Two places that share one of these are the same directory.

    Device numbers are those of one machine, so that they say nothing on another.
    """
    if isinstance(place, LocalLocation):
        yield Path(os.path.realpath(place.path)).as_uri()
        yield f"{_machine()} {identity}"
    else:
        yield str(identity)


def _machine() -> str:
    """This one, until it is started again."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return os.uname().nodename


def spark_path(path: Path) -> str:
    """Of this machine, whatever file system Spark takes by default, and no pattern."""
    return "file:" + re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path))
