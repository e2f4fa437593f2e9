"""Which mechanism is used with whom."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.mechanisms import (
    EMULATOR_FEATURE,
    Dialect,
    ElectionMethod,
    Transport,
    Wishes,
)
from kafka_unclean_recovery.transport.choosing import (
    ChosenSource,
    NotOffered,
    dialect_for,
    method_for,
)
from tests.cluster.fake_node import ample, in_loop
from tests.transport.scripted import (
    DIALECT_KEYS,
    EVERYTHING,
    Row,
    Scripted,
    by_partition,
    offline,
    reached,
)

FETCH = 1
EMULATOR = (EMULATOR_FEATURE, "metadata.version")
TRUNK = EVERYTHING | {93: (0, 0)}
V2 = EVERYTHING | {43: (0, 2)}


def _dialect(scripted: Scripted, wishes: Wishes) -> Dialect | None:
    found = []

    @in_loop
    async def ask() -> None:
        async with reached(scripted) as cluster:
            found.append(dialect_for(await cluster.nodes.any(ample()), wishes))

    ask()
    return found[0]


def _method(scripted: Scripted, wishes: Wishes) -> ElectionMethod:
    found = []

    @in_loop
    async def ask() -> None:
        async with reached(scripted) as cluster:
            found.append(await method_for(cluster.nodes, wishes, ample()))

    ask()
    return found[0]


@pytest.mark.parametrize("features", [(), ("metadata.version",)])
def test_a_key_that_is_advertised_says_nothing_by_itself(features: tuple[str, ...]) -> None:
    # Key 93 is StreamsGroupTopologyDescriptionUpdate since Kafka 4.4.
    assert _dialect(Scripted(versions=TRUNK, features=features), Wishes()) is None


@in_loop
async def test_nothing_unreleased_is_sent_to_a_node_that_is_no_emulator() -> None:
    unreleased = dict.fromkeys(DIALECT_KEYS.values(), (0, 0))
    scripted = Scripted(rows={0: Row()}, versions=EVERYTHING | unreleased)
    async with reached(scripted) as cluster:
        source = ChosenSource(cluster.nodes, Wishes())
        logs = await source.replica_logs(cluster.broker, [offline()], ample())
    assert [log.source for log in logs.values()] == ["list-offsets"]
    # ApiVersions, ListOffsets and Fetch.
    assert set(scripted.keys) == {18, 2, 1}


def test_the_emulator_is_asked_in_the_dialect_that_tells_most() -> None:
    assert _dialect(Scripted(features=EMULATOR), Wishes()) is Dialect.KIP_966
    versions = EVERYTHING | {DIALECT_KEYS[Dialect.KIP_1275]: (0, 0)}
    scripted = Scripted(features=EMULATOR, versions=versions)
    assert _dialect(scripted, Wishes()) is Dialect.KIP_1275
    assert _dialect(Scripted(features=EMULATOR, versions=EVERYTHING), Wishes()) is None


@pytest.mark.parametrize("dialect", Dialect)
def test_a_dialect_that_is_named_is_spoken_where_its_key_is_advertised(dialect: Dialect) -> None:
    wishes = Wishes(dialect=dialect)
    assert _dialect(Scripted(), wishes) is dialect
    assert _dialect(Scripted(features=EMULATOR), wishes) is dialect
    assert _dialect(Scripted(versions=EVERYTHING), wishes) is None


def test_list_offsets_when_asked_for_is_used_with_the_emulator_too() -> None:
    wishes = Wishes(Transport.LIST_OFFSETS)
    assert _dialect(Scripted(features=EMULATOR), wishes) is None


def test_the_rpc_is_not_replaced_when_it_was_asked_for() -> None:
    wishes = Wishes(Transport.REPLICA_LOG_INFO, dialect=Dialect.KIP_966)
    assert _dialect(Scripted(versions=EVERYTHING), wishes) is Dialect.KIP_966
    with pytest.raises(NotOffered, match="--replica-log-info-dialect"):
        _dialect(Scripted(versions=TRUNK), Wishes(Transport.REPLICA_LOG_INFO))
    assert _dialect(Scripted(features=EMULATOR), Wishes(Transport.REPLICA_LOG_INFO)) is not None


@in_loop
async def test_a_broker_without_the_rpc_is_reported_and_not_asked_otherwise() -> None:
    wishes = Wishes(Transport.REPLICA_LOG_INFO, dialect=Dialect.KIP_966)
    scripted = Scripted(versions=EVERYTHING | {2: (0, 9)})
    async with reached(scripted) as cluster:
        source = ChosenSource(cluster.nodes, wishes)
        logs = by_partition(await source.replica_logs(cluster.broker, [offline()], ample()))
        ends = by_partition(await source.log_ends(cluster.broker, [offline()], ample()))
    assert "does not speak GetReplicaLogInfo (kip-966)" in logs[0].problem
    assert ends[0].problem == logs[0].problem
    assert scripted.keys == [18]


@in_loop
async def test_over_another_connection_the_whole_log_is_read_again_of_each_partition() -> None:
    """The broker may have started again since, with another disk that ends at the same offset."""
    scripted = Scripted(rows={0: Row(), 1: Row()}, versions=EVERYTHING)
    async with reached(scripted) as cluster:
        source = ChosenSource(cluster.nodes, Wishes())
        await source.replica_logs(cluster.broker, [offline(0), offline(1)], ample())
        await (await cluster.nodes.broker(cluster.broker, ample())).close()
        asked = []
        for number in (0, 1, 0, 1):
            before = scripted.keys.count(FETCH)
            await source.log_ends(cluster.broker, [offline(number)], ample())
            asked.append(scripted.keys.count(FETCH) > before)
    assert asked == [True, True, False, False]


@pytest.mark.parametrize(
    ("scripted", "wish", "method"),
    [
        (Scripted(), ElectionMethod.AUTO, ElectionMethod.REORDER),
        (Scripted(features=EMULATOR), ElectionMethod.AUTO, ElectionMethod.DESIGNATED),
        (Scripted(features=EMULATOR, versions=V2), ElectionMethod.AUTO, ElectionMethod.REORDER),
        (Scripted(), ElectionMethod.DESIGNATED, ElectionMethod.DESIGNATED),
        (Scripted(features=EMULATOR), ElectionMethod.REORDER, ElectionMethod.REORDER),
    ],
    ids=["auto-kafka", "auto-emulator", "auto-old-emulator", "named", "reorder-emulator"],
)
def test_leaders_are_named_only_where_that_is_certain_to_be_understood(
    scripted: Scripted, wish: ElectionMethod, method: ElectionMethod
) -> None:
    assert _method(scripted, Wishes(election_method=wish)) is method


def test_a_designated_election_that_is_not_offered_becomes_no_other() -> None:
    wishes = Wishes(election_method=ElectionMethod.DESIGNATED)
    with pytest.raises(NotOffered, match="ElectLeaders version 3"):
        _method(Scripted(features=EMULATOR, versions=V2), wishes)


KAFKA_4_4 = TRUNK | {94: (0, 0)}


@in_loop
async def test_the_reverted_dialect_is_not_sent_to_kafka_4_4_though_it_is_named() -> None:
    """Key 93 is StreamsGroupTopologyDescriptionUpdate there, and 94 UnregisterController."""
    scripted = Scripted(rows={0: Row()}, versions=KAFKA_4_4)
    wishes = Wishes(Transport.REPLICA_LOG_INFO, dialect=Dialect.REVERTED)
    async with reached(scripted) as cluster:
        source = ChosenSource(cluster.nodes, wishes)
        logs = by_partition(await source.replica_logs(cluster.broker, [offline()], ample()))
    assert 93 not in scripted.keys
    assert "its 93 is another request of Kafka's, nothing was sent" in logs[0].problem


@in_loop
async def test_a_key_93_that_names_the_broker_has_no_dialect_and_is_not_sent() -> None:
    scripted = Scripted(rows={0: Row()}, versions=TRUNK)
    wishes = Wishes(Transport.REPLICA_LOG_INFO, dialect=Dialect.KIP_966)
    async with reached(scripted) as cluster:
        source = ChosenSource(cluster.nodes, wishes)
        logs = by_partition(await source.replica_logs(cluster.broker, [offline()], ample()))
    assert 93 not in scripted.keys
    assert "for a 93 that names the broker there is no dialect here" in logs[0].problem
    assert "key 1020" in logs[0].problem
