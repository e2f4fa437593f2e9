"""A journal is read strictly for its post-mortem, and each error names its line. Unknown events are
passed over, and a journal without the lines that tell what was known gives a poorer post-mortem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import structs

from kafka_unclean_recovery.documents.journal import EVENTS
from kafka_unclean_recovery.documents.journal_entries import (
    AftercareJson,
    BeforeStartJson,
    BeginJson,
    CareRowJson,
    CommitsJson,
    DecisionJson,
    ElectJson,
    ElectRowJson,
    EndJson,
    LineJson,
    MarkersJson,
    ObservedJson,
    OutcomeJson,
    OutcomeRowJson,
    ReduceJson,
    ReduceRowJson,
    ReorderJson,
    ReorderRowJson,
    ReplayedJson,
    ResetsJson,
    RestoredJson,
    SalvagedJson,
    SalvagedRowJson,
    SalvageJson,
    SeededJson,
    SeedJson,
    StartRowJson,
    VerifiedJson,
    VerifiedRowJson,
)
from kafka_unclean_recovery.documents.journal_lines import JournalError, parse, unfinished, untorn
from kafka_unclean_recovery.documents.plan import PartitionJson, partition_plan
from kafka_unclean_recovery.documents.post_mortem import SavedJson
from kafka_unclean_recovery.documents.reading.codec import decode_newer, to_model
from kafka_unclean_recovery.documents.reading.json_text import JsonObject, Place, load_object
from kafka_unclean_recovery.documents.reading.json_values import each_once
from kafka_unclean_recovery.documents.shared import TopicPartitionJson
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import (
    Commit,
    GroupBeyond,
    Outcome,
    PartitionPlan,
    TopicPartition,
    Waiting,
)
from kafka_unclean_recovery.post_mortem.learnt import Found, Learnt, Produced
from kafka_unclean_recovery.post_mortem.story import (
    AffectedGroup,
    After,
    Care,
    Election,
    Order,
    PostMortem,
    SavedTail,
    Seed,
    gravest,
)
from kafka_unclean_recovery.post_mortem.timeline import Timeline

_OTHERS = ("offline_replicas", "adding_replicas", "removing_replicas")


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
        _line(text, Place(f"{journal}, line {number}"))
        for number, text in enumerate(whole.splitlines(), 1)
    ]
    if not lines:
        raise InputError(f"{journal}: holds no whole line; name the journal of a run")
    tale = _Tale()
    for line in lines:
        tale.hear(line)
    if not text.endswith("\n"):
        tale.timeline.torn()
    return _post_mortem(tale, lines, journal)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the journal, and when it was written, in ms since the Unix epoch."""

    place: Place
    values: JsonObject
    event: str
    at_ms: int


def _line(text: str, place: Place) -> _Line:
    values = load_object(text, place.source)
    read = decode_newer(values, LineJson, place)
    return _Line(place, values, read.event, read.at_ms)


