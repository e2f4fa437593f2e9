"""A share group that had read beyond the new log end skips records: it is told of, and set back."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.broker.share_groups import ShareState
from kafka_unclean_recovery.emulator.control.status import partition_status
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.listener.intercepts import Fail, Rewrite, Seen
from tests.cli.in_process import RECOVERY, invoke

TOPIC, DEAD, SURVIVOR = "orders", 1, 4
HELD, GIVEN_UP = 10, 10
GROUP = "workers"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Yield a cluster: broker 1 leads with 20 records of orders-0; 4, which is dead, has ten."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Cluster(Options(settings=Settings(session_timeout=600.0))) as cluster:
        cluster.create_topic(TOPIC, assignment=[(DEAD, SURVIVOR)])
        cluster.produce(TOPIC, 0, HELD)
        _lose(cluster, SURVIVOR)
        cluster.produce(TOPIC, 0, GIVEN_UP, acks="1")
        yield cluster


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _elect(cluster: Cluster) -> Any:
    """Let the dead one come back and follow, and return the report of the recovery."""
    _lose(cluster, DEAD)
    cluster.start(SURVIVOR)
    which = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
    done = invoke(RECOVERY, *which, "--bootstrap-server", cluster.bootstrap_servers)
    assert done.code == 0, done.stderr
    cluster.start(DEAD)
    cluster.wait_until(lambda e: set(partition_status(e, TOPIC, 0).isr) == {DEAD, SURVIVOR})
    return json.loads(done.stdout)


def _care(cluster: Cluster, *flags: str, journal: bool = False) -> tuple[int, Any, str]:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    which = ("--topics", TOPIC)
    if journal:
        (written,) = Path(os.environ["XDG_STATE_HOME"]).rglob("*.jsonl")
        which = ("--journal", str(written))
    done = invoke(RECOVERY, "aftercare", *servers, *which, "--format", "json", *flags)
    return done.code, json.loads(done.stdout), done.stderr


def _groups(document: Any) -> list[tuple[str, int, int, int, bool]]:
    return [
        (
            g["group"],
            g["share_done_to"],
            g["committed_offset"],
            g["resume_offset"],
            g["refilled"],
        )
        for row in document["partitions"]
        for g in row["groups"]
    ]


def _start_offset(cluster: Cluster) -> list[int]:
    groups = cluster.look(lambda e: dict(e.share_groups[GROUP].states))
    return [state.start_offset for state in groups.values()]


END = HELD + GIVEN_UP
ALL = (HELD, END)


@pytest.mark.parametrize(
    ("start", "done", "all_to", "set_to"),
    [
        pytest.param(HELD, ALL, END, HELD, id="all"),
        pytest.param(END, (0, 0), END, HELD, id="all, and its start offset says so"),
        pytest.param(3, (3, END), END, HELD, id="all, and its start offset lags far behind"),
        pytest.param(HELD - 2, (HELD - 1, END), HELD - 2, HELD - 2, id="all but one record before"),
        pytest.param(HELD, (END - 1, END), HELD, HELD, id="the last record alone"),
    ],
)
def test_a_share_group_that_was_done_with_what_is_gone_is_set_back(
    cluster: Cluster, start: int, done: tuple[int, int], all_to: int, set_to: int
) -> None:
    cluster.share_group(GROUP, TOPIC, 0, start, done)
    _elect(cluster)
    code, document, said = _care(cluster)
    assert (code, _groups(document)) == (1, [(GROUP, all_to, END, HELD, False)])
    (line,) = (line for line in said.splitlines() if "--reset-share-groups" in line)
    command = shlex.split(line.partition("kafka-unclean-recovery ")[2])
    ended = invoke(RECOVERY, *command)
    assert ended.code == 0, ended.stderr
    assert f"orders-0: share group workers: set to {set_to}\n" in ended.stderr
    assert _start_offset(cluster) == [set_to]
    lines = [
        json.loads(line)
        for path in Path(os.environ["XDG_STATE_HOME"]).rglob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    (resets,) = (line for line in lines if line["event"] == "resets")
    assert resets["partitions"] == [
        {
            "group": GROUP,
            "topic": TOPIC,
            "partition": 0,
            "done_to": all_to,
            "read_to": END,
            "set_to": set_to,
        }
    ]
    (reset,) = (line for line in lines if line["event"] == "reset")
    assert [row["problem"] for row in reset["partitions"]] == [None]


def test_new_records_do_not_hide_a_share_group_that_no_leader_has_read_since(
    cluster: Cluster,
) -> None:
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    _elect(cluster)
    cluster.produce(TOPIC, 0, GIVEN_UP + 5, acks="1")
    code, document, _ = _care(cluster)
    assert (code, _groups(document)) == (1, [(GROUP, END, END, HELD, True)])


def test_the_recovery_tells_what_is_lost_at_least_by_what_a_share_group_had_read(
    cluster: Cluster,
) -> None:
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    report = _elect(cluster)
    assert report["unknown"] == []
    (row,) = report["partitions"]
    assert row["loss"]["at_least"] == GIVEN_UP
    assert row["groups_beyond"] == [
        {
            "group": GROUP,
            "committed_offset": END,
            "committed_leader_epoch": 0,
            "resume_offset": HELD,
            "share_done_to": END,
        }
    ]
    (finding,) = (f for f in row["findings"] if f["code"] == "commits_beyond_the_best_log")
    assert "share group workers was done with records up to offset 20" in finding["message"]


def test_the_journal_knows_a_share_group_whose_state_the_new_leader_has_read(
    cluster: Cluster,
) -> None:
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    _elect(cluster)
    cluster.produce(TOPIC, 0, GIVEN_UP + 5, acks="1")
    # The new leader notes its own epoch with the state, which it leaves as it is.
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    assert _care(cluster)[0] == 0
    code, document, _ = _care(cluster, journal=True)
    assert (code, _groups(document)) == (1, [(GROUP, END, END, HELD, True)])
    assert _care(cluster, "--reset-share-groups", journal=True)[0] == 0
    assert _start_offset(cluster) == [HELD]


def test_what_is_left_of_a_share_group_is_in_the_post_mortem(cluster: Cluster) -> None:
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    _elect(cluster)
    (written,) = Path(os.environ["XDG_STATE_HOME"]).rglob("*.jsonl")
    told = json.loads(invoke(RECOVERY, "report", str(written), "--json").stdout)
    commands = [command for step in told["next_steps"] for command in step["commands"]]
    assert [c for c in commands if c.endswith("--reset-share-groups")] == commands[:1]
    assert not any("kafka-consumer-groups.sh" in command for command in commands)
    assert _care(cluster, "--reset-share-groups", journal=True)[0] == 0
    shown = invoke(RECOVERY, "report", str(written)).stdout
    assert "sets 1 share group back" in shown
    assert "1 share group set back" in shown


def test_a_share_group_that_was_set_by_hand_since_has_read_nothing_that_is_gone(
    cluster: Cluster,
) -> None:
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    _elect(cluster)
    cluster.produce(TOPIC, 0, GIVEN_UP + 5, acks="1")

    def set_by_hand(emulation: Emulation) -> None:
        states = emulation.share_groups[GROUP].states
        states.update(dict.fromkeys(states, ShareState(END)))

    cluster.look(set_by_hand)
    code, document, _ = _care(cluster)
    assert (code, _groups(document)) == (0, [])


def test_a_share_group_within_the_log_is_left_alone(cluster: Cluster) -> None:
    cluster.share_group(GROUP, TOPIC, 0, 3, (5, HELD))
    _elect(cluster)
    code, document, _ = _care(cluster, "--reset-share-groups")
    assert (code, _groups(document), _start_offset(cluster)) == (0, [], [3])


@pytest.mark.parametrize(
    ("api", "error", "why"),
    [
        ("DescribeShareGroupOffsets", 15, "had read is unknown: COORDINATOR_NOT_AVAILABLE"),
        (
            "ReadShareGroupState",
            31,
            "start offsets is unknown: CLUSTER_AUTHORIZATION_FAILED; grant Cluster:CLUSTER_ACTION",
        ),
        ("ReadShareGroupState", 16, "is unknown: no broker coordinates its state"),
    ],
)
def test_a_share_group_that_nobody_tells_of_is_not_over(
    cluster: Cluster, api: str, error: int, why: str
) -> None:
    cluster.share_group(GROUP, TOPIC, 0, 3, (5, HELD))
    _elect(cluster)
    cluster.intercept(api, Fail(error), times=99)
    code, document, _ = _care(cluster)
    assert code == 1
    (unknown,) = document["unknown"]
    assert unknown.startswith(f"what share group {GROUP} ")
    assert unknown.endswith(why)


def _after_the_first_look(cluster: Cluster, change: Callable[[Emulation], None]) -> None:
    """Make the change after a look, which asks last where leader epochs end."""
    emulation = cluster.look(lambda e: e)
    changed: list[Seen] = []

    def once(seen: Seen) -> None:
        if not changed:
            changed.append(seen)
            change(emulation)

    cluster.intercept("OffsetForLeaderEpoch", once, times=99)


def _set_by_hand(emulation: Emulation) -> None:
    states = emulation.share_groups[GROUP].states
    states.update(dict.fromkeys(states, ShareState(3)))


def _gone_on(emulation: Emulation) -> None:
    """Let consumers come, be done with more, and leave."""
    states = emulation.share_groups[GROUP].states
    states.update({key: replace(s, done=(HELD, END + 2)) for key, s in states.items()})


def _of_another_topic(emulation: Emulation) -> None:
    """Change the group as where its topic was deleted and made again."""
    states = emulation.share_groups[GROUP].states
    ((key, state),) = states.items()
    emulation.share_groups[GROUP].states = {key._replace(topic_id=UUID(int=7)): state}


@pytest.mark.parametrize(
    ("change", "start"), [(_set_by_hand, 3), (_gone_on, HELD), (_of_another_topic, HELD)]
)
def test_a_share_group_that_changed_since_it_was_looked_at_is_left_alone(
    cluster: Cluster, change: Callable[[Emulation], None], start: int
) -> None:
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    _elect(cluster)
    _after_the_first_look(cluster, change)
    code, _, said = _care(cluster, "--reset-share-groups")
    assert code == 1
    left = "orders-0: share group workers: it changed meanwhile, so it was left alone: look again"
    assert left in said
    assert _start_offset(cluster) == [start]


def test_a_share_group_whose_partition_is_led_anew_since_is_left_alone(cluster: Cluster) -> None:
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    _elect(cluster)
    before = cluster.partition(TOPIC, 0)
    asked: list[Seen] = []

    def older(answer: dict[str, Any]) -> dict[str, Any]:
        """Return the answer as if the partition had been led in an older epoch until then."""
        for topic in answer["topics"]:
            for partition in topic["partitions"]:
                partition["leader_epoch"] -= 1
        return answer

    def until_asked(_: Seen) -> Rewrite | None:
        return None if asked else Rewrite(older)

    cluster.intercept("OffsetForLeaderEpoch", asked.append, times=99)
    cluster.intercept("DescribeTopicPartitions", until_asked, times=99)
    code, _, said = _care(cluster, "--reset-share-groups")
    assert code == 1
    assert "it changed meanwhile, so it was left alone: look again" in said
    assert _start_offset(cluster) == [HELD]
    assert cluster.partition(TOPIC, 0) == before


def test_a_share_group_that_nobody_tells_of_any_more_is_left_alone(cluster: Cluster) -> None:
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    _elect(cluster)
    asked: list[Seen] = []
    cluster.intercept("OffsetForLeaderEpoch", asked.append, times=99)
    cluster.intercept("ReadShareGroupState", lambda _: Fail(15) if asked else None, times=99)
    code, _, said = _care(cluster, "--reset-share-groups")
    assert code == 1
    assert "share group workers: it could not be looked at again: " in said
    assert _start_offset(cluster) == [HELD]


def test_a_share_group_whose_coordinator_refuses_says_so(cluster: Cluster) -> None:
    cluster.share_group(GROUP, TOPIC, 0, HELD, ALL)
    _elect(cluster)
    cluster.intercept("AlterShareGroupOffsets", Fail(68), times=99)
    code, document, said = _care(cluster, "--reset-share-groups")
    assert code == 1
    assert "refused: NON_EMPTY_GROUP" in said
    assert len(_groups(document)) == 1
