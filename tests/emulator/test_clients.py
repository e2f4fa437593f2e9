"""Two clients that know nothing of each other or of us, on an emulated cluster: librdkafka
(confluent-kafka) and kafka-python."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import confluent_kafka
import confluent_kafka.admin
import kafka as kafka_python
import kafka.admin
import pytest
from kafka.protocol.admin import ElectionType

from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from tests.real.metadata import SILENT
from tests.real.records import create_topic, produce_many
from tests.real.waiting import wait_until

# Their annotations don't hold.
confluent: Any = confluent_kafka
python: Any = kafka_python

TOPIC = "orders"
TIMEOUT = 20.0
QUICK = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 100, "auto.offset.reset": "earliest"}


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Have what a client leaves told of its own test, and of no later one."""
    yield
    gc.collect()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


def _partitions(cluster: Cluster) -> list[PartitionRegistration]:
    def ask(emulation: Any) -> list[PartitionRegistration]:
        topic = emulation.state.topic(TOPIC)
        return [] if topic is None else list(topic.partitions.values())

    return cluster.look(ask)


# librdkafka.


def _confluent_admin(cluster: Cluster) -> Any:
    return confluent.admin.AdminClient(
        {"bootstrap.servers": cluster.bootstrap_servers}, logger=SILENT
    )


def _confluent_consumer(cluster: Cluster, group: str = "g") -> Any:
    settings = QUICK | {"bootstrap.servers": cluster.bootstrap_servers, "group.id": group}
    consumer = confluent.Consumer(settings, logger=SILENT)
    consumer.subscribe([TOPIC])
    return consumer


def _confluent_poll(consumer: Any) -> list[bytes]:
    messages = consumer.consume(100, timeout=0.1)
    return [message.value() for message in messages if message.error() is None]


# kafka-python.


def _python_admin(cluster: Cluster) -> Any:
    return python.KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers.split(","))


def _python_consumer(cluster: Cluster, group: str = "g") -> Any:
    return python.KafkaConsumer(
        TOPIC,
        bootstrap_servers=cluster.bootstrap_servers.split(","),
        group_id=group,
        session_timeout_ms=6000,
        heartbeat_interval_ms=100,
        auto_offset_reset="earliest",
        metadata_max_age_ms=500,
    )


def _python_poll(consumer: Any) -> list[bytes]:
    # A shorter one may end between the steps of a rebalance, and never get through it.
    found = consumer.poll(timeout_ms=1000)
    return [record.value for records in found.values() for record in records]


# kafka-python 3.0.12 leaves a socket open whose client is closed while it connects: nothing in
# KafkaNetSocket.connect closes it then.
LEAVES_SOCKETS = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
)
Consume = tuple[Callable[..., Any], Callable[[Any], list[bytes]]]
CLIENTS = [
    pytest.param((_confluent_consumer, _confluent_poll), id="librdkafka"),
    pytest.param((_python_consumer, _python_poll), id="kafka-python", marks=LEAVES_SOCKETS),
]


def _create(cluster: Cluster, partitions: int = 1, replicas: int = 2) -> None:
    """Create the topic, led by 1, 2 ..."""
    orders = [[(n + place) % 4 + 1 for place in range(replicas)] for n in range(partitions)]
    create_topic(cluster.bootstrap_servers, TOPIC, orders)


def _produce(cluster: Cluster, numbers: range) -> None:
    """Write to each partition."""
    everywhere = dict.fromkeys(range(len(_partitions(cluster))), numbers)
    produce_many(cluster.bootstrap_servers, TOPIC, everywhere)


def _read(consumer: Any, poll: Callable[[Any], list[bytes]], count: int) -> list[int]:
    """Return the records that the consumer gets, as soon as they are so many."""
    got: list[bytes] = []
    deadline = time.monotonic() + TIMEOUT
    while len(got) < count:
        assert time.monotonic() < deadline, got
        got += poll(consumer)
    return [int(value) for value in got]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_group_goes_on_where_it_has_committed(cluster: Cluster, client: Consume) -> None:
    consumer, poll = client
    _create(cluster, partitions=2)
    _produce(cluster, range(5))
    with closing(consumer(cluster)) as first:
        assert sorted(_read(first, poll, 10)) == sorted([*range(5)] * 2)
        first.commit()
    _produce(cluster, range(5, 6))
    with closing(consumer(cluster)) as second:
        assert _read(second, poll, 2) == [5, 5]


