"""What may be true after a run: judged from recipe and scenario, never by the planner. Pure.

On every partition all logs are beginnings of one and the same, so the best replica is the one that
holds the most records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.chaos.recipe import LED_LAST, ON_ONLINE, ONLINE, SURVIVORS, holdings
from tests.chaos.scenario import (
    OF_BROKERS,
    ON_THE_WAY,
    ORDER_MATTERS,
    REASSIGNED,
    REMADE,
    RETURNS,
    Fault,
    Scenario,
)
from tests.real.metadata import PartitionView
from tests.real.records import numbered

Partition = tuple[str, int]
"""Topic and partition number."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """The cluster at one moment: `epochs` are the leader epochs of the partitions that are online,
    `records` the values of those that were read."""

    partitions: Mapping[Partition, PartitionView]
    epochs: Mapping[Partition, int | None]
    records: Mapping[Partition, Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the tool: its end, and what its journals say by the names of its events. claims:
    the certain loss of each candidate, as decided last. silent: live brokers that did not answer in
    time."""

    code: int
    stderr: str
    rows: Mapping[Partition, Row]
    designated: Mapping[Partition, int]
    outcomes: Mapping[Partition, str]
    claims: Mapping[Partition, Mapping[int, int | None]]
    silent: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Story:
    """taken: the partitions asked for. reached: the fault met its moment, it did not come after the
    end. fenced: brokers that the controller fenced meanwhile. live: those that the
    second run could reach. unfinished: replica orders that journals still have to put back."""

    scenario: Scenario
    taken: Collection[Partition]
    spare: Partition | None
    reached: bool
    fenced: frozenset[int]
    live: frozenset[int]
    first: Run
    second: Run
    unfinished: int
    before: Look
    after: Look


def violations(story: Story) -> list[str]:
    """Return what is wrong, a sentence each."""
    return [
        *_runs(story),
        *_misled(story),
        *(wrong for partition in story.taken for wrong in _taken(story, partition)),
        *_untouched(story),
    ]


def best(topic: str, live: Collection[int]) -> int:
    held = holdings(topic)
    return max(held.keys() & live, key=held.__getitem__)


def _returned(story: Story) -> frozenset[int]:
    return story.live - {*SURVIVORS}


def may_be_designated_first(story: Story, topic: str) -> set[int]:
    """Return whom the first run may designate."""
    told = story.scenario
    usual = best(topic, SURVIVORS)
    hit = {*told.hit(story.reached)}
    if not told.faults & OF_BROKERS:
        # On a busy machine a broker is fenced for no fault: nobody knows when.
        hit |= {*SURVIVORS} & story.fenced
    # Nor may it answer in time: what is lost then has to be unknown (_lost).
    hit |= {*SURVIVORS} & story.first.silent
    may = {usual, *(best(topic, {*SURVIVORS} - {broker}) for broker in hit)}
    if story.reached and told.fault in RETURNS and not told.moment.begun:
        better = best(topic, {*SURVIVORS, told.broker})
        return {*may, better} if told.quietly or hit else {better}
    return may


def _may_lead(story: Story, partition: Partition) -> set[int]:
    """Return who may lead: whoever a run designated, came back, or follows in the ISR when the
    leader is fenced. A designated leader that was lost at the last moment is followed by the next
    best."""
    designated = (run.designated.get(partition) for run in (story.first, story.second))
    may = {broker for broker in designated if broker is not None}
    # Who was fenced may be let in again, so of two that were fenced either may follow the other.
    may |= {broker for broker in SURVIVORS if story.fenced - {broker}}
    if LED_LAST[partition[0]] in _returned(story):
        may.add(LED_LAST[partition[0]])
    if _is_spare(story, partition, Fault.UNCLEAN_CONFIG):
        may |= {*SURVIVORS}
    if _is_spare(story, partition, Fault.REASSIGN) and story.scenario.moment in ORDER_MATTERS:
        may |= {*SURVIVORS}
    if _is_spare(story, partition, Fault.ELECT):
        may |= {*SURVIVORS}
    return may


