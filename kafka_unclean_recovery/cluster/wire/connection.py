"""One connection to one node carries requests and matches each answer to its request."""

from __future__ import annotations

import asyncio
import itertools
import math
import re
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire import failures, frames
from kafka_unclean_recovery.cluster.wire.api import Api, Message
from kafka_unclean_recovery.cluster.wire.cluster_apis import API_VERSIONS
from kafka_unclean_recovery.cluster.wire.dial import (
    Endpoint,
    Stream,
    address_text,
    bounded,
    connect,
    open_stream,
    resolve,
)
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind, most_telling
from kafka_unclean_recovery.cluster.wire.limits import most_bytes, name_of
from kafka_unclean_recovery.cluster.wire.patience import all_done
from kafka_unclean_recovery.cluster.wire.race import first_success
from kafka_unclean_recovery.deadline import Deadline

_UNSUPPORTED_VERSION_ERROR = 35
# What is learned at first is in this version; a node that lacks it names one that it speaks.
_API_VERSIONS_VERSION = 3
_MAX_CORRELATION_ID = 2**31
# Kafka's own clients log in again after 85 to 95 % of the session (KIP-368), but a busy machine may
# be late.
_SESSION_USED_UP = 0.7

# To decode so much takes some 10 ms.
_AT_ONCE_BYTES = 128 << 10

T = TypeVar("T")


class _NotDecoded(Exception):
    """The bytes of an answer are none, or say what can't be; its cause says why."""


@dataclass(frozen=True, slots=True)
class _Awaited:
    """The answer to a request that was sent, and how many bytes it may have."""

    answer: asyncio.Future[bytes]
    name: str
    most_bytes: int


SOFTWARE: Mapping[str, str] = {
    "client_software_name": "kafka-unclean-recovery",
    # KIP-511 lets a node refuse a software version with any other character.
    "client_software_version": re.sub(r"[^a-zA-Z0-9.-]", "-", __version__),
}
"""Each request ApiVersions says this of the client."""


