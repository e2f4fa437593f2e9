"""When it is over, and what is shown of what is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from msgspec import structs

import kafka_unclean_recovery
from kafka_unclean_recovery.aftercare.care_table import render_aftercare
from kafka_unclean_recovery.aftercare.report import render_json
from kafka_unclean_recovery.aftercare.result import (
    Aftercare,
    PartitionCare,
    producers_advice,
    with_lost,
)
from kafka_unclean_recovery.aftercare.returning import Returning, led_empty
from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging, Judgement
from kafka_unclean_recovery.cluster.requests.transactions import (
    OpenTransaction,
    ProducerState,
    ToldTransaction,
)
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    NO_LEADER,
    Commit,
    EpochSpan,
    GroupBeyond,
    PartitionState,
    ReplicaLog,
    Scanned,
    TopicPartition,
)

SCHEMA = json.loads(
    (Path(kafka_unclean_recovery.__file__).parent / "schemas" / "aftercare-1.schema.json")
    .read_text()
)  # fmt: skip
WHERE = TopicPartition("orders", 0)
STATE = PartitionState("orders", "an id", 0, 3, 2, (1, 3), isr=(3, 1))
HEALED = PartitionCare(STATE, 10)
OPEN = OpenTransaction(WHERE, 7, 0, -1, 4, None)
TOLD = ToldTransaction("pay", 7, 0, "CompleteCommit", 5)


def hanging(ending: Ending, told: ToldTransaction | None = TOLD) -> Hanging:
    return Hanging(3, OPEN, told, Judgement(ending, "so it is"))


BEYOND = GroupBeyond(Commit("g", WHERE, 15, None), 10, False)
BEHIND = replace(HEALED, state=structs.replace(STATE, isr=(3,), offline_replicas=(1,)))
LEADERLESS = replace(HEALED, state=structs.replace(STATE, leader=NO_LEADER), log_end_offset=None)
LEFT = [
    pytest.param(BEHIND, id="a replica is out of the ISR"),
    pytest.param(LEADERLESS, id="no leader"),
    pytest.param(replace(HEALED, transactions=(hanging(Ending.COMMIT),)), id="to be committed"),
    pytest.param(replace(HEALED, transactions=(hanging(Ending.UNKNOWN, None),)), id="unknown end"),
    pytest.param(replace(HEALED, groups=(BEYOND,)), id="a group beyond the end"),
    pytest.param(replace(HEALED, problems=("its leader is silent",)), id="something not seen"),
]


@pytest.mark.parametrize("row", LEFT)
def test_it_is_not_over_while_something_is_left(row: PartitionCare) -> None:
    found = Aftercare("c", (HEALED, row), ())
    assert not found.over
    assert render_aftercare(found).endswith("it is not over\n")
    document = json.loads(render_json(found))
    jsonschema.validate(document, SCHEMA)
    assert [document["over"], *(each["over"] for each in document["partitions"])] == [
        False,
        True,
        False,
    ]


def test_it_is_over_when_nothing_is_left() -> None:
    # A transaction that its coordinator ends yet is nobody's trouble.
    found = Aftercare("c", (HEALED, replace(HEALED, transactions=(hanging(Ending.OPEN),))), ())
    assert found.over
    assert "0 hanging transactions (0 of unknown ending)" in render_aftercare(found)
    jsonschema.validate(json.loads(render_json(found)), SCHEMA)


def test_it_is_not_over_while_something_may_be_hidden() -> None:
    found = Aftercare("c", (HEALED,), ("groups of broker 2 are unknown: \x1b[2J",))
    assert not found.over
    assert "unknown: groups of broker 2 are unknown: \\x1b[2J\n" in render_aftercare(found)


def test_producers_are_advice_and_keep_nothing_from_being_over() -> None:
    idempotent = ProducerState(7, 0, 41, 1_600_000_000_000, transactional=False)
    marked = ProducerState(8, 2, None, None, transactional=True)
    row = replace(HEALED, producers=(idempotent, replace(idempotent, producer_id=9), marked))
    unknown = replace(HEALED, producers=None)
    found = Aftercare("c", (HEALED, row, unknown), ())
    assert found.over
    document = json.loads(render_json(found))
    jsonschema.validate(document, SCHEMA)
    assert [each["producers"] for each in document["partitions"]] == [
        [],
        [
            {
                "producer_id": id_,
                "producer_epoch": epoch,
                "last_sequence": sequence,
                "last_timestamp_ms": at_ms,
                "transactional": transactional,
            }
            for id_, epoch, sequence, at_ms, transactional in (
                (7, 0, 41, 1_600_000_000_000, False),
                (9, 0, 41, 1_600_000_000_000, False),
                (8, 2, None, None, True),
            )
        ],
        None,
    ]
    lines = [line.split() for line in render_aftercare(found).splitlines()]
    # One line for all of a partition.
    assert [line for line in lines if line[:2] == ["orders", "0"]] == [["orders", "0", "2", "1"]]
    # Of several partitions a producer is one all the same.
    second = replace(row, state=structs.replace(STATE, partition=1), producers=(idempotent,))
    (sentence,) = producers_advice([*found.partitions, second])
    assert "2 idempotent producers of 2 partitions may have had records that" in sentence
    of_transactions = replace(HEALED, producers=(marked,))
    assert list(producers_advice([HEALED, unknown, of_transactions])) == []


def test_the_table_names_what_is_left() -> None:
    held = Returning(1, False, "its disk holds more", 5, 10, "/data/orders-0")
    unread = Returning(2, False, "nobody read it")
    row = replace(BEHIND, transactions=(hanging(Ending.ABORT),), groups=(BEYOND,))
    row = replace(row, returning=(held, unread))
    lines = render_aftercare(Aftercare("c", (HEALED, row), ())).splitlines()
    cells = [line.split() for line in lines]
    assert ["orders", "0", "3", "3", "1", "10", "1", "1"] in cells
    assert ["orders", "0", "3", "4", "7", "0", "pay", "abort", "so", "it", "is"] in cells
    assert ["g", "orders", "0", "15", "10"] in cells
    assert [
        "orders",
        "0",
        "1",
        "no",
        "5",
        "10",
        "its",
        "disk",
        "holds",
        "more",
        "(/data/orders-0)",
    ] in cells
    assert ["orders", "0", "2", "no", "unknown", "unknown", "nobody", "read", "it"] in cells
    unseen = render_aftercare(Aftercare("c", (LEADERLESS,), ()))
    assert ["orders", "0", "none", "3,1", "none", "unknown", "unknown", "unknown"] in [
        line.split() for line in unseen.splitlines()
    ]


def test_what_a_run_found_lost_under_a_leader_that_nobody_chose_is_never_over() -> None:
    healed = Aftercare("c-1", (HEALED,), ())
    assert healed.over
    lost = with_lost(healed, {WHERE: "1000 records are gone"})
    assert not lost.over
    assert lost.partitions[0].problems == ("1000 records are gone",)
    assert with_lost(healed, {TopicPartition("orders", 7): "of another"}).over


def test_a_leader_with_nothing_of_what_a_disk_held_began_empty() -> None:
    span = EpochSpan(0, 0, 1000)
    disk = ReplicaLog(
        1,
        live=False,
        last_written_leader_epoch=0,
        log_start_offset=0,
        log_end_offset=1000,
        epochs=(span,),
        scanned=Scanned(ScanMode.RECOVER, "/data/orders-0", "an id"),
    )
    empty = ReplicaLog(3, live=True, log_start_offset=0, log_end_offset=0, epochs=())
    (told,) = led_empty(STATE, empty, [disk])
    assert "has nothing of the 1000 records that the disk of broker 1 held" in told
    shorter = structs.replace(empty, log_end_offset=400, epochs=(EpochSpan(0, 0, 400),))
    assert list(led_empty(STATE, shorter, [disk])) == []
    # Retention or DeleteRecords took what it had.
    expired = structs.replace(empty, log_start_offset=1000, log_end_offset=1000)
    assert list(led_empty(STATE, expired, [disk])) == []


def test_on_a_terminal_the_gravest_partition_comes_first() -> None:
    def at(number: int, row: PartitionCare) -> PartitionCare:
        return replace(row, state=structs.replace(row.state, partition=number))

    rows = (
        at(0, BEHIND),
        at(1, replace(HEALED, groups=(BEYOND,))),
        at(2, replace(HEALED, transactions=(hanging(Ending.COMMIT),))),
        at(3, replace(HEALED, problems=("its leader is silent",))),
        at(4, LEADERLESS),
    )
    found = Aftercare("c", rows, ())
    for width, order in ((None, "01234"), (200, "43210")):
        first_table = render_aftercare(found, width).split("\n\n")[0].splitlines()[-5:]
        told = [line.removeprefix("orders").split()[0] for line in first_table]
        assert "".join(told) == order
