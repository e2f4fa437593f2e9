"""A location names a log directory as the user does: a path of this machine or the URI of a store.

Credentials are taken where the store's own client finds them (environment, profile, machine) and
nowhere else: a URI that holds credentials is refused, and not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.tree import Folder, Location, Unreadable
from kafka_unclean_recovery.shown import shown
from kafka_unclean_recovery.stores.store_options import StoreOptions

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://(.*)", re.DOTALL)
# Hadoop's schemes, which Spark users write, mean the same.
_SCHEMES = {
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "abfs": "abfs",
    "abfss": "abfs",
    "hdfs": "hdfs",
}
_FORMS = {
    "s3": re.compile(r"[a-zA-Z0-9._-]+"),
    "gs": re.compile(r"[a-zA-Z0-9._-]+"),
    # The authority is container and account.
    "abfs": re.compile(r"[a-z0-9$-]+@[a-z0-9]+\.[a-z0-9.-]+"),
    # The authority is user, host and port.
    "hdfs": re.compile(r"(?:[a-zA-Z0-9._-]+@)?[a-zA-Z0-9._-]+(?::[0-9]+)?"),
}
_LOOKS = {
    "s3": "s3://BUCKET/PREFIX",
    "gs": "gs://BUCKET/PREFIX",
    "abfs": "abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX",
    "hdfs": "hdfs://HOST:PORT/PATH",
}
_ENDPOINT = re.compile(r"https?://[a-zA-Z0-9._-]+(?::[0-9]+)?/?")


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """A location in a store. uri: as `location_of` makes it, SCHEME://AUTHORITY and a path without
    a slash at its end."""

    uri: str
    options: StoreOptions = field(default_factory=StoreOptions)

    @contextmanager
    def open(self) -> Iterator[Folder]:
        """Open the location without a request to the store. Raises Unreadable when the store's
        client can't be had."""
        from kafka_unclean_recovery.stores.connection import connected
        from kafka_unclean_recovery.stores.store_folder import StoreFolder

        scheme, authority, path = parts_of(self.uri)
        filesystem, base = connected(scheme, authority, self.options)
        yield StoreFolder(filesystem, f"{base}{path}", self.uri)

    def __truediv__(self, name: str) -> StoreLocation:
        if name in ("", ".", "..") or "/" in name:
            raise Unreadable(f"{shown(name)!r}: no name in a store")
        return StoreLocation(f"{self.uri}/{name}", self.options)

    def __str__(self) -> str:
        return shown(self.uri)


def parts_of(uri: str) -> tuple[str, str, str]:
    """Return (scheme, authority, path from its slash on, "" for none) of a StoreLocation's URI."""
    scheme, _, rest = uri.partition("://")
    authority, slash, path = rest.partition("/")
    return scheme, authority, slash + path


def location_of(root: str, options: StoreOptions | None = None) -> Location:
    """Return the location of a path, a file:// URI, or a URI of s3, gs, abfs or hdfs. The text
    after the authority is taken literally, nothing is unquoted. Raises InputError."""
    match = _SCHEME.fullmatch(root)
    if match is None:
        return LocalLocation(Path(root))
    scheme = match[1].lower()
    if scheme == "file":
        return LocalLocation(_local_path(root))
    if scheme not in _SCHEMES:
        known = ", ".join(sorted({*_SCHEMES.values(), "file"}))
        raise InputError(f"{shown(match[1])}:// is no store that is known here: {known}")
    scheme = _SCHEMES[scheme]
    options = options or StoreOptions()
    _check_options(scheme, options)
    if find_spec("pyarrow") is None:
        raise InputError(
            f"{scheme}:// is read through pyarrow: pip install 'kafka-unclean-recovery[spark]'"
        )
    return StoreLocation(f"{scheme}://{_checked(scheme, match[2])}", options)


def _local_path(root: str) -> Path:
    parts = urlsplit(root)
    if parts.netloc not in ("", "localhost") or not parts.path or parts.query or parts.fragment:
        raise InputError(f"{shown(root)}: a path of this machine is written file:///PATH")
    return Path(unquote(parts.path, errors="surrogateescape"))


def _checked(scheme: str, rest: str) -> str:
    """Return authority and path without a slash at the end. Errors do not repeat the parts that may
    be a secret."""
    authority, _, path = rest.partition("/")
    if _FORMS[scheme].fullmatch(authority) is None:
        raise InputError(
            f"a {scheme}:// URI looks like this: {_LOOKS[scheme]}; credentials don't belong there,"
            " they are taken from the environment"
        )
    if "?" in path:
        raise InputError(
            f"{scheme}://{authority}: a ? in the URI of a store: endpoint and region are options of"
            " their own, and credentials are taken from the environment"
        )
    names = path.rstrip("/").split("/") if path.rstrip("/") else []
    if {"", ".", ".."}.intersection(names):
        raise InputError(
            f"{scheme}://{authority}/{shown(path)}: empty names, . and .. lead nowhere in a store"
        )
    return "/".join((authority, *names))


def _check_options(scheme: str, options: StoreOptions) -> None:
    if options.endpoint is not None:
        if scheme == "hdfs":
            raise InputError("hdfs:// has no endpoint: it is the host and port of its URI")
        if _ENDPOINT.fullmatch(options.endpoint) is None:
            raise InputError("the endpoint of a store looks like this: https://HOST:PORT")
    if options.region is not None and scheme != "s3":
        raise InputError(f"{scheme}:// has no region; leave it out")


def address_of(location: Location) -> str:
    """Return the text from which `location_of` makes the same location in any process. It is plain
    Unicode, whatever bytes a path has."""
    if isinstance(location, LocalLocation):
        return location.path.absolute().as_uri()
    return location.uri if isinstance(location, StoreLocation) else str(location)
