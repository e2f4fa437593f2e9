"""Why a copy of the metadata log may not become the beginning of a new quorum, and what to weigh
where it may. Pure.

Whoever starts a controller that begins from the wrong copy loses topics, and kills brokers that
know more. So what is not known is a reason to refuse: the operator names what he leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX
from kafka_unclean_recovery.model import Finding, Severity
from kafka_unclean_recovery.quorum.copies import Copy, Voter, same_directory
from kafka_unclean_recovery.quorum.data_signs import Signs, shortened
from kafka_unclean_recovery.quorum.parting import Relation
from kafka_unclean_recovery.quorum.survey import Survey

EPOCH_MARGIN = 1000
"""How far the new epoch lies above all that were seen: for elections among the lost controllers
that no copy tells of."""
METADATA_VERSION = "metadata.version"
# The levels of metadata.version of 3.9, 4.3 and 4.4, on which the recovery was tried.
TRIED_LEVELS = (21, 30, 31, 32, 33)
_KRAFT_VERSIONS = (0, 1)
_BY_KAFKAS_TOOL = "(kafka-metadata-quorum.sh remove-controller, add-controller)"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the operator says. new: the controller to be made, with its one listener. lost: voters
    that are gone for good. static_voters: of the configuration, with their listeners. without:
    nodes whose copies can't be read. answering: lost voters whose address answers, with it.
    not_asked: lost voters whose address is not known."""

    new: Voter
    lost: frozenset[int] = frozenset()
    static_voters: tuple[Voter, ...] = ()
    without: frozenset[int] = frozenset()
    answering: Mapping[int, str] = field(default_factory=dict)
    not_asked: frozenset[int] = frozenset()


def voters_before(survey: Survey, wishes: Wishes) -> tuple[Voter, ...]:
    """Return the voters of the quorum that was: those of the best copy's log; of a static quorum
    whose log does not tell them any more, those that the operator or a quorum-state names."""
    best = survey.best
    if best is None:
        return wishes.static_voters
    if best.kraft_version > 0:
        return best.voters
    told = {voter.id: voter for voter in best.voters}
    for copy in survey.copies:
        for id_ in copy.quorum_state.voters if copy.quorum_state else ():
            told.setdefault(id_, Voter(id_, None))
    return tuple(
        sorted((told | {v.id: v for v in wishes.static_voters}).values(), key=lambda v: v.id)
    )


def new_epoch(survey: Survey) -> int:
    """Return an epoch far above every one that a log or a quorum-state tells."""
    return max((copy.newest_epoch for copy in survey.copies), default=0) + EPOCH_MARGIN


def refusals(survey: Survey, signs: Signs, wishes: Wishes) -> tuple[Finding, ...]:
    """Return why no new quorum may begin from the best copy; nothing where it may."""
    best = survey.best
    if best is None:
        why = "no copy of the metadata log could be read to its end"
        return (*_unread(survey), Finding("metadata_copy_damaged", Severity.LOSS, why))
    return (
        *_majority(survey, wishes),
        *_unread(survey),
        *_copies(survey, best),
        *_unseen(survey, wishes),
        *_behind_data(signs),
        *_release(best, survey.image),
        *_new_controller(survey, best, wishes),
    )


def _majority(survey: Survey, wishes: Wishes) -> Iterator[Finding]:
    voters = {voter.id for voter in voters_before(survey, wishes)}
    left = voters - wishes.lost
    if 2 * len(left) > len(voters) or not voters:
        yield Finding(
            "quorum_not_lost",
            Severity.LOSS,
            f"of the voters {sorted(voters)} {sorted(left)} are not named as lost, which is a"
            " majority: start them, their log is the truth; name with --lost-controllers those that"
            " are gone for good",
        )
    for voter, address in sorted(wishes.answering.items()):
        yield Finding(
            "lost_controller_answers",
            Severity.LOSS,
            f"controller {voter} is named as lost, and something answers at {address}: stop it, or"
            " let it lead",
        )


def _unread(survey: Survey) -> Iterator[Finding]:
    if survey.unread:
        yield Finding(
            "metadata_copy_not_read",
            Severity.UNKNOWN,
            "copies that were given could not be read, and each may go further: "
            + "; ".join(shortened(survey.unread))
            + ". Leave them out, and name their nodes with --without-copies-of",
        )


def _copies(survey: Survey, best: Copy) -> Iterator[Finding]:
    clusters = {c.owner.cluster_id for c in survey.copies if c.owner is not None}
    if len(clusters) > 1:
        yield Finding(
            "metadata_of_two_clusters",
            Severity.LOSS,
            f"the copies are of clusters {sorted(map(str, clusters))}: give those of one",
        )
    for other in survey.others:
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


