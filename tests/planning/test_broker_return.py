"""Wait or elect: what is shown of it. The verdicts themselves are scenarios of test_plan.py."""

from __future__ import annotations

import json

from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    Commit,
    Effect,
    Evidence,
    GroupBeyond,
    Loss,
    PartitionPlan,
    TopicPartition,
    Waiting,
)
from kafka_unclean_recovery.planning.broker_return import (
    BrokerWaiting,
    brings_text,
    by_broker,
    effect_text,
    why_wait,
)
from kafka_unclean_recovery.recovery.consent import render_consent
from kafka_unclean_recovery.report.document import render_json
from kafka_unclean_recovery.report.table import render_outcomes, render_table
from kafka_unclean_recovery.wording import total_text
from tests.reports import elected, plan, report, row

LOSSLESS = Waiting(1, Effect.LOSSLESS, None, "it is in the ELR", (Evidence.ELR,))
BETTER = Waiting(1, Effect.BETTER, 577, "its disk holds more", (Evidence.DISK,))
NO_BETTER = Waiting(1, Effect.NO_BETTER, 0, "it holds nothing more")
UNKNOWN = Waiting(2, Effect.UNKNOWN, None, "nobody knows")
IF_1_RETURNS = (
    "if broker 1 returns with its log whole: 2 partitions lossless, 2 better by 1154 records, 1 no"
    " better"
)


def plans() -> list[PartitionPlan]:
    verdicts = (LOSSLESS, LOSSLESS, BETTER, BETTER, NO_BETTER)
    return [replace(plan(n), waiting=(UNKNOWN, each)) for n, each in enumerate(verdicts)]


def test_brokers_are_counted_over_all_partitions_the_most_worth_it_first() -> None:
    first, second = by_broker(plans())
    assert first == BrokerWaiting(1, 2, 2, 1154, 1, 0)
    assert second == BrokerWaiting(2, unknown=5)
    assert brings_text(second) == "5 partitions unknown"
    assert why_wait(second) == "what that would bring is not known"
    assert why_wait(first).startswith("could make 2 partitions lossless, 2 better")
    assert why_wait(first).endswith(", if its log is whole")
    assert why_wait(BrokerWaiting(9, better=1, better_by=5)).startswith("would make 1 partition")
    assert why_wait(BrokerWaiting(9, no_better=1)) == "would bring nothing more"


def test_it_is_told_before_one_is_asked() -> None:
    lines = render_consent(plans()).splitlines()
    assert lines[-2] == IF_1_RETURNS
    assert lines[-1].startswith("total: 5 partitions to elect")


def test_the_table_tells_it_of_each_replica_and_of_all_partitions_that_are_offline() -> None:
    offline = [row(n, plan=each) for n, each in enumerate(plans())]
    lines = render_table(report(*offline)).splitlines()
    told = [line for line in lines if line.endswith("; if it returns: better by 577 records")]
    assert [line.split()[:2] for line in told] == [["orders", "2"], ["orders", "3"]]
    assert IF_1_RETURNS in lines
    assert IF_1_RETURNS in render_outcomes(report(*offline)).splitlines()
    over = replace(elected(), plan=replace(plan(), waiting=(LOSSLESS,)))
    assert "returns" not in render_table(report(over))


def test_it_is_in_json_by_partition_and_by_broker() -> None:
    given = report(row(plan=replace(plan(), waiting=(BETTER,))), unknown=("groups are hidden",))
    document = json.loads(render_json(given))
    assert document["partitions"][0]["waiting"] == [
        {
            "broker": 1,
            "effect": "better",
            "records": 577,
            "why": "its disk holds more",
            "evidence": ["disk"],
        }
    ]
    assert document["summary"]["waiting"] == [
        {
            "broker": 1,
            "lossless": 0,
            "better": 1,
            "better_by": 577,
            "no_better": 0,
            "unknown": 0,
            "worse": 0,
            "worse_by": 0,
        }
    ]
    assert document["unknown"] == ["groups are hidden"]
    assert "unknown: groups are hidden" in render_table(given).splitlines()


def test_nobody_is_called_lossless_whose_log_may_not_be_whole() -> None:
    """A broker may come back under its id with an empty new disk, and lead."""
    assert effect_text(LOSSLESS) == "lossless if its log is whole"
    offline = row(plan=replace(plan(), waiting=(LOSSLESS,)))
    assert "if it returns: lossless if its log is whole" in render_table(report(offline))


def test_groups_beyond_the_designated_log_are_in_json() -> None:
    commit = Commit("billing", TopicPartition("orders", 0), 1800, 0)
    first, second = plan().ranking
    ranking = (replace(first, groups=(GroupBeyond(commit, 1500, False),)), second)
    document = json.loads(render_json(report(row(plan=replace(plan(), ranking=ranking)))))
    assert document["partitions"][0]["groups_beyond"] == [
        {
            "group": "billing",
            "committed_offset": 1800,
            "committed_leader_epoch": 0,
            "resume_offset": 1500,
            "share_done_to": None,
        }
    ]


def test_witnesses_are_heard_where_they_tell_of_more_than_is_certain() -> None:
    said = "certain loss 10 records, possible loss unknown"
    assert total_text([Loss(10, None, at_least=10)]) == said
    both = [Loss(10, None, at_least=4), Loss(0, None, at_least=500)]
    assert total_text(both) == f"{said} (witnesses: at least 510 records in all)"


def test_a_return_that_cuts_others_is_worse_and_says_to_elect_first() -> None:
    worse = Waiting(1, Effect.WORSE, 450, "it leads by itself")
    assert effect_text(worse) == "worse by 450 records"
    (found,) = by_broker([replace(plan(), waiting=(worse,))])
    assert brings_text(found) == "1 partition worse by 450 records of others"
    assert why_wait(found).endswith("they are cut to its log; elect before it starts")
    offline = row(plan=replace(plan(), waiting=(worse,)))
    assert (
        "if broker 1 returns: 1 partition worse by 450 records of others; start-order tells when to"
        " start it"
    ) in render_table(report(offline))
