"""One emulator at a time claims a data directory, and tells there where its socket is.

The file `control-socket` in the directory is locked while an emulator runs, and holds the path of
its socket.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_unclean_recovery.files.locking import lock

_FILE = "control-socket"


@contextmanager
def claimed(data_dir: Path) -> Iterator[None]:
    """Make the directory if it does not exist, and claim it until the end of the block. Raises
    ValueError if another emulator has claimed it, or it holds other files than a cluster's."""
    data_dir.mkdir(parents=True, exist_ok=True)
    content = {path.name for path in data_dir.iterdir()} - {_FILE}
    if content and "controller" not in content:
        raise ValueError(f"{data_dir} is not empty, and holds no emulated cluster")
    file = os.open(data_dir / _FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not lock(file):
            raise ValueError(f"another emulator runs on {data_dir}")
        try:
            os.truncate(file, 0)
            yield
        finally:
            os.truncate(file, 0)
    finally:
        os.close(file)


def tell_socket(data_dir: Path, path: Path) -> None:
    """Write the path of the control socket into the data directory."""
    (data_dir / _FILE).write_text(f"{path}\n")


def socket_of(data_dir: Path) -> Path:
    """Return the socket of the emulator that runs on a data directory. Raises ValueError."""
    try:
        path = (data_dir / _FILE).read_text().strip()
    except OSError as error:
        raise ValueError(f"{data_dir} is the directory of no emulator: {error.strerror}") from None
    if not path:
        raise ValueError(f"no emulator runs on {data_dir}")
    return Path(path)
