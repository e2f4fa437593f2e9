"""The Options describe the cluster that is to be emulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.emulator.announced import check_dialect
from kafka_unclean_recovery.emulator.emulation import Settings
from kafka_unclean_recovery.emulator.listener.server import MAX_IDLE_SECONDS
from kafka_unclean_recovery.emulator.security.settings import Security
from kafka_unclean_recovery.mechanisms import Dialect

_DEFAULT_SETTINGS = Settings()
_PLAINTEXT = Security()


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a cluster. `running`: the brokers that are started with it, None for all that
    can start, as the first disk of a broker may be lost. `log_directories`: disks per broker.

    A cluster that `data_dir` already holds is continued; without a data directory a temporary one
    is used and removed. `connections_max_idle`: connections.max.idle.ms, in seconds.
    `first_broker`: the lowest id; with 0 it shows who takes that id for no broker. `ids`: the ids,
    instead of the two numbers.

    Raises ValueError for a dialect whose key is another request's in this release.
    """

    brokers: int = 4
    release: str = "4.3.1"
    data_dir: Path | None = None
    running: tuple[int, ...] | None = None
    dialect: Dialect | None = None
    log_directories: int = 1
    settings: Settings = _DEFAULT_SETTINGS
    security: Security = _PLAINTEXT
    connections_max_idle: float = MAX_IDLE_SECONDS
    first_broker: int = 1
    ids: tuple[int, ...] = ()

    @property
    def broker_ids(self) -> Sequence[int]:
        return self.ids or range(self.first_broker, self.first_broker + self.brokers)

    def __post_init__(self) -> None:
        if self.dialect is not None:
            check_dialect(self.release, self.dialect)
