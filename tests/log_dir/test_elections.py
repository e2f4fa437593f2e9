"""What the metadata log tells of a fencing to come."""

from __future__ import annotations

import struct

import pytest

from kafka_unclean_recovery.documents.replica_info import parse_replica_info, replica_info_json
from kafka_unclean_recovery.kafka_names import (
    ELR_VERSION,
    METADATA_VERSION,
    MIN_INSYNC_REPLICAS,
)
from kafka_unclean_recovery.log_dir.metadata.elections import fencing
from kafka_unclean_recovery.log_dir.metadata.image import (
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
    MetadataImage,
)
from kafka_unclean_recovery.log_dir.metadata.records import decode_record
from kafka_unclean_recovery.model import Fencing, ReplicaInfo, Unfenced
from tests.log_dir import cluster_metadata_encoder as enc

KEY = MIN_INSYNC_REPLICAS


def _told(*records: bytes) -> Fencing:
    image = MetadataImage()
    for record in records:
        image.replay(decode_record(record))
    return fencing(image)


def _controller(node: int, highest: int) -> bytes:
    """Return the registration of a controller that supports up to this metadata.version."""
    supported = enc.string(METADATA_VERSION) + struct.pack(">hh", 7, highest) + enc.tagged()
    head = struct.pack(">i", node) + enc.INCARNATION.bytes + b"\0"
    return enc.record(27, 0, head, enc.array([]), enc.array([supported]))


def test_brokers_that_are_not_fenced_are_told_with_their_epochs() -> None:
    registered = (enc.register(b, 10 + b, fenced=True) for b in (1, 2, 3))
    found = _told(*registered, enc.unfence(1, 11), enc.unfence(3, 13), enc.fence(1, 11))
    assert found.unfenced == (Unfenced(3, 13),)
    leaving = _told(enc.register(3, 13), enc.change_broker(3, 13, {1: b"\1"}))
    assert leaving.unfenced == (Unfenced(3, 13, in_controlled_shutdown=True),)


def test_min_isr_is_that_of_the_topic_or_of_all_brokers() -> None:
    found = _told(
        enc.topic("orders"),
        enc.feature(ELR_VERSION, 1),
        enc.config(BROKER_RESOURCE, "", KEY, "1"),
        enc.config(BROKER_RESOURCE, "1", KEY, "7"),
        enc.config(TOPIC_RESOURCE, "orders", KEY, "2"),
    )
    assert (found.elr, found.min_isr, found.min_isr_of_topics) == (True, 1, {"orders": 2})
    assert (_told().elr, _told().min_isr) == (False, None)


@pytest.mark.parametrize(
    ("levels", "by_hash"),
    [
        ((), None),
        ((21,), False),
        ((22,), True),
        ((33, 33), True),
        ((21, 33), None),
        ((0, 33), None),
    ],
)
def test_the_release_of_the_controllers_is_told_where_it_is_one(
    levels: tuple[int, ...], by_hash: bool | None
) -> None:
    found = _told(*(_controller(100 + n, level) for n, level in enumerate(levels)))
    assert found.by_hash is by_hash


@pytest.mark.parametrize("value", ["9" * 5000, "-1", "two", ""])
def test_what_a_damaged_log_has_for_a_number_is_none_and_can_be_read_back(value: str) -> None:
    configs = (enc.config(kind, name, KEY, value) for kind, name in ((4, ""), (2, "orders")))
    found = _told(enc.topic("orders"), enc.register(1, -5), *configs)
    assert (found.unfenced, found.min_isr, found.min_isr_of_topics) == ((), None, {})
    info = ReplicaInfo("c", "2026-11-28T00:00:00+00:00", (), (), fencing=found)
    assert parse_replica_info(replica_info_json(info), "f.json") == info