def _is_spare(story: Story, partition: Partition, fault: Fault) -> bool:
    return partition == story.spare and fault in story.scenario.faults


def _runs(story: Story) -> Iterator[str]:
    for name, run in (("first", story.first), ("second", story.second)):
        if "Traceback" in run.stderr:
            yield f"the {name} run ended with a traceback"
    if story.unfinished:
        yield f"{story.unfinished} replica orders are left to be put back"
    unhappy = {p: row for p, row in story.second.rows.items() if not _happy(row)}
    if (story.second.code == 0) != (not unhappy):
        yield f"the second run ended with {story.second.code}, its rows not at peace: {unhappy}"
    for partition, row in unhappy.items():
        if not row["reason"]:
            yield f"{partition} is {row['outcome']} for no reason"
        # A run of all finds what went offline since, too.
        if partition in story.taken and partition != story.spare:
            yield f"{partition} is {row['outcome']} after the second run: {row['reason']}"


def _misled(story: Story) -> Iterator[str]:
    """Yield what a run did though it could not read a live broker, which has not the listener by
    which it came: each of its partitions has a replica there."""
    first = story.first
    if story.scenario.fault is not Fault.UNLIST:
        return
    if first.designated:
        yield f"the first run elected past a broker that it could not read: {first.designated}"
    if first.rows and first.code == 0:
        yield "the first run ended with 0, and a broker that it could not read holds its partitions"


def _happy(row: Row) -> bool:
    return row["outcome"] in ("elected", "already_online")


def _taken(story: Story, partition: Partition) -> Iterator[str]:
    yield from _designated(story, partition)
    now = story.after.partitions.get(partition)
    if _is_spare(story, partition, Fault.DELETE_TOPIC):
        if now is not None:
            yield f"{partition} was deleted, and is back"
    elif now is None:
        yield f"{partition} is gone"
    elif _is_spare(story, partition, Fault.REMAKE_TOPIC):
        yield from _remade(story, partition, now)
    else:
        yield from _replicas(story, partition, now)
        yield from _unnoticed(story, partition)
        if not now.offline:
            yield from _led(story, partition, now.leader)


def _designated(story: Story, partition: Partition) -> Iterator[str]:
    first, second = (run.designated.get(partition) for run in (story.first, story.second))
    may = may_be_designated_first(story, partition[0])
    if first is not None and first not in may:
        yield f"the first run designated {first} for {partition}, not one of {may}"
    if second is not None and second != best(partition[0], story.live):
        yield f"the second run designated {second} for {partition}, live: {set(story.live)}"


def _replicas(story: Story, partition: Partition, now: PartitionView) -> Iterator[str]:
    if not _is_spare(story, partition, Fault.REASSIGN):
        if now.replicas != story.before.partitions[partition].replicas:
            yield f"the replica order of {partition} is {now.replicas}"
        if now.offline:
            yield f"{partition} is offline"
        return
    overtaken = story.scenario.moment in ON_THE_WAY
    if story.reached and not overtaken and not {*REASSIGNED} <= {*now.replicas}:
        yield f"somebody else reassigned {partition}, and its replicas are {now.replicas}"


def _remade(story: Story, partition: Partition, now: PartitionView) -> Iterator[str]:
    """Yield what was done to a topic made anew, or said of it, that was meant for the old one."""
    moment = story.scenario.moment
    if story.reached and moment in ON_THE_WAY:
        # Our order came to the new topic, and was taken back: that leaves another order.
        as_made = {*now.replicas} == {*REMADE}
    else:
        as_made = now.replicas == REMADE
    if not as_made:
        yield f"{partition} was made anew with {REMADE}, its replicas are {now.replicas}"
    row = story.first.rows.get(partition)
    if story.reached and moment.planned and row is not None and _happy(row):
        yield f"{partition} was made anew, and the first run says {row['outcome']}"


