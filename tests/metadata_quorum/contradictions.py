"""Records that a controller can't replay behind those of BEFORE, and others that it can, by what an
operator would say of them."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping

from tests.log_dir.cluster_metadata_encoder import (
    ABORT,
    BEGIN,
    END,
    NO_OP,
    Written,
    array,
    change,
    change_broker,
    clear_elr,
    config,
    control,
    feature,
    fence,
    ints,
    leader,
    leader_change,
    partition,
    record,
    register,
    remove_topic,
    string,
    tagged,
    topic,
    unfence,
    unregister,
    uuids,
)

UNKNOWN = uuid.UUID(int=77_000)
ACL, OTHER_ACL = uuid.UUID(int=88_000), uuid.UUID(int=88_001)
DIRECTORIES = tuple(uuid.UUID(int=(0x8000 << 64) + number) for number in (11, 12, 21))
LEVELS = (("metadata.version", 7, 30), ("transaction.version", 0, 2))
EPOCH_1, EPOCH_2 = 11, 12


def acl(id_: uuid.UUID, topic: str = "orders") -> bytes:
    named = string("User:alice") + string("*")
    return record(18, 0, id_.bytes, b"\2", string(topic), b"\3", named, b"\3\3")


def remove_acl(id_: uuid.UUID) -> bytes:
    return record(19, 0, id_.bytes)


def scram(user: str, mechanism: int) -> bytes:
    secret = b"\5salt"
    keys = secret * 3
    return record(11, 0, string(user), struct.pack(">b", mechanism), keys, struct.pack(">i", 4096))


def remove_scram(user: str, mechanism: int) -> bytes:
    return record(22, 0, string(user), struct.pack(">b", mechanism))


def producer_ids(following: int) -> bytes:
    return record(15, 0, struct.pack(">iqq", 1, EPOCH_1, following))


def quota(user: str, *, remove: bool) -> bytes:
    entity = array([string("user") + string(user) + tagged()])
    return record(14, 0, entity, string("producer_byte_rate"), struct.pack(">d?", 1.0, remove))


def token(owner: str) -> bytes:
    who = string(owner) + string("User:alice") + array([string("User:bob")])
    return record(10, 0, who, struct.pack(">qqq", 1, 3, 2), string("token-1"))


def _moved(number: int, replicas: tuple[int, ...], directories: tuple[uuid.UUID, ...]) -> bytes:
    return change(number, {2: ints(replicas), 8: uuids(directories)})


BEFORE: tuple[tuple[Written, ...], ...] = (
    (leader_change(101, (101,)),),
    (feature("metadata.version", 30), NO_OP),
    (register(1, EPOCH_1, log_dirs=DIRECTORIES[:2], features=LEVELS),),
    (register(2, EPOCH_2, log_dirs=DIRECTORIES[2:], features=LEVELS),),
    (topic("orders"), partition(0, (1, 2)), partition(1, (2, 1))),
    (config(2, "orders", "retention.ms", "1"), acl(ACL), scram("alice", 1), producer_ids(1000)),
)

FATAL: Mapping[str, tuple[Written, ...]] = {
    "a partition of a topic that is not there": (partition(0, (1,), topic_id=UNKNOWN),),
    "a partition's change of a topic that is not there": (
        change(0, {1: leader(2)}, topic_id=UNKNOWN),
    ),
    "a change of a partition that is not there": (change(7, {1: leader(2)}),),
    "a change of a topic that was removed": (remove_topic(), change(0, {1: leader(2)})),
    "a removal of a topic that is not there": (remove_topic(UNKNOWN),),
    "a topic removed twice": (remove_topic(), remove_topic()),
    "a second topic of one name": (topic("orders", UNKNOWN),),
    "a topic twice": (topic("orders"),),
    "a recovery state that is none": (change(0, {5: b"\7"}),),
    "a new partition in a recovery state that is none": (partition(2, (1,), tags={0: b"\7"}),),
    "more directories than replicas": (partition(2, (1,), directories=DIRECTORIES[:2]),),
    "more replicas than directories": (
        partition(2, (1,), directories=DIRECTORIES[:1]),
        change(2, {2: ints((1, 2))}),
    ),
    "a change to more directories than replicas": (_moved(0, (1,), DIRECTORIES[:2]),),
    "a change of a broker that is not registered": (change_broker(77, 5, {0: b"\1"}),),
    "a change of a broker with another epoch": (change_broker(1, 5_000, {0: b"\1"}),),
    "a fencing that is none": (change_broker(1, EPOCH_1, {0: b"\7"}),),
    "a shutdown that is none": (change_broker(1, EPOCH_1, {1: b"\7"}),),
    "a fence of a broker that is not registered": (fence(77, 5),),
    "a fence of another epoch": (fence(1, 5_000),),
    "an unfence of another epoch": (unfence(2, 5_000),),
    "an unregistration of a broker that is not registered": (unregister(77, 5),),
    "an unregistration of another epoch": (unregister(1, 5_000_000),),
    "a broker in another's log directory": (register(3, 13, log_dirs=DIRECTORIES[:1]),),
    "a broker that moves into another's log directory": (
        change_broker(1, EPOCH_1, {2: uuids(DIRECTORIES[2:])}),
    ),
    "a removal of an ACL that is not there": (remove_acl(OTHER_ACL),),
    "an ACL removed twice": (remove_acl(ACL), remove_acl(ACL)),
    "an ACL of two ids removed by both": (acl(OTHER_ACL), remove_acl(ACL), remove_acl(OTHER_ACL)),
    "a removal of a user that is not there": (remove_scram("bob", 1),),
    "a removal of a user's other mechanism": (remove_scram("alice", 2),),
    "producer ids that go back": (producer_ids(1),),
    "producer ids that stand still": (producer_ids(1000),),
    "a level of metadata.version that nobody knows": (feature("metadata.version", 99),),
    "a level of a feature that nobody knows": (feature("colour", 1),),
    "an ELR cleared of a topic that is not there": (clear_elr("nothing"),),
    "a transaction within another": (BEGIN, BEGIN),
    "an end without a transaction": (END,),
    "an abort without a transaction": (ABORT,),
    "a transaction ended twice": (BEGIN, NO_OP, END, END),
    "a token whose owner is no principal": (token("alice"),),
}

# KafkaRaftClient reads these before the controller begins, and ends the process.
OF_THE_QUORUM: Mapping[str, tuple[Written, ...]] = {
    "voters of which there is none": (control(6, struct.pack(">h", 0) + array([]) + tagged()),),
}

# UnregisterControllerRecord is new in 4.4: older releases take it for no record of theirs.
SINCE_4_4: Mapping[str, tuple[Written, ...]] = {
    "a controller that goes and was not there": (record(29, 0, struct.pack(">i", 77)),),
}

TAKEN: Mapping[str, tuple[Written, ...]] = {
    "nothing": (NO_OP,),
    "a topic removed": (remove_topic(),),
    "a topic made anew under its name": (remove_topic(), topic("orders", UNKNOWN)),
    "a partition twice": (partition(0, (1, 2)),),
    "a change of a partition": (change(0, {0: ints((1,)), 1: leader(1)}),),
    "replicas that move before directories are told": (change(0, {2: ints((1, 2, 3))}),),
    "replicas that move with their directories": (_moved(0, (1,), DIRECTORIES[:1]),),
    "a config of a resource that is none": (config(99, "x", "retention.ms", "1"),),
    "a config removed that is not there": (config(2, "orders", "segment.ms", None),),
    "a config of a topic that is not there": (config(2, "nothing", "segment.ms", "1"),),
    "a broker that registers again": (
        register(1, 500, log_dirs=DIRECTORIES[:2], features=LEVELS),
        change_broker(1, 500, {0: b"\xff"}),
    ),
    "a broker that goes": (unregister(2, EPOCH_2),),
    "a broker in the log directory of one that went": (
        unregister(2, EPOCH_2),
        register(3, 13, log_dirs=DIRECTORIES[2:], features=LEVELS),
    ),
    "a broker fenced and back": (fence(1, EPOCH_1), unfence(1, EPOCH_1)),
    "an ACL twice": (acl(ACL),),
    "an ACL removed and made again": (remove_acl(ACL), acl(ACL), remove_acl(ACL)),
    "one of two ACLs removed": (acl(OTHER_ACL, "users"), remove_acl(OTHER_ACL)),
    "an ACL of two ids removed by one": (acl(OTHER_ACL), remove_acl(OTHER_ACL)),
    "a user set twice": (scram("alice", 1),),
    "a quota removed that is not there": (quota("alice", remove=True),),
    "a quota": (quota("alice", remove=False), quota("alice", remove=True)),
    "producer ids that go on": (producer_ids(2000),),
    "a level that is supported": (feature("transaction.version", 2),),
    "a feature turned off that nobody knows": (feature("colour", 0),),
    "an ELR cleared": (clear_elr("orders"), clear_elr("")),
    "a transaction": (BEGIN, topic("new", UNKNOWN), partition(0, (1,), topic_id=UNKNOWN), END),
    "a transaction that stays open": (BEGIN, topic("new", UNKNOWN)),
    "a transaction that is aborted": (BEGIN, topic("new", UNKNOWN), ABORT),
    "a token": (token("User:alice"),),
    "a new leader of the same epoch": (leader_change(101, (101,)),),
}
