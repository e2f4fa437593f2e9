"""The Links of a cluster fail and come back here, and all that follows at once is done here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import CLIENTS, CONTROLLER, NOWHERE, Drop, Link, link
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition


class Links:
    """The links of a cluster. `listen` brings a broker's listener in line with its link to clients.
    Methods raise ValueError for a link that can't exist."""

    def __init__(self, emulation: Emulation, listen: Callable[[int], Awaitable[None]]) -> None:
        self._emulation = emulation
        self._faults = emulation.faults
        self._listen = listen

    async def drop(self, one: int, other: int, how: Drop) -> None:
        between = self._between(one, other)
        if how is Drop.RESET and CLIENTS not in between:
            raise ValueError("only links to clients are reset; one between brokers is silent")
        self._faults.drop(between, how)
        await self._apply(between)

    async def delay(self, one: int, other: int, seconds: float) -> None:
        between = self._between(one, other)
        if not 0 <= seconds <= _LONGEST_DELAY:
            raise ValueError(f"a link is not delayed by {seconds:g} s: 0 to {_LONGEST_DELAY:g}")
        self._faults.delay(between, seconds)
        await self._apply(between)

    async def restore(self, one: int, other: int) -> None:
        between = self._between(one, other)
        self._faults.restore(between)
        await self._apply(between)

    async def restore_all(self) -> None:
        for between in self._faults.links():
            self._faults.restore(between)
            await self._apply(between)

    async def controller_down(self, down: bool) -> None:
        """Pause or resume the controller. While it is down no broker reaches it, and it does
        nothing by itself; sessions begin anew when it is back."""
        self._faults.controller_down = down
        for broker in self._emulation.brokers.values():
            self._emulation.hear(broker)
        self._settle()

    async def lag(self, broker: int, key: TopicIdPartition | None, records: int | None) -> None:
        """Set a lag (see Faults.lags); 0 ends it."""
        if records is not None and records < 0:
            raise ValueError(f"a follower can't lag by {records} records")
        if records == 0:
            self._faults.lags.pop((broker, key), None)
        else:
            self._faults.lags[broker, key] = records
        self._settle()

    async def lag_metadata(
        self, broker: int, seconds: float | None, *, fetched: bool = False
    ) -> None:
        """Set a metadata lag (see Faults.metadata_lags); 0 ends it, and STOPPED begins at once.
        fetched: the broker fetches all the same, and applies late what it has fetched."""
        known = self._emulation.broker(broker)
        late = self._faults.applies_late
        (late.add if fetched and seconds != 0 else late.discard)(broker)
        if seconds is not None and not 0 <= seconds <= _LONGEST_DELAY:
            raise ValueError(f"metadata does not lag by {seconds:g} s: 0 to {_LONGEST_DELAY:g}")
        if seconds == 0:
            self._faults.metadata_lags.pop(broker, None)
            self._emulation.hear(known)
        else:
            self._faults.metadata_lags[broker] = seconds
            if seconds is None:
                self._emulation.lose_sight(known)
        self._settle()

    async def lead_astray(self, broker: int, to: int) -> None:
        """Let a broker's advertised address lead to another, or NOWHERE; its own ends that."""
        for each in {broker, to} - {NOWHERE}:
            self._emulation.broker(each)
        if broker == to:
            self._faults.astray.pop(broker, None)
        else:
            self._faults.astray[broker] = to

    async def unlist(self, broker: int, unlisted: bool) -> None:
        """Take the listener that clients come in by from a broker, or give it back."""
        self._emulation.broker(broker)
        (self._faults.unlisted.add if unlisted else self._faults.unlisted.discard)(broker)
        await self._listen(broker)

    def _between(self, one: int, other: int) -> Link:
        ends = {one, other} - {CONTROLLER, CLIENTS}
        for broker in ends:
            self._emulation.broker(broker)
        if one == other or not ends:
            raise ValueError("a link has a broker at one end, and something else at the other")
        return link(one, other)

    async def _apply(self, between: Link) -> None:
        (*_, broker) = sorted(between)
        if CLIENTS in between:
            await self._listen(broker)
        elif CONTROLLER in between:
            known = self._emulation.brokers[broker]
            if self._faults.reaches_controller(broker):
                self._emulation.hear(known)
            else:
                self._emulation.lose_sight(known)
        self._settle()

    def _settle(self) -> None:
        self._emulation.settle_all()
        self._emulation.settled()


_LONGEST_DELAY = 600.0