def _unnoticed(story: Story, partition: Partition) -> Iterator[str]:
    """Yield leaders by others that are called a success, and lack what a broker had told."""
    row, told = story.first.rows.get(partition), story.scenario
    by_others = any(_is_spare(story, partition, f) for f in (Fault.ELECT, Fault.UNCLEAN_CONFIG))
    if not by_others or row is None or not _happy(row) or not told.moment.planned:
        return
    held, leader = holdings(partition[0]), row["leader"]
    if story.fenced or told.hit(story.reached) or leader == story.first.designated.get(partition):
        return
    best_told = held[best(partition[0], SURVIVORS)]
    if story.reached and held.get(leader, best_told) < best_told:
        yield f"{partition} is led by {leader}, who lacks records, and it is {row['outcome']}"


def _led(story: Story, partition: Partition, leader: int) -> Iterator[str]:
    may = _may_lead(story, partition)
    if leader not in may:
        yield f"{partition} is led by {leader}, not by one of {may}"
    elected = [
        run.designated.get(partition, leader)
        for run in (story.first, story.second)
        if run.outcomes.get(partition) == "elected"
    ]
    if elected and not story.fenced and leader != elected[-1]:
        yield f"the journals say that {elected[-1]} was elected for {partition}, {leader} leads"
    row = story.second.rows.get(partition)
    if row is not None and row["leader"] not in (leader, None):
        yield f"the second report says that {row['leader']} leads {partition}, {leader} does"
    yield from _lost(story, partition, elected)
    held = holdings(partition[0])
    values = story.after.records[partition]
    if values != [numbered(number) for number in range(len(values))]:
        yield f"{partition} has other records than were written"
    if len(values) not in {held[broker] for broker in may}:
        yield f"{partition} has {len(values)} records, as none of {may} had"
    if elected and len(values) < held[elected[-1]]:
        yield f"{partition} lost records of the elected {elected[-1]}: {len(values)} are left"


def _lost(story: Story, partition: Partition, elected: Sequence[int]) -> Iterator[str]:
    """Yield certain losses that are less than what live brokers lost."""
    if not elected:
        return
    held, leader = holdings(partition[0]), elected[-1]
    for run in (story.first, story.second):
        said = run.claims.get(partition, {}).get(leader)
        lived = [held[broker] for broker in {*SURVIVORS} - story.fenced if broker in held]
        lost = max(lived, default=0) - held[leader]
        if said is not None and run.designated.get(partition) == leader and lost > said:
            yield f"{partition}: {lost} records lost with {leader}, {said} were certain"


def _untouched(story: Story) -> Iterator[str]:
    """Yield changes of partitions that nobody asked for."""
    before, after = story.before, story.after
    for partition, was in before.partitions.items():
        if partition in story.taken:
            continue
        now = after.partitions.get(partition)
        if now is None:
            yield f"{partition}, which was online or not asked for, is gone"
        elif now.replicas != was.replicas:
            yield f"the replicas of {partition}, not asked for, are {now.replicas}"
        elif was.leader not in story.fenced and not _moved_by_return(story, partition):
            if now.leader != was.leader:
                yield f"{partition}, not asked for, was led by {was.leader}, now by {now.leader}"
            elif before.epochs.get(partition) != after.epochs.get(partition):
                yield f"the leader epoch of {partition}, not asked for, has moved"
    for topic in (topic for topic, broker in ONLINE.items() if broker in story.live):
        if len(after.records.get((topic, 0), ())) != ON_ONLINE:
            yield f"{topic} has not its {ON_ONLINE} records"


def _moved_by_return(story: Story, partition: Partition) -> bool:
    """Return True where it was offline, and the controller elected its leader of before."""
    was = story.before.partitions[partition]
    return was.offline and LED_LAST[partition[0]] in _returned(story)
