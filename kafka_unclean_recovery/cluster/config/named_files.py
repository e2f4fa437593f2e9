"""Files that the command line or a client file names are read within a time limit, because a
process may never write to the other end of a FIFO."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from kafka_unclean_recovery.cluster.wire.daemon_thread import in_daemon_thread
from kafka_unclean_recovery.errors import ConfigError

READ_SECONDS = 10.0
LARGEST_BYTES = 1 << 20
"""More than any client file, store or token has: /dev/zero, or a disk image, is no such file."""


class TooLarge(ValueError):
    """A file has more bytes than any that is named so."""


def reading(path: str) -> Future[bytes]:
    """Begin to read all of a file, or all that a process writes to a pipe until the process closes
    it. The result may be an OSError; a ValueError where that is no name of a file; or TooLarge."""
    # Opening a FIFO blocks too, and only the end of the process ends that wait.
    return in_daemon_thread(lambda: _read(path))


def read_text(
    path: str, key: str, source: str, encoding: str = "latin-1", seconds: float = READ_SECONDS
) -> str:
    """Return what `reading` reads.

    key: the option that names the file; source: the place where that option stands. Raises
    ConfigError when the file can't be read, is too large, or has not ended within `seconds`.
    """
    content = reading(path)
    try:
        return content.result(seconds).decode(encoding)
    except (OSError, ValueError) as error:
        if not content.done():
            raise ConfigError(f"{source}: {key} names {path!r}, {endless(seconds)}") from None
        reason = why_unreadable(error, encoding)
        raise ConfigError(
            f"{source}: {key} names {path!r}, which can't be read ({reason}): "
            "correct the path or its permissions"
        ) from error


def endless(seconds: float) -> str:
    return (
        f"whose end did not come within {seconds:g} s: if it is a FIFO, have a process write it"
        " all and close it"
    )


def why_unreadable(error: OSError | ValueError, encoding: str) -> str:
    if isinstance(error, TooLarge):
        return f"more than {LARGEST_BYTES} bytes, as no such file has"
    bad = f"not {encoding} text" if isinstance(error, UnicodeDecodeError) else "not a file name"
    return getattr(error, "strerror", None) or bad


def _read(path: str) -> bytes:
    with Path(path).open("rb") as file:
        found = file.read(LARGEST_BYTES + 1)
    if len(found) > LARGEST_BYTES:
        raise TooLarge(path)
    return found
