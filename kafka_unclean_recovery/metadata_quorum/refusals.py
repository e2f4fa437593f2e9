"""Why a copy of the metadata log may not become the beginning of a new quorum, and what to weigh
where it may. Pure.

Whoever starts a controller that begins from the wrong copy loses topics, and kills brokers that
know more. So what is not known is a reason to refuse: the operator names what he leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from kafka_unclean_recovery.kafka_names import METADATA_VERSION
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.metadata.parting import Relation
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX
from kafka_unclean_recovery.metadata_quorum.best_copy import (
    behind_data,
    copies_refused,
    cut_before_fatal,
    knows_no_broker,
    no_sound_copy,
    unread,
    unseen,
)
from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies
from kafka_unclean_recovery.metadata_quorum.copies import Copy
from kafka_unclean_recovery.metadata_quorum.data_signs import Signs, shortened
from kafka_unclean_recovery.metadata_quorum.still_led import Heard, still_led, weighed
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes, voters_before
from kafka_unclean_recovery.model import Finding, Severity

_NOTHING = Heard()
EPOCH_MARGIN = 1000
"""How far the new epoch lies above all that were seen: for elections among the lost controllers
that no copy tells of."""
# The levels of metadata.version of 3.9 and of 4.0 to 4.4, on which the recovery was tried.
TRIED_LEVELS = (21, *range(25, 34))
_KRAFT_VERSIONS = (0, 1)


def new_epoch(compared: Copies) -> int:
    """Return an epoch far above every one that a log or a quorum-state tells."""
    return max((copy.newest_epoch for copy in compared.copies), default=0) + EPOCH_MARGIN


def refusals(
    compared: Copies, signs: Signs, wishes: Wishes, heard: Heard = _NOTHING
) -> tuple[Finding, ...]:
    """Return why no new quorum may begin from the best copy; nothing where it may."""
    best = compared.best
    if best is None:
        return (*still_led(compared, wishes, heard), *no_sound_copy(compared))
    return (
        *still_led(compared, wishes, heard),
        *unread(compared),
        *copies_refused(compared, best),
        *unseen(compared, wishes),
        *behind_data(signs),
        *_release(best, compared.image, wishes),
        *_cluster(compared, wishes),
        *_new_controller(compared, best, wishes),
    )


def _release(best: Copy, image: MetadataImage, wishes: Wishes) -> Iterator[Finding]:
    level = image.features.get(METADATA_VERSION)
    why = []
    if best.kraft_version not in _KRAFT_VERSIONS:
        why.append(f"kraft.version {best.kraft_version}")
    if level not in (*TRIED_LEVELS, wishes.untried):
        why.append(f"metadata.version {'unknown' if level is None else level}")
    why += [f"{found.name} version {found.version}" for found in image.unknown]
    if why:
        yield Finding(
            "quorum_release_not_tried",
            Severity.UNKNOWN,
            f"this recovery was tried on metadata.version of Kafka 3.9 and of 4.0 to 4.4, and not"
            f" with {', '.join(why)}; rehearse it on copies, and then name a metadata.version with"
            " --untried-metadata-version",
        )


def _untried(image: MetadataImage, wishes: Wishes) -> Iterator[Finding]:
    if wishes.untried is not None and image.features.get(METADATA_VERSION) not in TRIED_LEVELS:
        yield Finding(
            "quorum_release_not_tried",
            Severity.UNKNOWN,
            f"this recovery was not tried with metadata.version {wishes.untried}, which you take",
        )


def _cluster(compared: Copies, wishes: Wishes) -> Iterator[Finding]:
    """Yield findings on the cluster's id: brokers follow no controller with another id."""
    told = {c.owner.cluster_id for c in compared.copies if c.owner and c.owner.cluster_id}
    if not told and wishes.cluster_id is None:
        yield Finding(
            "cluster_id_not_known",
            Severity.UNKNOWN,
            "metadata directories alone do not tell the cluster's id, and brokers follow no"
            " controller without it: give a whole log directory, --bootstrap-server of brokers that"
            " run, or the cluster.id of any node's meta.properties with --cluster-id",
        )
    elif told and wishes.cluster_id is not None and told != {wishes.cluster_id}:
        yield Finding(
            "metadata_of_two_clusters",
            Severity.LOSS,
            f"the copies are of cluster {', '.join(sorted(told))}, and {wishes.cluster_id} was"
            " named, or is the brokers' that were asked",
        )


