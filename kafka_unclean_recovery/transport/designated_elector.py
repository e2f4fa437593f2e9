"""Elect exactly one replica where the request can name it to the controller: ElectLeaders v3
(KIP-966, KIP-1275).

Each batch is one request; no order is changed, so none has to be restored. A designated leader that
can't be elected is an error, here and in the controller; no other replica is elected instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kafka_unclean_recovery.cluster.requests.controller_requests import (
    DESIGNATED_LIMIT,
    elect_designated,
    left_out,
)
from kafka_unclean_recovery.documents.journal_lines import JournalError
from kafka_unclean_recovery.model import PartitionPlan, TopicPartition
from kafka_unclean_recovery.planning.election_rules import designated_choice
from kafka_unclean_recovery.transport import Elections
from kafka_unclean_recovery.transport.electing import (
    LOST,
    NOT_CERTAIN,
    Carried,
    Means,
    Said,
    all_in_doubt,
    elect_in_batches,
    elect_line,
    judged,
    outcome_line,
    read_back,
    until_elected,
    why_not_elected,
)
from kafka_unclean_recovery.transport.sending import Sent, noted

METHOD = "designated"


class DesignatedElector:
    """An Elector (the protocol in transport/__init__.py), and a Mechanism (electing.py)."""

    batch = DESIGNATED_LIMIT
    choose = staticmethod(designated_choice)

    def __init__(self, means: Means) -> None:
        self._means = means
        self._obstacle: str | None = None
        self._unanswered: set[TopicPartition] = set()

    async def elect(self, plans: Sequence[PartitionPlan]) -> Elections:
        return await elect_in_batches(self, self._means, plans)

    @property
    def obstacle(self) -> str | None:
        return self._obstacle

    async def announce(self, elections: Carried) -> None:
        if elections:
            lines = [elect_line(e) for e in elections.values()]
            journal = self._means.journal
            await asyncio.to_thread(journal.write, "elect", method=METHOD, partitions=lines)

    async def carry_out(self, elections: Carried) -> Said:
        try:
            tried = await until_elected(self._means, elections, self.choose, self._elect)
        except JournalError as error:
            return dict.fromkeys(elections, str(error))
        self._unanswered |= tried.unanswered
        if tried.certain:
            return tried.said
        self._obstacle = NOT_CERTAIN
        return {tp: f"{why}; it may still be carried out" for tp, why in tried.said.items()}

    async def _elect(self, pending: Carried) -> Said:
        """Send the request for one try; see until_elected."""
        controller = self._means.controller
        leaders = {tp: e.leader for tp, e in pending.items()}
        answers = await noted(
            controller,
            self._means.journal,
            Sent("ElectLeaders", len(leaders)),
            lambda connection, deadline: elect_designated(connection, leaders, deadline),
            self._means.pass_gate,
        )
        told = {tp: answers[tp] for tp in leaders if tp in answers}
        return why_not_elected(controller, left_out(leaders) | told)

    async def conclude(self, carried: Carried, said: Said) -> Elections:
        try:
            seen = await read_back(self._means.reader, carried, said)
            judging = seen, said, self._unanswered
            outcomes = {tp: judged(tp, e, *judging) for tp, e in carried.items()}
            lines = [outcome_line(*row) for row in outcomes.items()]
            self._means.journal.note("outcome", partitions=lines)
        except LOST as error:
            unread = f"who leads could not be read back: {error}; look again"
            return Elections(all_in_doubt(carried, unread), {})
        return Elections(outcomes, dict(seen.states))
