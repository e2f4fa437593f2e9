"""What a start was foretold to do, held against what it did; no I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.real.metadata import NO_LEADER
from tests.real.whole_starts_seen import Place, Records, Seen

Row = Mapping[str, Any]
UNTOLD = ("unknown", "epoch_fell_back")
# The broker has a log of the partition in use after the start, and its end is told.
FOLLOWS = ("kept", "truncated", "emptied", "begins_empty")
STAYS = ("leads", "waits")


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a broker, and what was on all disks before and after it.

    lives: it runs, and has not ended. before: with the broker's disk as it was when the question
    was asked. own: the records of each replica's directory on that disk then, by path. own_after:
    of the same paths; none where nothing is there any more. strays: what is in `-stray` directories
    after it, by topic. whole: all of its log directories were there, and so were given.
    log_starts: of its own replicas before it, by topic, as its files have them. stuck: the
    replicas of which a live broker has said since that they fetch no more. deleted: below which
    offset records were deleted on purpose, by topic.
    """

    broker: int
    lives: bool
    before: Seen
    after: Seen
    own: Mapping[str, Records] = field(default_factory=dict)
    own_after: Mapping[str, Records] = field(default_factory=dict)
    strays: Mapping[str, Sequence[Records]] = field(default_factory=dict)
    whole: bool = True
    log_starts: Mapping[str, int] = field(default_factory=dict)
    stuck: Collection[Place] = ()
    deleted: Mapping[str, int] = field(default_factory=dict)

    def lost(self, broker: int, topic: str) -> Records:
        """Return what a replica has no more, but for what its leader deleted on purpose."""
        gone = self.before.held(broker, topic) - self.after.held(broker, topic)
        return _from(gone, self.log_start(broker, topic))

    def log_start(self, broker: int, topic: str) -> int:
        """Return the highest log start of before and after. A replica that is stuck has not taken
        over the one of its leader, and its files end with the last batch below the cut."""
        told = [seen.offsets.get((broker, topic)) for seen in (self.before, self.after)]
        starts = [found.start for found in told if found is not None and found.error is None]
        own = self.log_starts.get(topic, 0) if broker == self.broker else 0
        deleted = self.deleted.get(topic, 0) if (broker, topic) in self.stuck else 0
        return max([own, deleted, *starts])

    def log_end(self, broker: int, topic: str) -> int | None:
        found = self.after.offsets.get((broker, topic))
        return None if found is None or found.error is not None else found.end

    def given_up(self, broker: int, topic: str) -> bool:
        """Return whether the end of its log is older than that of its leader."""
        leader = self.before.held(self.leader(topic), topic)
        return _newest(self.before.held(broker, topic)) < _newest(leader)

    def leader(self, topic: str) -> int:
        view = self.after.partitions.get(topic)
        return NO_LEADER if view is None else view.leader


@dataclass(frozen=True, slots=True)
class Judgement:
    """wrong: promises that proved false. untold: topics of which nothing was promised. premise:
    topics whose promise rests on a leader that is down."""

    wrong: tuple[str, ...]
    untold: frozenset[str] = frozenset()
    premise: frozenset[str] = frozenset()


def judge(told: Mapping[str, Any], start: Start) -> Judgement:
    """Judge a start. told: the document of before-start."""
    rows: dict[str, list[Row]] = {}
    for row in told["partitions"]:
        rows.setdefault(row["topic"], []).append(row)
    scanned = told["rests_on"] is not None
    refused = any(row["effect"] == "refused" for row in told["partitions"])
    if refused or not start.lives:
        return Judgement(tuple(_ended(told, refused, start)))
    assigned = {t for t, view in start.after.partitions.items() if start.broker in view.replicas}
    known = assigned | rows.keys()
    untold = {t for t in known for row in rows.get(t, ()) if row["effect"] in UNTOLD}
    premise = {t for t in known - untold if _rests_on_the_dead(rows.get(t, ()), start)}
    wrong = [
        f"{topic}: {each}; said {rows.get(topic)}"
        for topic in sorted(known - untold - premise)
        for each in _of_partition(topic, rows.get(topic, []), start, scanned)
    ]
    if not (told["destroys"] or told["untold"]):
        wrong += list(_destroyed_after_all(known - premise, start, scanned))
    return Judgement(tuple(wrong), frozenset(untold), frozenset(premise))


def _ended(told: Mapping[str, Any], refused: bool, start: Start) -> Iterator[str]:
    if refused and start.lives:
        yield f"it was to be refused, and lives; said {told['partitions'][0]['why']}"
    if not refused and start.whole:
        yield f"it ended at its start; said {sorted({r['effect'] for r in told['partitions']})}"
    for row in told["partitions"] if refused else ():
        if gone := _gone_untold(row, start):
            yield f"it ended, and {len(gone)} records of {row['directory']} are gone; said {row}"


def _gone_untold(row: Row, start: Start) -> Records:
    """Return what a directory lost that was to stay as it is, below where its log was to be cut. A
    start that ends may have put it aside or taken it into use before."""
    path, topic = row["directory"], row["topic"]
    left = start.own_after.get(path, frozenset()) | start.after.held(start.broker, topic)
    gone = start.own.get(path, frozenset()).difference(left, *start.strays.get(topic, ()))
    return gone - _from(gone, row["offset"]) if row["offset"] is not None else gone


def _rests_on_the_dead(rows: Collection[Row], start: Start) -> bool:
    leaders = {row["leader"] for row in rows} - {None, start.broker}
    return bool(leaders - start.before.live)


