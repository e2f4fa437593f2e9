"""Holding the tool at a moment, and answering what it asks."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.deadline import Deadline
from tests.chaos.scenario import Moment
from tests.chaos.tapped import TappedCluster
from tests.real.tap import (
    ALTER_PARTITION_REASSIGNMENTS,
    DESCRIBE_TOPIC_PARTITIONS,
    ELECT_LEADERS,
    Gate,
)
from tests.real.waiting import POLL_SECONDS
from tests.real.watching import PROMPT, Watched

API_VERSIONS, LIST_OFFSETS = 18, 2
GATES: Mapping[Moment, Callable[[], Gate]] = {
    Moment.CONNECTING: lambda: Gate(API_VERSIONS),
    Moment.GATHERING: lambda: Gate(LIST_OFFSETS),
    Moment.REORDER: lambda: Gate(ALTER_PARTITION_REASSIGNMENTS),
    Moment.REORDERED: lambda: Gate(ALTER_PARTITION_REASSIGNMENTS, answer=True),
    Moment.ELECT: lambda: Gate(ELECT_LEADERS),
    Moment.ELECTED: lambda: Gate(ELECT_LEADERS, answer=True),
    Moment.RESTORE: lambda: Gate(ALTER_PARTITION_REASSIGNMENTS, nth=2),
    Moment.RESTORED: lambda: Gate(ALTER_PARTITION_REASSIGNMENTS, nth=2, answer=True),
    # From there it is the next question.
    Moment.VERIFY: lambda: Gate(ALTER_PARTITION_REASSIGNMENTS, nth=2, answer=True),
}
# Longer than the tool waits for anything: a quorum that does not come back is given up after 300 s.
PATIENCE = 500.0


@dataclass(slots=True)
class Operator:
    """Says yes when asked, but while the run is to be held at the question."""

    run: Watched
    _said: bool = False

    def asked(self) -> bool:
        return re.search(PROMPT, self.run.stderr) is not None

    def at(self, gate: Gate) -> bool:
        """Return True once the gate was reached; False when the run ended without."""
        return self.until(lambda: gate.reached or self._say_yes(), PATIENCE) and gate.reached

    def until_ended(self, seconds: float) -> None:
        self.until(self._say_yes, seconds)

    def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Return True when it holds before the run has ended, and in time."""
        deadline = Deadline.after(seconds)
        while not condition():
            if self.run.process.poll() is not None or deadline.expired:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def _say_yes(self) -> bool:
        """Answer yes, which is never what is waited for."""
        if not self._said and self.asked():
            self._said = True
            self.run.agree()
        return False


@dataclass(slots=True)
class Held:
    """Where the tool is held; to be made before it starts."""

    tapped: TappedCluster
    moment: Moment
    _gate: Gate | None = None

    def __post_init__(self) -> None:
        if self.moment in GATES:
            self._watch(GATES[self.moment]())

    def _watch(self, gate: Gate) -> None:
        self._gate = gate
        self.tapped.watch(gate)

    def wait(self, operator: Operator) -> bool:
        """Wait until the tool is there; return False when it ended without."""
        gate = self._gate
        if gate is None:
            return operator.until(operator.asked, PATIENCE)
        if operator.at(gate) and self.moment is Moment.VERIFY:
            self._watch(Gate(DESCRIBE_TOPIC_PARTITIONS))
            gate.open()
        assert self._gate is not None
        return operator.at(self._gate)

    def let_go(self) -> None:
        if self._gate is not None:
            self._gate.open()