def _post_mortem(tale: _Tale, lines: list[_Line], journal: str) -> PostMortem:
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
        tuple(tale.seeds),
        bool(tale.seeds) and len(tale.seeds) >= tale.run,
        frozenset(tale.gone),
        tale.learnt,
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
    saved: list[tuple[str, tuple[SavedTail, ...]]] = field(default_factory=list)
    found: dict[TopicPartition, list[Election]] = field(default_factory=dict)
    last_run: dict[TopicPartition, int] = field(default_factory=dict)
    seeds: list[Seed] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)
    learnt: Learnt = field(default_factory=Learnt)

    def hear(self, line: _Line) -> None:
        row, hear = EVENTS.get(line.event), _HEARD.get(line.event)
        kind = None if row is None else row.read_by
        read = line.values if kind is None else decode_newer(line.values, kind, line.place)
        if hear is not None:
            hear(self, read, line)
        self.timeline.add(line.event, line.at_ms, read)

    def elections(self) -> list[Election]:
        """Return those that count; one never begun counts only as its partition's last."""
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

    def begin(self, read: BeginJson, _: _Line) -> None:
        self.run += 1
        self.ended = False
        self.cluster_id = read.cluster_id

    def observed(self, read: ObservedJson, line: _Line) -> None:
        each_once(read.fenced, line.place.at("fenced"))
        self.problems += read.problems
        self.groups_asked, self.unknown = read.groups_asked, read.unknown
        self.gone.update(read.gone)
        addresses = [f"{broker.host}:{broker.port}" for broker in read.brokers]
        self.bootstrap = ",".join(addresses) or self.bootstrap

    def decision(self, read: PartitionJson, line: _Line) -> None:
        plan = _plan(read, decode_newer(line.values, DecisionJson, line.place), line.place)
        topic_partition = plan.state.topic_partition
        before = self.election(topic_partition)
        # The election before came to something, so this decision is about another one.
        if before.begun_at_ms is not None or before.outcome is not None:
            self.begin_another(topic_partition)
        leader = plan.designated_leader
        self.add(topic_partition, decided_at_ms=line.at_ms, plan=plan, designated_leader=leader)

    def consent(self, values: JsonObject, line: _Line) -> None:
        told = {k: v for k, v in values.items() if k not in ("v", "at", "at_ms", "event")}
        self.consents.append((line.at_ms, JsonObject(told)))

    def salvage(self, read: SalvageJson, _: _Line) -> None:
        self.saved.append((read.directory, tuple(map(_saved, read.partitions))))

    def reorder(self, read: ReorderJson, _: _Line) -> None:
        for row in read.partitions:
            self.add(_topic_partition(row), order=Order(row.original, row.written))

    def reduce(self, read: ReduceJson, _: _Line) -> None:
        for row in read.partitions:
            before = self.election(_topic_partition(row)).order
            order = before or Order(row.original, row.written)
            order = replace(order, written=row.written, unregistered=row.unregistered)
            self.add(_topic_partition(row), order=order)

    def elect(self, read: ElectJson, line: _Line) -> None:
        for row in read.partitions:
            leader = row.designated_leader
            self.add(_topic_partition(row), begun_at_ms=line.at_ms, designated_leader=leader)

    def restored(self, read: RestoredJson, line: _Line) -> None:
        for row in read.partitions:
            where = _topic_partition(row)
            # Each text names its partition first; no topic has a colon in its name.
            why = next((text for text in read.left_alone if text.startswith(f"{where}: ")), None)
            elections = self.found.get(where, [])
            for place, election in enumerate(elections):
                order = election.order
                if order is not None and order.restored_at_ms is None and order.left_alone is None:
                    seen_at_ms = line.at_ms if why is None else None
                    order = replace(order, restored_at_ms=seen_at_ms, left_alone=why)
                    elections[place] = replace(election, order=order)

    def outcome(self, read: OutcomeJson, _: _Line) -> None:
        for row in read.partitions:
            self.add(_topic_partition(row), outcome=_outcome(row))

    def verified(self, read: VerifiedJson, line: _Line) -> None:
        self.problems += read.problems
        for index, row in enumerate(read.partitions):
            each_once(row.isr or (), line.place.at("partitions").item(index).at("isr"))
            after = After(row.leader, row.leader_epoch, row.isr)
            self.add(_topic_partition(row), outcome=_outcome(row), after=after)

    def aftercare(self, read: AftercareJson, line: _Line) -> None:
        for index, row in enumerate(read.partitions):
            each_once(row.out_of_sync, line.place.at("partitions").item(index).at("out_of_sync"))
        self.care = _care(read, line.at_ms)
        self.gone.update(read.gone)

    def seed(self, read: SeedJson, line: _Line) -> None:
        new = read.new_controller
        self.seeds.append(
            Seed(
                line.at_ms,
                read.directory,
                read.source,
                read.epoch,
                read.plan_digest,
                read.end_offset,
                None if new is None else f"{new.id}@{new.host}:{new.port}",
                read.lost,
                read.steps_left,
            )
        )

    def seeded(self, read: SeededJson, _: _Line) -> None:
        if self.seeds:
            self.seeds[-1] = replace(self.seeds[-1], exit_code=read.exit_code, reason=read.reason)

    def before_start(self, read: BeforeStartJson, _: _Line) -> None:
        for row in read.partitions:
            self.learnt.hear(Found(_topic_partition(row), read.broker, row.beyond))

    def salvaged(self, read: SalvagedJson, line: _Line) -> None:
        for row in read.partitions:
            if row.beyond is not None and row.saved > row.beyond:
                raise line.place.error(f"{_topic_partition(row)}: more is saved than there was")
            found = Found(
                _topic_partition(row),
                row.broker,
                row.beyond,
                row.at_least,
                row.saved,
                read.directory,
            )
            self.learnt.hear(found)

    def replayed(self, read: ReplayedJson, _: _Line) -> None:
        targets = tuple(dict.fromkeys(row.target for row in read.partitions))
        records = sum(row.produced for row in read.partitions)
        self.learnt.produced.append(Produced(read.directory, records, targets, read.whole))

    def commits(self, read: CommitsJson, _: _Line) -> None:
        self.learnt.commits += read.brought_back

    def end(self, _: EndJson, __: _Line) -> None:
        self.ended = True

    def markers(self, _: MarkersJson, __: _Line) -> None:
        # A run of aftercare notes no end, so its markers are the last that it notes.
        self.ended = True

    def resets(self, _: ResetsJson, __: _Line) -> None:
        self.ended = True


