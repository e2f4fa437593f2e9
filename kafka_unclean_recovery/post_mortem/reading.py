"""A journal is read strictly for its post-mortem, and each error names its line. Unknown events are
passed over, and a journal without the lines that tell what was known gives a poorer post-mortem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.codec import decode_newer, to_model
from kafka_unclean_recovery.files.journal import JournalError, parse, unfinished, untorn
from kafka_unclean_recovery.files.json_fields import Fields
from kafka_unclean_recovery.files.json_text import JsonObject, Place, load_object
from kafka_unclean_recovery.files.json_values import each_once
from kafka_unclean_recovery.formats.decision import DecisionJson
from kafka_unclean_recovery.formats.plan import RankedJson
from kafka_unclean_recovery.model import (
    Candidate,
    Commit,
    Divergence,
    Finding,
    GroupBeyond,
    Loss,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    TopicPartition,
    Waiting,
)
from kafka_unclean_recovery.post_mortem.story import (
    AffectedGroup,
    After,
    Care,
    Election,
    Order,
    PostMortem,
    Saved,
    gravest,
)
from kafka_unclean_recovery.post_mortem.timeline import Timeline


def read_post_mortem(text: str, journal: str) -> PostMortem:
    """Read the text of a journal. journal: the name of the file in errors and commands. Raises
    InputError, which names the line."""
    # Nothing was done on account of a line that was cut off.
    whole = untorn(text[: text.rfind("\n") + 1])
    try:
        parse(whole, journal)
    except JournalError as error:
        raise InputError(str(error)) from None
    lines = [
        Fields(Place(f"{journal}, line {number}"), load_object(line, f"{journal}, line {number}"))
        for number, line in enumerate(whole.splitlines(), 1)
    ]
    if not lines:
        raise InputError(f"{journal}: holds no whole line; name the journal of a run")
    tale = _Tale()
    for line in lines:
        tale.hear(line)
    if not text.endswith("\n"):
        tale.timeline.torn()
    return _post_mortem(tale, lines, journal)


def _post_mortem(tale: _Tale, lines: list[Fields], journal: str) -> PostMortem:
    left = tuple(step.topic_partition for step in unfinished(line.values for line in lines))
    return PostMortem(
        journal,
        tale.cluster_id,
        tale.bootstrap,
        tale.timeline.moments(),
        tuple(tale.consents),
        tuple(gravest(tale.elections(), left)),
        tuple(tale.saved),
        left,
        tale.ended,
        tale.care,
        tuple(dict.fromkeys(tale.problems)),
        tale.groups_asked,
        tale.unknown,
    )


@dataclass(slots=True)
class _Tale:
    """The content of the lines read so far. found: the elections of each partition, one after the
    other; the last of them is of the run in last_run."""

    timeline: Timeline = field(default_factory=Timeline)
    run: int = 0
    cluster_id: str | None = None
    bootstrap: str | None = None
    ended: bool = True
    care: Care | None = None
    problems: list[str] = field(default_factory=list)
    groups_asked: bool = False
    unknown: tuple[str, ...] = ()
    consents: list[tuple[int, JsonObject]] = field(default_factory=list)
    saved: list[tuple[str, tuple[Saved, ...]]] = field(default_factory=list)
    found: dict[TopicPartition, list[Election]] = field(default_factory=dict)
    last_run: dict[TopicPartition, int] = field(default_factory=dict)

    def hear(self, line: Fields) -> None:
        event, at_ms = line.text("event"), line.int64("at_ms")
        hear = _HEARD.get(event)
        if hear is not None:
            hear(self, line, at_ms)
        self.timeline.add(event, at_ms, line)

    def elections(self) -> list[Election]:
        """Return the elections that count. One that was never begun counts only as the last of its
        partition."""
        return [
            election
            for elections in self.found.values()
            for election in elections
            if election.begun_at_ms is not None or election is elections[-1]
        ]

    def begin_another(self, topic_partition: TopicPartition) -> Election:
        self.last_run[topic_partition] = self.run
        election = Election(topic_partition)
        self.found.setdefault(topic_partition, []).append(election)
        return election

    def election(self, topic_partition: TopicPartition) -> Election:
        """Return the partition's election in this run, a new one if there is none."""
        if self.last_run.get(topic_partition) != self.run:
            return self.begin_another(topic_partition)
        return self.found[topic_partition][-1]

    def add(self, topic_partition: TopicPartition, **told: Any) -> None:
        """Set these fields of the partition's election in this run."""
        election = replace(self.election(topic_partition), **told)
        self.found[topic_partition][-1] = election

    def begin(self, line: Fields, _: int) -> None:
        self.run += 1
        self.ended = False
        self.cluster_id = line.text("cluster_id")

    def observed(self, line: Fields, _: int) -> None:
        self.problems += line.texts("problems")
        self.groups_asked, self.unknown = line.flag("groups_asked"), line.texts("unknown")
        addresses = [f"{b.text('host')}:{b.int32('port')}" for b in line.objects("brokers")]
        self.bootstrap = ",".join(addresses) or self.bootstrap

    def decision(self, line: Fields, at_ms: int) -> None:
        plan = _plan(line)
        topic_partition = plan.state.topic_partition
        before = self.election(topic_partition)
        # The election before came to something, so this decision is about another one.
        if before.begun_at_ms is not None or before.outcome is not None:
            self.begin_another(topic_partition)
        leader = plan.designated_leader
        self.add(topic_partition, decided_at_ms=at_ms, plan=plan, designated_leader=leader)

    def consent(self, line: Fields, at_ms: int) -> None:
        told = {k: v for k, v in line.values.items() if k not in ("v", "at", "at_ms", "event")}
        self.consents.append((at_ms, JsonObject(told)))

    def salvage(self, line: Fields, _: int) -> None:
        rows = tuple(_saved(row) for row in line.objects("partitions"))
        self.saved.append((line.text("directory"), rows))

    def reorder(self, line: Fields, _: int) -> None:
        for row in line.objects("partitions"):
            row.text("topic_id")
            order = Order(row.broker_ids("original"), row.broker_ids("written"))
            self.add(_topic_partition(row), order=order)

    def elect(self, line: Fields, at_ms: int) -> None:
        for row in line.objects("partitions"):
            leader = row.int32("designated_leader")
            self.add(_topic_partition(row), begun_at_ms=at_ms, designated_leader=leader)

    def restored(self, line: Fields, at_ms: int) -> None:
        alone = line.texts("left_alone") if "left_alone" in line.values else ()
        for row in line.objects("partitions"):
            where = _topic_partition(row)
            # Each text names its partition first; no topic has a colon in its name.
            why = next((text for text in alone if text.startswith(f"{where}: ")), None)
            elections = self.found.get(where, [])
            for place, election in enumerate(elections):
                order = election.order
                if order is not None and order.restored_at_ms is None and order.left_alone is None:
                    seen_at_ms = at_ms if why is None else None
                    order = replace(order, restored_at_ms=seen_at_ms, left_alone=why)
                    elections[place] = replace(election, order=order)

    def outcome(self, line: Fields, _: int) -> None:
        for row in line.objects("partitions"):
            self.add(_topic_partition(row), outcome=_outcome(row))

    def verified(self, line: Fields, _: int) -> None:
        self.problems += line.texts("problems")
        for row in line.objects("partitions"):
            isr = row.broker_ids("isr") if row.known("isr") else None
            leader = row.int32_or_unknown("leader", least=-1)
            after = After(leader, row.int32_or_unknown("leader_epoch", least=-1), isr)
            self.add(_topic_partition(row), outcome=_outcome(row), after=after)

    def aftercare(self, line: Fields, at_ms: int) -> None:
        self.care = _care(line, at_ms)

    def end(self, line: Fields, _: int) -> None:
        line.int32("exit_code")
        self.ended = True

    def markers(self, _: Fields, __: int) -> None:
        # A run of aftercare notes no end, so its markers are the last that it notes.
        self.ended = True