class Connection:
    """One TCP or TLS connection to one node, logged in; every wait ends at its Deadline.

    `versions` maps each api key the node advertises to its (lowest, highest) version; `features`
    maps each feature the node supports to its highest level; `finalized_features` maps each feature
    to the level the cluster has settled on, as this node knows it. Requests may be sent
    concurrently. A request that runs out of time leaves the connection open: its late answer is
    thrown away, and the requests behind it wait no less.
    """

    def __init__(self, stream: Stream, address: str, config: ClientConfig) -> None:
        self.address = address
        self.versions: Mapping[int, tuple[int, int]] = {}
        self.features: Mapping[str, int] = {}
        self.finalized_features: Mapping[str, int] = {}
        self._config = config
        self._reader, self._writer = stream
        self._correlation_ids = itertools.count(1)
        self._in_flight: dict[int, _Awaited] = {}
        self._answered = False
        self._waited_for_since = time.monotonic()
        self._failure: ConnectionFailed | None = None
        self._session_ends = Deadline(math.inf)
        self._throttled_ms = 0
        self._held_back_ms = 0
        self._reading = asyncio.create_task(self._read_answers())

    @classmethod
    async def open(
        cls, host: str, port: int, config: ClientConfig, deadline: Deadline
    ) -> Connection:
        """Connect, shake hands over TLS, learn the versions, log in. Raises ConnectionFailed.

        Where the host has several addresses they are tried side by side.
        """
        endpoints = await resolve(host, port, deadline)
        result = await first_success(
            [
                partial(_open_endpoint, endpoint, host, port, config, deadline)
                for endpoint in endpoints
            ]
        )
        if isinstance(result, Connection):
            return result
        raise most_telling(result)

    @property
    def closed(self) -> bool:
        """Return True once no more requests should be sent, whichever side ended the connection."""
        return self._failure is not None or self._session_ends.expired

    @property
    def silent_for(self) -> float:
        """Return the seconds since the node last answered while somebody waits for it, else 0."""
        waiting = any(not awaited.answer.done() for awaited in self._in_flight.values())
        return time.monotonic() - self._waited_for_since if waiting else 0.0

    @property
    def throttled(self) -> str | None:
        """Return what the last answer said of a client quota that is used up, None where it said
        nothing: the node reads nothing more over this connection for some time (KIP-219)."""
        if not self._throttled_ms:
            return None
        seconds = self._throttled_ms / 1000
        return f"a client quota is used up there, so it reads no request for {seconds:.1f} s"

    @property
    def held_back(self) -> str | None:
        """Return what an answer said last of a client quota, None where none ever did."""
        if not self._held_back_ms:
            return None
        return f"a client quota was used up there, for {self._held_back_ms / 1000:.1f} s last"

    def _let_in_for(self, seconds: float | None) -> None:
        # A node hangs up on a request sent after the session's end, and then it is not known
        # whether the request was carried out.
        if seconds is not None:
            self._session_ends = Deadline.after(seconds * _SESSION_USED_UP)

    def version_for(self, message_class: Any, at_most: int | None = None) -> int | None:
        """Return the highest version that the node and we speak.

        message_class: an Api, or a request class of kafka-python.
        """
        if message_class.API_KEY not in self.versions:
            return None
        node_low, node_high = self.versions[message_class.API_KEY]
        our_low, our_high = message_class.valid_versions
        high = min(node_high, our_high if at_most is None else min(our_high, at_most))
        return high if high >= max(node_low, our_low) else None

    async def request(
        self,
        request: Any,
        deadline: Deadline,
        version: int | None = None,
        made: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Send a Message, or a request of kafka-python, and return the decoded answer: a dict for a
        Message; or what `made` makes of that, without holding up others. Raises ConnectionFailed,
        also where `made` finds numbers that can't be, and what else `made` raises.

        Without `version` the request goes at the highest that both sides speak, whatever version
        the message carries. The codec silently drops fields which that version lacks: pass the
        version where a field matters. A request that the node does not advertise is not sent.
        """
        return await self._ask(request, self._usable_version(request, version), deadline, made)

    async def close(self) -> None:
        """Drop the connection at once; never raises, and waits for nothing on the network."""
        self._end(failures.disconnected(self.address, "the connection was closed on our side"))
        await asyncio.wait([self._reading])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _learn_versions(self, deadline: Deadline) -> None:
        asking = Message(API_VERSIONS, SOFTWARE)
        answer = await self._ask(asking, _API_VERSIONS_VERSION, deadline)
        if answer["error_code"] == _UNSUPPORTED_VERSION_ERROR:
            fallback = min(_ranges(answer["api_keys"]).get(frames.API_VERSIONS_KEY, (0, 0))[1], 2)
            answer = await self._ask(asking, fallback, deadline)
        if answer["error_code"]:
            sentence = f"it refused ApiVersions with error {answer['error_code']}"
            raise self._end(failures.bad_answer(self.address, sentence))
        self.versions = _ranges(answer["api_keys"])
        self.features = {f["name"]: f["max_version"] for f in answer["supported_features"]}
        finalized = answer["finalized_features"]
        self.finalized_features = {f["name"]: f["max_version_level"] for f in finalized}

    def _usable_version(self, request: Any, version: int | None) -> int:
        usable = self.version_for(_spoken(request), version)
        if usable is not None and version in (None, usable):
            return usable
        raise _unsupported(request, version, self.versions, self.address)

    async def _ask(
        self,
        request: Any,
        version: int,
        deadline: Deadline,
        made: Callable[[Any], Any] | None = None,
    ) -> Any:
        name = name_of(request)
        quota = self.throttled
        doing = f"waiting for the answer to {name}" + (f" ({quota})" if quota else "")
        frame = await self._exchange(request, version, deadline, doing)

        def decode() -> tuple[int, Any]:
            try:
                answer = frames.decode_answer(request, version, frame)
                return _throttle_ms(answer), answer if made is None else made(answer)
            except frames.DECODE_ERRORS as error:
                raise _NotDecoded from error

        try:
            self._throttled_ms, answer = await self._in_pieces(decode, len(frame), deadline, name)
        except _NotDecoded as error:
            sentence = f"{request.name} v{version} got an answer that can't be read: is this Kafka?"
            raise self._end(failures.bad_answer(self.address, sentence)) from error.__cause__
        self._held_back_ms = self._throttled_ms or self._held_back_ms
        return answer

    async def _in_pieces(
        self, decode: Callable[[], T], size: int, deadline: Deadline, name: str
    ) -> T:
        """Decode a small answer at once, and a large one in a thread, which shares the time there
        is with all other answers."""
        if size <= _AT_ONCE_BYTES:
            return decode()
        doing = f"reading the {size} bytes of its answer to {name}"
        async with bounded(deadline, self.address, doing, taken=True):
            return await asyncio.to_thread(decode)

    async def _exchange(self, request: Any, version: int, deadline: Deadline, doing: str) -> bytes:
        if self._failure is not None:
            raise self._failure.again()
        if deadline.expired:
            raise failures.timed_out(self.address, f"{doing} (nothing was sent)", taken=True)
        correlation_id = next(self._correlation_ids) % _MAX_CORRELATION_ID
        answer = asyncio.get_running_loop().create_future()
        if not self.silent_for:
            self._waited_for_since = time.monotonic()
        asking = self._encoded(request, version, correlation_id)
        self._writer.write(asking)
        most = most_bytes(request, len(asking))
        self._in_flight[correlation_id] = _Awaited(answer, name_of(request), most)
        try:
            await all_done([answer], deadline.remaining())
            if not answer.done():
                raise failures.timed_out(self.address, doing, taken=True)
            frame: bytes = answer.result()
            return frame
        finally:
            answer.cancel()

    def _encoded(self, request: Any, version: int, correlation_id: int) -> bytearray:
        try:
            return frames.encode_request(request, version, correlation_id, self._config.client_id)
        except (struct.error, UnicodeEncodeError) as error:
            # What goes into a request was told by a node, which may have told any number.
            sentence = f"{request.name} would carry what is out of range: is this Kafka?"
            raise failures.bad_answer(self.address, sentence) from error

    async def _read_answers(self) -> None:
        try:
            while True:
                length = frames.frame_length(await self._reader.readexactly(4))
                start = await self._reader.readexactly(frames.CORRELATION_ID_BYTES)
                self._check_length(frames.correlation_id_of(start), length)
                self._deliver(start + await self._reader.readexactly(length - len(start)))
        except (OSError, EOFError) as error:
            tls = self._config.ssl_context is not None
            self._end(failures.lost(self.address, error, tls, self._answered))
        except ValueError as error:
            self._end(self._not_kafka(str(error)))

    def _check_length(self, correlation_id: int, length: int) -> None:
        awaited = self._in_flight.get(correlation_id)
        if awaited is None:
            raise ValueError("it answered a request that was never sent")
        self._answered = True
        if length > awaited.most_bytes:
            raise ValueError(
                f"its answer to {awaited.name} has {length} bytes, where what was asked for has at"
                f" most {awaited.most_bytes}: it was not read"
            )

    def _deliver(self, frame: bytes) -> None:
        awaited = self._in_flight.pop(frames.correlation_id_of(frame))
        self._waited_for_since = time.monotonic()
        if not awaited.answer.done():  # a done future means that its deadline has passed
            awaited.answer.set_result(frame)

    def _not_kafka(self, sentence: str) -> ConnectionFailed:
        kind = FailureKind.BAD_ANSWER if self._answered else FailureKind.WRONG_PROTOCOL
        return ConnectionFailed(kind, self.address, sentence)

    def _end(self, failure: ConnectionFailed) -> ConnectionFailed:
        """Close with this reason, unless there is one already; return `failure` to raise."""
        if self._failure is None:
            self._failure = failure
            # A TLS close would wait for the peer's close_notify, so it is cut off.
            self._writer.transport.abort()
            self._reading.cancel()
            self._fail_in_flight(failure)
        return failure

    def _fail_in_flight(self, failure: ConnectionFailed) -> None:
        for awaited in self._in_flight.values():
            if not awaited.answer.done():
                awaited.answer.set_exception(failure.again())
        self._in_flight.clear()


async def _open_endpoint(
    endpoint: Endpoint, host: str, port: int, config: ClientConfig, deadline: Deadline
) -> Connection:
    address = address_text(host, port)
    sock = await connect(endpoint, address, deadline)
    stream = await open_stream(sock, host, address, config.ssl_context, deadline)
    connection = Connection(stream, address, config)
    try:
        await connection._learn_versions(deadline)
        if config.sasl is not None:
            # For which a connection without a login should not wait.
            from kafka_unclean_recovery.cluster.wire.sasl import log_in

            ask = partial(connection.request, deadline=deadline)
            connection._let_in_for(await log_in(ask, config.sasl, address, deadline))
    except BaseException:
        await connection.close()
        raise
    return connection


def _throttle_ms(answer: Any) -> int:
    """Return the throttle time that an answer tells; 0 where it, or its version, tells none."""
    told = answer.get if isinstance(answer, dict) else partial(getattr, answer)
    return max(0, told("throttle_time_ms", 0) or 0)


def _ranges(api_keys: Iterable[Any]) -> dict[int, tuple[int, int]]:
    return {api["api_key"]: (api["min_version"], api["max_version"]) for api in api_keys}


def _spoken(request: Any) -> Api | Any:
    """Return what knows the versions of a request: its Api, or its class in kafka-python."""
    return request.api if isinstance(request, Message) else type(request)


def _unsupported(
    request: Any, version: int | None, versions: Mapping[int, tuple[int, int]], address: str
) -> ConnectionFailed:
    wanted = request.name if version is None else f"{request.name} v{version}"
    spoken = versions.get(_spoken(request).API_KEY)
    offer = f"versions {spoken[0]} to {spoken[1]} of it" if spoken else "nothing of it"
    sentence = f"the node does not speak {wanted} (it advertises {offer}); nothing was sent"
    return ConnectionFailed(FailureKind.UNSUPPORTED_VERSION, address, sentence)
