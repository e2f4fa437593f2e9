"""Each check by what it makes of facts: what is wrong is named, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from kafka_unclean_recovery.cluster.requests.configs import ConfigSource, ConfigValue
from kafka_unclean_recovery.cluster.requests.log_dirs import LogDir
from kafka_unclean_recovery.doctor.brokers import TESTED, known_bugs
from kafka_unclean_recovery.doctor.check import Check, Status, worst
from kafka_unclean_recovery.doctor.diagnosis import diagnose
from kafka_unclean_recovery.doctor.facts import (
    ClockOffset,
    Facts,
    QuorumAnswer,
    Room,
    Space,
    Spoken,
)
from kafka_unclean_recovery.kafka_names import release_of
from kafka_unclean_recovery.mechanisms import Dialect, ElectionMethod
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.survey.answer import Answer
from tests.doctor.facts import (
    FINALIZED,
    GIB,
    HEALTHY,
    NO_ANSWER,
    ORDERS_0,
    REFUSED,
    TOPIC,
    broker,
    partition,
    quorum,
    topics,
    tried,
)
from tests.real import releases as tried_releases
from tests.real.cache import ROOT

NONE_LEADS: dict[str, Any] = {"topics": topics(partition(leader=-1, isr=()))}
VOTERS: dict[int, int | None] = {100: 0, 101: 300, 102: 500}


def checks(**changed: Any) -> list[Check]:
    return list(diagnose(replace(HEALTHY, **changed), "now").checks)


def the(code: str, **changed: Any) -> Check:
    (found,) = [check for check in checks(**changed) if check.code == code]
    return found


def test_of_a_healthy_cluster_only_what_nobody_can_tell_is_not_ok() -> None:
    assert {c.code: c.status for c in checks() if c.status is not Status.OK} == {
        "clock_brokers": Status.UNKNOWN,
        "right_topic_write": Status.UNKNOWN,
        "known_election_bug": Status.NOTICE,
    }
    assert not worst(checks()).bad


def test_the_gravest_come_first_and_everything_bad_says_what_to_do() -> None:
    found = checks(**NONE_LEADS, reordering=REFUSED, quorum=NO_ANSWER, brokers=())
    gravity = [check.status.gravity for check in found]
    assert gravity == sorted(gravity, reverse=True)
    assert worst(found) is Status.FAILURE
    assert all(check.why for check in found)
    assert all(check.to_do for check in found if check.status.bad)


# One broker down, as the quorum and DescribeCluster tell of it.
DOWN = [
    ({3: 500}, "broker 3 is fenced: it read metadata 0.5 s ago", "--wait-for-brokers"),
    ({3: 60_000}, "broker 3 is fenced: it last read metadata 60.0 s ago", "start it before"),
    (
        {3: None},
        "broker 3 is fenced: the active controller has not heard of it since it leads",
        "start it",
    ),
    (
        {},
        "broker 3 is fenced: the active controller has not heard of it since it leads",
        "start it before",
    ),
]


@pytest.mark.parametrize(("observers", "what", "to_do"), DOWN)
def test_a_fenced_broker_is_told_from_one_that_starts(
    observers: dict[int, int | None], what: str, to_do: str
) -> None:
    found = the("broker_down", **_without_3(fenced=(3,)), quorum=quorum(VOTERS, observers))
    assert found.status is Status.WARNING
    assert found.what.startswith(what)
    assert to_do in found.to_do


def _without_3(fenced: tuple[int, ...]) -> dict[str, Any]:
    live = {id_: b for id_, b in HEALTHY.cluster.brokers.items() if id_ != 3}
    cluster = structs.replace(HEALTHY.cluster, brokers=live, fenced=fenced)
    return {"cluster": cluster, "brokers": HEALTHY.brokers[:2]}


def test_a_broker_that_only_replicas_name_is_down_where_fencing_is_not_told() -> None:
    changed = _without_3(fenced=()) | {"fenced_told": False}
    assert the("broker_down", **changed).what.startswith("broker 3 is not live")
    assert the("fenced_not_told", **changed).status is Status.UNKNOWN


def test_a_quorum_without_times_says_nothing_of_a_broker_that_is_down() -> None:
    untold = quorum(VOTERS, {}, tells_times=False)
    found = the("broker_down", **_without_3(fenced=(3,)), quorum=untold)
    assert found.what == "broker 3 is fenced: whether it runs is not known"
    assert the("quorum", quorum=untold).status is Status.UNKNOWN


def test_a_live_broker_that_stopped_reading_metadata_is_named() -> None:
    found = the("broker_stopped_reading_metadata", quorum=quorum(VOTERS, {1: 0, 2: 4000, 3: 0}))
    assert (found.status, found.what.split(" is ")[0]) == (Status.WARNING, "broker 2")


def test_a_silent_broker_is_a_failure_and_the_others_are_not() -> None:
    brokers = (HEALTHY.brokers[0], broker(2, spoken=NO_ANSWER, log_dirs=NO_ANSWER), broker(3))
    found = checks(brokers=brokers)
    assert [c.code for c in found if c.status.bad] == ["broker_unreachable"]
    assert "broker 2" in found[0].what
    assert "no answer in time" in found[0].what


def test_a_bootstrap_server_that_is_gone_is_but_a_notice() -> None:
    assert the("bootstrap_unreachable", bootstrap={"h:1": "refused"}).status is Status.NOTICE


def test_no_live_broker_is_a_failure() -> None:
    found = checks(cluster=structs.replace(HEALTHY.cluster, brokers={}), brokers=())
    assert "no_live_broker" in [c.code for c in found if c.status is Status.FAILURE]


@pytest.mark.parametrize(
    ("silence", "status", "says"),
    [
        ({100: 0, 101: 300, 102: 500}, Status.OK, "controller 100 leads; following are 3 of 3"),
        ({100: 0, 101: 300, 102: 9000}, Status.WARNING, "2 of 3 voters, without 102"),
        ({100: 0, 101: 9000, 102: None}, Status.FAILURE, "1 of 3 voters"),
        ({100: 0}, Status.OK, "1 of 1 voter"),
    ],
)
def test_voters_that_follow_are_counted(
    silence: dict[int, int | None], status: Status, says: str
) -> None:
    found = the("quorum", quorum=quorum(silence, {}))
    assert found.status is status
    assert says in found.what


@pytest.mark.parametrize(
    ("answer", "to_do"),
    [
        (NO_ANSWER, "bring controllers back"),
        (REFUSED, "grant Cluster:DESCRIBE"),
        (Answer(QuorumAnswer(None)), "bring controllers back"),
    ],
)
def test_a_quorum_that_does_not_answer_is_a_failure(answer: Answer[Any], to_do: str) -> None:
    found = the("quorum", quorum=answer)
    assert found.status is Status.FAILURE
    assert to_do in found.to_do
    assert the("clock_controller", quorum=answer).status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("ahead", "uncertainty", "status"),
    [
        (5_000, 0, Status.OK),
        (5_001, 0, Status.WARNING),
        (-5_001, 0, Status.WARNING),
        (7_000, 2_000, Status.OK),
        (7_002, 2_000, Status.WARNING),
    ],
)
def test_a_clock_is_wrong_only_beyond_what_is_uncertain(
    ahead: int, uncertainty: int, status: Status
) -> None:
    assert HEALTHY.quorum.value is not None
    clock = ClockOffset(ahead, uncertainty)
    found = the("clock_controller", quorum=Answer(replace(HEALTHY.quorum.value, clock=clock)))
    assert found.status is status
    assert ("ahead of" if ahead > 0 else "behind") in found.what


def test_releases_are_told_by_metadata_version() -> None:
    told = {
        level: release_of(level) for level in (6, 7, 14, 15, 19, 20, 21, 22, 25, 27, 30, 31, 33, 34)
    }
    assert told == {
        6: "before 3.3",
        7: "3.3",
        14: "3.6",
        15: "3.7",
        19: "3.7",
        20: "3.8",
        21: "3.9",
        22: "4.0",
        25: "4.0",
        27: "4.1",
        30: "4.3",
        31: "4.4",
        33: "4.4",
        34: "after 4.4",
    }


def test_a_release_that_was_not_tried_is_a_notice() -> None:
    def of(metadata_version: int) -> tuple[Any, ...]:
        told = Answer(Spoken(metadata_version=metadata_version, finalized=FINALIZED))
        return (*HEALTHY.brokers[:2], broker(3, spoken=told))

    found = the("release_not_tried", brokers=of(27))
    assert found.status is Status.NOTICE
    assert found.what == "Kafka 4.1: this tool was not tried on it, but on 3.9, 4.3, 4.4"
    assert "after 4.4" in the("release_not_tried", brokers=of(34)).what
    for level in (21, 30, 33):
        assert "release_not_tried" not in {c.code for c in checks(brokers=of(level))}


def test_mixed_releases_are_a_notice() -> None:
    older = broker(3, spoken=Answer(Spoken(metadata_version=27, finalized=FINALIZED)))
    found = the("releases", brokers=(*HEALTHY.brokers[:2], older))
    assert found.status is Status.NOTICE
    assert found.what == "broker 3: Kafka 4.1; brokers 1, 2: Kafka 4.3"


def test_bugs_of_elr_are_none_where_it_is_off() -> None:
    on, off = FINALIZED, {**FINALIZED, "eligible.leader.replicas.version": 0}
    assert "KAFKA-19522" in known_bugs("4.0", on)[0][0]
    for release in ("4.3", "4.4"):
        assert "resigns" in known_bugs(release, on)[0][0]
    assert [known_bugs(r, off) for r in ("4.0", "4.3", "4.4")] == [(), (), ()]
    assert [known_bugs(r, on) for r in ("3.9", "4.1", "after 4.4")] == [(), (), ()]


def test_what_no_broker_tells_is_unknown() -> None:
    untold = tuple(broker(id_, spoken=Answer(Spoken())) for id_ in (1, 2, 3))
    found = {c.code: c.status for c in checks(brokers=untold)}
    assert {found[code] for code in ("releases", "elr", "known_election_bug")} == {Status.UNKNOWN}
    shown = topics(partition(elr=(2,)))
    assert the("elr", brokers=untold, topics=shown).status is Status.OK


def test_a_request_that_a_broker_lacks_is_named() -> None:
    brokers = (*HEALTHY.brokers[:2], broker(3, spoken=Answer(Spoken(missing=("Fetch v12",)))))
    found = the("request_not_understood", brokers=brokers)
    assert (found.status, found.what) == (Status.FAILURE, "broker 3 does not speak Fetch v12")


def test_the_mechanism_is_said_with_its_reason() -> None:
    spoken = Answer(Spoken(emulator=True, dialect=Dialect.KIP_966))
    designated = Answer(ElectionMethod.DESIGNATED)
    found = the("mechanism", method=designated, brokers=(broker(1, spoken=spoken),))
    assert found.what.startswith(
        "replicas are asked by GetReplicaLogInfo as in kip-966 (key 1020); leaders"
    )
    assert "ElectLeaders version 3" in found.what
    assert "no released Kafka lets a leader be named" in the("mechanism").what
    assert the("mechanism", method=NO_ANSWER).status is Status.FAILURE


def test_offline_partitions_are_named_and_kafkas_own_topics_come_first() -> None:
    offline = [partition(t, leader=-1) for t in ("a", "__consumer_offsets")]
    found = the("offline_partitions", topics=topics(*offline, partition()))
    assert found.status is Status.WARNING
    assert found.what == "offline are 2 of 3 partitions: a-0, __consumer_offsets-0"
    assert "recover __consumer_offsets first" in found.to_do
    assert the("offline_partitions", topics=NO_ANSWER).status is Status.FAILURE


def test_reassignments_are_a_warning_and_offline_ones_are_told_apart() -> None:
    moving = Answer({ORDERS_0: ((4,), (1,)), TopicPartition("other", 1): ((4,), ())})
    found = the("reassignments", reassignments=moving)
    assert (found.status, "2 reassignments" in found.what) == (Status.WARNING, True)
    assert "offline" not in found.what
    stuck = the("reassignments", reassignments=moving, **NONE_LEADS)
    assert stuck.what.endswith("offline of these: orders-0")
    assert the("reassignments", reassignments=NO_ANSWER).status is Status.WARNING


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (ConfigSource.TOPIC, "set on the topics"),
        (ConfigSource.ALL_BROKERS, "set for all brokers"),
        (ConfigSource.FILE, "what the controllers' files say is not shown"),
    ],
)
def test_elections_that_nobody_asks_for_are_a_warning(source: ConfigSource, says: str) -> None:
    configs = Answer({TOPIC: ConfigValue(0, "true", source), "b": ConfigValue(0, "false")})
    found = the("unclean_elections", configs=configs)
    assert found.status is Status.WARNING
    assert found.what.startswith(f"unclean.leader.election.enable is true for topics {TOPIC}, ")
    assert says in found.what
    assert "unclean.leader.election.interval.ms" in found.why
    urgent = the("unclean_elections", configs=configs, **NONE_LEADS)
    assert f"offline among these: {TOPIC}" in urgent.what
    assert "before any broker is started" in urgent.to_do


def test_a_config_that_may_not_be_read_is_unknown_and_never_false() -> None:
    configs = Answer({TOPIC: ConfigValue(29)})
    found = the("unclean_elections", configs=configs)
    assert found.status is Status.UNKNOWN
    assert "TOPIC_AUTHORIZATION_FAILED" in found.what
    assert the("unclean_elections", configs=NO_ANSWER).status is Status.UNKNOWN


def test_a_leader_that_is_not_live_is_named_though_nothing_is_offline() -> None:
    led = topics(partition(leader=2), partition("b", leader=9))
    found = the("dead_leaders", topics=led)
    assert found.status is Status.WARNING
    assert found.what.startswith("1 partition led by brokers that are not live: b-0 by broker 9")


def test_a_topic_that_the_answer_lacks_is_not_taken_for_one_without_unclean_elections() -> None:
    found = the("unclean_elections", configs=Answer({}))
    assert found.status is Status.UNKNOWN
    assert f"the answer lacks topics {TOPIC}" in found.what


def test_a_broker_that_tells_no_such_config_is_no_missing_right() -> None:
    found = the("unclean_elections", configs=Answer({TOPIC: ConfigValue(0)}))
    assert found.status is Status.UNKNOWN
    assert "tells no unclean.leader.election.enable of topics orders" in found.what
    assert "DESCRIBE_CONFIGS" not in found.to_do


RIGHTS: list[tuple[dict[str, Any], str, str]] = [
    ({"reordering": REFUSED}, "right_cluster_alter", "AlterPartitionReassignments was refused"),
    ({"electing": REFUSED}, "right_cluster_alter", "ElectLeaders was refused"),
    (
        {"electing": REFUSED, "method": Answer(ElectionMethod.DESIGNATED)},
        "right_cluster_alter",
        "ElectLeaders version 3 was refused",
    ),
    ({"quorum": REFUSED}, "right_cluster_describe", "DescribeQuorum was refused"),
    (
        {"brokers": (broker(1, log_dirs=REFUSED, **tried()), broker(2), broker(3))},
        "right_cluster_describe",
        "DescribeLogDirs of broker 1 was refused",
    ),
    (
        {"brokers": (broker(1, ends={ORDERS_0: 29}, reads={ORDERS_0: 0}), broker(2), broker(3))},
        "right_topic_describe",
        f"missing on topics {TOPIC}: ListOffsets was refused",
    ),
    (
        {"brokers": (broker(1, ends={ORDERS_0: 0}, reads={ORDERS_0: 29}), broker(2), broker(3))},
        "right_topic_read",
        f"missing on topics {TOPIC}: Fetch was refused",
    ),
    ({"topics": Answer(())}, "hidden_topics", f"may not describe: {TOPIC}"),
]


@pytest.mark.parametrize(("changed", "code", "says"), RIGHTS)
def test_a_missing_right_is_named_with_what_was_refused(
    changed: dict[str, Any], code: str, says: str
) -> None:
    found = checks(**changed)
    (missing,) = [c for c in found if c.code == code and c.status is Status.FAILURE]
    assert says in missing.what
    assert "grant" in missing.to_do


def test_another_error_than_a_refusal_proves_the_right() -> None:
    brokers = (broker(1, ends={ORDERS_0: 0}, reads={ORDERS_0: 1}), broker(2), broker(3))
    assert the("right_topic_read", brokers=brokers).status is Status.OK


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"reordering": NO_ANSWER, "electing": NO_ANSWER}, "right_cluster_alter"),
        ({"brokers": (broker(1), broker(2), broker(3))}, "right_topic_read"),
        ({"topics": NO_ANSWER}, "hidden_topics"),
        ({"brokers": ()}, "right_topic_describe"),
    ],
)
def test_a_right_that_could_not_be_tried_is_not_taken_for_granted(
    changed: dict[str, Any], code: str
) -> None:
    found = [c for c in checks(**changed) if c.code == code]
    assert found
    assert {c.status for c in found} == {Status.WARNING}


ROOM = HEALTHY.room


@pytest.mark.parametrize(
    ("room", "code", "status"),
    [
        (replace(ROOM, journal=Space("/s", GIB, False)), "room_journal", Status.FAILURE),
        (replace(ROOM, journal=Space("/s", 1000, True)), "room_journal", Status.FAILURE),
        (replace(ROOM, journal=Space("/s", None, True)), "room_journal", Status.WARNING),
        (replace(ROOM, salvage=Space("/s", GIB, False)), "room_salvage", Status.WARNING),
        (replace(ROOM, salvage=Space("/s", 2999, True)), "room_salvage", Status.UNKNOWN),
        (replace(ROOM, salvage=Space("/s", 3000, True)), "room_salvage", Status.OK),
        (replace(ROOM, unfinished=("/s/a.jsonl",)), "unfinished_journal", Status.WARNING),
        (replace(ROOM, unreadable=("torn",)), "journal_unreadable", Status.FAILURE),
    ],
)
def test_room_is_held_against_what_is_to_be_written(room: Room, code: str, status: Status) -> None:
    found = the(code, room=room, **NONE_LEADS)
    assert found.status is status
    assert found.to_do or status is Status.OK


def test_a_directory_whose_room_is_not_known_is_not_called_unwritable() -> None:
    found = the("room_salvage", room=replace(ROOM, salvage=Space("/s", None, True)), **NONE_LEADS)
    assert (found.status, found.what) == (Status.WARNING, "room in /s is not known")


def test_a_failed_or_full_log_directory_is_named() -> None:
    failed = LogDir("/data/a", 56, None, None, {})
    full = LogDir("/data/b", 0, 4 * GIB, 100 * GIB, {})
    brokers = (*HEALTHY.brokers[:2], broker(3, log_dirs=Answer((failed, full))))
    assert (
        "/data/a of broker 3 failed: KAFKA_STORAGE_ERROR"
        in the("log_directory_failed", brokers=brokers).what
    )
    found = the("log_directory_full", brokers=brokers)
    assert found.what == "log directory /data/b of broker 3 has 4.0 GiB of 100.0 GiB left"


def test_facts_know_the_offline_partitions() -> None:
    facts: Facts = replace(HEALTHY, **NONE_LEADS)
    assert [p.topic_partition for p in facts.offline] == [ORDERS_0]
    assert HEALTHY.offline == ()


def test_the_releases_that_are_told_of_are_those_that_the_tests_run_on() -> None:
    *others, last = tried_releases.TESTED
    assert {version.rpartition(".")[0] for version in tried_releases.TESTED} == set(TESTED)
    assert f"tested on {', '.join(others)} and {last}." in (ROOT / "README.md").read_text()


def test_a_dead_member_leads_by_itself_and_nobody_looks_at_its_log() -> None:
    offline = partition(leader=-1, isr=())
    member = structs.replace(
        offline, elr=(1,), last_known_elr=(1,), offline_replicas=offline.replicas
    )
    found = the("led_on_return", topics=topics(member))
    assert found.status is Status.WARNING
    assert "broker 1 leads 1 offline partition by itself once it is back" in found.what
    assert "before-start" in found.to_do
    others = structs.replace(member, elr=(), last_known_elr=())
    assert not [c for c in checks(topics=topics(others)) if c.code == "led_on_return"]


def _with(name: str, answer: Answer[Any]) -> Facts:
    changed: dict[str, Any] = {name: answer}
    return replace(HEALTHY, **changed)


def test_each_failed_answer_alone_is_told_apart_from_what_is_not_well() -> None:
    """The exit code never hides what is not well behind what is not known, nor the other way."""
    for name in ("topics", "quorum", "reassignments", "configs"):
        found = diagnose(_with(name, NO_ANSWER), "now")
        bad = [check for check in found.checks if check.status.bad]
        codes = {0: not bad, 1: any(c.known for c in bad), 4: not any(c.known for c in bad)}
        assert codes[found.exit_code], (name, found.exit_code, bad)
        expected = {"topics": 4, "quorum": 1, "reassignments": 4, "configs": 0}
        assert found.exit_code == expected[name], bad
        refused = diagnose(_with(name, REFUSED), "now")
        assert refused.exit_code == (0 if name == "configs" else 1), name
