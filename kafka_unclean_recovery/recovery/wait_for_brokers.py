"""A run can wait for brokers that are not live, and reports on them meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from kafka_unclean_recovery.model import PartitionState, TopicPartition
from kafka_unclean_recovery.wording import brokers_text, count_text

States = Mapping[TopicPartition, PartitionState]


class Waits:
    """The brokers that a run waits for.

    wait_for: broker ids. wait_for_all: wait for every replica of every offline partition, but those
    of brokers that are gone.
    say: prints a sentence that stays on the screen; the same sentence about a broker is not printed
    twice in a row.
    """

    def __init__(
        self,
        wait_for: Collection[int],
        wait_for_all: bool,
        say: Callable[[str], None],
        gone: Collection[int] = (),
    ) -> None:
        self._wait_for = wait_for
        self._wait_for_all = wait_for_all
        self._say = say
        self._gone = gone
        self._absent: list[int] = []
        self._told: dict[int, str] = {}
        self._advised_on: object = None

    def absent(self, offline: States, live: Collection[int]) -> list[int]:
        """Return the brokers waited for that are not live yet. A broker that hosts no replica of an
        offline partition is not waited for."""
        hosts = {replica for state in offline.values() for replica in state.replicas}
        awaited = hosts if self._wait_for_all else hosts.intersection(self._wait_for)
        awaited = awaited.difference(self._gone)
        for stranger in sorted(set(self._wait_for) - hosts - set(live)) if offline else ():
            what = "hosts no replica of an offline partition, so it is not waited for"
            self._tell(stranger, f"broker {stranger} {what}")
        for back in (broker for broker in self._absent if broker in live):
            self._tell(back, f"broker {back} is back")
        self._absent = sorted(awaited.difference(live))
        return self._absent

    def tell_whom(self, seen: object, advise: Callable[[], Mapping[int, str]]) -> None:
        """Say for each absent broker why the run waits for it, unless the same was said before.

        seen: everything that the answer of `advise` depends on; `advise` is called again only when
        `seen` has changed.
        """
        if seen == self._advised_on:
            return
        self._advised_on = seen
        brings = advise() if self._absent else {}
        for broker in self._absent:
            why = f": {brings[broker]}" if broker in brings else ""
            self._tell(broker, f"waiting for broker {broker}{why}")

    def tell_what_came_back(self, before: States, after: States) -> None:
        """Say how many partitions had no leader before and have one now."""
        back = [
            tp for tp, s in after.items() if not s.offline and tp in before and before[tp].offline
        ]
        left = sum(state.offline for state in after.values())
        if back:
            count = count_text(len(back), "partition")
            have = "has" if len(back) == 1 else "have"
            self._say(f"{count} {have} a leader again without an election here; {left} left")

    def _tell(self, broker: int, sentence: str) -> None:
        if self._told.get(broker) != sentence:
            self._told[broker] = sentence
            self._say(sentence)


def waiting_text(no_answer: Sequence[int], absent: Sequence[int]) -> str:
    """Return the line of progress: the brokers that have not answered, and those not live yet."""
    parts = []
    silent = sorted(set(no_answer).difference(absent))
    if silent:
        parts.append(f"no answer yet from {brokers_text(silent)}")
    if absent:
        parts.append(f"{brokers_text(absent)} not live yet")
    return "; ".join(parts)
