"""Files that the command line or a client file names are read within a time limit, because a
process may never write to the other end of a FIFO."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path

from kafka_unclean_recovery.cluster.wire.errors import ConfigError

READ_SECONDS = 10.0


def read_text(
    path: str, key: str, source: str, encoding: str = "latin-1", seconds: float = READ_SECONDS
) -> str:
    """Return all of a file, or all that a process writes to a pipe until the process closes it.

    key: the option that names the file; source: the place where that option stands. Raises
    ConfigError when the file can't be read, or has not ended within `seconds`.
    """
    content: Future[bytes] = Future()
    # Opening a FIFO blocks too, and only the end of the process ends that wait.
    threading.Thread(target=_read, args=(path, content), daemon=True).start()
    try:
        return content.result(seconds).decode(encoding)
    except (OSError, ValueError) as error:
        if not content.done():
            raise ConfigError(
                f"{source}: {key} names {path!r}, whose end did not come within {seconds:g} s: "
                "if it is a FIFO, have a process write it all and close it"
            ) from None
        bad = f"not {encoding} text" if isinstance(error, UnicodeDecodeError) else "not a file name"
        reason = getattr(error, "strerror", None) or bad
        raise ConfigError(
            f"{source}: {key} names {path!r}, which can't be read ({reason}): "
            "correct the path or its permissions"
        ) from error


def _read(path: str, content: Future[bytes]) -> None:
    try:
        content.set_result(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        content.set_exception(error)
