"""Tell whether the controller counts the last stop of a broker as clean; no I/O.

The marker in each log directory decides on the recovery of that directory alone. To the controller
the broker tells the epoch that all of them name: where one has no marker, as after its disk was
emptied, or names another epoch, the stop does not count as clean, and the broker leaves the ELR.
Nor does it where the broker has registered since: an older copy of a disk has the marker of then.

Source: kafka.log.LogManager.readBrokerEpochFromCleanShutdownFiles,
org.apache.kafka.controller.ClusterControlManager.registerBroker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from kafka_unclean_recovery.log_dir.log_directory import LogDirectory, by_broker
from kafka_unclean_recovery.log_dir.metadata.image import BrokerRegistration, MetadataImage
from kafka_unclean_recovery.model import ReplicaLog


def counts_as_clean(own: Iterable[LogDirectory], registered: BrokerRegistration | None) -> bool:
    """Return whether the controller counts the stop as clean. own: the log directories of one
    broker, as far as they were given. registered: as the newest metadata that was read has the
    broker; where this is older than the marker, the marker is believed."""
    epochs = {each.stopped_epoch if each.stopped_clean else None for each in own}
    (epoch, *others) = epochs or {None}
    return epoch is not None and not others and (registered is None or epoch >= registered.epoch)


def clean_by_broker(found: Sequence[LogDirectory], image: MetadataImage) -> dict[int, bool]:
    """Return by broker whether the controller counts its stop as clean."""
    return {
        broker: counts_as_clean(own, image.brokers.get(broker))
        for broker, own in by_broker(found).items()
    }


def as_counted(log: ReplicaLog, clean: Mapping[int, bool]) -> ReplicaLog:
    """Return the log with the stop of its broker as the controller counts it. clean: by broker."""
    if log.scanned is None or log.scanned.stopped_clean == clean[log.broker]:
        return log
    return replace(log, scanned=replace(log.scanned, stopped_clean=clean[log.broker]))
