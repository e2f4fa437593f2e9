"""A client logs in by SASL before any other request is answered (SaslServerAuthenticator).

The client sends ApiVersions at most once, SaslHandshake, and then the tokens of the mechanism, in
SaslAuthenticate, or bare after version 0 of the handshake. A request out of turn closes the
connection.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from kafka.protocol.metadata import ApiVersionsRequest
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from kafka_unclean_recovery.emulator.listener import wire
from kafka_unclean_recovery.emulator.security import scram
from kafka_unclean_recovery.emulator.security.channel import Channel, read_frame
from kafka_unclean_recovery.emulator.security.settings import Security
from kafka_unclean_recovery.kafka_names import Errors

# This is the default of sasl.server.max.receive.size.
MAX_FRAME_BYTES = 512 << 10


class LoginFailed(Exception):
    """The login failed. The text is told to the client, and holds nothing that the client sent."""


class Exchange(Protocol):
    """A login that goes on. user: the name that logged in, None until it is proved."""

    user: str | None

    def evaluate(self, token: bytes) -> bytes:
        """Return the answer to a token. Raises LoginFailed."""


class Accounts:
    """The users that can log in, and the mechanisms. SCRAM credentials are made on first use."""

    def __init__(self, security: Security) -> None:
        self.mechanisms = security.mechanisms
        self._passwords = security.users
        self._salt = secrets.token_bytes(16)
        self._scram: dict[tuple[str, str], scram.ScramCredential] = {}

    def exchange(self, mechanism: str) -> Exchange:
        if mechanism == "PLAIN":
            return _Plain(self._passwords)
        return _Scram(mechanism, self)

    def scram_credential(self, mechanism: str, user: str) -> scram.ScramCredential | None:
        password = self._passwords.get(user)
        if password is not None and (mechanism, user) not in self._scram:
            self._scram[mechanism, user] = scram.credential(mechanism, password, self._salt)
        return self._scram.get((mechanism, user))


class _Plain:
    """A login by RFC 4616, as PlainSaslServer does it."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self.user: str | None = None
        self._passwords = passwords

    def evaluate(self, token: bytes) -> bytes:
        parts = token.decode(errors="replace").split("\0")
        if len(parts) != 3:
            count = min(len(parts), 4)
            raise LoginFailed(f"Invalid SASL/PLAIN response: expected 3 tokens, got {count}")
        act_for, user, password = parts
        for what, value in (("username", user), ("password", password)):
            if not value:
                raise LoginFailed(f"Authentication failed: {what} not specified")
        known = self._passwords.get(user)
        if known is None or not hmac.compare_digest(known.encode(), password.encode()):
            raise LoginFailed("Authentication failed: Invalid username or password")
        if act_for not in ("", user):
            raise LoginFailed(
                "Authentication failed: Client requested an authorization id that is different "
                "from username"
            )
        self.user = user
        return b""


class _Scram:
    def __init__(self, mechanism: str, accounts: Accounts) -> None:
        self.user: str | None = None
        self._mechanism = mechanism
        self._accounts = accounts
        self._asked: scram.Challenge | None = None

    def evaluate(self, token: bytes) -> bytes:
        try:
            if self._asked is None:
                return self._challenge(token)
            proof = scram.conclude(self._asked, token)
        except scram.Refused:
            # The client is not told whether the user exists.
            raise LoginFailed(
                "Authentication failed during authentication due to invalid credentials with SASL "
                f"mechanism {self._mechanism}"
            ) from None
        self.user = self._asked.user
        return proof

    def _challenge(self, token: bytes) -> bytes:
        known = self._accounts.scram_credential(self._mechanism, scram.user_of(token))
        if known is None:
            raise scram.Refused("there is no such user")
        self._asked = scram.challenge(token, known, secrets.token_urlsafe(24))
        return self._asked.server_first


async def log_in(
    channel: Channel, accounts: Accounts, answer: Callable[[bytes], Awaitable[bytes | None]]
) -> str:
    """Log a client in and return the user. `answer` answers any request, and is asked only for
    ApiVersions. Raises wire.NotAsked for a request out of turn, LoginFailed when the client was
    told why."""
    handshake = await _handshake(channel, answer)
    offered = {"mechanisms": list(accounts.mechanisms)}
    if handshake.mechanism not in accounts.mechanisms:
        await _reply(
            channel, handshake, offered | {"error_code": Errors.UNSUPPORTED_SASL_MECHANISM}
        )
        raise LoginFailed("Unsupported SASL mechanism")
    await _reply(channel, handshake, offered | {"error_code": Errors.NONE})
    exchange = accounts.exchange(handshake.mechanism)
    step = _bare_token if handshake.version == 0 else _token
    while exchange.user is None:
        await step(channel, exchange)
    return exchange.user


async def _handshake(channel: Channel, answer: Callable[[bytes], Awaitable[bytes | None]]) -> Any:
    versions_known = False
    while True:
        frame = await read_frame(channel, MAX_FRAME_BYTES)
        key, version, _ = wire.header_of(frame)
        if key == SaslHandshakeRequest.API_KEY:
            return _decoded(SaslHandshakeRequest, frame)
        if key != ApiVersionsRequest.API_KEY or versions_known:
            raise wire.NotAsked(f"api key {key} before authentication")
        versions_known = version <= ApiVersionsRequest.max_version
        await channel.write(await answer(frame) or b"")


async def _token(channel: Channel, exchange: Exchange) -> None:
    request = _decoded(SaslAuthenticateRequest, await read_frame(channel, MAX_FRAME_BYTES))
    try:
        token = exchange.evaluate(bytes(request.auth_bytes))
    except LoginFailed as failed:
        said = {"error_code": Errors.SASL_AUTHENTICATION_FAILED, "error_message": str(failed)}
        await _reply(channel, request, said | {"auth_bytes": b""})
        raise
    await _reply(channel, request, {"error_message": None, "auth_bytes": token})


async def _bare_token(channel: Channel, exchange: Exchange) -> None:
    token = exchange.evaluate(await read_frame(channel, MAX_FRAME_BYTES, least=0))
    await channel.write(wire.framed(token))


def _decoded(request_class: Any, frame: bytes) -> Any:
    key, version, _ = wire.header_of(frame)
    if key != request_class.API_KEY or not 0 <= version <= request_class.max_version:
        raise wire.NotAsked(f"version {version} of api key {key} during authentication")
    return wire.decoded(request_class, version, frame)


async def _reply(channel: Channel, request: Any, fields: Mapping[str, Any]) -> None:
    header = request.header
    answer = wire.encode(type(request), request.version, header.correlation_id, fields)
    await channel.write(answer)
