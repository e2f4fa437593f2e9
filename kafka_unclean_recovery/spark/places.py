"""The address of a log directory is text by which a task on another machine opens it."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.tree import Location
from kafka_unclean_recovery.stores import location
from kafka_unclean_recovery.stores.store_options import store_options

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def location_of(root: str, store: Mapping[str, str]) -> Location:
    """Return the location of a path, of a URI, or of an address from `address_of`. store: endpoint
    and region, where given.

    Raises InputError.
    """
    return location.location_of(root, store_options(store))


def address_of(place: Location) -> str:
    """Return the address as plain Unicode, as tables and JSON need it; file names may not be."""
    assert isinstance(place, LocalLocation | location.StoreLocation)
    return location.address_of(place)


def identities(place: Location, identity: Hashable) -> Iterator[str]:
    """Yield the identities of a place. Two places that share one of them are the same directory.

    Device numbers are those of one machine, so that they say nothing on another.
    """
    if isinstance(place, LocalLocation):
        yield Path(os.path.realpath(place.path)).as_uri()
        yield f"{_machine()} {identity}"
    else:
        yield str(identity)


def _machine() -> str:
    """Return a name of this machine that holds until it is started again."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return os.uname().nodename


def spark_path(path: Path) -> str:
    """Return a local path as Spark takes it: on the local file system, and no pattern."""
    return "file:" + re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path))