def _unseen(survey: Survey, wishes: Wishes) -> Iterator[Finding]:
    """Yield the nodes of the cluster whose copies were not given: each may know more."""
    seen = {copy.node for copy in survey.copies}
    voters = {voter.id for voter in voters_before(survey, wishes)}
    nodes = voters | set(survey.image.brokers)
    missing = nodes - wishes.lost - seen - wishes.without
    if missing:
        yield Finding(
            "metadata_copy_not_seen",
            Severity.UNKNOWN,
            f"the copies of nodes {sorted(missing)} were not given, and each may go further: a"
            " running broker that knows more than its controller dies at once. Give their"
            " directories, or name them with --without-copies-of",
        )


def _behind_data(signs: Signs) -> Iterator[Finding]:
    if signs.ahead:
        yield Finding(
            "metadata_behind_data",
            Severity.LOSS,
            "brokers' disks show that the best copy lacks records of the metadata log: "
            + "; ".join(shortened(signs.ahead)),
        )


def _release(best: Copy, image: MetadataImage) -> Iterator[Finding]:
    level = image.features.get(METADATA_VERSION)
    why = []
    if best.kraft_version not in _KRAFT_VERSIONS:
        why.append(f"kraft.version {best.kraft_version}")
    if level not in TRIED_LEVELS:
        why.append(f"metadata.version {'unknown' if level is None else level}")
    why += [f"{found.name} version {found.version}" for found in image.unknown]
    if why:
        yield Finding(
            "quorum_release_not_tried",
            Severity.UNKNOWN,
            f"this recovery was tried on Kafka 3.9, 4.3 and 4.4, and not with {', '.join(why)}",
        )


def _new_controller(survey: Survey, best: Copy, wishes: Wishes) -> Iterator[Finding]:
    voters = {voter.id for voter in voters_before(survey, wishes)}
    new = wishes.new.id
    why = None
    if best.kraft_version == 0 and new not in voters:
        why = (
            f"brokers of a static quorum follow none but its voters {sorted(voters)}: give the new"
            " controller the id and the address of one that is lost"
        )
    elif new in voters - wishes.lost:
        why = f"controller {new} is a voter and not named as lost: take another id"
    elif new in survey.image.brokers and new not in wishes.lost:
        why = f"{new} is the id of a registered broker: take another"
    elif new_epoch(survey) >= INT32_MAX:
        why = f"the epoch {new_epoch(survey)} does not fit into 32 bits"
    if why:
        yield Finding("new_controller_refused", Severity.LOSS, why)


def findings(survey: Survey, signs: Signs, wishes: Wishes) -> tuple[Finding, ...]:
    """Return what to weigh before a new quorum begins from the best copy."""
    best = survey.best
    if best is None:
        return ()
    return (
        *_left(wishes),
        *_gap(best),
        *_given_up(survey),
        *_open(survey.image),
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


def _given_up(survey: Survey) -> Iterator[Finding]:
    for other in survey.others:
        if other.parting.relation is Relation.GIVEN_UP:
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
    if wishes.not_asked:
        yield Finding(
            "lost_controller_not_asked",
            Severity.UNKNOWN,
            f"where the lost controllers {sorted(wishes.not_asked)} listened is not known, so they"
            " were not asked: make sure that they are gone, or give --controller-quorum-voters",
        )


def stuck_voters(survey: Survey) -> tuple[str, ...]:
    """Return sentences on voters that are not as the quorum knows them: in another log directory,
    or at another address."""
    return (*_other_directories(survey), *_other_addresses(survey))


def _other_directories(survey: Survey) -> Iterator[str]:
    for copy in survey.copies:
        for voter in copy.voters if copy.owner is not None else ():
            if voter.id == copy.node and copy.owner and not same_directory(voter, copy.owner):
                yield (
                    f"{copy.name} is voter {voter.id} in its log with directory id"
                    f" {voter.directory_id}, and its meta.properties says"
                    f" {copy.owner.directory_id}: it does not count as that voter; where a majority"
                    f" lives, remove the voter and add it again {_BY_KAFKAS_TOOL}"
                )


def _other_addresses(survey: Survey) -> Iterator[str]:
    for voter in survey.best.voters if survey.best else ():
        registered = survey.image.controllers.get(voter.id, ())
        now = {(listener.host, listener.port) for listener in registered}
        known = {(listener.host, listener.port) for listener in voter.listeners}
        if voter.directory_id is not None and now and known and not now & known:
            yield (
                f"voter {voter.id} is known at {_addresses(known)}, and registered at"
                f" {_addresses(now)}: the others don't find it while nobody leads; let it be"
                f" reached at the old address, or update the voter {_BY_KAFKAS_TOOL}"
            )


def _addresses(found: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{host}:{port}" for host, port in sorted(found))


def time_text(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "an unknown time"
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


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
