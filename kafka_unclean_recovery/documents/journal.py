"""The events of a journal in one table: what stands in a line, by which entry it is read, and what
a later run does on its account. The writer, the readers and docs/reference/journal.md go by it.

A line is {"v": 1, "at": ISO 8601 UTC, "at_ms": ms since the Unix epoch, "event": name, ...}.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from kafka_unclean_recovery.documents import journal_entries as read_by
from kafka_unclean_recovery.documents.plan import PartitionJson
from kafka_unclean_recovery.documents.values import Entry

VERSION = 1

Event = Literal[
    "begin",
    "observed",
    "decision",
    "consent",
    "wave",
    "surprise",
    "reorder",
    "reduce",
    "move",
    "elect",
    "salvage",
    "sent",
    "answered",
    "settled",
    "outcome",
    "restored",
    "verified",
    "markers",
    "marked",
    "resets",
    "reset",
    "seed",
    "seeded",
    "aftercare",
    "before_start",
    "salvaged",
    "replayed",
    "commits",
    "end",
]
"""None can be written that is not named here."""


class Later(StrEnum):
    """What a later run does on account of a line."""

    NOTHING = ""
    PUT_BACK = "It puts the original orders back, unless a later `restored` names the partition."
    END_MOVE = "It ends what is in progress, unless a later `restored` names the partition."
    LEAVE = "It leaves the orders of these partitions alone: they need no restoring any more."
    WAIT = "It waits until the request can't be carried out any more, unless that is noted."
    ANSWERED = "It need not wait for the request of this number."
    SETTLED = "It need not wait for any request that was sent before."
    LOOK_AFTER = "Aftercare looks at the partitions: they may have a new leader."
    TELL_LOST = "Aftercare tells of the losses."
    SKIP_FILE = "It reads no more of the file where `half_done` is false."


@dataclass(frozen=True, slots=True)
class EventRow:
    """keys: what a line has besides when it was written. read_by: None where none of its fields is
    read one by one: whatever a consent has is passed on, and others say all by being there."""

    keys: str
    read_by: type[Entry] | None
    later: Later = Later.NOTHING


EVENTS: Mapping[str, EventRow] = {
    "begin": EventRow("version, cluster_id, command", read_by.BeginJson),
    "observed": EventRow(
        "what was seen before planning: brokers: [{id, host, port}] that are live, fenced: ids,"
        " silent_brokers: {id: reason}, problems; groups_asked, unknown: which could not be;"
        " gone: ids, as --gone has them;"
        " partitions: how many, missing: [{topic, partition, reason}]; transport, election_method,"
        " dialect: as asked for",
        read_by.ObservedJson,
    ),
    # Read by DecisionJson, too.
    "decision": EventRow(
        "of one partition: an entry of the rich plan (plan-1.schema.json), and leader,"
        " offline_replicas, adding_replicas, removing_replicas; waiting, groups_beyond: as in the"
        " report's JSON. The last one before an `elect` of the partition is what that rests on, but"
        " for what was looked at again just before",
        PartitionJson,
    ),
    "consent": EventRow(
        'how: "y", "number typed", "--yes", "no terminal", "by hand" (kafka-elect-leaders);'
        " partitions: how many; accept_loss: as given; plan_digest: of --plan, or null; approval:"
        " {plan_digest, cluster_id, approved_by, approved_at}, or null",
        None,
    ),
    "wave": EventRow(
        "number (from 1), of, partitions: how many; with --canary or --wave-size", read_by.WaveJson
    ),
    "surprise": EventRow("reason why no further wave is begun", read_by.SurpriseJson),
    "reorder": EventRow(
        "partitions: [{topic, topic_id, partition, original, written, designated_leader}], about to"
        " get another order",
        read_by.ReorderJson,
        Later.PUT_BACK,
    ),
    "reduce": EventRow(
        "partitions: [{topic, topic_id, partition, original, written, unregistered}], whose orders"
        " the controllers refused for the unregistered brokers in them: the others alone are"
        " written, and nothing puts the original set back",
        read_by.ReduceJson,
    ),
    "move": EventRow(
        "partitions: [{topic, topic_id, partition, original, written, designated_leader, kind:"
        ' "empty" or "back"}], which get other replicas: a `reorder` that begins a reassignment',
        read_by.MoveJson,
        Later.END_MOVE,
    ),
    "elect": EventRow(
        'partitions: [{topic, partition, designated_leader}], method: "designated" when not by'
        " reorder",
        read_by.ElectJson,
        Later.LOOK_AFTER,
    ),
    "salvage": EventRow(
        "directory; partitions: [{topic, partition, broker, start_offset, end_offset, saved,"
        " reason}], the tails of live replicas that were saved before electing, or not",
        read_by.SalvageJson,
    ),
    "sent": EventRow(
        "number (from 1), request: its name, partitions: how many, broker: address; boot_id and"
        " boot_ms: since which boot of this machine for how long, null where not known. The wall"
        " clock jumps",
        read_by.SentJson,
        Later.WAIT,
    ),
    "answered": EventRow(
        "number: of a `sent` whose answer leaves open nothing; without it, it may still be carried"
        " out",
        None,
        Later.ANSWERED,
    ),
    "settled": EventRow(
        "nothing that was sent before can be carried out any more", None, Later.SETTLED
    ),
    "outcome": EventRow(
        "partitions: [{topic, partition, outcome, reason}], and unweighed, in_doubt, lost where"
        " there is something to tell",
        read_by.OutcomeJson,
    ),
    "restored": EventRow(
        "partitions: [{topic, partition}]; left_alone: sentences on those that are not back,"
        " because somebody else changed them, or because the new order was never written",
        read_by.RestoredJson,
        Later.LEAVE,
    ),
    "verified": EventRow(
        "what the run found in the end: partitions: [{topic, partition, outcome, reason, leader,"
        " leader_epoch, isr}], all that were asked for, and unweighed, in_doubt, lost as in"
        " `outcome`; problems, interrupted",
        read_by.VerifiedJson,
        Later.TELL_LOST,
    ),
    "markers": EventRow(
        "partitions: [{topic, partition, producer_id, producer_epoch, start_offset,"
        ' transactional_id, ending: "commit" or "abort"}], of aftercare',
        read_by.MarkersJson,
    ),
    "marked": EventRow(
        "partitions: [{topic, partition, producer_id, problem: null when it was written}]",
        read_by.MarkedJson,
    ),
    "resets": EventRow(
        "partitions: [{group, topic, partition, done_to, read_to, set_to}] of share groups that are"
        " about to be set to `set_to`, of aftercare",
        read_by.ResetsJson,
    ),
    "reset": EventRow(
        "partitions: as in `resets`, with problem: null when it was set", read_by.MarkedJson
    ),
    "seed": EventRow(
        "directory, plan_digest, source, epoch, end_offset, new_controller: {id, host, port}, lost:"
        " ids, steps_left: what the plan has to be done next; of `quorum seed`, before anything is"
        " written",
        read_by.SeedJson,
    ),
    "seeded": EventRow(
        "directory, exit_code: 0 when it is there, whole; reason: why not, or null",
        read_by.SeededJson,
    ),
    "aftercare": EventRow(
        "cluster_id, over, unknown, looked_at: how many partitions; gone: ids of the brokers in"
        " --gone that do not live; partitions: those where something is left, as rows of"
        " aftercare-1.schema.json without producers",
        read_by.AftercareJson,
    ),
    "before_start": EventRow(
        "broker; partitions: [{topic, partition, effect, beyond}], those of this journal on its"
        " disk: the effect of its start in the words of before-start-1.schema.json, and how many"
        " records the start deletes because the leader lacks them, null where not known",
        read_by.BeforeStartJson,
    ),
    "salvaged": EventRow(
        "directory; partitions: [{topic, partition, broker, beyond, at_least, saved}], of `salvage"
        " --journal`: how many records the leader lacks, counted by offsets, null where not known;"
        " whether there may be more; and how many were saved",
        read_by.SalvagedJson,
    ),
    "replayed": EventRow(
        "directory; partitions: [{topic, partition, target, produced}], of `salvage replay`; whole:"
        " true when it came to its end and all partitions were asked for",
        read_by.ReplayedJson,
    ),
    "commits": EventRow(
        "directory, brought_back: how many commits of consumer groups; of `salvage offsets`",
        read_by.CommitsJson,
    ),
    "end": EventRow(
        "exit_code; half_done: false when nothing in this file is left to be finished",
        read_by.EndJson,
        Later.SKIP_FILE,
    ),
}


def later(line: Mapping[str, object]) -> Later:
    """Return what a later run does on account of a line; nothing where the event is unknown."""
    row = EVENTS.get(str(line.get("event")))
    return Later.NOTHING if row is None else row.later
