"""What `quorum` prints, and the plan of a new metadata quorum, written and read back. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from kafka_unclean_recovery.documents.reading.codec import decode, load_kind
from kafka_unclean_recovery.documents.reading.json_text import Place, load_object
from kafka_unclean_recovery.documents.salvage import Sha256
from kafka_unclean_recovery.documents.shared import FindingJson
from kafka_unclean_recovery.documents.values import Digest, Entry, Int32, Int64, OrNone, published
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.errors import InputError

Port = Annotated[int, Meta(ge=1, le=65535)]
Hex = Annotated[str, Meta(extra_json_schema={"pattern": "^([0-9a-f]{2})+$"})]
FileName = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9]{20}[0-9.a-z-]+$"})]


class ListenerJson(Entry, frozen=True):
    """A listener of a controller.

    name: Name of the listener in controller.listener.names.
    host: Host name or address.
    port: Port number.
    """

    name: str
    host: str
    port: Port


class VoterJson(Entry, frozen=True):
    """A voter of the metadata quorum.

    id: Node id.
    directory_id: Id of its log directory, as 8-4-4-4-12 hex digits; null for a static quorum.
    listeners: Where it listens, as far as that is known.
    """

    id: Int32
    directory_id: str | None
    listeners: tuple[ListenerJson, ...]


class CopyJson(Entry, frozen=True):
    """One node's copy of the metadata log.

    directory: Directory of its files.
    node: Id in meta.properties; null where a metadata directory was given alone.
    role: What the node is by the newest state: broker, controller, both, or unknown.
    last_epoch: Leader epoch of its last record; -1 where it has none.
    end_offset: End of the log, exclusive.
    log_start_offset: First offset in its segments.
    snapshot: Name of the newest checkpoint that is whole; null where there is none.
    last_timestamp_ms: When its last record was written, ms since the Unix epoch.
    newest_epoch: Greatest epoch in its log and in its quorum-state.
    kraft_version: 0 where the voters are in the configuration, 1 where they are in the log.
    voters: Voters of the quorum, as its log tells.
    torn_bytes: Bytes of an unfinished write behind its last record.
    damage: Why it ends although more was written; null where it simply ends.
    held_by: Process that has it open; null where none is known.
    relation: How it relates to the best copy: best, same, prefix, given_up, diverges or
        not_compared.
    alike_to: Up to this offset, exclusive, it is as the best; null where that is not known.
    lacks: What the best copy does beyond it.
    beyond: What it does beyond the best copy.
    problems: What may be missing in it.
    """

    directory: str
    node: Int32 | None
    role: str
    last_epoch: OrNone
    end_offset: Int64
    log_start_offset: Int64
    snapshot: str | None
    last_timestamp_ms: int | None
    newest_epoch: OrNone
    kraft_version: int
    voters: tuple[VoterJson, ...]
    torn_bytes: Int64
    damage: str | None
    held_by: int | None
    relation: str
    alike_to: Int64 | None
    lacks: tuple[str, ...]
    beyond: tuple[str, ...]
    problems: tuple[str, ...]


@published("kafka-unclean-recovery quorum inspect --format json, format 1")
class QuorumInspectJson(Entry, frozen=True):
    """The copies of the metadata log that were found.

    cluster_ids: Cluster ids in the copies; more than one where they are from several clusters.
    copies: The best first.
    epoch: Greatest epoch that any log or quorum-state tells.
    topics: How many topics the best copy has.
    partitions: How many partitions it has.
    brokers: Brokers that it has.
    ahead: What brokers' disks show that the best copy lacks.
    strays: Replicas on disk that the best copy has on other brokers.
    stuck: Voters whose log directory is another than the quorum knows.
    problems: What could not be read.
    """

    format_version: Literal[1]
    kind: Literal["quorum-inspect"]
    cluster_ids: tuple[str, ...]
    copies: tuple[CopyJson, ...]
    epoch: OrNone
    topics: Int64
    partitions: Int64
    brokers: tuple[Int32, ...]
    ahead: tuple[str, ...]
    strays: tuple[str, ...]
    stuck: tuple[str, ...]
    problems: tuple[str, ...]


class SeedFileJson(Entry, frozen=True):
    """A file of the best copy that the new controller gets.

    name: Name of a segment or a checkpoint.
    size: Bytes to be copied from its beginning.
    found_size: Bytes that it had: if it has others later, somebody leads and writes.
    sha256: SHA-256 of the bytes to be copied.
    """

    name: FileName
    size: Int64
    found_size: Int64
    sha256: Sha256


class SeedJson(Entry, frozen=True):
    """The copy that the new quorum begins from.

    directory: Directory of the metadata log, on the machine where the plan was made.
    node: Id in meta.properties; null where a metadata directory was given alone.
    last_epoch: Leader epoch of its last record.
    end_offset: End of its log, exclusive.
    last_timestamp_ms: When its last record was written, ms since the Unix epoch.
    kraft_version: 0 where the voters are in the configuration, 1 where they are in the log.
    topics: How many topics it has; `verify` looks for as many.
    files: All that is copied, by name.
    last_segment: Name of the file that the control batch is appended to; null where nothing is.
    """

    directory: str
    node: Int32 | None
    last_epoch: OrNone
    end_offset: Int64
    last_timestamp_ms: int | None
    kraft_version: int
    topics: Int64
    files: tuple[SeedFileJson, ...]
    last_segment: FileName | None


class ProspectJson(Entry, frozen=True):
    """What a node will do when it meets the new controller.

    node: Node id; null where a metadata directory was given alone.
    role: What the node is by the newest state: broker, controller, both, or unknown.
    running: Whether a process holds its log directory; null where that is not known.
    will: What it does.
    """

    node: Int32 | None
    role: str
    running: bool | None
    will: str


@published("Plan of kafka-unclean-recovery quorum plan, format 1")
class QuorumPlanJson(Entry, frozen=True):
    """The plan of a new metadata quorum. Not to be edited: the digest would disagree.

    created_at: ISO 8601 with the offset from UTC.
    seed: The copy that the new quorum begins from.
    new_controller: The controller that is to be made; the only voter at first.
    epoch: Epoch that the new quorum-state gets; the controller leads in the epoch above, or in this
        one.
    control_batch: What makes it the voter of a dynamic quorum, appended to the log; null for a
        static quorum, whose configuration does.
    voters_before: Voters of the quorum that was lost.
    lost: Ids of voters that were named as gone for good.
    findings: What to weigh, gravest first.
    steps: What is to be done, in this order.
    prospects: What each node will do when it meets the new controller.
    copies: All that was seen, the best first.
    digest: SHA-256 of all else as JSON with sorted keys, no blanks and ASCII only.
    put_aside: Names of directories that brokers had put aside as strays before, as far as their log
        directories were given; `verify` passes over them.
    brokers: Brokers that are registered by the best copy, or by one that goes further; `verify`
        looks for them where the cluster does not list its fenced ones.
    """

    format_version: Literal[1]
    kind: Literal["quorum-plan"]
    cluster_id: str
    created_at: str
    seed: SeedJson
    new_controller: VoterJson
    epoch: Int32
    control_batch: Hex | None
    voters_before: tuple[VoterJson, ...]
    lost: tuple[Int32, ...]
    findings: tuple[FindingJson, ...]
    steps: tuple[str, ...]
    prospects: tuple[ProspectJson, ...]
    copies: tuple[CopyJson, ...]
    digest: Digest
    put_aside: tuple[str, ...] = ()
    brokers: tuple[Int32, ...] = ()


class ProofJson(Entry, frozen=True):
    """One thing that was looked at after the start.

    what: What was looked at.
    holds: Whether it is as it should be; null where it is not known.
    found: What was found.
    """

    what: str
    holds: bool | None
    found: str


@published("kafka-unclean-recovery quorum verify --format json, format 1")
class QuorumVerifyJson(Entry, frozen=True):
    """Whether the new quorum is what was planned.

    proven: True when all that was looked at holds, and nothing is unknown.
    proofs: All that was looked at.
    not_looked_at: What was not asked for, and so proves nothing either way.
    """

    format_version: Literal[1]
    kind: Literal["quorum-verify"]
    cluster_id: str
    proven: bool
    proofs: tuple[ProofJson, ...]
    not_looked_at: tuple[str, ...] = ()


KIND = "quorum-plan"


def is_quorum_plan(text: str, source: str) -> bool:
    """Return True when the text calls itself a quorum plan. Raises InputError."""
    return load_object(text, source).get("kind") == KIND


def read_quorum_plan(text: str, source: str) -> QuorumPlanJson:
    """Read a plan of `quorum plan`. Raises InputError, which names `source`."""
    give = "give a file that `quorum plan --plan-output-file` wrote"
    document = load_kind(text, source, KIND, give, "use the version of this tool that wrote it")
    plan = decode(document, QuorumPlanJson, Place(source))
    if plan.digest != plan_digest(document):
        raise InputError(f"{source}: digest: it was changed after it was written; plan again")
    return plan
