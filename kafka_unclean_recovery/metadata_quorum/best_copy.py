"""Whether the copy that ranks first may be believed, beside the other copies and the nodes whose
copies nobody gave. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.log_dir.metadata.parting import Relation
from kafka_unclean_recovery.metadata_quorum.compared_copies import Compared, Copies
from kafka_unclean_recovery.metadata_quorum.copies import Copy
from kafka_unclean_recovery.metadata_quorum.data_signs import Signs, shortened
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes, voters_before
from kafka_unclean_recovery.model import Finding, Severity

_LEFT_OUT = "leave its directory out, and name its node with --without-copies-of"


def no_sound_copy(compared: Copies) -> Iterator[Finding]:
    """Yield why there is no copy to begin from."""
    yield from unread(compared)
    for copy in compared.copies:
        if copy.fatal is not None:
            yield Finding(
                "metadata_copy_not_loadable",
                Severity.LOSS,
                f"{_dies(copy)}, and no copy without that record was given",
            )
    why = "no copy of the metadata log could be read to its end"
    if all(copy.fatal is None for copy in compared.copies):
        yield Finding("metadata_copy_damaged", Severity.LOSS, why)


def _dies(copy: Copy) -> str:
    return f"a controller that loads the copy of {copy.name} dies: {copy.fatal}"


def unread(compared: Copies) -> Iterator[Finding]:
    if compared.unread:
        yield Finding(
            "metadata_copy_not_read",
            Severity.UNKNOWN,
            "copies that were given could not be read, and each may go further: "
            + "; ".join(shortened(compared.unread))
            + ". Leave them out, and name their nodes with --without-copies-of",
        )


def copies_refused(compared: Copies, best: Copy) -> Iterator[Finding]:
    clusters = {c.owner.cluster_id for c in compared.copies if c.owner is not None}
    if len(clusters) > 1:
        yield Finding(
            "metadata_of_two_clusters",
            Severity.LOSS,
            f"the copies are of clusters {sorted(map(str, clusters))}: give those of one",
        )
    for other in compared.others:
        yield from _of_another_history(other, best)
        yield from _not_loadable(other, best)
        if other.parting.relation is Relation.DIVERGES:
            yield Finding(
                "metadata_copies_diverge",
                Severity.LOSS,
                f"{other.copy.name} has other records than {best.name} at offset"
                f" {other.parting.offset} of the same epoch: one of them was corrupted, or led by"
                " another quorum",
            )
        if other.copy.end.damage is not None and other.copy.authority >= best.authority:
            yield Finding(
                "metadata_copy_damaged",
                Severity.LOSS,
                f"{other.copy.name} goes as far as {best.name} or further, and is damaged there"
                f" ({other.copy.end.damage}): what it held behind that is not known",
            )


def _of_another_history(other: Compared, best: Copy) -> Iterator[Finding]:
    """Yield findings on a copy of another history: epochs and offsets do not tell which history is
    the cluster's."""
    found, copy = other.parting, other.copy
    both = f"{copy.name} ({_extent(copy)}) and {best.name} ({_extent(best)})"
    if found.relation is Relation.OTHER_HISTORY:
        since = (
            f"are alike up to offset {found.offset}, and from there on two quorums committed"
            " records of their own"
            if found.offset > 0
            else "have no record in common: controllers that were formatted anew wrote one of them"
        )
        yield Finding(
            "metadata_of_two_histories",
            Severity.LOSS,
            f"{both} {since}. Find out which the brokers follow; of the other {_LEFT_OUT}",
        )
    elif found.relation is Relation.NOT_COMPARED:
        yield Finding(
            "metadata_copies_not_compared",
            Severity.UNKNOWN,
            f"{both} have no offset in common, so whether one quorum wrote both is not known: give"
            f" a copy that goes from one to the other. If {copy.name} was stopped long ago"
            f" {_LEFT_OUT}",
        )


def _extent(copy: Copy) -> str:
    return (
        f"offsets {copy.log_start_offset} to {copy.end_offset}, epoch {copy.last_epoch},"
        f" {copy.topics} topics, brokers {sorted(copy.brokers)}"
    )


def _not_loadable(other: Compared, best: Copy) -> Iterator[Finding]:
    """Yield the copies that go further, would end a controller, and do not begin with the best."""
    copy = other.copy
    further = copy.fatal is not None and copy.authority > best.authority
    if further and other.parting.relation is Relation.GIVEN_UP and not _begins_with(other, best):
        yield Finding(
            "metadata_copy_not_loadable",
            Severity.LOSS,
            f"{_dies(copy)}; the best copy without that record, of {best.name}, goes another way"
            f" from offset {other.parting.offset} on",
        )


def _begins_with(other: Compared, best: Copy) -> bool:
    return other.parting.offset == best.end_offset


def cut_before_fatal(compared: Copies, best: Copy) -> Iterator[Finding]:
    """Yield the copies that go further than the best, and end a controller."""
    for other in compared.others:
        copy = other.copy
        if copy.fatal is None or copy.authority <= best.authority:
            continue
        yield Finding(
            "metadata_copy_not_loadable",
            Severity.LOSS,
            f"{_dies(copy)}. The plan begins from {best.name}, which ends at offset"
            f" {best.end_offset}; what {copy.name} has behind that is lost",
        )


def unseen(compared: Copies, wishes: Wishes) -> Iterator[Finding]:
    """Yield the nodes of the cluster whose copies were not given: each may know more."""
    seen = {copy.node for copy in compared.copies}
    voters = {voter.id for voter in voters_before(compared, wishes)}
    nodes = voters | set(compared.image.brokers)
    missing = nodes - wishes.lost - seen - wishes.without
    if missing:
        yield Finding(
            "metadata_copy_not_seen",
            Severity.UNKNOWN,
            f"the copies of nodes {sorted(missing)} were not given, and each may go further: a"
            " running broker that knows more than its controller dies at once. Give their"
            " directories, or name them with --without-copies-of",
        )


def behind_data(signs: Signs) -> Iterator[Finding]:
    if signs.ahead:
        yield Finding(
            "metadata_behind_data",
            Severity.LOSS,
            "brokers' disks show that the best copy lacks records of the metadata log: "
            + "; ".join(shortened(signs.ahead)),
        )


def knows_no_broker(best: Copy) -> Iterator[Finding]:
    """Yield a finding on a best copy without brokers: a cluster that was ever used has one."""
    if not best.brokers:
        yield Finding(
            "metadata_without_brokers",
            Severity.LOSS,
            f"{best.name} knows no broker, and {best.topics} topics: it is of controllers that were"
            " formatted anew, and no broker has followed them. If brokers have copies with topics,"
            " give those: brokers that follow this one lose all topics",
        )
