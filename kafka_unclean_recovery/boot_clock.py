"""This clock counts time since the machine booted, sleep included, so later processes can read on.

The wall clock may be set back or forward between two runs; the boot clock can't be.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class BootTime:
    """A time in ms since the boot that `boot_id` names."""

    boot_id: str
    ms: int

    def seconds_since(self, earlier: BootTime | None) -> float | None:
        """Return the seconds since `earlier`; None when `earlier` is of another boot or machine, is
        not known, or lies ahead."""
        if earlier is None or earlier.boot_id != self.boot_id or earlier.ms > self.ms:
            return None
        return (self.ms - earlier.ms) / 1000


def boot_time() -> BootTime | None:
    """Return the time now; None where the system does not tell it: only Linux does."""
    try:
        boot_id = _BOOT_ID.read_text().strip()
        return BootTime(boot_id, time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000)
    except (OSError, AttributeError):
        return None
