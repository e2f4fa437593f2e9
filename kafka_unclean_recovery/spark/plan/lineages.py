"""What lineage.py and reach.py say of two logs, as Spark expressions.

They hold for lineages as scans write them: spans in rising epoch, none of them empty, each
beginning where the one before ends, the last ending at the log end offset. For those the exchange
of lineage.truncation_offset comes to this: two logs agree to where the newest epoch that both know
ends first; without one, to where the older lineage leaves off below the other.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it


def newest_shared(follower: Column, leader: Column) -> Column:
    """The newest epoch of both lineages; null without one, and where both end in the same epoch,
    which `kept` sees by itself."""
    shared = F.array_max(F.array_intersect(follower["epoch"], leader["epoch"]))
    return F.when(~_need_no_search(follower, leader), shared)


def kept(
    follower: Column, follower_end: Column, leader: Column, leader_end: Column, shared: Column
) -> Column:
    """The exclusive end of what a follower keeps; shared: their `newest_shared`, in a column of its
    own, since Spark computes an expression as often as it stands somewhere."""
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
    """Null of an empty one."""
    return F.try_element_at(lineage, F.lit(-1))


def _end(lineage: Column, epoch: Column) -> Column:
    place = F.array_position(lineage["epoch"], epoch).cast("int")
    return F.element_at(lineage["end_offset"], place)


def _end_below(lineage: Column, epoch: Column) -> Column:
    """Of its newest epoch older than `epoch`; there is one."""
    older = F.filter(lineage["epoch"], lambda e: e < epoch)
    return F.element_at(lineage["end_offset"], F.size(older))


def records_beyond(lineage: Column, offset: Column) -> Column:
    """How many offsets of one log lie at `offset` or beyond it; null where either is unknown."""
    none = F.lit(0).cast("bigint")
    beyond = _last(lineage)["end_offset"] - F.greatest(offset, lineage["start_offset"][0])
    # greatest and least pass over null.
    known = offset.isNotNull() & lineage.isNotNull()
    return F.when(known & (F.size(lineage) == 0), none).when(known, F.greatest(beyond, none))


def count_once(tails: Column) -> Column:
    """Distinct (leader epoch, offset) pairs of `tails`: array<struct<kept, epochs>>, of which the
    part of `epochs` at or beyond `kept` counts."""
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
    """Spans come by epoch and start: what reaches further within the same epoch is new."""
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
