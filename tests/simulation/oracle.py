"""What may be true after a run: the claims of the tool, held against what really happened. Pure.

A claim is what a row of the report, a line of the journal or the exit code says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulation.outage import NOBODY, Partition
from tests.simulation.scenario import Scenario
from tests.simulation.somebody_else import IN_THE_MOMENT, Reassigned
from tests.simulation.witness import Election, Records, Told

Line = Mapping[str, Any]
# Between the last look and the election a replica may come back that nobody could see.
BLIND_SECONDS = 3.0
_NOT_DONE = (2, 3)
# A signal may come when all is done.
_A_MOMENT = 0.1
# Whose lineages are not all known is asked again within this time.
_ASKED_AGAIN = 0.02
_WELL = ("elected", "already_online")


@dataclass(frozen=True, slots=True)
class Cluster:
    """As the controller has it: leaders, and the orders of replicas. held: by each broker, the dead
    included."""

    leaders: Mapping[Partition, int]
    orders: Mapping[Partition, tuple[int, ...]]
    held: Mapping[Partition, Mapping[int, Records]]


@dataclass(frozen=True, slots=True)
class Run:
    """One run. begun, ended: seconds since boot. stopped: when it was first told to stop. lines: of
    its journals. unfinished: partitions whose orders they have still to put back. report: what it
    printed, None when that is no JSON. readable: nobody kept it from writing stdout and stderr.
    elections, blind, told, changed, ordered, left, balanced: see Witness. after:
    the cluster right when it had ended. orders: of replicas, as they were before or as others
    made them. reassigned: what somebody else wanted of the others.
    post_mortems: of its journals, or what was said instead."""

    args: Sequence[str]
    code: int
    begun: float
    ended: float
    stopped: float | None
    report: Mapping[str, Any] | None
    stderr: str
    readable: bool
    lines: Sequence[Line]
    unfinished: Collection[Partition]
    elections: Sequence[Election]
    blind: Sequence[Election]
    told: Sequence[Told]
    changed: Sequence[float]
    ordered: Sequence[tuple[float, Partition, tuple[int, ...]]]
    left: Mapping[Partition, float]
    balanced: Mapping[Partition, float]
    after: Cluster
    orders: Mapping[Partition, tuple[int, ...]]
    reassigned: Mapping[Partition, Reassigned]
    post_mortems: Sequence[Any]

    @property
    def killed(self) -> bool:
        return self.code < 0

    @property
    def rows(self) -> Mapping[Partition, Mapping[str, Any]]:
        rows = () if self.report is None else self.report["partitions"]
        return {(row["topic"], row["partition"]): row for row in rows}


@dataclass(frozen=True, slots=True)
class Story:
    """wanted: partitions that the runs were to recover. deleted: topics that somebody deleted.
    second: on a cluster that is whole but for its dead."""

    scenario: Scenario
    wanted: Collection[Partition]
    deleted: Collection[str]
    first: Run
    second: Run
    unheard: Sequence[str]


def violations(story: Story) -> Iterator[str]:
    for name, run in (("first", story.first), ("second", story.second)):
        for wrong in _of_run(story, run):
            yield f"the {name} run: {wrong}"
    yield from _in_the_end(story)
    yield from (f"nobody heard of: {each}" for each in story.unheard)


def _of_run(story: Story, run: Run) -> Iterator[str]:
    for trace in ("Traceback", "never awaited", "Exception ignored"):
        if trace in run.stderr:
            yield f"stderr has {trace!r}"
    yield from _losses(story, run)
    yield from _by_others(story, run)
    yield from _stopped(run)
    yield from _code(story, run)
    yield from _orders(run)
    yield from _undone(run)
    yield from _post_mortem(run)


def _losses(story: Story, run: Run) -> Iterator[str]:
    """Yield live records that are lost beyond what was said as certain or consented as unknown."""
    for election in run.elections:
        if election.clean or election.foreign:
            continue
        said = _said(run, election)
        lost = election.lost(BLIND_SECONDS, _unweighed(run, election.partition))
        if said is _NOTHING:
            if not _instead(run, election):
                yield f"{election.partition} got leader {election.leader}, whom nobody weighed"
        elif said is None:
            if _limited(story.scenario.accept, election.partition[0]) and run is story.first:
                yield f"{election}: an unknown loss was accepted under a number"
        elif lost > said:
            yield f"{election}: {lost} live records lost, {said} said"


def _by_others(story: Story, run: Run) -> Iterator[str]:
    """Yield leaders by Kafka or by somebody else that are called a success, and lack what brokers
    had told this run before."""
    mine = {election.partition for election in run.elections if not election.foreign}
    foreign = (election for election in run.elections if election.foreign)
    last = {e.partition: e for e in sorted((*foreign, *run.blind), key=lambda e: e.at)}
    for partition, election in last.items():
        row = run.rows.get(partition)
        if row is None or row["outcome"] not in _WELL or partition in mine or election.clean:
            continue
        if partition[0] in story.deleted or row["leader"] != election.leader:
            continue
        lost = election.lacks(_told(run, election).values())
        if lost and run.after.leaders.get(partition) == election.leader:
            yield f"{election}: it lacks {lost} records told before, and is {row['outcome']}"


def _told(run: Run, election: Election) -> Mapping[int, Records]:
    """Return what each broker last told the run of the partition before it was led; only a broker
    that was not asked for more right before has told all."""
    last = {told.broker: told for told in run.told if run.begun <= told.at < election.at}
    return {
        broker: told.held[election.partition]
        for broker, told in last.items()
        if election.partition in told.held and told.at + _ASKED_AGAIN < election.at
    }


_NOTHING = object()


def _said(run: Run, election: Election) -> Any:
    """Return the certain loss of the elected leader by the last decision before."""
    said: Any = _NOTHING
    for line in run.lines:
        if line["event"] != "decision" or (line["topic"], line["partition"]) != election.partition:
            continue
        for candidate in line["ranking"]:
            if candidate["broker"] == election.leader:
                said = candidate["loss"]["certain"]
    return said


def _unweighed(run: Run, partition: Partition) -> set[int]:
    """Return the brokers of which it is said that what only they held is lost, too."""
    return {
        broker
        for line in run.lines
        if line["event"] in ("outcome", "verified")
        for row in line["partitions"]
        if (row["topic"], row["partition"]) == partition
        for broker in row.get("unweighed", ())
    }


def _instead(run: Run, election: Election) -> bool:
    """Return True where the designated leader was fenced in the last moment, and it is said that
    another one leads: ElectLeaders has no condition, so whoever lives is elected by the order."""
    row = run.rows.get(election.partition)
    designated = [
        line["designated_leader"]
        for line in run.lines
        if line["event"] == "decision" and (line["topic"], line["partition"]) == election.partition
    ]
    failed = row is not None and row["outcome"] == "failed"
    return failed and bool(designated) and designated[-1] not in election.held


def _limited(accept: Collection[str], topic: str) -> bool:
    """Return True where what counts for the topic has a number."""
    terms = dict(each.partition(":")[::2] for each in accept)
    return bool(terms.get(topic, terms.get("*", "")))


def _stopped(run: Run) -> Iterator[str]:
    """Yield elections after a stop."""
    if run.stopped is None:
        return
    for line in run.lines:
        late = line["at_boot"] - run.stopped
        if line["event"] in ("elect", "reorder") and late > 0:
            yield f"{line['event']} was begun {late:.3f} s after it was told to stop"


def _code(story: Story, run: Run) -> Iterator[str]:
    if run.code in _NOT_DONE and run.changed:
        yield f"exit {run.code}, and the cluster was changed"
    if run.code == 1 and run.readable and not run.stderr.strip():
        yield "exit 1 and not a word why"
    if run.code == 0:
        yield from _all_is_well(story, run)
    yield from _leaders(run)
    yield from _no_worse(run)


def _all_is_well(story: Story, run: Run) -> Iterator[str]:
    """Yield what contradicts an exit code of 0, as all was before the last lines were written."""
    before = [line["at_boot"] for line in run.lines if line["event"] not in ("verified", "end")]
    seen = max(before, default=run.ended)
    for partition in (p for p in story.wanted if p[0] not in story.deleted):
        offline = run.after.leaders.get(partition, NOBODY) == NOBODY
        # It is only asked for when it had no leader as the run began to look.
        since = seen if partition in run.rows else run.begun
        if offline and run.left.get(partition, 0.0) < since:
            yield f"exit 0, and {partition} has no leader"
    for partition, row in run.rows.items():
        if row["outcome"] not in _WELL:
            yield f"exit 0, and {partition} is {row['outcome']}"
    if run.stopped is not None and run.ended - run.stopped > _A_MOMENT:
        yield "exit 0 after it was told to stop"


def _no_worse(run: Run) -> Iterator[str]:
    """Yield leaders that are called a success, and lose more than whom the run designated. Who was
    worse, and has copied the designated leader's log before it was elected in turn, loses nothing.
    """
    for line in run.lines:
        if line["event"] != "decision":
            continue
        partition = (line["topic"], line["partition"])
        row = run.rows.get(partition)
        certain = {c["broker"]: c["loss"]["certain"] for c in line["ranking"]}
        lost = None if row is None else certain.get(row["leader"])
        least = certain.get(line["designated_leader"])
        if row is None or lost is None or least is None or lost <= least:
            continue
        held = run.after.held.get(partition, {}).get(row["leader"], frozenset())
        if row["outcome"] in _WELL and not _designated_log(line) <= held:
            yield f"{row['topic']}-{row['partition']}: {row['outcome']} by one that loses {lost}"


def _designated_log(decision: Line) -> Records:
    """Return the log of the designated leader as the decision has it."""
    (log,) = (
        log for log in decision["replica_logs"] if log["broker"] == decision["designated_leader"]
    )
    return frozenset(
        (span["epoch"], offset)
        for span in log["epochs"]
        for offset in range(span["start_offset"], span["end_offset"])
    )


def _leaders(run: Run) -> Iterator[str]:
    for partition, row in run.rows.items():
        now = run.after.leaders.get(partition)
        if row["outcome"] != "elected" or now is None:
            continue
        elections = (*run.elections, *run.blind)
        elected = [each.leader for each in elections if each.partition == partition]
        if row["leader"] not in (*elected, now):
            yield f"{partition} is elected, by {row['leader']}, yet {elected} were, {now} leads"


def _orders(run: Run) -> Iterator[str]:
    """Yield replica orders that are not as before, and not named."""
    for partition, order in run.after.orders.items():
        if order == run.orders.get(partition, order) or partition in run.unfinished:
            continue
        yield f"the replicas of {partition} are {order}, and no journal knows"
    if run.unfinished and not run.killed and run.code == 0:
        yield f"exit 0, and orders are not back: {sorted(run.unfinished)}"


def _undone(run: Run) -> Iterator[str]:
    """Yield sets of replicas that somebody else wanted and that were changed, but in the very
    moment: then nothing is left of what was wanted."""
    lost: set[Partition] = set()
    for at, partition, order in run.ordered:
        other = run.reassigned.get(partition)
        if other is None or set(order) == set(other.replicas) or at < other.at or partition in lost:
            continue
        if at < other.at + IN_THE_MOMENT:
            lost.add(partition)
        else:
            yield f"somebody else gave {partition} to {other.replicas}, and {order} were ordered"


def _post_mortem(run: Run) -> Iterator[str]:
    """Yield losses that the post-mortem tells as smaller than they were."""
    found = [each for each in run.post_mortems if isinstance(each, Mapping)]
    for each in run.post_mortems:
        if "Traceback" in each:
            yield f"the post-mortem broke: {each}"
    if len(found) != 1:
        return
    certain = found[0]["losses"]["total"]["certain"]
    said = None if certain["unknown_partitions"] else certain["records"]
    mine = (e for e in run.elections if not e.clean and not e.foreign)
    lost = sum(e.lost(BLIND_SECONDS) for e in mine)
    if said is not None and lost > said:
        yield f"the post-mortem says that {said} records are lost, and {lost} are"


def _in_the_end(story: Story) -> Iterator[str]:
    """Yield what the first run left and the second did not end, with nothing in its way."""
    run = story.second
    if run.code not in (0, 1):
        yield f"the second run ended with {run.code}: {run.stderr[-300:]}"
    if run.unfinished:
        yield f"orders are left to be put back: {sorted(run.unfinished)}"
    for partition, order in run.after.orders.items():
        if order != run.orders.get(partition, order):
            yield f"in the end the replicas of {partition} are {order}"
    unhappy = {p: row for p, row in run.rows.items() if row["outcome"] not in _WELL}
    for partition, row in unhappy.items():
        if not row["reason"]:
            yield f"{partition} is {row['outcome']} for no reason"
        balanced = run.balanced.get(partition, 0.0) > run.begun
        if row["outcome"] == "failed" and partition[0] not in story.deleted and not balanced:
            yield f"{partition} failed with nothing in the way: {row['reason']}"
    if run.code == 1 and run.report is not None and not unhappy and not run.report["problems"]:
        yield "the second run ended with 1 for no reason"
