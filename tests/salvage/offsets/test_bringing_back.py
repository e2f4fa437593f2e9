"""Lost commits are brought back as they were shown, and left alone where the cluster has changed
since. On the emulator."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.cli.commands import salvage_offsets
from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.emulator.broker.groups import Committed, Group
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.listener.intercepts import Fail, Seen
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.offsets.commits import SavedCommit
from kafka_unclean_recovery.salvage.replay.saved import Salvage, SavedPartition
from tests.cli.in_process import RECOVERY, invoke

TOPIC, GROUP, OTHER = "orders", "readers", "writers"
RECORDS, LOST = 20, 15
SAVED = Salvage("c", "d", (SavedPartition(TopicPartition("__consumer_offsets", 0), "t", ()),), ())


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Yield a cluster: two groups had read 15 of 20 records, and nothing is committed."""
    commits = [
        SavedCommit(group, TopicPartition(TOPIC, 0), LOST, 0, "", None, number)
        for number, group in enumerate((GROUP, OTHER))
    ]
    monkeypatch.setattr(salvage_offsets, "read_saved", lambda *_: SAVED)
    monkeypatch.setattr(salvage_offsets, "_commits", lambda _: iter(commits))
    with Cluster() as running:
        running.create_topic(TOPIC, assignment=[(1, 2)])
        running.produce(TOPIC, 0, RECORDS)
        yield running


def _bring_back(cluster: Cluster) -> tuple[int, Any, str]:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    how = ("--execute", "--yes", "--format", "json")
    done = invoke(RECOVERY, "salvage", "offsets", "saved", *servers, *how)
    return done.code, json.loads(done.stdout), done.stderr


def _while_it_is_asked(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Make the change while the question is on the screen."""

    def consents(*_: object) -> bool:
        change()
        return True

    monkeypatch.setattr(salvage_offsets, "_consents", consents)


def _commit(emulation: Emulation, group: str, offset: int) -> None:
    ((topic_id, _),) = emulation.state.topics.items()
    committing = emulation.groups.setdefault(group, Group(group))
    committing.offsets[TopicIdPartition(topic_id, 0)] = Committed(offset, 0, "")


def _committed(cluster: Cluster) -> dict[str, int]:
    """Return what is committed by group, for the topic that is there now."""
    return cluster.look(
        lambda e: {
            group.id: each.offset
            for group in e.groups.values()
            for key, each in group.offsets.items()
            if key.topic_id in e.state.topics
        }
    )


def test_what_was_shown_is_brought_back(cluster: Cluster) -> None:
    code, document, said = _bring_back(cluster)
    assert (code, document["brought_back"], said) == (0, 2, "")
    assert _committed(cluster) == {GROUP: LOST, OTHER: LOST}


def test_a_group_that_went_on_while_it_was_asked_is_left_where_it_is(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its consumers came, read on, and left."""
    _while_it_is_asked(monkeypatch, lambda: cluster.look(lambda e: _commit(e, GROUP, LOST + 3)))
    code, document, said = _bring_back(cluster)
    assert (code, document["brought_back"]) == (1, 1)
    assert "1 commit changed meanwhile and was left alone (look again): readers, orders-0" in said
    assert _committed(cluster) == {GROUP: LOST + 3, OTHER: LOST}
    shown = {c["group"]: (c["committed"], c["decision"]) for c in document["commits"]}
    assert shown == {GROUP: (LOST + 3, "gone_on"), OTHER: (None, "bring_back")}


def test_a_topic_that_was_made_anew_while_it_was_asked_gets_no_commit_of_the_old_one(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made_anew() -> None:
        cluster.delete_topic(TOPIC)
        cluster.create_topic(TOPIC, assignment=[(1, 2)])
        cluster.produce(TOPIC, 0, RECORDS)

    _while_it_is_asked(monkeypatch, made_anew)
    code, document, said = _bring_back(cluster)
    assert (code, document["brought_back"]) == (1, 0)
    assert "2 commits changed meanwhile and were left alone (look again)" in said
    assert _committed(cluster) == {}


def test_a_group_is_looked_at_after_the_one_before_it_was_written(cluster: Cluster) -> None:
    emulation = cluster.look(lambda e: e)
    cluster.intercept("OffsetCommit", lambda _: _commit(emulation, OTHER, RECORDS))
    code, document, said = _bring_back(cluster)
    assert (code, document["brought_back"]) == (1, 1)
    assert "1 commit changed meanwhile and was left alone (look again): writers, orders-0" in said
    assert _committed(cluster) == {GROUP: LOST, OTHER: RECORDS}


def test_a_group_that_can_not_be_looked_at_again_is_left_alone(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_leaders_any_more() -> None:
        refused = Fail(Errors.CLUSTER_AUTHORIZATION_FAILED)
        cluster.intercept("DescribeCluster", refused, times=99)

    _while_it_is_asked(monkeypatch, no_leaders_any_more)
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    done = invoke(RECOVERY, "salvage", "offsets", "saved", *servers, "--execute", "--yes")
    assert (done.code, done.stdout) == (1, "")
    assert "group readers: it could not be looked at again: " in done.stderr
    assert "run it again: what was brought back is then gone on" in done.stderr
    assert _committed(cluster) == {}


def test_what_was_brought_back_before_an_error_is_noted(cluster: Cluster, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with Journal.open(journal) as begun:
        begun.write("begin", version="1", cluster_id=SAVED.cluster_id, command="a run")
    commits = itertools.count()

    def second_fails(_: Seen) -> Fail | None:
        return Fail(Errors.GROUP_AUTHORIZATION_FAILED) if next(commits) else None

    cluster.intercept("OffsetCommit", second_fails, times=9)
    servers = ("--bootstrap-server", cluster.bootstrap_servers, "--journal", str(journal))
    done = invoke(RECOVERY, "salvage", "offsets", "saved", *servers, "--execute", "--yes")
    assert (done.code, done.stdout) == (1, "")
    assert _committed(cluster) == {GROUP: LOST}
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [line["brought_back"] for line in lines if line["event"] == "commits"] == [1]