_HEARD: dict[str, Callable[[_Tale, Fields, int], None]] = {
    name: getattr(_Tale, name)
    for name in (
        "begin",
        "observed",
        "decision",
        "consent",
        "salvage",
        "reorder",
        "elect",
        "restored",
        "outcome",
        "verified",
        "markers",
        "aftercare",
        "end",
    )
}


def _topic_partition(fields: Fields) -> TopicPartition:
    return TopicPartition(fields.text("topic"), fields.int32("partition"))


def _outcome(row: Fields) -> Outcome | None:
    if not row.known("outcome"):
        return None
    kind = row.one_of("outcome", [kind.value for kind in OutcomeKind])
    return Outcome(OutcomeKind(kind), row.text_or_unknown("reason"))


def _plan(line: Fields) -> PartitionPlan:
    read, place = decode_newer(line.values, DecisionJson, line.place), line.place
    logs = {log.broker: log for log in (to_model(each, ReplicaLog) for each in read.replica_logs)}
    each_once(read.order, place.at("order"))
    ranking = [
        _candidate(row, logs, read, place.at("ranking").item(index))
        for index, row in enumerate(read.ranking)
    ]
    if strangers := set(read.order) - logs.keys():
        raise place.at("order").error(f"broker {min(strangers)} has no replica_log")
    return PartitionPlan(
        _state(read, place),
        tuple(logs.values()),
        tuple(ranking),
        read.designated_leader,
        read.order,
        tuple(to_model(finding, Finding) for finding in read.findings),
        read.refusal,
        tuple(to_model(waiting, Waiting) for waiting in read.waiting),
    )