@pytest.mark.parametrize("client", CLIENTS)
def test_the_members_of_a_group_share_the_partitions_and_inherit_them(
    cluster: Cluster, client: Consume
) -> None:
    consumer, poll = client
    _create(cluster, partitions=4)
    with ExitStack() as stack:
        members = [stack.enter_context(closing(consumer(cluster))) for _ in range(2)]
        last = members[1]
        pool = stack.enter_context(ThreadPoolExecutor())

        def assigned() -> list[int]:
            """Return what is assigned; all poll at once, for each waits for the others."""
            list(pool.map(poll, members))
            return [len(member.assignment()) for member in members]

        wait_until(lambda: assigned() == [2, 2], TIMEOUT, lambda: f"two each: {assigned()}")
        members.pop(0).close()
        wait_until(lambda: assigned() == [4], TIMEOUT, lambda: f"all four: {assigned()}")
        _produce(cluster, range(2))
        assert sorted(_read(last, poll, 8)) == sorted([0, 1] * 4)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_group_outlives_its_coordinator(cluster: Cluster, client: Consume) -> None:
    consumer, poll = client
    _create(cluster, replicas=4)
    _produce(cluster, range(5))
    with closing(consumer(cluster)) as member:
        assert _read(member, poll, 5) == [*range(5)]
        member.commit()
        coordinator = 2  # Of this group, while it lives.
        cluster.kill(coordinator)
        cluster.fence(coordinator)
        _produce(cluster, range(5, 6))
        assert _read(member, poll, 1) == [5]
        member.commit()
    with closing(consumer(cluster)) as another:
        _produce(cluster, range(6, 7))
        assert _read(another, poll, 1) == [6]


def test_librdkafka_produces_idempotently_while_a_leader_dies(cluster: Cluster) -> None:
    _create(cluster, replicas=3)
    producer = confluent.Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True},
        logger=SILENT,
    )
    failed: list[Any] = []

    def write(numbers: range) -> None:
        for number in numbers:
            producer.produce(
                TOPIC,
                str(number).encode(),
                partition=0,
                on_delivery=lambda error, _: failed.append(error) if error else None,
            )

    write(range(500))
    assert producer.flush(TIMEOUT) == 0
    leader = _partitions(cluster)[0].leader
    write(range(500, 1000))
    cluster.kill(leader)
    assert (producer.flush(TIMEOUT), failed) == (0, [])
    with closing(_confluent_consumer(cluster)) as consumer:
        assert _read(consumer, _confluent_poll, 1000) == [*range(1000)]


def test_librdkafka_s_admin_runs_a_topic_through_its_life(cluster: Cluster) -> None:
    admin = _confluent_admin(cluster)

    def done(futures: Any) -> Any:
        return [future.result(TIMEOUT) for future in futures.values()]

    _create(cluster)
    done(admin.create_partitions([confluent.admin.NewPartitions(TOPIC, 3)]))
    assert len(_partitions(cluster)) == 3
    topics = confluent.TopicCollection([TOPIC])
    (described,) = done(admin.describe_topics(topics))
    assert [(p.leader.id, len(p.isr)) for p in described.partitions] == [(1, 2), (2, 2), (3, 2)]
    kind = confluent.admin.ConfigResource.Type.TOPIC
    whole = confluent.admin.ConfigResource(kind, TOPIC, {"retention.ms": "9"})
    with pytest.warns(DeprecationWarning, match="incremental_alter_configs"):
        done(admin.alter_configs([whole]))
    change = confluent.admin.ConfigEntry(
        "min.insync.replicas", "2", incremental_operation=confluent.admin.AlterConfigOpType.SET
    )
    resource = confluent.admin.ConfigResource(kind, TOPIC, incremental_configs=[change])
    done(admin.incremental_alter_configs([resource]))
    (configs,) = done(admin.describe_configs([confluent.admin.ConfigResource(kind, TOPIC)]))
    values = {name: configs[name].value for name in ("retention.ms", "min.insync.replicas")}
    assert values == {"retention.ms": "9", "min.insync.replicas": "2"}
    cluster.stop(1)
    cluster.start(1)
    elected = admin.elect_leaders(
        confluent.ElectionType.PREFERRED, [confluent.TopicPartition(TOPIC, 0)]
    ).result(TIMEOUT)
    assert list(elected.values()) == [None]
    assert _partitions(cluster)[0].leader == 1
    done(admin.delete_topics([TOPIC]))
    assert _partitions(cluster) == []


