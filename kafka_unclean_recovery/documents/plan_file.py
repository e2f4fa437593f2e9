"""Plans as files: the KIP's, which a person may edit, and the rich one, which nobody may. Pure.

The rich plan carries what each election rests on (its preconditions) and a digest over the whole,
so that whoever applies it later knows that it is what was planned, and can observe it all again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from kafka_unclean_recovery.documents.manual_recovery import ElectionJson
from kafka_unclean_recovery.documents.reading.codec import (
    canonical_json,
    json_text,
    load_kind,
    to_json,
)
from kafka_unclean_recovery.documents.reading.json_text import JsonObject
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import (
    Candidate,
    Cluster,
    PartitionPlan,
)
from kafka_unclean_recovery.planning.losses import loss_under

FORMAT_VERSION = 1

STOCK_SCRIPT_WARNING = (
    "warning: kafka-leader-election.sh of today's Kafka accepts this file and ignores the "
    "designated leaders in it, so it may elect a replica that loses more; "
    "use kafka-elect-leaders --election-type designated"
)
"""For stderr, wherever the KIP's file is written."""

Json = dict[str, object]
"""A JSON object under construction."""


def manual_recovery_json(plans: Iterable[PartitionPlan]) -> str:
    """The file of --manual-recovery-output-file (KIP-1275), by topic and partition, a line each.

    Plans without a designated leader are left out.
    """
    lines = (
        leader_line(plan.state.topic, plan.state.partition, plan.designated_leader)
        for plan in _sorted(plans)
        if plan.designated_leader is not None
    )
    return "".join(partitions_by_chunk({}, lines, dict))


def leader_line(topic: str, partition: int, leader: int) -> str:
    """A partition's entry in it."""
    return json_text(ElectionJson(topic, partition, leader))


def plan_json(cluster: Cluster, plans: Iterable[PartitionPlan], created_at: str) -> str:
    """The rich plan (schemas/plan-1.schema.json) with its digest.

    `created_at` is a time in ISO 8601 with its offset from UTC.
    """
    return "".join(plan_chunks(cluster.cluster_id, map(plan_line, _sorted(plans)), created_at))


def plan_chunks(
    cluster_id: str, lines: Iterable[tuple[str, str]], created_at: str
) -> Iterator[str]:
    """The same, bit by bit; lines: of `plan_line`, by topic and partition, or many joined by
    ",\n" and ",", so that they need not all exist at once."""
    head: Json = {
        "format_version": FORMAT_VERSION,
        "kind": "plan",
        "cluster_id": cluster_id,
        "created_at": created_at,
    }
    # "partitions" comes last among the sorted keys.
    hashed = hashlib.sha256(f'{canonical_json(head)[:-1]},"partitions":['.encode("ascii"))

    def heard() -> Iterator[str]:
        for place, (line, canonical) in enumerate(lines):
            hashed.update(f"{',' if place else ''}{canonical}".encode("ascii"))
            yield line
        hashed.update(b"]}")

    yield from partitions_by_chunk(head, heard(), lambda: {"digest": _digest(hashed)})


def plan_line(plan: PartitionPlan) -> tuple[str, str]:
    """A partition's entry in the rich plan: its line, and the canonical form that is hashed."""
    row = plan_row(plan)
    return json_text(row), canonical_json(row)


def plan_digest(document: Mapping[str, object]) -> str:
    """The text "sha256:" and the hex digest of `document` without its "digest".

    Hashed is the canonical form.
    """
    rest = {key: value for key, value in document.items() if key != "digest"}
    return _digest(hashlib.sha256(canonical_json(rest).encode("ascii")))


def _digest(hashed: hashlib._Hash) -> str:
    return f"sha256:{hashed.hexdigest()}"


def parse_plan(text: str, source: str) -> JsonObject:
    """The document of a rich plan, its kind, version and digest checked.

    Raises InputError, which names `source`.
    """
    document = load_kind(
        text,
        source,
        "plan",
        "give a file of --plan-output-file",
        "use the version of this tool that wrote the plan",
    )
    if document.get("digest") != _digest_of_read(document, source):
        raise InputError(
            f"{source}: digest: does not agree with the plan, which was changed after it was "
            "written; make a new plan (to choose leaders by hand, --manual-recovery-output-file)"
        )
    return document


def _digest_of_read(document: Json, source: str) -> str:
    try:
        return plan_digest(document)
    except RecursionError:
        raise InputError(f"{source}: nested too deeply to be a plan") from None


def partitions_by_line(head: Json, rows: Iterable[Json], tail: Json) -> str:
    """One JSON object: `head`, then "partitions" with a line for each row, then `tail`.

    Quick to write and to grep; rows are taken one at a time, so that they need not all exist.
    """
    return "".join(partitions_by_chunk(head, map(json_text, rows), lambda: tail))


def document_by_line(document: Struct) -> str:
    """The same of a whole document, whose "partitions" come last."""
    head = to_json(document)
    rows = head.pop("partitions")
    return partitions_by_line(head, rows, {})


def partitions_by_chunk(
    head: Json, chunks: Iterable[str], tail: Callable[[], Json]
) -> Iterator[str]:
    """The same bit by bit; chunks: lines, or many joined by ",\n". `tail` is asked last."""
    before = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    yield f'{{{before}"partitions": ['
    end = "]"
    for chunk in chunks:
        yield f"\n{chunk}" if end == "]" else f",\n{chunk}"
        end = "\n]"
    after = "".join(f",\n{json.dumps(key)}: {json.dumps(value)}" for key, value in tail().items())
    yield f"{end}{after}}}\n"


def candidate_json(candidate: Candidate) -> Json:
    """What electing this replica would lose, and where it would truncate the others."""
    return {
        "broker": candidate.log.broker,
        "loss": candidate.loss,
        "divergences": candidate.divergences,
    }


def plan_row(plan: PartitionPlan) -> Json:
    """A partition's entry in the rich plan, as values that json_text takes."""
    return {
        "topic": plan.state.topic,
        "partition": plan.state.partition,
        "preconditions": _preconditions(plan),
        "designated_leader": plan.designated_leader,
        "order": plan.order,
        "refusal": plan.refusal,
        "loss": loss_under(plan, plan.designated_leader),
        "findings": plan.findings,
        "ranking": [_ranked(candidate) for candidate in plan.ranking],
        "replica_logs": plan.replica_logs,
    }


def _preconditions(plan: PartitionPlan) -> Json:
    state = plan.state
    return {
        "topic_id": state.topic_id,
        "leader_epoch": state.leader_epoch,
        "replicas": state.replicas,
        "isr": state.isr,
        "elr": state.elr,
        "last_known_elr": state.last_known_elr,
    }


def _ranked(candidate: Candidate) -> Json:
    log = candidate.log
    return {
        **candidate_json(candidate),
        "last_written_leader_epoch": log.last_written_leader_epoch,
        "log_end_offset": log.log_end_offset,
    }


def _sorted(plans: Iterable[PartitionPlan]) -> list[PartitionPlan]:
    return sorted(plans, key=lambda plan: plan.state.topic_partition)
