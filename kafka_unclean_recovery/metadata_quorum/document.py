"""What was seen of the copies, as JSON and as a table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.documents.quorum import CopyJson, QuorumInspectJson, QuorumVerifyJson
from kafka_unclean_recovery.log_dir.metadata.parting import Relation
from kafka_unclean_recovery.metadata_quorum.compared_copies import Compared, Copies
from kafka_unclean_recovery.metadata_quorum.copies import Copy
from kafka_unclean_recovery.metadata_quorum.data_signs import Signs
from kafka_unclean_recovery.metadata_quorum.refusals import role, time_text
from kafka_unclean_recovery.metadata_quorum.seed_plan import voter_json
from kafka_unclean_recovery.metadata_quorum.stuck import stuck_voters
from kafka_unclean_recovery.model import Finding
from kafka_unclean_recovery.report.table import columns, page, table
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import one_line

_COLUMNS = columns(
    *(">node", "role", ">last|epoch", ">end|offset", ">log|start", "last record|written"),
    *(">kraft|version", "voters", "beside|the best", "directory"),
)


def copies_json(compared: Copies) -> list[CopyJson]:
    """Return all copies, the best first."""
    best = [] if compared.best is None else [_copy_json(compared.best, None, compared)]
    return best + [_copy_json(other.copy, other, compared) for other in compared.others]


def _copy_json(copy: Copy, other: Compared | None, compared: Copies) -> CopyJson:
    told = other is not None and other.parting.relation is not Relation.NOT_COMPARED
    return CopyJson(
        directory=str(copy.place),
        node=copy.node,
        role=role(copy, compared.image),
        last_epoch=copy.last_epoch,
        end_offset=copy.end_offset,
        log_start_offset=copy.log_start_offset,
        snapshot=_snapshot_name(copy),
        last_timestamp_ms=copy.last_timestamp_ms,
        newest_epoch=copy.newest_epoch,
        kraft_version=copy.kraft_version,
        voters=tuple(map(voter_json, copy.voters)),
        torn_bytes=copy.end.torn,
        damage=copy.end.damage,
        held_by=copy.held_by,
        relation="best" if other is None else other.parting.relation.value,
        alike_to=other.parting.offset if other and told else None,
        lacks=other.lacks if other else (),
        beyond=other.beyond if other else (),
        problems=(*copy.problems, *_fatal(copy)),
    )


def _fatal(copy: Copy) -> tuple[str, ...]:
    return () if copy.fatal is None else (f"a controller that loads it dies: {copy.fatal}",)


def _snapshot_name(copy: Copy) -> str | None:
    found = copy.snapshot
    return None if found is None else f"{found.offset:020}-{found.epoch:010}.checkpoint"


def inspect_json(compared: Copies, signs: Signs) -> QuorumInspectJson:
    image = compared.image
    owners = [copy.owner for copy in compared.copies if copy.owner is not None]
    return QuorumInspectJson(
        format_version=1,
        kind="quorum-inspect",
        cluster_ids=tuple(sorted({owner.cluster_id or "" for owner in owners})),
        copies=tuple(copies_json(compared)),
        epoch=max((copy.newest_epoch for copy in compared.copies), default=-1),
        topics=len(image.topics),
        partitions=sum(map(len, image.partitions.values())),
        brokers=tuple(sorted(image.brokers)),
        ahead=signs.ahead,
        strays=signs.strays,
        stuck=stuck_voters(compared),
        problems=(*compared.problems, *signs.problems),
    )


def render_inspect(seen: QuorumInspectJson, width: int | None = None) -> str:
    """Return the copies as a table, and below it what each of them lacks."""
    best = [copy for copy in seen.copies if copy.relation == "best"]
    lines = [
        *(line for copy in best for line in _known(copy)),
        *(f"stuck: {one_line(each)}" for each in seen.stuck),
        *(f"behind its data: {one_line(each)}" for each in seen.ahead),
        *(f"stray: {one_line(each)}" for each in seen.strays),
        *(f"problem: {one_line(each)}" for each in seen.problems),
    ]
    copies = table(_COLUMNS, list(map(_row, seen.copies)), width)
    return page(copies, _details(seen.copies), *lines) + f"\n{copies_line(seen)}\n"


def copies_line(seen: QuorumInspectJson) -> str:
    """Return a line on how many copies there are, and what the best one has."""
    return (
        f"{len(seen.copies)} copies; the best has {seen.topics} topics, {seen.partitions}"
        f" partitions, brokers {list(seen.brokers)}; greatest epoch seen {seen.epoch}"
    )


def _known(copy: CopyJson) -> Iterator[str]:
    """Yield where the others look for each voter, as the log tells."""
    for voter in copy.voters:
        at = ", ".join(address_text(each.host, each.port) for each in voter.listeners)
        if at:
            yield f"voter {voter.id} is known at {one_line(at)}"


def _row(copy: CopyJson) -> tuple[str, ...]:
    return (
        "unknown" if copy.node is None else str(copy.node),
        copy.role,
        str(copy.last_epoch),
        str(copy.end_offset),
        str(copy.log_start_offset),
        time_text(copy.last_timestamp_ms),
        str(copy.kraft_version),
        ", ".join(str(voter.id) for voter in copy.voters) or "unknown",
        copy.relation.replace("_", " "),
        copy.directory,
    )


def _details(copies: Sequence[CopyJson]) -> str:
    lines: list[str] = []
    for copy in copies:
        name = f"node {copy.node}" if copy.node is not None else copy.directory
        lines += [f"{name} lacks: {one_line(each)}" for each in copy.lacks]
        lines += [f"{name} alone has: {one_line(each)}" for each in copy.beyond]
        lines += [f"{name}: {one_line(each)}" for each in copy.problems]
        if copy.damage is not None:
            lines.append(f"{name} is damaged: {one_line(copy.damage)}")
        if copy.torn_bytes:
            lines.append(f"{name} ends in an unfinished write of {copy.torn_bytes} bytes")
        if copy.held_by is not None:
            lines.append(f"{name} runs (process {copy.held_by})")
    return shown_lines(lines)


def render_findings(found: Sequence[Finding]) -> str:
    return shown_lines(f"{f.severity.value} {f.code}: {one_line(f.message)}" for f in found)


def render_verify(seen: QuorumVerifyJson) -> str:
    """Return a line for each thing that was looked at, and the verdict."""
    words = {True: "holds", False: "does not hold", None: "unknown"}
    lines = [f"{words[p.holds]:>13}  {p.what}: {one_line(p.found)}" for p in seen.proofs]
    lines += [f"not looked at  {one_line(each)}" for each in seen.not_looked_at]
    return shown_lines([*lines, "", "proven" if seen.proven else "not proven"]) + "\n"
