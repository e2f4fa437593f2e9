"""Elect wave by wave: internal topics first. Where a pace is given, verify each wave and stop at
the first surprise; otherwise look at the earlier waves again after the last.

A wave looks at its own partitions, at some of the earlier ones in turn, and at those whose leader
is not listed as live any more; the end looks at all. So the requests of a run grow with its
partitions, and not with their square.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.cluster.requests.describe import Described, RequestFailed
from kafka_unclean_recovery.model import Outcome, PartitionPlan, PartitionState, TopicPartition
from kafka_unclean_recovery.planning.election_rules import Choice
from kafka_unclean_recovery.planning.waves import Pace, SoFar, outdated, surprise, waves
from kafka_unclean_recovery.transport import Elections, Elector
from kafka_unclean_recovery.transport.coming import Coming
from kafka_unclean_recovery.transport.electing import LOST, Means, all_failed, all_in_doubt
from kafka_unclean_recovery.wording import and_more, count_text


@dataclass(frozen=True, slots=True)
class _Wave:
    """One wave of `of`, with so many partitions. elections: what became of them."""

    number: int
    of: int
    partitions: int
    elections: Elections

    @property
    def last(self) -> bool:
        return self.number == self.of

    def __str__(self) -> str:
        return f"wave {self.number} of {self.of}"


class WaveElector:
    """An Elector (the protocol in transport/__init__.py) that has another Elector elect each wave.

    Every wave is observed again, announced, carried out and read back by itself, with deadlines of
    its own.
    """

    def __init__(self, elector: Elector, means: Means, pace: Pace) -> None:
        self._elector = elector
        self._means = means
        self._pace = pace

    @property
    def choose(self) -> Choice:
        return self._elector.choose

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        made = Elections({}, {})
        so_far = SoFar()
        steps = waves(plans, self._pace)
        for number, step in enumerate(steps, 1):
            if self._pace.careful:
                # No later step needs this line: if the journal is full, the elector can't announce
                # anything.
                journal = self._means.journal
                journal.note("wave", number=number, of=len(steps), partitions=len(step))
            wave = _Wave(number, len(steps), len(step), await self._elector.elect(step))
            made.outcomes.update(wave.elections.outcomes)
            made.after.update(wave.elections.after)
            earlier = so_far.in_turn(len(step)) if self._pace.careful else list(so_far.led)
            so_far.add(_led(wave.elections))
            if not self._pace.careful:
                if wave.last:
                    await self._look_once_more(made, so_far, earlier)
                continue
            why = await self._why_stop(made, so_far, wave, earlier)
            if why is not None:
                rest = [plan.state.topic_partition for later in steps[number:] for plan in later]
                made.outcomes.update(all_failed(rest, why))
                return Elections(made.outcomes, _of_the_newest(made, wave))
        return made

    async def _look_once_more(
        self, made: Elections, so_far: SoFar, earlier: Collection[TopicPartition]
    ) -> None:
        """Judge the earlier waves by what is true now: the last wave may have taken minutes."""
        try:
            await self._hold(made, so_far, earlier)
        except (*LOST, RequestFailed) as error:
            why = f"who leads could not be read back after the last wave ({error}); look again"
            made.outcomes.update(all_in_doubt(earlier, why))

    async def _why_stop(
        self, made: Elections, so_far: SoFar, wave: _Wave, earlier: Collection[TopicPartition]
    ) -> str | None:
        """Return why no other wave is to begin, None when all elections hold."""
        if self._means.stop.requested:
            return "interrupted before its election began"
        try:
            lost = await self._look_around(made, so_far, wave, earlier)
        except (*LOST, RequestFailed) as error:
            return self._stopped(f"{wave} could not be verified: {error}")
        names = dict.fromkeys([*lost, *wave.elections.outcomes])
        failed = [_failed_text(tp, o) for tp in names if not (o := made.outcomes[tp]).kind.success]
        if not failed:
            self._means.say(f"{wave}: {count_text(wave.partitions, 'partition')} verified")
            return None
        if not wave.last:
            held = [tp for tp in so_far.led if made.outcomes[tp].kind.success]
            await self._look_once_more(made, so_far, held)
        return self._stopped(f"stopped after {wave} by {failed[0]}{and_more(failed)}")

    async def _look_around(
        self, made: Elections, so_far: SoFar, wave: _Wave, earlier: Collection[TopicPartition]
    ) -> list[TopicPartition]:
        """Return the partitions that were elected and are not any more, as far as a wave looks at
        them. Raises ConnectionFailed, NoBrokerReachable, RequestFailed."""
        if wave.last:
            return await self._hold(made, so_far, so_far.led)
        lost = await self._hold(made, so_far, _led(wave.elections))
        lost += await self._hold(made, so_far, earlier)
        cluster, _ = await self._means.reader.cluster()
        return lost + await self._hold(made, so_far, so_far.led_by_lost(cluster.brokers))

    async def _hold(
        self, made: Elections, so_far: SoFar, wanted: Collection[TopicPartition]
    ) -> list[TopicPartition]:
        """Enter in `made` the elections of `wanted` that no longer hold, and return them. Raises
        ConnectionFailed, NoBrokerReachable, RequestFailed."""
        seen = await self._look(so_far, wanted)
        lost = dict(_surprises(so_far, wanted, seen))
        for tp, why in lost.items():
            made.outcomes.update(all_in_doubt([tp], f"after its wave {why}"))
        made.after.update(seen.states)
        so_far.seen(seen.states)
        return list(lost)

    async def _look(self, so_far: SoFar, wanted: Collection[TopicPartition]) -> Described:
        """Return the partitions as they are now. Raises ConnectionFailed, NoBrokerReachable,
        RequestFailed."""
        coming, led = Coming(len(wanted)), so_far.led
        while wanted:
            seen = await self._means.reader.described(sorted(wanted))
            behind = sum(
                tp in seen.untold or outdated(led[tp], seen.states.get(tp)) for tp in wanted
            )
            if not behind or coming.over(behind):
                return seen
            await coming.pause()
        return Described({})

    def _stopped(self, reason: str) -> str:
        self._means.journal.note("surprise", reason=reason)
        self._means.say(reason)
        return f"its election was not begun: {reason}"


def _led(made: Elections) -> dict[TopicPartition, PartitionState | None]:
    return {tp: made.after.get(tp) for tp, outcome in made.outcomes.items() if outcome.kind.success}


def _of_the_newest(made: Elections, wave: _Wave) -> dict[TopicPartition, PartitionState]:
    """Return the partitions of the wave as read back. Those of the waves before were last seen long
    ago: whoever wants to know how they are in the end reads them."""
    return {tp: made.after[tp] for tp in wave.elections.outcomes if tp in made.after}


def _surprises(
    so_far: SoFar, wanted: Collection[TopicPartition], seen: Described
) -> Iterator[tuple[TopicPartition, str]]:
    for tp in wanted:
        if tp in seen.untold:
            yield tp, f"it could not be described ({seen.untold[tp]})"
        elif (why := surprise(so_far.led[tp], seen.states.get(tp))) is not None:
            yield tp, why


def _failed_text(tp: TopicPartition, outcome: Outcome) -> str:
    return f"{tp}: {outcome.reason}"