def _destroyed_after_all(topics: Collection[str], start: Start, scanned: bool) -> Iterator[str]:
    for topic in sorted(topics):
        for broker in (start.broker, *start.before.live):
            lost = start.lost(broker, topic)
            if scanned and start.given_up(broker, topic):
                continue
            if lost and not _is_aside(lost, start.strays.get(topic, ())):
                yield f"{topic}: nothing was to be lost, and broker {broker} lost {len(lost)}"


def _is_aside(records: Records, strays: Sequence[Records]) -> bool:
    return any(records <= stray for stray in strays)


def _of_partition(topic: str, rows: Sequence[Row], start: Start, scanned: bool) -> Iterator[str]:
    if not rows:
        yield "the broker has it, and nothing was said of it"
        return
    for row in rows:
        yield from _of_replica(topic, row, start)
    if start.broker in getattr(start.after.partitions.get(topic), "replicas", ()):
        if all(row["effect"] != "offline" for row in rows):
            yield from _leader(topic, rows, start)
        yield from _others(topic, rows, start, scanned)


def _leader(topic: str, rows: Sequence[Row], start: Start) -> Iterator[str]:
    expected = next((r["leader"] for r in rows if r["leader"] is not None), NO_LEADER)
    elected = {row["elected"] for row in rows} - {None}
    if start.leader(topic) != expected or elected - {expected}:
        yield f"broker {start.leader(topic)} leads, and not {expected} ({elected} elected)"


def _others(topic: str, rows: Sequence[Row], start: Start, scanned: bool) -> Iterator[str]:
    """Yield what was not told of live brokers: what a dead one loses shows only once it is back.
    scanned: their disks were read in their place, of which what an earlier election gave up counts
    for nothing."""
    foretold = {cut["broker"]: cut for row in rows for cut in row["cuts"]}
    # Who is elected was told, and not what all others lose by it.
    unknown = any(row["elected"] is not None and row["others_lose"] is None for row in rows)
    for broker in sorted(start.before.live - {start.broker}):
        lost, cut = start.lost(broker, topic), foretold.get(broker)
        given_up = scanned and start.given_up(broker, topic)
        if cut is None and lost and not unknown and not given_up:
            yield f"broker {broker} lost {len(lost)} records, which nobody had said"
        if cut is not None and (len(lost) != cut["records"] or _below(lost, cut["offset"])):
            yield f"broker {broker} lost {len(lost)} records from {_first(lost)}, and not {cut}"
        if cut is not None:
            yield from _end_of_the_cut(topic, broker, cut["offset"], start)


def _end_of_the_cut(topic: str, broker: int, offset: int, start: Start) -> Iterator[str]:
    """Yield what differs of the end of a live broker's replica that was to be cut at the offset."""
    end, stuck = start.log_end(broker, topic), (broker, topic) in start.stuck
    if end != (offset if stuck else start.log_end(start.leader(topic), topic)):
        wanted = "where it is cut" if stuck else "as its leader"
        yield f"broker {broker} ends at {end}, not {wanted}"


def _of_replica(topic: str, row: Row, start: Start) -> Iterator[str]:
    effect, path = row["effect"], row["directory"]
    own, later = start.own.get(path, frozenset()), start.own_after.get(path, frozenset())
    if effect == "offline":
        if gone := _gone_untold(row, start):
            yield f"its directory was to be offline, and {len(gone)} records are gone"
        if start.log_end(start.broker, topic) is not None:
            yield "its directory was to be offline, and the broker serves it"
    elif effect == "stray":
        if own and not _is_aside(own, [*start.strays.get(topic, ()), later]):
            yield f"its {len(own)} records are in no directory that was put aside"
    elif effect == "deleted":
        if later:
            yield f"it was to be deleted, and {len(later)} records are there"
    else:
        yield from _kept(topic, row, own, start)
        yield from _end(topic, row, start)


def _kept(topic: str, row: Row, own: Records, start: Start) -> Iterator[str]:
    """Yield what differs of a replica in use: which records of its directory are left."""
    gone = own - start.after.held(start.broker, topic)
    lost = _from(gone, start.log_start(start.broker, topic))
    if row["effect"] != "truncated":
        if lost:
            yield f"{len(lost)} records are gone from {_first(lost)} on"
        return
    # Where it parts from its leader, what that has deleted since is not what it has lost.
    lost |= _from(_from(gone, row["offset"]), start.log_starts.get(topic, 0))
    if _below(lost, row["offset"]):
        yield f"it is cut at {_first(lost)}, not at {row['offset']}"
    if row["records"] is not None and len(lost) != row["records"]:
        yield f"{len(lost)} records are gone"


def _end(topic: str, row: Row, start: Start) -> Iterator[str]:
    """Yield what differs of its end, by Kafka's own word."""
    end, leader = start.log_end(start.broker, topic), start.leader(topic)
    if row["effect"] in STAYS and end != row["log_end_offset"]:
        yield f"Kafka has its end at {end}"
    if row["effect"] in FOLLOWS:
        alone = _alone(row)
        wanted = alone if leader == NO_LEADER else start.log_end(leader, topic)
        # From a leader that can't be read, and where it is stuck, it fetches no more.
        if end != wanted and (end is None or start.after.at_rest() or end < alone):
            yield f"Kafka has its end at {end}, and not at {wanted}"


def _alone(row: Row) -> int:
    """Return where a replica ends before it has fetched anything."""
    if row["effect"] in ("begins_empty", "emptied"):
        return 0
    end: int = row["offset"] if row["effect"] == "truncated" else row["log_end_offset"]
    return end


def _newest(records: Records) -> int:
    return max((record.epoch for record in records), default=-1)


def _from(records: Records, offset: int) -> Records:
    return frozenset(record for record in records if record.offset >= offset)


def _below(records: Records, offset: int) -> bool:
    return any(record.offset < offset for record in records)


def _first(records: Records) -> int | None:
    return min((record.offset for record in records), default=None)
