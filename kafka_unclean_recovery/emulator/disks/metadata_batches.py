"""This module makes record batches of the metadata log. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.log_dir.metadata.encoding import encode_batch
from kafka_unclean_recovery.log_dir.segments.batches import CONTROL

# KafkaRaftClient.MAX_BATCH_SIZE_BYTES is 8 MiB; a batch here ends at the first record beyond this.
_BATCH_BYTES = 1 << 20


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