def test_librdkafka_s_admin_sees_and_deletes_groups(cluster: Cluster) -> None:
    _create(cluster)
    _produce(cluster, range(3))
    admin = _confluent_admin(cluster)
    with closing(_confluent_consumer(cluster)) as consumer:
        _read(consumer, _confluent_poll, 3)
        consumer.commit()
        found = admin.describe_consumer_groups(["g"])["g"].result(TIMEOUT)
        assert (found.state.name, len(found.members)) == ("STABLE", 1)
        assigned = found.members[0].assignment.topic_partitions
        assert [(place.topic, place.partition) for place in assigned] == [(TOPIC, 0)]
    listed = admin.list_consumer_groups().result(TIMEOUT)
    assert [(group.group_id, group.state.name) for group in listed.valid] == [("g", "EMPTY")]
    request = [confluent.ConsumerGroupTopicPartitions("g")]
    offsets = admin.list_consumer_group_offsets(request)["g"].result(TIMEOUT)
    assert [(place.partition, place.offset) for place in offsets.topic_partitions] == [(0, 3)]
    admin.delete_consumer_groups(["g"])["g"].result(TIMEOUT)
    assert admin.list_consumer_groups().result(TIMEOUT).valid == []


def test_kafka_python_s_admin_runs_a_topic_through_its_life(cluster: Cluster) -> None:
    with closing(_python_admin(cluster)) as admin:
        admin.create_topics([python.admin.NewTopic(TOPIC, 1, 2)])
        admin.create_partitions({TOPIC: python.admin.NewPartitions(2)})
        described = admin.describe_topics([TOPIC])[0]
        assert [p["leader_id"] for p in described["partitions"]] == [1, 2]
        resource = python.admin.ConfigResource(
            python.admin.ConfigResourceType.TOPIC, TOPIC, {"min.insync.replicas": "2"}
        )
        admin.alter_configs([resource])
        assert "'min.insync.replicas'" in str(admin.describe_configs([resource]))
        moved = {python.TopicPartition(TOPIC, 0): [3, 2]}
        admin.alter_partition_reassignments(moved)
        assert admin.list_partition_reassignments() == {}
        assert _partitions(cluster)[0].replicas == (3, 2)
        admin.elect_leaders(ElectionType.PREFERRED, {TOPIC: [0]}, raise_errors=False)
        assert _partitions(cluster)[0].leader == 3
        admin.delete_topics([TOPIC])
        assert TOPIC not in admin.list_topics()


def test_kafka_python_produces_what_librdkafka_consumes(cluster: Cluster) -> None:
    _create(cluster)
    producer = python.KafkaProducer(
        bootstrap_servers=cluster.bootstrap_servers.split(","), enable_idempotence=True
    )
    with closing(producer):
        sent = [producer.send(TOPIC, str(number).encode()) for number in range(5)]
        assert [future.get(TIMEOUT).offset for future in sent] == list(range(5))
    with closing(_confluent_consumer(cluster)) as consumer:
        assert _read(consumer, _confluent_poll, 5) == [*range(5)]


def test_kafka_python_s_admin_sees_and_deletes_groups(cluster: Cluster) -> None:
    _create(cluster)
    _produce(cluster, range(3))
    with closing(_python_consumer(cluster)) as consumer:
        _read(consumer, _python_poll, 3)
        consumer.commit()
    with closing(_python_admin(cluster)) as admin:
        assert [group["group_id"] for group in admin.list_groups()] == ["g"]
        assert admin.describe_groups(["g"])["g"]["group_state"] == "Empty"
        place = python.TopicPartition(TOPIC, 0)
        assert admin.list_group_offsets(["g"])["g"][place].offset == 3
        admin.delete_groups(["g"])
        assert admin.list_groups() == []


def test_a_transactional_producer_is_refused_at_once_and_not_at_its_time_out(
    cluster: Cluster,
) -> None:
    settings = {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "t"}
    producer = confluent_kafka.Producer(settings, logger=SILENT)
    with pytest.raises(confluent_kafka.KafkaException) as refused:
        producer.init_transactions(60.0)
    # Were it not refused, the time-out would be another error, which may be tried again.
    error = refused.value.args[0]
    assert error.code() == confluent_kafka.KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert error.fatal()
