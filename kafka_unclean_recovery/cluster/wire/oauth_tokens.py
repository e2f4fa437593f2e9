"""Tokens for SASL/OAUTHBEARER come from a token endpoint, from a file, or are unsecured ones for
trials.

Neither a token nor a client secret is ever part of an error or a repr.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote_plus, urlsplit

from kafka_unclean_recovery.cluster.config.named_files import (
    READ_SECONDS,
    endless,
    reading,
    why_unreadable,
)
from kafka_unclean_recovery.cluster.wire.dial import bounded
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.cluster.wire.http_post import HttpResponse, post
from kafka_unclean_recovery.deadline import Deadline

# A login lasts as long as its token, so a token that is used late makes a short login.
_USED_UP = 0.5
_LIFETIME_UNLESS_TOLD = 60.0
_LONGEST_LIFETIME = 366 * 86_400.0
# The last second of the year 9999.
_LAST_TIME = 253_402_300_799.0
_TLS = (
    FailureKind.UNTRUSTED_CERTIFICATE,
    FailureKind.EXPIRED_CERTIFICATE,
    FailureKind.HOSTNAME_MISMATCH,
    FailureKind.TLS_FAILED,
)
# A token is RFC 6750, 2.1 "b64token": other characters from a file or an endpoint would break the
# message.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_ERROR_CODE = re.compile(r"[a-z_]{1,40}")


@dataclass(frozen=True, slots=True)
class Token:
    """A token, and its lifetime: the seconds left when it was obtained."""

    value: str = field(repr=False)
    lifetime: float


class TokenSource(Protocol):
    async def fetch(self, deadline: Deadline) -> Token:
        """Return a token. Raises ConnectionFailed (NO_TOKEN), whose address is the source's."""


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A file that holds a token. It is read anew each time, as another process may renew the
    token."""

    path: str

    async def fetch(self, deadline: Deadline) -> Token:
        return _checked(await _read(self.path, deadline), self.path, None)


@dataclass(frozen=True, slots=True)
class UnsecuredTokens:
    """Tokens that nobody signs (RFC 7515, A.5), for listeners that exist for trials."""

    claims: Mapping[str, object]
    lifetime: float

    async def fetch(self, deadline: Deadline) -> Token:
        # A broker refuses what was issued after the millisecond in which it looks.
        now = int(time.time())
        claims = {**self.claims, "iat": now, "exp": now + self.lifetime}
        return Token(f"{_base64url({'alg': 'none'})}.{_base64url(claims)}.", self.lifetime)


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """The client credentials grant of RFC 6749, 4.4. tls: None for http."""

    url: str
    tls: ssl.SSLContext | None
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None
    url_encoded: bool = False

    async def fetch(self, deadline: Deadline) -> Token:
        where = endpoint_shown(self.url)
        try:
            answer = await post(self.url, self.tls, self._headers(), self._body(), deadline)
        except ConnectionFailed as error:
            hint = " (ssl.* for it stand in sasl.jaas.config)" if error.kind in _TLS else ""
            raise no_token(where, f"{error.sentence}{hint}") from None
        if answer.status != 200:
            raise no_token(
                where,
                f"it answered {answer.status}{_error_code(answer)}: check the client id, its "
                "secret and the scope",
            )
        return _checked(*_token_in(answer, where))

    def _headers(self) -> dict[str, str]:
        pair = (self.client_id, self.client_secret)
        pair = (quote_plus(pair[0]), quote_plus(pair[1])) if self.url_encoded else pair
        basic = base64.b64encode(":".join(pair).encode()).decode()
        return {
            "Authorization": f"Basic {basic}",
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        }

    def _body(self) -> bytes:
        scope = f"&scope={quote_plus(self.scope)}" if self.scope else ""
        return f"grant_type=client_credentials{scope}".encode()


class Tokens:
    """One token serves all connections, until it is used up or was refused."""

    def __init__(self, source: TokenSource) -> None:
        self.source = source
        self._token: Token | None = None
        self._good_until = Deadline.after(0)
        self._fetching = asyncio.Lock()

    async def token(self, address: str, deadline: Deadline) -> Token:
        """Return the token; `address` is the node that the token is for. Raises
        ConnectionFailed."""
        async with bounded(deadline, address, "waiting for a token"):
            await self._fetching.acquire()
        try:
            if self._token is None or self._good_until.expired:
                self._token = await self.source.fetch(deadline)
                self._good_until = Deadline.after(self._token.lifetime * _USED_UP)
        except ConnectionFailed as error:
            raise ConnectionFailed(error.kind, address, f"no token for it: {error}") from None
        else:
            return self._token
        finally:
            self._fetching.release()

    def forget(self, token: Token) -> None:
        """Drop the token, because a node refused it."""
        if self._token is token:
            self._token = None


def no_token(where: str, sentence: str) -> ConnectionFailed:
    return ConnectionFailed(FailureKind.NO_TOKEN, where, sentence)


def endpoint_shown(url: str) -> str:
    """Return the URL without its query, which may hold a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


async def _read(path: str, deadline: Deadline) -> str:
    seconds = min(READ_SECONDS, deadline.remaining())
    try:
        content = await asyncio.wait_for(asyncio.wrap_future(reading(path)), seconds)
        return content.decode("ascii").strip()
    except TimeoutError:
        raise no_token(path, f"the file is one {endless(round(seconds, 1))}") from None
    except UnicodeDecodeError:
        raise no_token(path, "the file can't be read (not a token)") from None
    except (OSError, ValueError) as error:
        reason = why_unreadable(error, "ascii")
        raise no_token(path, f"the file can't be read ({reason})") from None


def _token_in(answer: HttpResponse, where: str) -> tuple[str, str, object]:
    document = _json(answer)
    token = document.get("access_token") or document.get("id_token")
    if not isinstance(token, str):
        raise no_token(where, "its answer holds no access_token: is this a token endpoint?")
    return token, where, document.get("expires_in")


def _error_code(answer: HttpResponse) -> str:
    """Return the error code of RFC 6749, 5.2; the description beside it may quote what was sent."""
    code = _json(answer).get("error")
    return f" ({code})" if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else ""


def _json(answer: HttpResponse) -> Mapping[str, Any]:
    try:
        document = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _checked(token: str, where: str, expires_in: object) -> Token:
    if not _TOKEN.fullmatch(token):
        raise no_token(where, "what it holds is no token: it has other characters")
    told = _seconds(expires_in)
    return Token(token, told if told is not None and told > 0 else _lifetime(token, where))


def _lifetime(token: str, where: str) -> float:
    """Return the seconds left by the `exp` of a JWT, _LIFETIME_UNLESS_TOLD for another token."""
    try:
        claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
        expires = _seconds(claims["exp"], _LAST_TIME)
    except (ValueError, LookupError, TypeError, RecursionError):
        expires = None
    if expires is None:
        return _LIFETIME_UNLESS_TOLD
    left = expires - time.time()
    if left <= 0:
        raise no_token(where, f"its token expired {-left:.0f} s ago: renew it, or set the clock")
    return min(left, _LONGEST_LIFETIME)


def _seconds(told: object, most: float = _LONGEST_LIFETIME) -> float | None:
    """Return a number of a document, which may have any number of digits, between 0 and `most`;
    None for what is no number."""
    if isinstance(told, bool) or not isinstance(told, int | float):
        return None
    if isinstance(told, float) and math.isnan(told):
        return None
    return float(min(max(told, 0), most))


def _base64url(value: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