_HEARD: dict[str, Callable[[_Tale, Any, _Line], None]] = {
    name: getattr(_Tale, name) for name in EVENTS if hasattr(_Tale, name)
}


_Row = (
    SavedJson
    | ReorderRowJson
    | ReduceRowJson
    | ElectRowJson
    | TopicPartitionJson
    | OutcomeRowJson
    | VerifiedRowJson
    | CareRowJson
    | StartRowJson
    | SalvagedRowJson
)


def _topic_partition(row: _Row) -> TopicPartition:
    return TopicPartition(row.topic, row.partition)


def _outcome(row: OutcomeRowJson | VerifiedRowJson) -> Outcome | None:
    if row.outcome is None:
        return None
    return Outcome(row.outcome, row.reason, row.unweighed, row.in_doubt, row.lost)


def _plan(read: PartitionJson, known: DecisionJson, place: Place) -> PartitionPlan:
    plan = partition_plan(read, place)
    if strangers := set(plan.order) - {log.broker for log in plan.replica_logs}:
        raise place.at("order").error(f"broker {min(strangers)} has no replica_log")
    others = {key: getattr(known, key) for key in _OTHERS}
    for key, brokers in others.items():
        each_once(brokers, place.at(key))
    groups = _groups(read, known)
    return structs.replace(
        plan,
        state=structs.replace(plan.state, leader=known.leader, **others),
        ranking=tuple(
            structs.replace(each, groups=groups)
            if each.log.broker == plan.designated_leader
            else each
            for each in plan.ranking
        ),
        waiting=tuple(to_model(waiting, Waiting) for waiting in known.waiting),
    )


def _groups(read: PartitionJson, known: DecisionJson) -> tuple[GroupBeyond, ...]:
    """Return the groups that are beyond the designated leader's log."""
    where = TopicPartition(read.topic, read.partition)
    return tuple(
        GroupBeyond(
            Commit(
                row.group,
                where,
                row.committed_offset,
                row.committed_leader_epoch,
                row.share_done_to,
            ),
            row.resume_offset,
            # A plan does not tell whether the log was refilled, which matters only once there is a
            # leader.
            refilled=False,
        )
        for row in known.groups_beyond
    )


def _saved(row: SavedJson) -> SavedTail:
    return SavedTail(
        _topic_partition(row),
        row.broker,
        row.start_offset,
        row.end_offset,
        row.saved,
        row.reason,
    )


def _care(read: AftercareJson, at_ms: int) -> Care:
    rows = read.partitions
    endings = [each.ending for row in rows for each in row.transactions]
    hanging = [ending for ending in endings if ending != "open"]
    hidden = (f"{_topic_partition(row)}: {problem}" for row in rows for problem in row.problems)
    return Care(
        at_ms,
        read.over,
        (*read.unknown, *hidden),
        tuple(group for row in rows for group in _care_groups(row)),
        len(hanging),
        sum(ending != "unknown" for ending in hanging),
        sum(len(row.out_of_sync) for row in rows),
    )


def _care_groups(row: CareRowJson) -> Iterator[AffectedGroup]:
    for group in row.groups:
        yield AffectedGroup(
            _topic_partition(row),
            group.group,
            group.committed_offset,
            group.resume_offset,
            group.refilled,
            group.share_done_to is not None,
        )
