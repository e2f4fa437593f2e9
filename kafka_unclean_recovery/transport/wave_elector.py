"""Elect wave by wave: internal topics first. Where a pace is given, verify each wave and stop at
the first surprise; otherwise look at the earlier waves again after the last."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_unclean_recovery.cluster.requests.describe import Described, RequestFailed
from kafka_unclean_recovery.model import (
    PartitionPlan,
    PartitionState,
    TopicPartition,
)
from kafka_unclean_recovery.planning.election_rules import Choice
from kafka_unclean_recovery.planning.waves import Pace, outdated, surprise, waves
from kafka_unclean_recovery.transport import Elections, Elector
from kafka_unclean_recovery.transport.coming import Coming
from kafka_unclean_recovery.transport.electing import LOST, Means, all_failed, all_in_doubt
from kafka_unclean_recovery.wording import and_more, count_text

Led = dict[TopicPartition, PartitionState | None]
"""The partitions of the waves so far as seen with their leaders; None when not seen yet."""


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
        earlier: Led = {}
        led: Led = {}
        steps = waves(plans, self._pace)
        for number, wave in enumerate(steps, 1):
            if self._pace.careful:
                self._note("wave", number=number, of=len(steps), partitions=len(wave))
            now = await self._elector.elect(wave)
            made = Elections(made.outcomes | now.outcomes, made.after | now.after)
            earlier = dict(led)
            led |= {tp: now.after.get(tp) for tp, o in now.outcomes.items() if o.kind.success}
            why = None
            if self._pace.careful:
                why = await self._why_stop(made, led, f"wave {number} of {len(steps)}", len(wave))
            if why is not None:
                rest = [plan.state.topic_partition for step in steps[number:] for plan in step]
                return Elections(made.outcomes | all_failed(rest, why), made.after)
        if not self._pace.careful and len(steps) > 1:
            await self._look_once_more(made, earlier)
        return made

    async def _look_once_more(self, made: Elections, earlier: Led) -> None:
        """Judge the earlier waves by what is true now: the last wave may have taken minutes."""
        try:
            await self._hold(made, earlier)
        except (*LOST, RequestFailed) as error:
            why = f"who leads could not be read back after the last wave ({error}); look again"
            made.outcomes.update(all_in_doubt(earlier, why))

    async def _why_stop(self, made: Elections, led: Led, wave: str, size: int) -> str | None:
        """Return why no other wave is to begin, None when all elections hold."""
        if self._means.stop.requested:
            return "interrupted before its election began"
        try:
            await self._hold(made, led)
        except (*LOST, RequestFailed) as error:
            return self._stopped(f"{wave} could not be verified: {error}")
        failed = [f"{tp}: {o.reason}" for tp, o in made.outcomes.items() if not o.kind.success]
        if failed:
            return self._stopped(f"stopped after {wave} by {failed[0]}{and_more(failed)}")
        self._means.say(f"{wave}: {count_text(size, 'partition')} verified")
        return None

    async def _hold(self, made: Elections, led: Led) -> None:
        """Enter in `made` the elections that no longer hold. Raises ConnectionFailed,
        NoBrokerReachable, RequestFailed."""
        seen = await self._look(led)
        now = seen.states
        lost = {tp: f"it could not be described ({why})" for tp, why in seen.untold.items()}
        lost |= {
            tp: why
            for tp in led
            if tp not in seen.untold and (why := surprise(led[tp], now.get(tp))) is not None
        }
        for tp, why in lost.items():
            made.outcomes.update(all_in_doubt([tp], f"after its wave {why}"))
        made.after.update(now)
        led |= {tp: led[tp] or state for tp, state in now.items()}

    async def _look(self, led: Led) -> Described:
        """Return the partitions as they are now. Raises ConnectionFailed, NoBrokerReachable,
        RequestFailed."""
        coming = Coming(len(led))
        while led:
            seen = await self._means.reader.described(sorted(led))
            behind = sum(tp in seen.untold or outdated(led[tp], seen.states.get(tp)) for tp in led)
            if not behind or coming.over(behind):
                return seen
            await coming.pause()
        return Described({})

    def _note(self, event: str, **fields: object) -> None:
        # No later step needs this line: if the journal is full, the elector can't announce
        # anything.
        self._means.journal.note(event, **fields)

    def _stopped(self, reason: str) -> str:
        self._note("surprise", reason=reason)
        self._means.say(reason)
        return f"its election was not begun: {reason}"
