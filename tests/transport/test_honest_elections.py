"""The command on an emulated cluster that answers part of what it is asked, or says what is not so;
and what is left in journals when it ends in the middle.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.admin.topics import AlterPartitionReassignmentsRequest

from kafka_unclean_recovery.boot_clock import boot_time
from kafka_unclean_recovery.cli import session
from kafka_unclean_recovery.cluster.controller import Patience
from kafka_unclean_recovery.documents.journal_lines import half_done, parse, unfinished
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Close,
    Fail,
    LeaveOut,
    Seen,
    Where,
)
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.transport import coming
from kafka_unclean_recovery.transport.reorder_elector import ReorderElector
from tests.cli.in_process import ELECTION, RECOVERY, Done, invoke
from tests.emulator.asking import ask
from tests.emulator.holding import held_while
from tests.real.tap import ELECT_LEADERS, Gate, tapped

TOPIC = "orders"
STALE, BEST = 2, 3
REORDER, ELECT, DESCRIBE = "AlterPartitionReassignments", "ElectLeaders", "DescribeTopicPartitions"
RESTORED = (1, STALE, BEST)
OURS = (BEST, STALE, 1)


@pytest.fixture(autouse=True)
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(coming, "_STILL_SECONDS", 0.3)
    monkeypatch.setattr(session, "Patience", partial(Patience, ghost=1.0, settle=5.0))


@contextmanager
def outage(partitions: int = 1, longer: int | None = None) -> Iterator[Cluster]:
    """Yield an outage: broker 1 led last and is dead; 2 holds 10 records and is first of the order
    that lives, 3 holds 20. longer: a dead broker that holds 30."""
    dead = () if longer is None else (longer,)
    with Cluster(Options(brokers=3 + len(dead))) as cluster:
        configs = {"min.insync.replicas": "1"}
        cluster.create_topic(TOPIC, assignment=[(*RESTORED, *dead)] * partitions, configs=configs)
        for victim in (STALE, BEST, *dead, 1):
            for number in range(partitions):
                cluster.produce(TOPIC, number, 10)
            cluster.kill(victim)
            cluster.fence(victim)
        for survivor in (STALE, BEST):
            cluster.start(survivor)
        yield cluster


def recover(cluster: Cluster, *more: str) -> Done:
    how = ("--all-offline-partitions", "--automated-recovery", "--format", "json")
    return invoke(RECOVERY, "--bootstrap-server", _servers(cluster), *how, *more)


def resume(cluster: Cluster, journal: Path, *more: str) -> Done:
    servers = ("--bootstrap-server", _servers(cluster))
    return invoke(RECOVERY, *servers, "--resume", str(journal), *more)


def _servers(cluster: Cluster) -> str:
    return ",".join(cluster.bootstrap_servers.split(",")[1:])


def leaders(cluster: Cluster, partitions: int = 1) -> list[int]:
    return [cluster.partition(TOPIC, number).leader for number in range(partitions)]


def orders(cluster: Cluster, partitions: int = 1) -> set[tuple[int, ...]]:
    return {tuple(cluster.partition(TOPIC, n).replicas) for n in range(partitions)}


def outcomes(done: Done) -> dict[int, tuple[str, str]]:
    rows = json.loads(done.stdout)["partitions"]
    return {row["partition"]: (row["outcome"], row["reason"] or "") for row in rows}


def watch(cluster: Cluster, api: str) -> list[set[int]]:
    """Return the partitions that each request of this kind is about, as they come."""
    asked: list[set[int]] = []

    def see(seen: Seen) -> None:
        topics = getattr(seen.request, "topics", None)
        if topics is not None:
            asked.append({p.partition_index for topic in topics for p in topic.partitions})
        else:
            asked.append({p for t in seen.request.topic_partitions for p in t.partitions})

    cluster.intercept(api, see, times=1)
    return asked


def test_a_broker_that_says_it_wrote_an_order_and_did_not_has_nobody_elected() -> None:
    """Blindly, 2 would be: it is the first that lives in the order that is still there."""
    with outage(2) as cluster:
        cluster.intercept(REORDER, Fail(0), times=99)
        elections = watch(cluster, ELECT)
        done = recover(cluster)
        assert (done.code, leaders(cluster, 2), elections) == (1, [-1, -1], [])
        assert orders(cluster, 2) == {RESTORED}
    for outcome, reason in outcomes(done).values():
        assert outcome == "failed"
        assert "answered NONE to the replica order [3, 2, 1]" in reason
        assert "shows [1, 2, 3]" in reason
    assert not any(map(half_done, _journals()))


def test_what_is_to_be_done_is_in_the_journal_before_it_is_done() -> None:
    with outage() as cluster:
        assert recover(cluster).code == 0
    (lines,) = _journals()
    steps = [line.get("request", line["event"]) for line in lines]
    first = steps.index(REORDER)
    assert steps[first - 2 : first] == ["reorder", "elect"]
    row = {"topic": TOPIC, "partition": 0, "designated_leader": BEST}
    assert lines[first - 1]["partitions"] == [row]


@pytest.mark.parametrize("event", ["reorder", "elect", "sent"])
def test_the_next_run_waits_for_nothing_that_a_full_disk_kept_from_being_sent(
    monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    write, full = os.write, [False]

    def fill(descriptor: int, data: bytes) -> int:
        line = bytes(data)
        full[0] |= f'"event":"{event}"'.encode() in line
        if full[0] and line.startswith(b'{"v":'):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    with outage() as cluster:
        written = watch(cluster, REORDER)
        with monkeypatch.context() as patched:
            patched.setattr("kafka_unclean_recovery.files.journal.os.write", fill)
            done = recover(cluster)
        assert (done.code, leaders(cluster), written) == (1, [-1], [])
        assert "No space left on device" in done.stderr
        assert not any(map(half_done, _journals()))
        done = recover(cluster)
        assert (done.code, leaders(cluster)) == (0, [BEST])
        assert "waiting until" not in done.stderr


def test_no_order_is_written_where_replicas_stand_as_they_should() -> None:
    with outage() as cluster:
        _left_half_done(cluster).unlink()
        written = watch(cluster, REORDER)
        done = recover(cluster)
        assert (done.code, leaders(cluster), written) == (0, [BEST], []), done.stderr
        assert orders(cluster) == {OURS}


def test_after_an_order_that_is_not_seen_no_further_batch_is_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ReorderElector, "batch", 1)
    with outage(3) as cluster:
        cluster.intercept(REORDER, Fail(0), times=1)
        done = recover(cluster)
        assert (done.code, leaders(cluster, 3)) == (1, [-1] * 3)
        assert orders(cluster, 3) == {RESTORED}
    assert outcomes(done)[2][1].startswith("not begun: the controller answered NONE")


def test_only_what_the_controller_answered_is_elected() -> None:
    with outage(3) as cluster:
        cluster.intercept(REORDER, LeaveOut(frozenset({f"{TOPIC}-1"})))
        elections = watch(cluster, ELECT)
        done = recover(cluster)
        assert elections == [{0, 2}, {1}]
        # It was tried again, and answered.
        assert (done.code, leaders(cluster, 3)) == (0, [BEST] * 3)
        assert orders(cluster, 3) == {RESTORED}


def test_what_the_controller_never_answers_is_given_up_and_named() -> None:
    with outage(2) as cluster:
        cluster.intercept(REORDER, LeaveOut(frozenset({f"{TOPIC}-1"})), times=99)
        done = recover(cluster)
        assert (done.code, leaders(cluster, 2)) == (1, [BEST, -1])
    found = outcomes(done)
    assert found[0][0] == "elected"
    assert found[1][0] == "failed"
    assert "the controller left it out of its answer" in found[1][1]
    assert "could not be restored" in found[1][1]
    (lines,) = _journals()
    assert [step.topic_partition.partition for step in unfinished(lines)] == [1]


def test_after_a_failure_nobody_is_elected_on_what_was_seen_before(tmp_path: Path) -> None:
    """The designated broker is fenced at the first try, and a stale one lives at the second."""
    asked = Gate(ELECT_LEADERS)
    answered = Gate(ELECT_LEADERS, answer=True)
    with outage() as cluster, tapped(_servers(cluster).split(","), asked, answered) as address:

        def meanwhile() -> None:
            asked.wait()
            cluster.kill(BEST)
            cluster.fence(BEST)
            cluster.fence(STALE)
            asked.open()
            answered.wait()
            cluster.unfence(STALE)
            answered.open()

        doing = threading.Thread(target=meanwhile)
        doing.start()
        how = ("--all-offline-partitions", "--automated-recovery", "--format", "json")
        done = invoke(RECOVERY, "--bootstrap-server", address, *how)
        doing.join()
        assert (done.code, leaders(cluster), orders(cluster)) == (1, [-1], {RESTORED})
    outcome, reason = outcomes(done)[0]
    assert outcome == "failed"
    assert "ELIGIBLE_LEADERS_NOT_AVAILABLE" in reason
    assert "not tried again: broker 3 is dead or fenced" in reason


def test_an_election_that_was_left_out_of_the_answer_is_known_by_reading() -> None:
    with outage(2) as cluster:
        cluster.intercept(ELECT, LeaveOut(frozenset({f"{TOPIC}-1"})))
        done = recover(cluster)
        assert (done.code, leaders(cluster, 2)) == (0, [BEST, BEST])
        assert orders(cluster, 2) == {RESTORED}


def test_a_replica_that_comes_back_while_the_election_is_on_its_way_makes_the_loss_unknown() -> (
    None
):
    """30 records are on 4, which is neither in the ISR nor in the ELR; 3, with 20, is elected."""
    with outage(longer=4) as cluster:
        cluster.intercept(ELECT, lambda _: held_while(lambda: cluster.start(4)))
        done = recover(cluster, "--accept-loss", "*:0")
        assert (done.code, leaders(cluster)) == (1, [BEST]), done.stderr
    found = json.loads(done.stdout)
    assert outcomes(done)[0] == ("elected", "")
    assert found["partitions"][0]["loss"]["certain"] is None
    assert found["summary"]["certain_loss"] is None
    problem = "broker 4 came back, or may have, after orders-0 had been observed for the election"
    assert problem in done.stderr
    assert problem in found["problems"][0]
    (journal,) = Path(os.environ["XDG_STATE_HOME"]).rglob("*.jsonl")
    told = json.loads(invoke(RECOVERY, "report", str(journal), "--format", "json").stdout)
    assert told["losses"]["total"]["certain"]["unknown_partitions"] == 1


def test_a_partition_that_elect_leaders_was_not_answered_for_is_no_success() -> None:
    with outage(2) as cluster:
        cluster.intercept(ELECT, LeaveOut(frozenset({f"{TOPIC}-1"})))
        which = Path(os.environ["XDG_STATE_HOME"]).with_name("wanted.json")
        which.write_text(
            json.dumps({"partitions": [{"topic": TOPIC, "partition": n} for n in (0, 1)]})
        )
        how = ("--election-type", "unclean", "--path-to-json-file", str(which))
        done = invoke(ELECTION, "--bootstrap-server", _servers(cluster), *how)
    assert done.code == 1
    assert "orders-1: the controller left it out of its answer" in done.stderr


def test_resume_does_not_take_a_topic_that_it_may_not_describe_for_gone() -> None:
    with outage() as cluster:
        journal = _left_half_done(cluster)
        unseen = cluster.intercept(DESCRIBE, Fail(29), times=10**6)
        done = resume(cluster, journal)
        assert done.code == 1
        assert "all put back" not in done.stderr
        assert "(TOPIC_AUTHORIZATION_FAILED)" in done.stderr
        assert unfinished(_lines(journal))
        unseen.cancel()
        done = resume(cluster, journal)
        assert (done.code, orders(cluster)) == (0, {RESTORED})
        assert not half_done(_lines(journal))


def test_resume_takes_one_broker_that_knows_no_such_topic_for_behind() -> None:
    with outage() as cluster:
        journal = _left_half_done(cluster)
        cluster.lag_metadata(STALE)
        cluster.create_topic("later", replication_factor=1)
        behind = cluster.intercept(DESCRIBE, Fail(3), broker=STALE, times=10**6)
        done = resume(cluster, journal)
        assert (done.code, orders(cluster)) == (0, {RESTORED}), done.stderr
        assert "1 replica orders are to be put back first" in done.stderr
        behind.cancel()


def test_resume_has_nothing_to_do_for_a_topic_that_is_gone() -> None:
    with outage() as cluster:
        journal = _left_half_done(cluster)
        cluster.delete_topic(TOPIC)
        done = resume(cluster, journal, "--format", "json")
        assert done.code == 0, done.stderr
        assert not half_done(_lines(journal))
    # Nor is it said to be as before.
    assert "none put back: 1 gone\n" in done.stderr
    assert "all put back" not in done.stderr
    assert json.loads(done.stdout)["put_back"] == []


def test_resume_says_that_all_is_put_back_when_it_is() -> None:
    with outage() as cluster:
        before = orders(cluster)
        journal = _left_half_done(cluster)
        assert orders(cluster) != before
        done = resume(cluster, journal, "--format", "json")
        assert done.code == 0, done.stderr
        assert orders(cluster) == before
    assert f"{journal}: all put back\n" in done.stderr
    assert len(json.loads(done.stdout)["put_back"]) == 1


def test_resume_leaves_an_order_of_somebody_else_and_says_so() -> None:
    with outage() as cluster:
        journal = _left_half_done(cluster)
        theirs = (STALE, BEST, 1)
        wanted = {"name": TOPIC, "partitions": [{"partition_index": 0, "replicas": list(theirs)}]}
        values = {"timeout_ms": 1000, "topics": [wanted]}
        ask(cluster, BEST, AlterPartitionReassignmentsRequest, 0, values)
        assert orders(cluster) == {theirs}
        done = resume(cluster, journal, "--format", "json")
        assert orders(cluster) == {theirs}
    assert "none put back: 1 changed by somebody else\n" in done.stderr
    assert "all put back" not in done.stderr
    assert json.loads(done.stdout)["put_back"] == []


def test_resume_writes_no_order_to_another_topic_of_the_same_name() -> None:
    with outage() as cluster:
        journal = _left_half_done(cluster)
        cluster.delete_topic(TOPIC)
        cluster.create_topic(TOPIC, assignment=[(BEST, STALE, 1)])
        written = watch(cluster, REORDER)
        done = resume(cluster, journal)
        assert (done.code, written) == (0, []), done.stderr
        assert orders(cluster) == {(BEST, STALE, 1)}


def test_resume_believes_no_order_that_the_controller_did_not_put_back() -> None:
    """A broker that lags shows the order of before, as if nothing had ever been written."""
    with outage() as cluster:
        journal = _left_half_done(cluster, reordered=False)
        cluster.intercept(REORDER, Fail(42, Where.ENTRIES), times=99)
        done = resume(cluster, journal)
        assert done.code == 1
        assert unfinished(_lines(journal))


@pytest.mark.parametrize("full_after", range(14))
def test_a_disk_that_fills_up_under_the_journal_never_hides_what_was_done(
    monkeypatch: pytest.MonkeyPatch, full_after: int
) -> None:
    write, written = os.write, 0

    def fill(descriptor: int, data: bytes) -> int:
        nonlocal written
        written += 1
        if written > full_after:
            if written == full_after + 1:
                write(descriptor, data[:40])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    first: list[tuple[int, ...]] = []

    def see(seen: Seen) -> None:
        first.append(tuple(seen.request.topics[0].partitions[0].replicas))

    with outage() as cluster:
        cluster.intercept(REORDER, see, times=1)
        sent = [watch(cluster, REORDER), watch(cluster, ELECT)]
        with monkeypatch.context() as full:
            full.setattr("kafka_unclean_recovery.files.journal.os.write", fill)
            done = recover(cluster)
        if written <= full_after:
            assert (done.code, leaders(cluster)) == (0, [BEST])
            return
        assert "No space left on device" in done.stderr
        assert done.code == (1 if any(sent) or done.stdout else 2)
        assert orders(cluster) == {RESTORED}
        # No order is changed by a request that later runs can't know of; it is only put back.
        noted = any(line["event"] == "sent" for lines in _journals() for line in lines)
        assert noted or first in ([], [RESTORED])
        if done.stdout:
            elected = outcomes(done)[0][0] == "elected"
            assert leaders(cluster) == [BEST if elected else -1]
        # What is in it is whole, and the next run finishes it.
        again = recover(cluster)
        assert (again.code, leaders(cluster)) == (0, [BEST]), again.stderr
        assert orders(cluster) == {RESTORED}
    assert not any(map(half_done, _journals()))


def test_resume_says_what_it_could_not_note_where_the_disk_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with outage() as cluster:
        journal = _left_half_done(cluster)
        with monkeypatch.context() as filled:
            filled.setattr("kafka_unclean_recovery.files.journal.os.write", full)
            done = resume(cluster, journal)
        assert (done.code, orders(cluster)) == (1, {RESTORED}), done.stderr
        assert "No space left on device: not all that this run did is in the journal" in done.stderr
        assert f"make room there, then run with --resume {journal}" in done.stderr
        done = resume(cluster, journal)
        assert (done.code, orders(cluster)) == (0, {RESTORED}), done.stderr
        assert not half_done(_lines(journal))


class Killed(BaseException):
    """The process is no more."""


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize("lines", range(4, 16))
def test_whatever_line_a_run_is_killed_at_the_next_one_finishes_it(
    monkeypatch: pytest.MonkeyPatch, lines: int, resumed: bool
) -> None:
    append, noted = Journal._append, 0

    def die(journal: Journal, data: bytes) -> bool:
        nonlocal noted
        noted += 1
        if noted > lines:
            raise Killed
        return append(journal, data)

    with outage() as cluster:
        with monkeypatch.context() as dying:
            dying.setattr(Journal, "_append", die)
            with pytest.raises(Killed):
                recover(cluster)
        (journal,) = Path(os.environ["XDG_STATE_HOME"]).rglob("*.jsonl")
        if resumed:
            done = resume(cluster, journal)
            assert (done.code, orders(cluster)) == (0, {RESTORED}), done.stderr
            assert not half_done(_lines(journal))
        done = recover(cluster)
        assert (done.code, leaders(cluster)) == (0, [BEST]), done.stderr
        assert orders(cluster) == {RESTORED}
    assert not any(map(half_done, _journals()))


@pytest.mark.parametrize("command", [RECOVERY, ELECTION])
def test_an_unreadable_journal_of_this_cluster_stops_elections(
    tmp_path: Path, command: str
) -> None:
    with outage() as cluster:
        directory = tmp_path / "state" / "kafka-unclean-recovery" / _cluster_id(cluster)
        directory.mkdir(parents=True)
        (directory / "1.jsonl").write_text('{"v":1,"event":"begin"}\nnonsense\n')
        run = partial(_elect, command, cluster, tmp_path)
        done = run()
        assert (done.code, leaders(cluster)) == (2, [-1])
        assert "1.jsonl, line 2: not a line of a journal" in done.stderr
        assert f"--ignore-journal {directory / '1.jsonl'}" in done.stderr
        done = resume(cluster, directory / "1.jsonl")
        assert done.code == 2
        assert "1.jsonl, line 2: not a line of a journal" in done.stderr
        done = run("--ignore-journal", str(directory / "1.jsonl"))
        assert (done.code, leaders(cluster)) == (0, [BEST]), done.stderr
        assert "not a line of a journal; restore it; ignored, as --ignore-journal" in done.stderr


def _elect(command: str, cluster: Cluster, tmp_path: Path, *more: str) -> Done:
    if command == RECOVERY:
        return recover(cluster, *more)
    wanted = tmp_path / "leaders.json"
    row = {"topic": TOPIC, "partition": 0, "designatedLeader": BEST}
    wanted.write_text(json.dumps({"partitions": [row]}))
    how = ("--election-type", "designated", "--path-to-json-file", str(wanted))
    return invoke(ELECTION, "--bootstrap-server", _servers(cluster), *how, *more)


def test_what_a_journal_elsewhere_leaves_half_done_is_found_by_the_next_run(
    tmp_path: Path,
) -> None:
    elsewhere = tmp_path / "elsewhere" / "mine.jsonl"
    with outage(2) as cluster:
        refused = cluster.intercept(REORDER, LeaveOut(frozenset({f"{TOPIC}-1"})), times=99)
        done = recover(cluster, "--journal", str(elsewhere))
        assert done.code == 1
        assert half_done(_lines(elsewhere))
        refused.cancel()
        done = recover(cluster)
        assert (done.code, leaders(cluster, 2)) == (0, [BEST, BEST]), done.stderr
        assert "1 replica orders are to be put back first" in done.stderr
    assert not half_done(_lines(elsewhere))


def test_a_journal_elsewhere_of_a_run_that_finished_all_is_no_concern_of_the_next(
    tmp_path: Path,
) -> None:
    with outage() as cluster:
        done = recover(cluster, "--journal", str(tmp_path / "mine.jsonl"))
        assert (done.code, leaders(cluster)) == (0, [BEST]), done.stderr
    assert not _journals()


def test_a_request_that_broke_off_is_waited_for_by_the_next_run_too() -> None:
    """No order was to be written: its replicas stood as they should."""
    with outage() as cluster:
        journal = _left_half_done(cluster, reordered=False, answered=False)
        kept = [line for line in _lines(journal) if line["event"] != "reorder"]
        there = Path(os.environ["XDG_STATE_HOME"]) / "kafka-unclean-recovery" / _cluster_id(cluster)
        there.mkdir(parents=True)
        journal.unlink()
        journal = there / "1.jsonl"
        journal.write_text("".join(json.dumps(line) + "\n" for line in kept))
        done = recover(cluster)
        assert (done.code, leaders(cluster)) == (0, [BEST]), done.stderr
    killed, _ = _journals()
    assert [line["event"] for line in killed] == ["begin", "sent", "settled"]


def test_resume_puts_back_what_a_request_without_an_answer_may_have_done() -> None:
    with outage() as cluster:
        journal = _left_half_done(cluster, answered=False)
        done = resume(cluster, journal)
        assert (done.code, orders(cluster)) == (0, {RESTORED}), done.stderr
        events = [line["event"] for line in _lines(journal)]
        assert events[-4:] == ["settled", "sent", "answered", "restored"]


def test_a_lost_connection_is_noted_as_open_and_settled_before_it_is_tried_again() -> None:
    with outage() as cluster:
        cluster.intercept(ELECT, Close(carried_out=False))
        done = recover(cluster)
        assert (done.code, leaders(cluster)) == (0, [BEST]), done.stderr
    (lines,) = _journals()
    steps = [line["event"] for line in lines if line["event"] in ("sent", "answered", "settled")]
    assert steps == ["sent", "answered", "sent", "settled", *["sent", "answered"] * 3]


def _left_half_done(cluster: Cluster, *, reordered: bool = True, answered: bool = True) -> Path:
    """Return the journal of a run that is killed between election and putting back."""
    path = Path(os.environ["XDG_STATE_HOME"]).with_name("killed.jsonl")
    row = {"topic": TOPIC, "partition": 0}
    topic_id = _topic_id(cluster)
    with Journal.open(path) as journal:
        journal.note("begin", version="0", cluster_id=_cluster_id(cluster), command=RECOVERY)
        order = {"original": RESTORED, "written": OURS, "topic_id": topic_id}
        journal.note("reorder", partitions=[row | order | {"designated_leader": BEST}])
        now = boot_time()
        assert now is not None
        sent = {"number": 1, "request": REORDER, "partitions": 1, "broker": _servers(cluster)[:15]}
        journal.write("sent", **sent, boot_id=now.boot_id, boot_ms=now.ms)
        if answered:
            journal.write("answered", number=1)
    if not reordered:
        return path
    wanted = {"name": TOPIC, "partitions": [{"partition_index": 0, "replicas": list(OURS)}]}
    values = {"timeout_ms": 1000, "topics": [wanted]}
    ask(cluster, BEST, AlterPartitionReassignmentsRequest, 0, values)
    assert orders(cluster) == {OURS}
    return path


def _topic_id(cluster: Cluster) -> str:
    done = invoke(
        RECOVERY,
        *("--bootstrap-server", _servers(cluster), "--all-offline-partitions"),
        *("--show-replica-info", "--format", "json"),
    )
    topic_id: str = json.loads(done.stdout)["partitions"][0]["topic_id"]
    return topic_id


def _cluster_id(cluster: Cluster) -> str:
    done = invoke(
        RECOVERY,
        *("--bootstrap-server", _servers(cluster), "--all-offline-partitions"),
        *("--show-replica-info", "--format", "json"),
    )
    cluster_id: str = json.loads(done.stdout)["cluster_id"]
    return cluster_id


def _lines(journal: Path) -> list[dict[str, Any]]:
    return parse(journal.read_text(), str(journal))


def _journals() -> Sequence[list[dict[str, Any]]]:
    """Return the journals of every run of the test, oldest first."""
    return [_lines(path) for path in sorted(Path(os.environ["XDG_STATE_HOME"]).rglob("*.jsonl"))]
