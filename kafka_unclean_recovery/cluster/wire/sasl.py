"""Log in to a node: SaslHandshake, then as many SaslAuthenticate requests as the mechanism
wants."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from kafka.net.sasl.plain import SaslMechanismPlain
from kafka.net.sasl.scram import SaslMechanismScram

from kafka_unclean_recovery.cluster.config.client_config import SaslCredentials
from kafka_unclean_recovery.cluster.config.oauth_settings import OAuthBearer
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.cluster.wire.login_apis import SASL_AUTHENTICATE, SASL_HANDSHAKE
from kafka_unclean_recovery.cluster.wire.scram import (
    LEAST_ITERATIONS,
    TooCheap,
    check_server_first,
)
from kafka_unclean_recovery.deadline import Deadline


class Ask(Protocol):
    """Sends a request, and returns its answer."""

    async def __call__(self, request: Message, /) -> Any: ...


UNSUPPORTED_SASL_MECHANISM = 33
ILLEGAL_SASL_STATE = 34
SASL_AUTHENTICATION_FAILED = 58

_TOO_CHEAP = (
    f"it asks for a SCRAM proof of fewer than {LEAST_ITERATIONS} iterations, which Kafka's clients"
    " refuse, as from such a proof the password can be guessed; none was sent: is this the cluster"
    " you mean?"
)


async def log_in(
    ask: Ask, credentials: SaslCredentials | OAuthBearer, address: str, deadline: Deadline
) -> float | None:
    """Log in, and return for how many seconds the node lets us in, None for no limit (KIP-368).

    Raises ConnectionFailed when the node refuses, or can't prove itself (SCRAM).
    """
    answer = await ask(Message(SASL_HANDSHAKE, {"mechanism": credentials.mechanism}))
    if answer["error_code"]:
        raise _refused_handshake(answer, credentials, address)
    if isinstance(credentials, OAuthBearer):
        last = await _bear_token(ask, credentials, address, deadline)
    else:
        last = await _exchange_tokens(ask, _mechanism(credentials), credentials, address)
    milliseconds = 0 if last is None else last["session_lifetime_ms"]
    return milliseconds / 1000 if milliseconds > 0 else None


async def _bear_token(ask: Ask, bearer: OAuthBearer, address: str, deadline: Deadline) -> Any:
    """Send the token as RFC 7628, 3.1 and 3.2.3 say: a refusal first comes as an answer that we
    acknowledge."""
    token = await bearer.tokens.token(address, deadline)
    pairs = {"auth": f"Bearer {token.value}", **bearer.extensions}
    message = "n,,\x01" + "".join(f"{key}={value}\x01" for key, value in pairs.items()) + "\x01"
    answer = await ask(_token(message.encode()))
    if not answer["error_code"] and answer["auth_bytes"]:
        answer = await ask(_token(b"\x01"))
        if not answer["error_code"]:
            raise _refused("it neither took the token nor refused it: is this Kafka?", address)
    if answer["error_code"]:
        bearer.tokens.forget(token)
        raise _refused_login(answer, bearer, address)
    return answer


async def _exchange_tokens(
    ask: Ask, mechanism: Any, credentials: SaslCredentials, address: str
) -> Any:
    answer, first = None, True
    while not mechanism.is_done():
        answer = await ask(_token(mechanism.auth_bytes()))
        if answer["error_code"]:
            raise _refused_login(answer, credentials, address)
        token = bytes(answer["auth_bytes"] or b"")
        try:
            if first and isinstance(mechanism, SaslMechanismScram):
                check_server_first(token, mechanism._scram_client.nonce)
            first = False
            # A thread, because the iterations of a proof would hold up all other nodes for long.
            await asyncio.to_thread(mechanism.receive, token)
        except TooCheap:
            raise _refused(_TOO_CHEAP, address) from None
        except (ValueError, KeyError):
            # The text of the error is not passed on, because it quotes what was exchanged.
            raise _unproven(credentials, address) from None
    if not mechanism.is_authenticated():
        raise _unproven(credentials, address)
    return answer


def _token(sent: bytes) -> Message:
    return Message(SASL_AUTHENTICATE, {"auth_bytes": sent})


def _mechanism(credentials: SaslCredentials) -> Any:
    scram = credentials.mechanism.startswith("SCRAM-")
    mechanism: Any = SaslMechanismScram if scram else SaslMechanismPlain
    return mechanism(
        sasl_mechanism=credentials.mechanism,
        sasl_plain_username=_scram_name(credentials.username) if scram else credentials.username,
        sasl_plain_password=credentials.password,
    )


def _scram_name(username: str) -> str:
    # The name is encoded as RFC 5802, 5.1 "saslname". Like Kafka's own client, we do no SASLprep.
    return username.replace("=", "=3D").replace(",", "=2C")


def _refused_handshake(
    answer: Any, credentials: SaslCredentials | OAuthBearer, address: str
) -> ConnectionFailed:
    if answer["error_code"] == UNSUPPORTED_SASL_MECHANISM:
        enabled = ", ".join(answer["mechanisms"] or ()) or "none"
        sentence = (
            f"the listener does not enable {credentials.mechanism}: set sasl.mechanism to one it "
            f"enables ({enabled})"
        )
        return ConnectionFailed(FailureKind.MECHANISM_NOT_ENABLED, address, sentence)
    if answer["error_code"] == ILLEGAL_SASL_STATE:
        sentence = (
            "the listener does not use SASL: set security.protocol to PLAINTEXT or SSL, or "
            "connect to its SASL port"
        )
        return ConnectionFailed(FailureKind.WRONG_PROTOCOL, address, sentence)
    code = answer["error_code"]
    return _refused(f"it refused the SASL handshake (error {code})", address)


def _refused_login(
    answer: Any, credentials: SaslCredentials | OAuthBearer, address: str
) -> ConnectionFailed:
    said = answer["error_message"] or "error {}".format(answer["error_code"])
    if isinstance(credentials, OAuthBearer):
        return _refused(
            f"it refused our token ({said}): check its issuer, audience, scope and times against "
            "what the listener expects",
            address,
        )
    return _refused(
        f"it refused the login of {credentials.username!r} by {credentials.mechanism} ({said}): "
        "check the user name and password in sasl.jaas.config",
        address,
    )


def _unproven(credentials: SaslCredentials, address: str) -> ConnectionFailed:
    return _refused(
        f"it could not prove that it knows the password of {credentials.username!r} "
        f"({credentials.mechanism}): is this the cluster you mean?",
        address,
    )


def _refused(sentence: str, address: str) -> ConnectionFailed:
    return ConnectionFailed(FailureKind.AUTHENTICATION_FAILED, address, sentence)
