"""Make the plan of a new quorum from what was seen. Pure, but for the checksums of the files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.documents.quorum import (
    CopyJson,
    ListenerJson,
    QuorumPlanJson,
    SeedFileJson,
    SeedJson,
    VoterJson,
)
from kafka_unclean_recovery.documents.reading.codec import to_json
from kafka_unclean_recovery.documents.shared import FindingJson
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.log_dir.directory_names import (
    FileKind,
    FileState,
    PartitionFile,
    parse_partition_file,
)
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies
from kafka_unclean_recovery.metadata_quorum.control_batch import forced_batch
from kafka_unclean_recovery.metadata_quorum.copies import Copy, Voter
from kafka_unclean_recovery.metadata_quorum.places import metadata_files
from kafka_unclean_recovery.metadata_quorum.prospects import prospects
from kafka_unclean_recovery.metadata_quorum.put_aside import PutAside
from kafka_unclean_recovery.metadata_quorum.refusals import new_epoch
from kafka_unclean_recovery.metadata_quorum.steps import steps
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes, voters_before
from kafka_unclean_recovery.model import Finding

_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Made:
    """What the plan takes from outside: when it is made (ISO 8601, and ms since the Unix epoch)."""

    at: str
    at_ms: int


def quorum_plan(
    compared: Copies,
    wishes: Wishes,
    found: Sequence[Finding],
    copies: Sequence[CopyJson],
    before: PutAside,
    made: Made,
) -> QuorumPlanJson:
    """Return the plan with its digest; nothing refuses it. Raises Unreadable."""
    best = compared.best
    assert best is not None
    epoch = new_epoch(compared)
    batch = None
    if best.kraft_version > 0:
        batch = forced_batch(wishes.new, best.end_offset, epoch, made.at_ms).hex()
    plan = QuorumPlanJson(
        format_version=1,
        kind="quorum-plan",
        cluster_id=cluster_id(compared, wishes),
        created_at=made.at,
        seed=_seed(best, len(compared.image.topics)),
        new_controller=voter_json(wishes.new),
        epoch=epoch,
        control_batch=batch,
        voters_before=tuple(map(voter_json, voters_before(compared, wishes))),
        lost=tuple(sorted(wishes.lost)),
        findings=tuple(FindingJson(f.code, f.severity, f.message) for f in found),
        steps=tuple(steps(compared, wishes, cluster_id(compared, wishes))),
        prospects=tuple(prospects(compared, wishes)),
        copies=tuple(copies),
        digest="",
        put_aside=tuple(sorted({stray.name for stray in before.strays})),
        brokers=tuple(sorted(_registered(compared, best))),
    )
    return with_digest(plan)


def _registered(compared: Copies, best: Copy) -> set[int]:
    """Return the brokers that the best copy has, and those that a copy has that goes further."""
    told = [best, *(copy for copy in compared.copies if copy.authority > best.authority)]
    return {id_ for copy in told for id_ in copy.brokers}


def with_digest(plan: QuorumPlanJson) -> QuorumPlanJson:
    fields = to_json(plan)
    values = {name: getattr(plan, name) for name in plan.__struct_fields__}
    return QuorumPlanJson(**{**values, "digest": plan_digest(fields)})


def plan_text(plan: QuorumPlanJson) -> str:
    return json.dumps(to_json(plan), indent=1) + "\n"


def cluster_id(compared: Copies, wishes: Wishes) -> str:
    """Return the id of the cluster by the copies' meta.properties, or as the operator or a broker
    that runs has named it; "" where nobody has."""
    told = (copy.owner.cluster_id for copy in compared.copies if copy.owner is not None)
    return next((id_ for id_ in told if id_), wishes.cluster_id or "")


def voter_json(voter: Voter) -> VoterJson:
    listeners = tuple(ListenerJson(e.name, e.host, e.port) for e in voter.listeners)
    return VoterJson(voter.id, voter.directory_id, listeners)


def _seed(best: Copy, topics: int) -> SeedJson:
    with metadata_files(best.place) as files:
        kept = tuple(_kept(files, best))
    return SeedJson(
        directory=str(best.place),
        node=best.node,
        last_epoch=best.last_epoch,
        end_offset=best.end_offset,
        last_timestamp_ms=best.last_timestamp_ms,
        kraft_version=best.kraft_version,
        topics=topics,
        files=kept,
        last_segment=best.end.segment,
    )


def _kept(files: Sequence[MetadataFile], best: Copy) -> Iterator[SeedFileJson]:
    """Yield the files that the seed gets: segments up to the log's end, and checkpoints that begin
    in what is kept. Indexes and the like are left out: Kafka makes them anew."""
    for file in files:
        parsed = parse_partition_file(file.name)
        if parsed is None or parsed.state is not FileState.LIVE or not _belongs(parsed, best):
            continue
        size = best.end.position if file.name == best.end.segment else file.size
        yield SeedFileJson(file.name, size, file.size, sha256_of(file, size))


def _belongs(parsed: PartitionFile, best: Copy) -> bool:
    if parsed.kind is FileKind.METADATA_SNAPSHOT:
        newest = best.snapshot.offset if best.snapshot else -1
        return parsed.offset <= newest
    return parsed.kind is FileKind.SEGMENT and parsed.offset <= best.end_offset


def sha256_of(file: MetadataFile, size: int) -> str:
    """Return the hex digest of the first bytes. Raises Unreadable, also where there are fewer."""
    hashed = hashlib.sha256()
    position = 0
    while position < size:
        part = file.read_at(position, min(_AT_ONCE, size - position))
        if not part:
            raise Unreadable(f"{file.name}: ends at byte {position}, before {size}")
        hashed.update(part)
        position += len(part)
    return hashed.hexdigest()
