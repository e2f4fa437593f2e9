"""What is learnt after an election adds up, in whatever order the commands were run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.model import NO_LEADER, Outcome, OutcomeKind, TopicPartition
from kafka_unclean_recovery.post_mortem.learnt import Found, Learnt, found_text, learnt_sentences
from kafka_unclean_recovery.post_mortem.next_steps import next_steps
from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from kafka_unclean_recovery.post_mortem.story import (
    After,
    Election,
    PostMortem,
    carried_out,
    unread_replicas,
)
from tests.post_mortem.journals import planned, write_journal

ORDERS = TopicPartition("orders", 0)
ELECTED = Outcome(OutcomeKind.ELECTED)
FORETOLD = Found(ORDERS, 1, 2000)
SAVED = Found(ORDERS, 1, 2000, False, 1400, "saved")
NOTHING_LEFT = Found(ORDERS, 1, 0)
NOTHING_SAVED = Found(ORDERS, 1, 0, False, 0, "again")
UNKNOWN = Found(ORDERS, 1, None)
MORE = Found(ORDERS, 1, 3500)
ALL_SAVED = Found(ORDERS, 1, 3500, False, 3500, "again")


def _heard(*found: Found) -> Found:
    learnt = Learnt()
    for each in found:
        learnt.hear(each)
    (row,) = learnt.of(ORDERS)
    return row


@pytest.mark.parametrize(
    ("heard", "is_known"),
    [
        ((FORETOLD, SAVED), SAVED),
        ((SAVED, FORETOLD), SAVED),
        ((UNKNOWN, FORETOLD), FORETOLD),
        ((FORETOLD, UNKNOWN), FORETOLD),
        # The broker has started meanwhile, and cut its log: what it held is gone.
        ((FORETOLD, NOTHING_LEFT), FORETOLD),
        ((FORETOLD, NOTHING_SAVED), Found(ORDERS, 1, 2000, False, 0, "again")),
        ((SAVED, NOTHING_SAVED), SAVED),
        ((SAVED, NOTHING_LEFT), SAVED),
        ((NOTHING_SAVED, NOTHING_LEFT), NOTHING_SAVED),
        # Another broker leads since the salvage, and its log parts from this one further below.
        ((SAVED, MORE), Found(ORDERS, 1, 3500, False, 1400, "saved", later=1500)),
        ((FORETOLD, SAVED, MORE, MORE), Found(ORDERS, 1, 3500, False, 1400, "saved", later=1500)),
        ((SAVED, MORE, NOTHING_LEFT), Found(ORDERS, 1, 3500, False, 1400, "saved", later=1500)),
        ((NOTHING_SAVED, FORETOLD), Found(ORDERS, 1, 2000, False, 0, "again", later=2000)),
        ((SAVED, MORE, ALL_SAVED), ALL_SAVED),
        ((SAVED, UNKNOWN), SAVED),
    ],
)
def test_what_was_known_of_a_disk_stays_known(heard: tuple[Found, ...], is_known: Found) -> None:
    assert _heard(*heard) == is_known


def test_it_is_told_in_numbers() -> None:
    assert found_text(SAVED) == (
        "Found since on the disk of broker 1: 2000 records beyond the elected logs, 1400 saved in"
        " saved, 600 gone"
    )
    learnt = Learnt()
    for found in (SAVED, replace(FORETOLD, broker=2), replace(UNKNOWN, broker=3)):
        learnt.hear(found)
    (sentence,) = learnt_sentences(learnt)
    assert sentence == (
        "Found since, on the disks of brokers 1, 2, 3: 4000 records beyond the elected logs, 1400"
        " saved, 600 gone, 2000 not saved, unknown of 1 replica; what several replicas hold counts"
        " for each."
    )


def test_one_replica_of_each_partition_counts_once() -> None:
    learnt = Learnt()
    for found in (SAVED, replace(NOTHING_LEFT, broker=2), replace(UNKNOWN, broker=3)):
        learnt.hear(found)
    learnt.hear(replace(FORETOLD, topic_partition=TopicPartition("orders", 1)))
    (sentence,) = learnt_sentences(learnt)
    assert "4000 records" in sentence
    assert "counts for each" not in sentence


def test_what_was_found_after_a_salvage_is_neither_saved_nor_gone() -> None:
    assert found_text(_heard(SAVED, MORE)) == (
        "Found since on the disk of broker 1: 3500 records beyond the elected logs, 1400 saved in"
        " saved, 600 gone, 1500 not saved"
    )


@pytest.mark.parametrize("heard", [(SAVED, MORE), (FORETOLD,), (NOTHING_SAVED, FORETOLD)])
def test_what_nobody_has_saved_is_asked_for_still(tmp_path: Path, heard: tuple[Found, ...]) -> None:
    told = _told(tmp_path)
    for each in heard:
        told.learnt.hear(each)
    (step,) = [step for step in next_steps(told) if "may hold more" in step.text]
    assert any(" salvage --log-dirs DIR " in command for command in step.commands)


@pytest.mark.parametrize("whole", [True, False])
def test_a_replay_that_left_some_out_is_asked_for_again(tmp_path: Path, whole: bool) -> None:
    path = tmp_path / "journal"
    write_journal(path, [planned(0)])
    part = ORDERS._asdict()
    saved = {**part, "broker": 1, "beyond": 5, "at_least": False, "saved": 5}
    with Journal.open(path) as journal:
        journal.note("salvaged", directory="/saved", partitions=[saved])
        done = [{**part, "target": "again", "produced": 3}]
        journal.note("replayed", directory="/saved", partitions=done, whole=whole)
    told = read_post_mortem(path.read_text(), "journal")
    asked = [c for step in next_steps(told) for c in step.commands if " salvage replay " in c]
    assert len(asked) == (0 if whole else 1)
    sentence = next(s for s in learnt_sentences(told.learnt) if s.startswith("Produced again"))
    assert ("not all that is there" in sentence) is not whole


def _told(tmp_path: Path, *rows: dict[str, object]) -> PostMortem:
    path = tmp_path / "journal"
    write_journal(path, [planned(0)])
    with Journal.open(path) as journal:
        for row in rows:
            journal.note("before_start", broker=1, partitions=[{**ORDERS._asdict(), **row}])
    return read_post_mortem(path.read_text(), "journal")


def test_a_disk_is_unread_until_it_is_known_what_it_held(tmp_path: Path) -> None:
    assert unread_replicas(_told(tmp_path)) == [(ORDERS, 1)]
    unknown = _told(tmp_path / "a", {"effect": "unknown", "beyond": None})
    assert unread_replicas(unknown) == [(ORDERS, 1)]
    assert unread_replicas(_told(tmp_path / "b", {"effect": "kept", "beyond": 0})) == []


def test_more_saved_than_there_was_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    write_journal(path, [planned(0)])
    row = {**ORDERS._asdict(), "broker": 1, "beyond": 5, "at_least": False, "saved": 6}
    with Journal.open(path) as journal:
        journal.note("salvaged", directory="d", partitions=[row])
    with pytest.raises(Exception, match="more is saved than there was"):
        read_post_mortem(path.read_text(), "journal")


@pytest.mark.parametrize(
    ("outcome", "after", "leads"),
    [
        (ELECTED, After(3, 8, (3,)), 3),
        # Another one leads: against its log counts what others hold.
        (Outcome(OutcomeKind.ALREADY_ONLINE), After(4, 8, (4,)), 4),
        (Outcome(OutcomeKind.FAILED), After(4, 8, (4,)), 4),
        # Not elected yet, as planned.
        (Outcome(OutcomeKind.REFUSED), After(NO_LEADER, 7, ()), 3),
        # Nobody knows.
        (Outcome(OutcomeKind.FAILED, in_doubt=True), After(NO_LEADER, 7, ()), None),
        (None, None, None),
    ],
)
def test_salvage_counts_from_who_leads_by_the_journal(
    outcome: Outcome | None, after: After | None, leads: int | None
) -> None:
    plan = planned(0)
    assert plan.designated_leader == 3
    election = Election(
        ORDERS, plan=plan, begun_at_ms=1, designated_leader=3, outcome=outcome, after=after
    )
    assert carried_out([election])[ORDERS].designated_leader == leads
