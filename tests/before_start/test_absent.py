"""Which replicas a broker begins empty where one of its log directories goes offline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_unclean_recovery.before_start.absent import not_given, with_absent
from kafka_unclean_recovery.before_start.judging import judge
from kafka_unclean_recovery.before_start.replica import GoesOffline, Layout, Moment, OwnReplica
from kafka_unclean_recovery.before_start.verdict import Effect, Known
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from tests.before_start.test_verdict import HOME, LEADER, NEW, STATE, WHERE, disk, log, own

ONLINE, BAD = HOME, "00000000-0000-0000-0000-0000000000b2"
ELSEWHERE = "00000000-0000-0000-0000-0000000000b3"
WHY = "goes offline: its checkpoint is damaged"
LAYOUT = Layout(
    directories={BAD: "/bad", ONLINE: "/good"}, whole=True, topics=frozenset(("orders",))
)
GOES_OFFLINE = replace(LAYOUT, offline={"/bad": GoesOffline(Moment.LOADED, WHY)})
# Of two whose meta.properties can't be read nobody knows which id is whose.
WITHOUT_ID = replace(GOES_OFFLINE, directories={ONLINE: "/good"})
TAKEN_FIRST = replace(LAYOUT, offline={"/bad": GoesOffline(Moment.TAKEN, WHY)})
IN_THE_BAD = replace(own(), directory="/bad/orders-0", offline=WHY)
MARKED = replace(IN_THE_BAD, kind=DirectoryKind.DELETED)


def effects(layout: Layout, *replicas: OwnReplica) -> list[tuple[str, Effect]]:
    found = with_absent(disk(*replicas, layout=layout, directories=("/bad", "/good")), [STATE])
    known = Known(STATE, logs={LEADER: log(LEADER, *NEW)})
    return [(each.directory, judge(each, found, known).effect) for each in found.replicas]


def test_a_directory_that_can_not_tell_its_id_is_named_for_the_one_that_is_missed() -> None:
    """The operator gave it: that it was not given is not true for sure."""
    unread = {"/bad": GoesOffline(Moment.UNREAD, WHY)}
    layout = replace(WITHOUT_ID, offline=unread, whole=False, missing=(BAD,))
    one = with_absent(disk(layout=put(layout, BAD), directories=("/good",)), [STATE])
    hint = "given, unless it is /bad, which can't tell its id"
    assert hint in str(one.replicas[-1].not_given)
    assert hint in next(not_given(one))
    assert hint not in next(not_given(replace(one, layout=replace(layout, offline={}))))


def put(layout: Layout, home: str) -> Layout:
    return replace(layout, assigned={WHERE: home})


UNASSIGNED = replace(GOES_OFFLINE, unassigned=frozenset((WHERE,)))
OFFLINE = ("/bad/orders-0", Effect.OFFLINE)
EMPTY = ("/good/orders-0", Effect.BEGINS_EMPTY)


@pytest.mark.parametrize(
    ("layout", "replicas", "expected"),
    [
        pytest.param(put(GOES_OFFLINE, BAD), [IN_THE_BAD], [OFFLINE], id="where it is"),
        pytest.param(put(GOES_OFFLINE, ONLINE), [IN_THE_BAD], [OFFLINE, EMPTY], id="moved by hand"),
        pytest.param(UNASSIGNED, [IN_THE_BAD], [OFFLINE, EMPTY], id="not told yet"),
        # Of a metadata version before log directories were told, or of ZooKeeper.
        pytest.param(GOES_OFFLINE, [IN_THE_BAD], [OFFLINE], id="nothing is told"),
        pytest.param(
            *(put(GOES_OFFLINE, ELSEWHERE), [IN_THE_BAD]),
            [OFFLINE, ("/good/orders-0", Effect.OFFLINE)],
            id="a directory that the broker does not have",
        ),
        pytest.param(
            *(put(replace(GOES_OFFLINE, whole=False), ELSEWHERE), [IN_THE_BAD]),
            [OFFLINE, ("/good/orders-0", Effect.UNKNOWN)],
            id="a directory that was not given",
        ),
        pytest.param(
            *(put(GOES_OFFLINE, ONLINE), [IN_THE_BAD, replace(own(), directory="/good/orders-0")]),
            [OFFLINE, ("/good/orders-0", Effect.TRUNCATED)],
            id="in both",
        ),
        pytest.param(
            *(put(GOES_OFFLINE, BAD), [MARKED]), [OFFLINE, OFFLINE], id="only marked to be deleted"
        ),
        pytest.param(put(GOES_OFFLINE, ONLINE), [], [EMPTY], id="in none"),
        pytest.param(
            *(put(LAYOUT, ELSEWHERE), [], [("/bad/orders-0", Effect.BEGINS_EMPTY)]),
            id="in none, all online",
        ),
        pytest.param(
            GOES_OFFLINE, [], [("/good/orders-0", Effect.OFFLINE)], id="in none, nothing told"
        ),
        pytest.param(
            *(put(WITHOUT_ID, BAD), [], [("/good/orders-0", Effect.OFFLINE)]),
            id="in none, put into one that has no id",
        ),
        pytest.param(
            *(put(TAKEN_FIRST, ELSEWHERE), [], [EMPTY]),
            id="in none, the other goes offline only later",
        ),
        pytest.param(
            put(TAKEN_FIRST, ONLINE),
            [IN_THE_BAD],
            [OFFLINE],
            id="moved by hand, found in use first",
        ),
    ],
)
def test_a_replica_that_goes_offline_is_begun_empty_where_the_metadata_puts_it(
    layout: Layout, replicas: list[OwnReplica], expected: list[tuple[str, Effect]]
) -> None:
    """As kafka.cluster.Partition.createLogInAssignedDirectoryId does."""
    assert effects(layout, *replicas) == expected
