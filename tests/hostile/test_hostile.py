"""The sweep's short form: one text of all that is evil in each place, and the extremes of each
number. `python -m tests.hostile` tries each text alone, and more commands."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.answers import outage
from tests.hostile.fields import At, apis, changed, fields
from tests.hostile.odd import EVIL, Said, wrong
from tests.hostile.running import (
    QUICK,
    Table,
    try_answers,
    try_approvals,
    try_disks,
    try_documents,
    try_journals,
    try_one_broker,
)


def _check(table: Table, least: int) -> None:
    assert not table.wrong, "\n".join(map(ascii, table.wrong))
    assert sum(table.tried.values()) >= least


def test_what_brokers_say_is_shown_and_never_sent_to_the_terminal(tmp_path: Path) -> None:
    table = Table()
    with outage(tmp_path) as found:
        try_answers(table, found, "look", QUICK)
    _check(table, 150)


def test_what_one_broker_says_changes_nothing_of_what_the_others_say(tmp_path: Path) -> None:
    table = Table()
    with outage(tmp_path) as found:
        try_one_broker(table, found, QUICK)
    _check(table, 20)


def test_documents_of_others_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    table = Table()
    try_documents(table, tmp_path, QUICK)
    _check(table, 200)


def test_journals_of_others_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    table = Table()
    try_journals(table, tmp_path, QUICK)
    _check(table, 1000)


def test_who_approves_a_plan_sees_what_is_lost_whatever_the_plan_says(tmp_path: Path) -> None:
    table = Table()
    try_approvals(table, tmp_path, QUICK)
    _check(table, 50)
    assert table.tried["documents", "approve"]


def test_names_and_small_files_of_disks_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    table = Table()
    try_disks(table, tmp_path, QUICK)
    _check(table, 100)


def test_the_sweep_finds_what_it_looks_for() -> None:
    """A sweep that sees nothing would pass as well."""
    for text in (EVIL, "\x9b", "\u202e"):
        assert wrong(Said(0, text, ""))
    assert wrong(Said(0, "", "Traceback (most recent call last):"))
    assert wrong(Said(0, "", "a\nkafka-unclean-recovery: all is well\n")) == ["a line in our name"]
    assert wrong(Said(139, "", ""))
    assert not wrong(Said(0, "zoë\n", "kafka-unclean-recovery: elected\n"))


def test_every_text_and_number_of_every_layout_is_in_the_sweep() -> None:
    listed = [at for api in apis() for at in fields(api)]
    assert len({at.api for at in listed}) >= 15
    answer = {"topics": [{"name": "a", "partitions": [{"isr": [1]}, {"isr": []}]}]}
    assert changed(answer, At("A", ("topics", "partitions", "isr"), "i", many=True), 7) == 2
    assert answer["topics"][0]["partitions"] == [{"isr": [7, 7]}, {"isr": [7, 7]}]