def _new_controller(compared: Copies, best: Copy, wishes: Wishes) -> Iterator[Finding]:
    voters = {voter.id for voter in voters_before(compared, wishes)}
    new = wishes.new.id
    why = None
    if best.kraft_version == 0 and new not in voters:
        why = (
            f"brokers of a static quorum follow none but its voters {sorted(voters)}: give the new"
            " controller the id and the address of one that is lost"
        )
    elif new in voters - wishes.lost:
        why = f"controller {new} is a voter and not named as lost: take another id"
    elif new in compared.image.brokers and new not in wishes.lost:
        why = f"{new} is the id of a registered broker: take another"
    elif new_epoch(compared) >= INT32_MAX:
        why = f"the epoch {new_epoch(compared)} does not fit into 32 bits"
    if why:
        yield Finding("new_controller_refused", Severity.LOSS, why)


def findings(
    compared: Copies, signs: Signs, wishes: Wishes, heard: Heard = _NOTHING
) -> tuple[Finding, ...]:
    """Return what to weigh before a new quorum begins from the best copy."""
    best = compared.best
    if best is None:
        return ()
    return (
        *weighed(wishes, heard),
        *_left(wishes),
        *_untried(compared.image, wishes),
        *knows_no_broker(best),
        *cut_before_fatal(compared, best),
        *_states(compared),
        *_gap(best),
        *_given_up(compared),
        *_open(compared.image),
        *_strays(signs),
    )


def _gap(best: Copy) -> Iterator[Finding]:
    yield Finding(
        "metadata_gap_not_known",
        Severity.UNKNOWN,
        f"the last record of the best copy is of {time_text(best.last_timestamp_ms)}; what the lost"
        " controllers committed after it, and no node that was given had fetched, is lost. A quorum"
        " that works writes a record every 500 ms, so compare this with the time when it was lost",
    )


def _given_up(compared: Copies) -> Iterator[Finding]:
    for other in compared.others:
        if other.parting.relation is Relation.GIVEN_UP and other.copy.fatal is None:
            records = other.copy.end_offset - other.parting.offset
            yield Finding(
                "metadata_tail_given_up",
                Severity.NOTICE,
                f"{other.copy.name} goes on from offset {other.parting.offset} with {records}"
                " records of a lower epoch, which a later leader had given up; they are truncated"
                " when it follows",
            )


def _open(image: MetadataImage) -> Iterator[Finding]:
    if image.open_transaction is not None:
        yield Finding(
            "metadata_transaction_open",
            Severity.NOTICE,
            f"the best copy ends within a transaction of the metadata log, whose"
            f" {image.open_transaction} records never counted; the new leader aborts it",
        )


def _strays(signs: Signs) -> Iterator[Finding]:
    if signs.problems:
        yield Finding(
            "data_not_all_read",
            Severity.UNKNOWN,
            "what these tell of the metadata log is not known: "
            + "; ".join(shortened(signs.problems)),
        )
    if signs.strays:
        yield Finding(
            "replicas_put_aside",
            Severity.NOTICE,
            "brokers will put these replicas aside as strays when they start: "
            + "; ".join(shortened(signs.strays)),
        )


def _left(wishes: Wishes) -> Iterator[Finding]:
    if wishes.without:
        yield Finding(
            "metadata_copy_left_out",
            Severity.LOSS,
            f"the copies of nodes {sorted(wishes.without)} were not seen: if one of them runs and"
            " goes further, it dies at once; stopped ones truncate what they have more",
        )


def _states(compared: Copies) -> Iterator[Finding]:
    unknown = [f"{c.name}: {c.state_problem}" for c in compared.copies if c.state_problem]
    if unknown:
        yield Finding(
            "quorum_state_not_read",
            Severity.UNKNOWN,
            "the epochs that these nodes saw are not known, and the new epoch lies"
            f" {EPOCH_MARGIN} above all that are: "
            + "; ".join(shortened(unknown))
            + ". A node does not start with it: move the file away first",
        )


def time_text(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "an unknown time"
    try:
        at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):  # a disk may hold any number
        return f"{milliseconds} ms"
    return at.isoformat(timespec="milliseconds")


def role(copy: Copy, image: MetadataImage) -> str:
    """Return what the node is by the newest state: "controller", "broker", both or "unknown"."""
    roles: Sequence[str] = [
        name
        for name, ids in (
            ("controller", {voter.id for voter in copy.voters} | set(image.controllers)),
            ("broker", set(image.brokers)),
        )
        if copy.node in ids
    ]
    return " and ".join(roles) or "unknown"
