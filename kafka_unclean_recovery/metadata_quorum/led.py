"""Ask brokers that run whether a controller leads: through them the quorum answers also where its
own addresses lead nowhere from here.

DescribeQuorum tells it at once. Where it gets no answer, the metadata that the broker applies
does: a quorum that works writes a record every 500 ms, and without one nothing more is fetched.
Copies of the metadata log that grow show it too.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.identity import prove
from kafka_unclean_recovery.cluster.requests.api_versions import applied_offset
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.requests.quorum_state import describe_quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import segments_of
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.metadata_quorum.copies import Copy
from kafka_unclean_recovery.metadata_quorum.places import metadata_files

_FRESH_MS, _AHEAD_MS = 10_000, 3_600_000
# A controller that leads writes every 500 ms. One that has lost its majority goes on until it
# resigns, after one and a half times the fetch time-out of 2 s.
_STANDS_STILL_SECONDS = 2.0
_RESIGNS_WITHIN_SECONDS = 6.0
_LOOK_AGAIN_SECONDS = 0.25
_ANSWER_SECONDS = 3.0
# A voter counts as following for 3 s after its last fetch: a majority that was just lost is seen as
# one for as long.
_AGAIN_SECONDS = 3.5
_AT_ONCE = 50
_GROWS_WITHIN_SECONDS = 2.0
_LOOK_AGAIN_SECONDS = 0.25
# SecurityProtocol, by its number in a registration.
_PROTOCOLS = {0: "PLAINTEXT", 1: "SSL", 2: "SASL_PLAINTEXT", 3: "SASL_SSL"}


@dataclass(frozen=True, slots=True)
class Running:
    """A broker that may run. id: None where nobody said which it is. protocol: that it is asked
    by, None where it was named."""

    address: Address
    id: int | None = None
    protocol: str | None = None

    def __str__(self) -> str:
        at = address_text(*self.address)
        return f"the broker at {at}" if self.id is None else f"broker {self.id} at {at}"


@dataclass(frozen=True, slots=True)
class Led:
    """led: sentences on what shows that a controller leads. not_told: sentences on brokers of which
    it is not known whether one does."""

    led: tuple[str, ...] = ()
    not_told: tuple[str, ...] = ()


class _NotTold(Exception):
    """The broker may run, and does not tell; the message says why."""


def registered(image: MetadataImage) -> Iterator[Running]:
    """Yield where the brokers of a copy listened when they registered."""
    for broker in image.brokers.values():
        for endpoint in broker.endpoints:
            protocol = _PROTOCOLS.get(endpoint.security_protocol, "unknown")
            yield Running((endpoint.host, endpoint.port), broker.id, protocol)


async def whether_led(
    brokers: Iterable[Running], cluster_id: str | None, config: ClientConfig, deadline: Deadline
) -> Led:
    """Ask all of these at once, each address once. Never raises for one that does not answer."""
    first = {broker.address: broker for broker in reversed(list(brokers))}
    room = asyncio.Semaphore(_AT_ONCE)

    async def ask(broker: Running) -> tuple[str | None, str | None]:
        async with room:
            return await _asked(broker, cluster_id, config, deadline)

    found = await asyncio.gather(*map(ask, first.values()))
    return Led(
        tuple(sorted(said for said, _ in found if said)),
        tuple(sorted(why for _, why in found if why)),
    )


async def _asked(
    broker: Running, cluster_id: str | None, config: ClientConfig, deadline: Deadline
) -> tuple[str | None, str | None]:
    """Return what shows that a controller leads, and why that is not known."""
    if broker.protocol not in (None, config.security_protocol):
        protocol = f"it speaks {broker.protocol}, and was not asked by {config.security_protocol}"
        return None, f"{broker}: {protocol}: give --command-config"
    try:
        async with await Connection.open(*broker.address, config, deadline) as connection:
            if broker.id is not None and cluster_id:
                await prove(connection, cluster_id, broker.id, deadline)
            return await _leads(broker, connection, config, deadline), None
    except _NotTold as error:
        return None, f"{broker}: {error}"
    except RequestFailed as error:
        return None, f"{broker}: {error}"
    except ConnectionFailed as error:
        # Nobody listens there, or another cluster does: this broker does not run.
        gone = (FailureKind.CLOSED_PORT, FailureKind.OTHER_NODE)
        return None, None if error.kind in gone else str(error)


async def _leads(
    broker: Running, connection: Connection, config: ClientConfig, deadline: Deadline
) -> str | None:
    before, begun = await applied_offset(connection, deadline), time.monotonic()
    refused: str | None = None
    try:
        if await _described(broker, config, deadline.within(_ANSWER_SECONDS)):
            await asyncio.sleep(min(_AGAIN_SECONDS, deadline.remaining()))
            if said := await _described(broker, config, deadline.within(_ANSWER_SECONDS)):
                return said
    except RequestFailed as error:
        refused = str(error)
    while before is not None and time.monotonic() < begun + _GROWS_WITHIN_SECONDS:
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        now = await applied_offset(connection, deadline)
        if now is not None and now > before:
            return f"{broker} goes on to apply what a controller writes, up to offset {now}"
    if refused is not None:
        # A controller answered that. One that leads an idle cluster may write nothing for longer,
        # or never (metadata.max.idle.interval.ms).
        raise _NotTold(refused)
    return None


async def _described(broker: Running, config: ClientConfig, within: Deadline) -> str | None:
    """Ask on a connection of its own: without a controller a broker keeps the request for long."""
    try:
        async with await Connection.open(*broker.address, config, within) as connection:
            quorum = await describe_quorum(connection, within)
    except ConnectionFailed:
        return None
    if quorum is None or not quorum.up:
        return None
    voters = sorted(voter.id for voter in quorum.voters)
    return (
        f"{broker} says that controller {quorum.leader} leads in epoch {quorum.leader_epoch}, and a"
        f" majority of {voters} follows"
    )


def growing(copies: Sequence[Copy], now_ms: Callable[[], int]) -> Iterator[str]:
    """Yield the copies whose last record is of a moment ago, and that get more for longer than a
    leader without a majority would write. Where none is so fresh nothing is waited for."""
    fresh = [copy for copy in copies if _is_fresh(copy, now_ms())]
    begun = time.monotonic()
    sizes, grown = [_size(copy) for copy in fresh], [begun for _ in fresh]
    while any(time.monotonic() < last + _STANDS_STILL_SECONDS for last in grown):
        time.sleep(_LOOK_AGAIN_SECONDS)
        for index, copy in enumerate(fresh):
            if (now := _size(copy)) > sizes[index]:
                sizes[index], grown[index] = now, time.monotonic()
        lasting = [last > begun + _RESIGNS_WITHIN_SECONDS for last in grown]
        if any(lasting):
            yield from (f"the log of {c.name} grows" for c in itertools.compress(fresh, lasting))
            return


def _is_fresh(copy: Copy, now_ms: int) -> bool:
    # Clocks of other machines may go ahead.
    last = copy.last_timestamp_ms
    return last is not None and -_AHEAD_MS < now_ms - last < _FRESH_MS


def _size(copy: Copy) -> int:
    try:
        with metadata_files(copy.place) as files:
            return sum(file.size for _, file in segments_of(files))
    except Unreadable:
        return 0
