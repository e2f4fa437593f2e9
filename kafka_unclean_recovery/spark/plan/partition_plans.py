"""DataFrame operations choose the designated leader of each partition, or tell why it has none, and
what the partition loses.

They apply the rules of planning/plan.py to a partition's replicas together. Findings are left to
the pure planner.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from kafka_unclean_recovery.documents.loss_by_topic import WHY_NOT
from kafka_unclean_recovery.planning.merged_scans import NOT_IN_NEWEST
from kafka_unclean_recovery.planning.offline_plan import NO_STATE
from kafka_unclean_recovery.planning.plan import (
    ENDS_FURTHER,
    HOLDS_RECORDS,
    ONLY_SUSPECTS,
    REASSIGNING,
    WITHOUT_EPOCHS,
)
from kafka_unclean_recovery.spark.plan.lineages import count_once
from kafka_unclean_recovery.spark.plan.ranking import GROUP, KEY
from kafka_unclean_recovery.wording import NO_CANDIDATE

DELETED = "deleted"
WHY = (*WHY_NOT, DELETED)
"""The reasons why a partition has no designated leader."""

_INT32 = 2**32
_ODD = ("fuller", "further")
"""The columns for live replicas that can't be ranked, and hold records or end further than the
best."""


def plan_partitions(
    planned: DataFrame, partitions: DataFrame, *, metadata_is_known: bool
) -> DataFrame:
    """Return a row for each partition. planned: its replicas as plan_replicas returns them.
    metadata_is_known: a metadata log was found, so partitions that are not in it were deleted.

    topic, partition; designated_leader; why: one of WHY, null with a designated leader; reason: the
    same as a sentence, null for "deleted"; best: the broker of the first candidate, which refused
    partitions have too; certain_loss and possible_loss: the records lost when `best` is elected,
    null where unknown; ranking: the candidates, best first; tied: the candidates that reach as far
    as the first, which is among them, empty when it is alone; order: the whole replica set in the
    order to be written; divergences: where live replicas are truncated under the best,
    array<struct<broker, offset, records>>, in the order of the assignment.
    """
    grouped = planned.groupBy(*GROUP).agg(*_facts(), *_lists())
    with_state = grouped.select(*KEY, "best", *_losses(), *_listed(), _why().alias("why"), *_ODD)
    rows = with_state.select("*", _reason().alias("reason")).drop(*_ODD)
    every = rows.unionByName(_stateless(partitions, metadata_is_known), allowMissingColumns=True)
    return every.select(
        *KEY, F.when(F.col("why").isNull(), F.col("best")).alias("designated_leader"), *_rest()
    )


def _rest() -> tuple[str, ...]:
    losses = ("certain_loss", "possible_loss")
    return ("why", "reason", "best", *losses, "ranking", "tied", "order", "divergences")


def _facts() -> Iterator[Column]:
    live, lost = F.col("live"), F.col("lost")
    usable = live & F.col("problem").isNull()
    best = F.col("best")
    told = F.col("kept").isNotNull() & (F.col("empty") | ~best["forgotten"])
    # The best is itself among the rows, and keeps all that it has.
    unsure = (F.col("broker") != best["broker"]) & ~told
    for name in ("broker", "sure", "suspect", "empty"):
        yield F.first(F.col("best")[name]).alias("best" if name == "broker" else f"best_{name}")
    yield F.first("reassigning").alias("reassigning")
    yield F.first("tiered").alias("tiered")
    epochs = F.coalesce(F.size(best["epochs"]), F.lit(0))
    yield F.first(epochs > 0).alias("best_has_epochs")
    yield F.max(F.coalesce(unsure & live, F.lit(False))).alias("certain_unsure")
    yield F.max(F.coalesce(unsure & ~usable, F.lit(False))).alias("possible_unsure")
    yield F.count_if(lost > 0).alias("tail_count")
    yield F.count_if(live & (lost > 0)).alias("live_tail_count")
    yield F.sum(lost).alias("lost")
    yield F.sum(F.when(live, lost)).alias("live_lost")
    # The least number stands for the first in the assignment. It is a number because Spark hashes
    # no structs.
    fuller = usable & ~F.col("can_lead") & ~F.col("empty")
    place = F.col("place").cast("bigint") * _INT32 + F.col("broker")
    yield F.min(F.when(fuller, place)).alias("fuller")
    further = usable & ~F.col("suspect") & F.col("last_written_leader_epoch").isNull()
    further &= F.col("log_end_offset") > best["log_end_offset"]
    yield F.min(F.when(further, place)).alias("further")


def _lists() -> Iterator[Column]:
    diverges = F.col("lost") > 0
    tail = F.struct("live", "kept", "epochs")
    cut = F.struct(
        F.col("place"),
        F.col("broker"),
        F.col("kept").alias("offset"),
        F.col("lost").alias("records"),
    )
    by_rank, in_order = F.struct("ranked", "broker"), F.struct("ordered", "broker")
    yield F.collect_list(F.when(diverges, tail)).alias("tails")
    yield F.collect_list(F.when(F.col("can_lead"), by_rank)).alias("ranking")
    yield F.collect_list(F.when(F.col("level"), by_rank)).alias("tied")
    yield F.collect_list(F.when(F.col("broker").isNotNull(), in_order)).alias("order")
    yield F.collect_list(F.when(diverges & F.col("live"), cut)).alias("divergences")


def _listed() -> Iterator[Column]:
    nobody = F.array().cast("array<int>")
    alone = F.size("tied") < 2
    cuts = F.transform(
        F.sort_array("divergences"),
        lambda cut: F.struct(cut["broker"], cut["offset"], cut["records"]),
    )
    yield F.sort_array("ranking")["broker"].alias("ranking")
    yield F.when(alone, nobody).otherwise(F.sort_array("tied")["broker"]).alias("tied")
    yield F.sort_array("order")["broker"].alias("order")
    yield cuts.alias("divergences")


def _losses() -> Iterator[Column]:
    """Yield the losses. The records of one tail are counted by themselves; records that several
    tails share are counted once."""
    tails, none = F.col("tails"), F.lit(0).cast("bigint")
    certain = F.when(F.col("live_tail_count") < 2, F.coalesce(F.col("live_lost"), none)).otherwise(
        count_once(F.filter(tails, lambda tail: tail["live"]))
    )
    both = F.when(F.col("tail_count") < 2, F.coalesce(F.col("lost"), none)).otherwise(
        count_once(tails)
    )
    possible = F.when(F.col("tail_count") == F.col("live_tail_count"), none).otherwise(
        both - certain
    )
    counted = F.col("best_sure") & ~F.col("tiered")
    yield F.when(counted & ~F.col("certain_unsure"), certain).alias("certain_loss")
    yield F.when(counted & ~F.col("possible_unsure"), possible).alias("possible_loss")


def _why() -> Column:
    ranked = F.col("best").isNotNull()
    reassignment, suspects, unranked, further, without_epochs, nobody, _, _ = WHY
    return (
        F.when(F.col("reassigning"), reassignment)
        .when(ranked & F.col("best_suspect"), suspects)
        .when(ranked & F.col("best_empty") & F.col("fuller").isNotNull(), unranked)
        .when(ranked & F.col("further").isNotNull(), further)
        .when(ranked & F.col("tiered") & ~F.col("best_has_epochs"), without_epochs)
        .when(~ranked, nobody)
    )


def _reason() -> Column:
    reassignment, suspects, unranked, further, without_epochs, nobody, _, _ = WHY
    why = F.col("why")
    return (
        F.when(why == reassignment, REASSIGNING)
        .when(why == suspects, ONLY_SUSPECTS)
        .when(why == unranked, _named(HOLDS_RECORDS, "fuller"))
        .when(why == further, _named(ENDS_FURTHER, "further"))
        .when(why == without_epochs, _with_broker(WITHOUT_EPOCHS, F.col("best")))
        .when(why == nobody, NO_CANDIDATE)
    )


def _named(refusal: str, odd: str) -> Column:
    """Return the refusal with the broker that a column of _ODD names."""
    return _with_broker(refusal, F.pmod(F.col(odd), F.lit(_INT32)))


def _with_broker(refusal: str, broker: Column) -> Column:
    before, after = refusal.split("{broker}")
    return F.concat(F.lit(before), broker.cast("string"), F.lit(after))


def _stateless(partitions: DataFrame, metadata_is_known: bool) -> DataFrame:
    """Return the rows of partitions without a state, as offline_plan has them: a partition that the
    newest metadata log does not have was deleted, unless an older log has it."""
    was_there = F.array_contains(F.col("findings")["code"], NOT_IN_NEWEST)
    unknown = was_there if metadata_is_known else F.lit(True)
    return partitions.where(F.col("topic_id").isNull()).select(
        *KEY,
        F.when(unknown, "state_unknown").otherwise(DELETED).alias("why"),
        F.when(unknown, NO_STATE).alias("reason"),
    )
