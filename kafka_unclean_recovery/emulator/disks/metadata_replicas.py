"""This module keeps `__cluster_metadata-0` on the disks: the controller's own, and a copy for each
broker.

Records that the controller decides are encoded once, kept until the step is over, and then appended
to the files of all running processes, so a dead broker's file ends when it died. There is one epoch
of the quorum, one segment, no snapshot. The controller's own is at
<controller>/__cluster_metadata-0.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kafka_unclean_recovery.emulator.broker.log import sound_batches
from kafka_unclean_recovery.emulator.disks.log_files import SEGMENT
from kafka_unclean_recovery.emulator.disks.metadata_records import bootstrap, lasting, leader_change
from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC
from kafka_unclean_recovery.kraft_rules.records import IN_MEMORY, Record
from kafka_unclean_recovery.kraft_rules.releases import Release
from kafka_unclean_recovery.log_dir.metadata.encoding import encode_batch
from kafka_unclean_recovery.log_dir.segments.batches import CONTROL
from kafka_unclean_recovery.log_dir.small_files.checkpoints import LEADER_EPOCHS
from kafka_unclean_recovery.log_dir.small_files.properties_files import PARTITION_METADATA

# KafkaRaftClient.MAX_BATCH_SIZE_BYTES is 8 MiB; a batch here ends at the first record beyond this.
_BATCH_BYTES = 1 << 20
CONTROLLER_ID = 3000
EPOCH = 1
DIRECTORY = f"{CLUSTER_METADATA_TOPIC}-0"
# The topic id is Uuid.METADATA_TOPIC_ID.
_PARTITION_METADATA = "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"
_EPOCHS = f"0\n1\n{EPOCH} 0\n"


def first_offset(release: Release) -> int:
    """Return the offset of the first record that the controller decides on."""
    return 1 + len(bootstrap(release))


class MetadataReplicas:
    """The metadata logs of a cluster. `end_offset`: the end of the noted records, exclusive."""

    def __init__(self, controller: Path, release: Release) -> None:
        self._controller = controller
        self._release = release
        self._noted: list[bytes] = []
        self.end_offset = 0

    def open(self, decided: Sequence[Record]) -> None:
        """Open the controller's own log and make it hold `decided`, one record for each offset from
        the first on, whatever an interrupted controller left there."""
        _create(self._controller)
        path = _segment(self._controller)
        first = first_offset(self._release)
        with_offset = [record for record in decided if not isinstance(record, IN_MEMORY)]
        size, self.end_offset = _whole_batches(path, first + len(with_offset))
        os.truncate(path, size)
        if not self.end_offset:
            self._begin(path)
        self.note(with_offset[self.end_offset - first :])
        self.write(())

    def _begin(self, path: Path) -> None:
        now = _now_ms()
        values = bootstrap(self._release)
        begun = control_batch(*leader_change(CONTROLLER_ID), 0, EPOCH, now)
        _append(path, b"".join((begun, *batches(values, 1, EPOCH, now))))
        self.end_offset = first_offset(self._release)

    def note(self, records: Iterable[Record]) -> None:
        self._noted += lasting(records, self._release)

    def write(self, log_directories: Iterable[Path]) -> None:
        """Append the noted records to the controller's log and the copies in these directories."""
        if not self._noted:
            return
        data = b"".join(batches(self._noted, self.end_offset, EPOCH, _now_ms()))
        self.end_offset += len(self._noted)
        self._noted = []
        for directory in (self._controller, *log_directories):
            _append(_segment(directory), data)

    def catch_up(self, log_directory: Path) -> None:
        """Make a broker's copy equal to the controller's log. A copy that is a beginning of the log
        is continued; a torn or foreign one is written anew."""
        _create(log_directory)
        whole, path = _segment(self._controller).read_bytes(), _segment(log_directory)
        copied = path.read_bytes()
        if not whole.startswith(copied):
            copied = b""
            os.truncate(path, 0)
        _append(path, whole[len(copied) :])


def _segment(log_directory: Path) -> Path:
    return log_directory / DIRECTORY / SEGMENT


def _create(log_directory: Path) -> None:
    directory = log_directory / DIRECTORY
    if (directory / SEGMENT).exists():
        return
    directory.mkdir(parents=True, exist_ok=True)
    (directory / PARTITION_METADATA).write_text(_PARTITION_METADATA)
    (directory / LEADER_EPOCHS).write_text(_EPOCHS)
    (directory / SEGMENT).touch()


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as segment:
        segment.write(data)


def _whole_batches(path: Path, last: int) -> tuple[int, int]:
    """Return (bytes, end offset) of the sound batches that end before the offset `last`."""
    sound = [batch for batch in sound_batches(path.read_bytes()) if batch.last_offset < last]
    return (sound[-1].end, sound[-1].last_offset + 1) if sound else (0, 0)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def batches(
    values: Sequence[bytes], base_offset: int, leader_epoch: int, time_ms: int
) -> Iterator[bytes]:
    """Yield batches with the values of metadata records, from `base_offset` on."""
    first = size = 0
    for index, value in enumerate(values, 1):
        size += len(value)
        if size >= _BATCH_BYTES or index == len(values):
            found = [(None, each) for each in values[first:index]]
            yield encode_batch(found, 0, base_offset + first, leader_epoch, time_ms)
            first, size = index, 0


def control_batch(
    key: bytes, value: bytes, base_offset: int, leader_epoch: int, time_ms: int
) -> bytes:
    """Return a batch of one control record, which the quorum writes for itself."""
    return encode_batch([(key, value)], CONTROL, base_offset, leader_epoch, time_ms)
