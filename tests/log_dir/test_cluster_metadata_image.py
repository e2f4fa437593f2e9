"""Replay, rule by rule."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.kafka_names import (
    REMOTE_STORAGE_ENABLE,
    UNCLEAN_LEADER_ELECTION_ENABLE,
)
from kafka_unclean_recovery.log_dir.metadata.elections import unclean_topics
from kafka_unclean_recovery.log_dir.metadata.image import (
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
    MetadataImage,
    PartitionRegistration,
    partition_states,
)
from kafka_unclean_recovery.log_dir.metadata.records import (
    decode_control_record,
    decode_record,
)
from kafka_unclean_recovery.model import TIERED, TopicPartition
from tests.log_dir import cluster_metadata_encoder as enc
from tests.log_dir.cluster_metadata_encoder import TOPIC_ID
from tests.log_dir.cluster_metadata_json import partition_epochs

ORDERS = enc.topic("orders")
OF_THREE = enc.partition(0, [1, 2, 3])
FIRST_DIRECTORY, SECOND_DIRECTORY, LOST = map(uuid.UUID, map("{:032x}".format, (500, 501, 2)))


def _image(values: Iterable[enc.Written]) -> MetadataImage:
    image = MetadataImage()
    for value in values:
        image.replay(
            decode_record(value) if isinstance(value, bytes) else decode_control_record(*value)
        )
    return image


def _partition(*values: bytes) -> PartitionRegistration:
    return _image([ORDERS, OF_THREE, *values]).partitions[TOPIC_ID][0]


def test_a_new_partition_is_as_its_record_says() -> None:
    found = _partition()
    assert (found.replicas, found.isr, found.elr, found.last_known_elr) == ((1, 2, 3),) * 2 + (
        (),
    ) * 2
    assert (found.leader, found.leader_epoch, found.partition_epoch) == (1, 0, 0)


def test_a_change_with_a_leader_raises_both_epochs() -> None:
    found = _partition(enc.change(0, {1: enc.leader(2), 0: enc.ints([2])}))
    assert (found.leader, found.leader_epoch, found.partition_epoch) == (2, 1, 1)
    assert (found.isr, found.replicas) == ((2,), (1, 2, 3))


def test_the_same_leader_again_raises_the_leader_epoch_too() -> None:
    found = _partition(enc.change(0, {1: enc.leader(1)}))
    assert (found.leader, found.leader_epoch, found.partition_epoch) == (1, 1, 1)


def test_a_change_without_a_leader_raises_the_partition_epoch_alone() -> None:
    found = _partition(enc.change(0, {0: enc.ints([1])}), enc.change(0, {}))
    assert (found.leader, found.leader_epoch, found.partition_epoch) == (1, 0, 2)
    assert found.isr == (1,)


def test_an_empty_list_is_a_change_and_a_missing_one_is_not() -> None:
    begun = {2: enc.ints([1, 2, 4]), 3: enc.ints([3]), 4: enc.ints([4]), 6: enc.ints([2])}
    found = _partition(enc.change(0, begun))
    assert (found.replicas, found.removing_replicas, found.adding_replicas, found.elr) == (
        (1, 2, 4),
        (3,),
        (4,),
        (2,),
    )
    ended = {0: enc.ints([]), 1: enc.leader(-1), 3: enc.ints([]), 4: enc.ints([]), 7: enc.ints([2])}
    found = _partition(enc.change(0, begun), enc.change(0, ended))
    assert (found.isr, found.leader, found.removing_replicas, found.adding_replicas) == (
        (),
        -1,
        (),
        (),
    )
    assert (found.elr, found.last_known_elr) == ((2,), (2,))


def test_the_recovery_state_and_directories_stay_until_they_change() -> None:
    unclean = enc.change(0, {5: b"\1", 8: enc.uuids([FIRST_DIRECTORY] * 3)})
    found = _partition(unclean, enc.change(0, {}))
    assert (found.leader_recovery_state, found.directories) == (1, (FIRST_DIRECTORY,) * 3)
    assert _partition(unclean, enc.change(0, {5: b"\0"})).leader_recovery_state == 0


def test_clearing_elr_bumps_only_partitions_that_had_any() -> None:
    other = uuid.UUID(int=1001)
    image = _image(
        [
            ORDERS,
            enc.partition(0, [1], tags={1: enc.ints([2])}),
            enc.partition(1, [1], tags={2: enc.ints([3])}),
            enc.partition(2, [1]),
            enc.topic("payments", other),
            enc.partition(0, [1], topic_id=other, tags={1: enc.ints([2])}),
            enc.clear_elr("orders"),
        ]
    )
    assert partition_epochs(image) == {
        TopicPartition("orders", 0): 1,
        TopicPartition("orders", 1): 1,
        TopicPartition("orders", 2): 0,
        TopicPartition("payments", 0): 0,
    }
    assert not any(p.elr or p.last_known_elr for p in image.partitions[TOPIC_ID].values())
    assert image.partitions[other][0].elr == (2,)
    image.replay(decode_record(enc.clear_elr("")))
    assert image.partitions[other][0].elr == ()
    assert partition_epochs(image)[TopicPartition("payments", 0)] == 1
    assert partition_epochs(image)[TopicPartition("orders", 0)] == 1


def test_a_deleted_topic_takes_its_configs_along_and_its_name_may_come_back() -> None:
    again = uuid.UUID(int=1002)
    image = _image(
        [
            ORDERS,
            OF_THREE,
            enc.config(TOPIC_RESOURCE, "orders", "min.insync.replicas", "2"),
            enc.config(BROKER_RESOURCE, "", "min.insync.replicas", "1"),
            enc.remove_topic(),
            enc.topic("orders", again),
            enc.partition(0, [3], topic_id=again),
        ]
    )
    assert image.configs == {(BROKER_RESOURCE, ""): {"min.insync.replicas": "1"}}
    assert [(s.topic, s.topic_id, s.leader) for s in partition_states(image)] == [
        ("orders", str(again), 3)
    ]


def test_configs_and_features_come_and_go() -> None:
    image = _image(
        [
            enc.config(TOPIC_RESOURCE, "orders", "a", "1"),
            enc.config(TOPIC_RESOURCE, "orders", "b", "2"),
            enc.config(TOPIC_RESOURCE, "orders", "a", None),
            enc.config(TOPIC_RESOURCE, "gone", "a", "1"),
            enc.config(TOPIC_RESOURCE, "gone", "a", None),
            enc.config(TOPIC_RESOURCE, "never", "a", None),
            enc.feature("metadata.version", 30),
            enc.feature("eligible.leader.replicas.version", 1),
            enc.feature("eligible.leader.replicas.version", 0),
        ]
    )
    assert image.configs == {(TOPIC_RESOURCE, "orders"): {"b": "2"}}
    assert image.features == {"metadata.version": 30}
    assert "'2'" not in repr(image), "configs may hold passwords"


def test_brokers_are_fenced_and_unfenced() -> None:
    image = _image([enc.register(1, 10, fenced=True)])
    assert image.brokers[1].fenced
    for value, fenced in (
        (enc.unfence(1, 10), False),
        (enc.fence(1, 10), True),
        (enc.change_broker(1, 10, {0: b"\xff"}), False),
        (enc.change_broker(1, 10, {1: b"\1"}), False),
        (enc.change_broker(1, 10, {0: b"\1"}), True),
    ):
        image.replay(decode_record(value))
        assert image.brokers[1].fenced is fenced
    assert image.brokers[1].in_controlled_shutdown
    assert not image.unreplayed
    image.replay(decode_record(enc.register(1, 20)))
    assert (image.brokers[1].epoch, image.brokers[1].in_controlled_shutdown) == (20, False)
    image.replay(decode_record(enc.unregister(1, 20)))
    assert image.brokers == {}


def test_what_was_never_seen_is_counted_and_changes_nothing() -> None:
    image = _image([ORDERS, OF_THREE, enc.register(1, 10)])
    before = partition_states(image), dict(image.brokers)
    for value in (
        enc.fence(1, 9),
        enc.fence(2, 10),
        enc.unregister(2, 10),
        enc.change(5, {}),
        enc.change(0, {}, uuid.UUID(int=7)),
        enc.partition(0, [1], topic_id=uuid.UUID(int=7)),
        enc.remove_topic(uuid.UUID(int=7)),
        enc.clear_elr("nothing"),
        enc.END,
        enc.ABORT,
    ):
        image.replay(decode_record(value))
    assert (partition_states(image), image.brokers) == before
    assert image.unreplayed == {
        "FenceBrokerRecord of a broker that is not registered, or was with another epoch": 2,
        "UnregisterBrokerRecord of a broker that is not registered, or was with another epoch": 1,
        "PartitionChangeRecord of a partition that is not known": 2,
        "PartitionRecord of a topic that is not known": 1,
        "RemoveTopicRecord of a topic that is not known": 1,
        "ClearElrRecord of a topic that is not known": 1,
        "EndTransactionRecord of a transaction that never began": 1,
        "AbortTransactionRecord of a transaction that never began": 1,
    }


def test_unknown_records_and_tags_are_counted() -> None:
    odd = enc.record(3, 9)
    image = _image([ORDERS, OF_THREE, odd, odd, enc.record(77, 0), enc.change(0, {20: b""})])
    assert {(u.name, u.api_key, u.version): n for u, n in image.unknown.items()} == {
        ("PartitionRecord", 3, 9): 2,
        ("metadata record 77", 77, 0): 1,
    }
    assert image.unknown_tags == {("PartitionChangeRecord", 2, 20): 1}


def test_a_transaction_counts_from_its_end_on() -> None:
    image = _image([enc.BEGIN, ORDERS, OF_THREE])
    assert (image.topics, image.open_transaction) == ({}, 2)
    image.replay(decode_record(enc.END))
    assert (image.topics, image.open_transaction) == ({TOPIC_ID: "orders"}, None)
    assert image.partitions[TOPIC_ID][0].replicas == (1, 2, 3)


def test_an_aborted_transaction_never_counts() -> None:
    image = _image([enc.BEGIN, ORDERS, OF_THREE, enc.ABORT, enc.feature("a", 1)])
    assert (image.topics, image.features, image.open_transaction) == ({}, {"a": 1}, None)


def test_the_quorum_is_from_its_own_records() -> None:
    image = _image([enc.leader_change(102, [103, 101, 102])])
    assert (image.quorum_leader, image.voters, image.kraft_version) == (102, (101, 102, 103), 0)


@pytest.mark.parametrize(
    ("brokers", "directories", "offline"),
    [
        ([enc.register(1, 5), enc.register(2, 6, fenced=True)], [], (2, 3)),
        (
            [
                enc.register(1, 5, log_dirs=[FIRST_DIRECTORY]),
                enc.register(2, 6, log_dirs=[SECOND_DIRECTORY]),
                enc.register(3, 7),
            ],
            [FIRST_DIRECTORY] * 3,
            (2,),
        ),
        (
            [enc.register(n, 5, log_dirs=[FIRST_DIRECTORY]) for n in (1, 2, 3)],
            [uuid.UUID(int=0), uuid.UUID(int=1), LOST],
            (3,),
        ),
        ([enc.register(n, 5) for n in (1, 2, 3)], [LOST] * 3, (1, 2, 3)),
        ([enc.register(n, 5, log_dirs=[FIRST_DIRECTORY]) for n in (1, 2, 3)], [LOST], (1,)),
    ],
    ids=[
        "fenced and unregistered",
        "in a directory that failed",
        "migrating, unassigned, lost",
        "lost, and no directories said",
        "fewer directories than replicas",
    ],
)
def test_offline_replicas(
    brokers: list[bytes], directories: list[uuid.UUID], offline: tuple[int, ...]
) -> None:
    placed = enc.partition(0, [1, 2, 3], directories=directories)
    assert partition_states(_image([*brokers, ORDERS, placed]))[0].offline_replicas == offline


def test_partitions_come_in_order_of_topic_and_number() -> None:
    other = uuid.UUID(int=5)
    parts = [enc.partition(n, [1]) for n in (10, 9, 0)]
    image = _image([ORDERS, *parts, enc.topic("a", other), enc.partition(3, [2], topic_id=other)])
    states = partition_states(image)
    assert [str(s.topic_partition) for s in states] == ["a-3", "orders-0", "orders-9", "orders-10"]
    assert states[0].topic_id == "00000000-0000-0000-0000-000000000005"


def test_topics_with_unclean_elections_are_told_by_their_configs_and_the_default() -> None:
    key = UNCLEAN_LEADER_ELECTION_ENABLE

    def unclean(default: str | None, own: str | None) -> tuple[str, ...]:
        configs = [
            enc.config(BROKER_RESOURCE, "", key, default),
            enc.config(TOPIC_RESOURCE, "orders", key, own),
        ]
        return unclean_topics(_image([ORDERS, OF_THREE, *configs]))

    assert unclean(None, None) == unclean("false", None) == unclean("true", "false") == ()
    assert unclean(None, "true") == unclean("true", None) == unclean("false", "true") == ("orders",)


def test_a_topic_with_remote_storage_is_told_until_that_is_switched_off() -> None:
    def tiered(*values: str | None) -> str | None:
        configs = [
            enc.config(TOPIC_RESOURCE, "orders", REMOTE_STORAGE_ENABLE, value) for value in values
        ]
        return partition_states(_image([ORDERS, OF_THREE, *configs]))[0].tiered

    assert tiered() is None
    assert tiered("true") == TIERED
    assert tiered("true", "false") is None
    assert tiered("true", None) is None


ANYTHING = st.sampled_from(
    [
        ORDERS,
        OF_THREE,
        enc.partition(1, [2, 3], tags={1: enc.ints([1])}),
        enc.change(0, {1: enc.leader(-1)}),
        enc.change(1, {0: enc.ints([])}),
        enc.clear_elr(""),
        enc.clear_elr("orders"),
        enc.remove_topic(),
        enc.register(1, 1),
        enc.fence(1, 1),
        enc.unregister(1, 1),
        enc.BEGIN,
        enc.END,
        enc.ABORT,
        enc.record(200, 0),
    ]
)


@given(st.lists(ANYTHING, max_size=30))
def test_no_order_of_records_raises(values: list[bytes]) -> None:
    image = _image(values)
    assert len(partition_epochs(image)) == len(partition_states(image))
    assert image.topics.keys() == image.partitions.keys()
