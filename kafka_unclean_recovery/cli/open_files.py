"""A run needs a file descriptor for each connection, and more for what it writes: it takes as many
as this process may have."""

from __future__ import annotations

import resource
from contextlib import suppress

_MANY = 65_536
"""More than any cluster needs; some systems refuse an unlimited number."""


def raise_limit() -> None:
    """Raise the soft limit of open files to the hard one, which many shells and services leave far
    below it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY if hard == resource.RLIM_INFINITY else min(hard, _MANY)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return
    # A system may allow less than it says.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
