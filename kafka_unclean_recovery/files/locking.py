"""One process at a time on a file."""

from __future__ import annotations

import fcntl


def lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; return False when another process has it. Raises
    OSError, whose text says what to do where the file system knows no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        why = "its file system takes no lock, as NFS without a lock service; use a local disk"
        raise OSError(error.errno, f"{error.strerror}: {why}") from None
    return True
