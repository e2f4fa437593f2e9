"""The rules of planning/lineage.py and planning/reach.py for two logs are Spark expressions here.

They hold for lineages as scans write them: spans in rising epoch, none of them empty, each
beginning where the one before ends, the last ending at the log end offset. For such lineages
lineage.truncation_offset comes to this: two logs agree up to where the newest epoch that both know
ends first; without a shared epoch, up to where the older lineage leaves off below the other.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it


def newest_shared(follower: Column, leader: Column) -> Column:
    """Return the newest epoch of both lineages. It is null when they share none, and where `kept`
    needs none: when one lineage is empty, or both end in the same epoch."""
    shared = F.array_max(F.array_intersect(follower["epoch"], leader["epoch"]))
    return F.when(~_need_no_search(follower, leader), shared)


def kept(
    follower: Column, follower_end: Column, leader: Column, leader_end: Column, shared: Column
) -> Column:
    """Return the exclusive end of what a follower keeps. shared: their `newest_shared`, in a column
    of its own, because Spark computes an expression in every place where it stands."""
    older = follower["epoch"][0] < leader["epoch"][0]
    return (
        F.when(_need_no_search(follower, leader), F.least(follower_end, leader_end))
        .when(shared.isNotNull(), F.least(_end(follower, shared), _end(leader, shared)))
        .when(older, F.least(_end_below(follower, leader["epoch"][0]), leader["start_offset"][0]))
        .otherwise(F.least(_end_below(leader, follower["epoch"][0]), follower["start_offset"][0]))
    )


def _need_no_search(follower: Column, leader: Column) -> Column:
    empty = (F.size(follower) == 0) | (F.size(leader) == 0)
    return empty | (_last(follower)["epoch"] == _last(leader)["epoch"])


def _last(lineage: Column) -> Column:
    """Return the last span of a lineage, null for an empty one."""
    return F.try_element_at(lineage, F.lit(-1))


def _end(lineage: Column, epoch: Column) -> Column:
    place = F.array_position(lineage["epoch"], epoch).cast("int")
    return F.element_at(lineage["end_offset"], place)


def _end_below(lineage: Column, epoch: Column) -> Column:
    """Return the end of the newest epoch older than `epoch`, which the lineage must have."""
    older = F.filter(lineage["epoch"], lambda e: e < epoch)
    return F.element_at(lineage["end_offset"], F.size(older))


def records_beyond(lineage: Column, offset: Column) -> Column:
    """Return how many offsets of a log lie at `offset` or beyond; null where unknown."""
    none = F.lit(0).cast("bigint")
    beyond = _last(lineage)["end_offset"] - F.greatest(offset, lineage["start_offset"][0])
    # greatest and least pass over null, so nulls are looked for here.
    known = offset.isNotNull() & lineage.isNotNull()
    return F.when(known & (F.size(lineage) == 0), none).when(known, F.greatest(beyond, none))


def count_once(tails: Column) -> Column:
    """Count the distinct (leader epoch, offset) pairs of `tails`, array<struct<kept, epochs>>. Of
    each tail, the part of `epochs` at or beyond `kept` counts."""
    spans = F.flatten(F.transform(tails, _spans_of))
    begun = F.struct(
        F.lit(None).cast("int").alias("epoch"),
        F.lit(None).cast("bigint").alias("reached"),
        F.lit(0).cast("bigint").alias("total"),
    )
    return F.aggregate(F.sort_array(spans), begun, _covered, lambda state: state["total"])


def _spans_of(tail: Column) -> Column:
    beyond = F.filter(tail["epochs"], lambda span: span["end_offset"] > tail["kept"])
    return F.transform(
        beyond,
        lambda span: F.struct(
            span["epoch"].alias("epoch"),
            F.greatest(span["start_offset"], tail["kept"]).alias("start_offset"),
            span["end_offset"].alias("end_offset"),
        ),
    )


def _covered(state: Column, span: Column) -> Column:
    """Add a span to the state. Spans come by epoch and start, so that within an epoch only offsets
    beyond those reached before are new."""
    same = F.coalesce(state["epoch"] == span["epoch"], F.lit(False))
    start = F.when(same, F.greatest(span["start_offset"], state["reached"])).otherwise(
        span["start_offset"]
    )
    reached = F.when(same, F.greatest(span["end_offset"], state["reached"])).otherwise(
        span["end_offset"]
    )
    more = F.greatest(span["end_offset"] - start, F.lit(0).cast("bigint"))
    return F.struct(
        span["epoch"].alias("epoch"),
        reached.alias("reached"),
        (state["total"] + more).alias("total"),
    )
