"""Send requests to the controller through a broker, and find out what became of a request that got
no answer.

No error and no silence proves that a request was not carried out: a broker replays the request when
the quorum comes back, and a controller that lost its standbys commits the request when one returns.
After a time-out, a disconnect, REQUEST_TIMED_OUT or NOT_CONTROLLER the only way to know is to wait
until the quorum answers again *and* every request given up has run out, and then to read. Where
nothing bounds how long a broker can take, the brokers that were sent such a request are asked
whether they run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.requests.quorum_state import led_quorum
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import UNSURE
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
)
from kafka_unclean_recovery.cluster.wire.knocking import Knocked, knock
from kafka_unclean_recovery.deadline import Clock, Deadline

T = TypeVar("T")

_POLL_SECONDS = 0.25
_METADATA_LAG_SECONDS = 1.0


class Unsure(Exception):
    """A request may or may not be carried out, now or later; `reason` says what was seen."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Patience:
    """The times, in seconds, for which to wait for the controller.

    answer: for one request. A broker answers within 60.1 s whatever it is told, so giving up before
    that makes a ghost of the request. ghost: how long after it was sent a request given up may
    still be carried out. A running broker keeps the request for a controller up to 60 s, and the
    controller that gets it then begins with it within the time-out that the request names, another
    60 s. A paused process keeps what it has not read for as long as it is paused, so `settle` asks
    the broker that was sent the request, and the quorum afterwards. settle: for the quorum to come
    back and all ghosts to be gone.
    """

    answer: float = 65.0
    ghost: float = 125.0
    settle: float = 300.0


class Controller:
    """Requests that the active controller carries out, and the wait until it is certain what the
    controller did.

    has_sent: whether any request was sent; after that nobody can say that nothing was changed.
    """

    def __init__(
        self,
        nodes: Nodes,
        patience: Patience,
        clock: Clock,
        say: Callable[[str], None],
    ) -> None:
        self._nodes = nodes
        self._patience = patience
        self._clock = clock
        self._say = say
        self._last_given_up: float | None = None
        self._holders: set[str] = set()
        self._sent, self._broker = clock(), ""
        self.has_sent = False

    async def ask(
        self,
        request: Callable[[Connection, Deadline], Awaitable[T]],
        sending: Callable[[str], Awaitable[None]] | None = None,
    ) -> T:
        """Carry out one request. `sending` gets the address of the broker once the connection is
        open, and returns directly before the request is sent; an exception from it keeps the
        request from being sent. Raises Unsure, or RequestFailed when the request was refused for
        sure."""
        deadline = Deadline.after(self._patience.answer, self._clock)
        try:
            connection = await self._nodes.controller(deadline)
        except NoBrokerReachable as error:
            raise Unsure(str(error)) from error
        if sending is not None:
            await sending(connection.address)
        self.has_sent = True
        self._sent, self._broker = self._clock(), connection.address
        try:
            return await request(connection, deadline)
        except ConnectionFailed as error:
            self._nodes.forsake(connection)
            if error.kind is not FailureKind.UNSUPPORTED_VERSION:
                self.given_up()
            raise Unsure(str(error)) from error
        except RequestFailed as error:
            if error.code in UNSURE:
                # A broker that is cut off from the controller answers with such a code.
                self._nodes.forsake(connection)
                self.given_up()
                raise Unsure(str(error)) from error
            raise

    def given_up(self) -> None:
        """Note that the last request may be carried out later."""
        self.given_up_by(self._broker, self._clock() - self._sent)

    def given_up_by(self, broker: str | None, seconds_ago: float) -> None:
        """Note that a request sent `seconds_ago` may be carried out later. broker: the address that
        the request was sent to, None when it is not known."""
        sent = self._clock() - seconds_ago
        self._last_given_up = (
            sent if self._last_given_up is None else max(sent, self._last_given_up)
        )
        self._holders |= {broker} if broker is not None else set()

    @property
    def haunted(self) -> bool:
        """Return True while a request given up may still be carried out, and undo later changes."""
        return self._last_given_up is not None

    def unsure(self, code: int) -> bool:
        """Return True (and note it) when a partition's error leaves open what happens to it."""
        if code in UNSURE:
            self.given_up()
        return code in UNSURE

    async def settle(self, reason: str) -> None:
        """Wait until no request given up can still be carried out. Raises Unsure at the
        deadline."""
        deadline = Deadline.after(self._patience.settle, self._clock)
        self._say(
            f"not certain what the controller did ({reason}); waiting until"
            f" {self._patience.ghost:.0f} s have passed since the last request and the quorum"
            " answers, then reading back"
        )
        if self._last_given_up is not None:
            gone = Deadline(self._last_given_up + self._patience.ghost, self._clock)
            await asyncio.sleep(min(gone.remaining(), deadline.remaining()))
            if not gone.expired:
                raise Unsure("requests given up may still be carried out")
        for broker in sorted(self._holders):
            await self._until_it_holds_nothing(broker, deadline)
        # The quorum comes last: a controller without one may commit its log at any time.
        await self._until_quorum_is_up(deadline)
        # We read the brokers, and newly committed metadata reaches them a moment later.
        await asyncio.sleep(min(_METADATA_LAG_SECONDS, deadline.remaining()))
        self._last_given_up = None
        self._holders.clear()

    async def _until_it_holds_nothing(self, broker: str, deadline: Deadline) -> None:
        """Wait until the broker answers or is dead. A broker that answers has read all that was
        sent to it before, and a broker whose port is closed is dead with all that it held; a paused
        broker may go on at any time. Raises Unsure at the deadline."""
        while (state := await knock(broker, self._nodes.config, deadline)) is Knocked.SILENT:
            if deadline.expired:
                raise Unsure(
                    f"broker {broker} takes connections and does not answer, and may carry out what"
                    " it was sent whenever it goes on: end its process, or let it go on"
                )
            await asyncio.sleep(min(_POLL_SECONDS, deadline.remaining()))
        if state is Knocked.UNREACHABLE:
            self._say(
                f"broker {broker} can't be reached: unless it is dead, or runs and is only cut off"
                " from here, it may still carry out what it was sent, and nothing bounds when"
            )

    async def _until_quorum_is_up(self, deadline: Deadline) -> None:
        reason = "the controller quorum has not been asked"
        while not deadline.expired:
            within = deadline.within(self._patience.answer)
            try:
                await self._nodes.ask_controller(partial(led_quorum, deadline=within), within)
            except NoBrokerReachable as error:
                reason = str(error)
            except RequestFailed as error:
                raise Unsure(str(error)) from error
            else:
                return
            await asyncio.sleep(min(_POLL_SECONDS, deadline.remaining()))
        raise Unsure(reason)