def _groups(read: DecisionJson) -> tuple[GroupBeyond, ...]:
    """Return the groups that are beyond the designated leader's log."""
    where = TopicPartition(read.topic, read.partition)
    return tuple(
        GroupBeyond(
            Commit(row.group, where, row.committed_offset, row.committed_leader_epoch),
            row.resume_offset,
            # A plan does not tell whether the log was refilled, which matters only once there is a
            # leader.
            refilled=False,
        )
        for row in read.groups_beyond
    )


def _state(read: DecisionJson, place: Place) -> PartitionState:
    known = read.preconditions
    members = {key: getattr(known, key) for key in ("replicas", "isr", "elr", "last_known_elr")}
    others = ("offline_replicas", "adding_replicas", "removing_replicas")
    for key, brokers in members.items():
        each_once(brokers, place.at("preconditions").at(key))
    members |= {key: getattr(read, key) for key in others}
    for key in others:
        each_once(members[key], place.at(key))
    return PartitionState(
        read.topic, known.topic_id, read.partition, read.leader, known.leader_epoch, **members
    )


def _candidate(
    row: RankedJson, logs: dict[int, ReplicaLog], read: DecisionJson, place: Place
) -> Candidate:
    if row.broker not in logs:
        raise place.at("broker").error(f"broker {row.broker} has no replica_log")
    return Candidate(
        logs[row.broker],
        to_model(row.loss, Loss),
        tuple(to_model(each, Divergence) for each in row.divergences),
        _groups(read) if row.broker == read.designated_leader else (),
    )


def _saved(row: Fields) -> Saved:
    return Saved(
        _topic_partition(row),
        row.int32("broker"),
        row.int64_or_unknown("start_offset"),
        row.int64_or_unknown("end_offset"),
        row.flag("saved"),
        row.text_or_unknown("reason"),
    )


def _care(line: Fields, at_ms: int) -> Care:
    rows = list(line.objects("partitions"))
    endings = [t.text("ending") for row in rows for t in row.objects("transactions")]
    hanging = [ending for ending in endings if ending != "open"]
    return Care(
        at_ms,
        line.flag("over"),
        (*line.texts("unknown"), *(text for row in rows for text in _hidden(row))),
        tuple(_group(row, group) for row in rows for group in row.objects("groups")),
        len(hanging),
        sum(ending != "unknown" for ending in hanging),
        sum(len(row.broker_ids("out_of_sync")) for row in rows),
    )


def _hidden(row: Fields) -> list[str]:
    return [f"{_topic_partition(row)}: {problem}" for problem in row.texts("problems")]


def _group(row: Fields, group: Fields) -> AffectedGroup:
    return AffectedGroup(
        _topic_partition(row),
        group.text("group"),
        group.int64("committed_offset"),
        group.int64("resume_offset"),
        group.flag("refilled"),
    )
