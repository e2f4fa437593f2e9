"""Electing exactly one replica where the controller can be told which: ElectLeaders v3 (KIP-966,
KIP-1275).

One request a batch; no order is changed, so nothing is left to be put back. A designated leader
that can't be elected is an error, here and in the controller, and never somebody else.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_unclean_recovery.cluster.controller_requests import DESIGNATED_LIMIT, elect_designated
from kafka_unclean_recovery.cluster.describe import RequestFailed
from kafka_unclean_recovery.election_rules import designated_choice, judge
from kafka_unclean_recovery.journal import JournalError
from kafka_unclean_recovery.model import PartitionPlan
from kafka_unclean_recovery.transport import Elections
from kafka_unclean_recovery.transport.electing import (
    LOST,
    Carried,
    Means,
    Said,
    all_failed,
    elect_in_batches,
    elect_line,
    failures,
    outcome_line,
    raise_if_unsure,
    read_back,
    sentence,
    until_elected,
)

METHOD = "designated"


class DesignatedElector:
    """An Elector (the protocol in transport/__init__.py), and a Mechanism (electing.py)."""

    batch = DESIGNATED_LIMIT
    choose = staticmethod(designated_choice)

    def __init__(self, means: Means) -> None:
        self._means = means
        self._certain = True

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        return await elect_in_batches(self, self._means, plans)

    @property
    def certain(self) -> bool:
        return self._certain

    def announce(self, elections: Carried) -> None:
        if elections:
            lines = [elect_line(e) for e in elections.values()]
            self._means.journal.write("elect", method=METHOD, partitions=lines)

    async def carry_out(self, elections: Carried) -> Said:
        try:
            tried = await until_elected(self._means, elections, self.choose, self._elect)
        except (*LOST, RequestFailed) as error:
            # Sent, not settled, and what became of it could not be read.
            self._certain = False
            return dict.fromkeys(elections, str(error))
        self._certain = tried.certain
        if tried.certain:
            return tried.said
        return {tp: f"{why}; it may still be carried out" for tp, why in tried.said.items()}

    async def _elect(self, pending: Carried) -> Said:
        """One try; see until_elected."""
        controller = self._means.controller
        leaders = {tp: e.leader for tp, e in pending.items()}
        answers = await controller.ask(
            lambda connection, deadline: elect_designated(connection, leaders, deadline)
        )
        failed = failures(answers)
        raise_if_unsure(controller, failed.values())
        said = {tp: sentence(answer) for tp, answer in failed.items()}
        unanswered = leaders.keys() - answers.keys()
        return said | dict.fromkeys(unanswered, "the controller left it out of its answer")

    async def conclude(self, carried: Carried, said: Said) -> Elections:
        try:
            after = await read_back(self._means.reader, carried, said)
            outcomes = {
                tp: judge(e.leader, e.before, after.get(tp), said.get(tp))
                for tp, e in carried.items()
            }
            lines = [outcome_line(*row) for row in outcomes.items()]
            self._means.journal.note("outcome", partitions=lines)
        except (*LOST, RequestFailed, JournalError) as error:
            unread = f"who leads could not be read back: {error}; look again"
            return Elections(all_failed(carried, unread), {})
        return Elections(outcomes, after)
