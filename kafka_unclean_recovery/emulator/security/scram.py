"""This module is the server's side of SCRAM (RFC 5802, RFC 7677), as in Kafka (ScramSaslServer).

It is pure: messages in, messages out. As in Kafka, there is no channel binding, and names are taken
as they come (no SASLprep).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

HASHES: Mapping[str, str] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS = 4096

_FIRST = re.compile(
    r"n,(?:a=(?P<authzid>[^,]*))?,"
    r"(?P<bare>n=(?P<name>[^,]+),r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+)(?:,.*)?)"
)
_FINAL = re.compile(
    r"(?P<unsigned>c=(?P<header>[^,]+),r=(?P<nonce>[^,]+)(?:,.*)?),p=(?P<proof>[^,]+)"
)


class Refused(Exception):
    """The client did not prove that it knows the password."""


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """The keys that a broker keeps of a password."""

    mechanism: str
    salt: bytes
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge to a client. server_first: the message that the client is sent. The client's
    answer is checked against the other fields."""

    user: str
    server_first: bytes
    nonce: str
    gs2_header: str
    signed: str
    credential: ScramCredential


def credential(mechanism: str, password: str, salt: bytes) -> ScramCredential:
    """Return the credential of a password. This takes some milliseconds."""
    name = HASHES[mechanism]
    salted = hashlib.pbkdf2_hmac(name, password.encode(), salt, ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", name)
    stored_key = hashlib.new(name, client_key).digest()
    return ScramCredential(mechanism, salt, stored_key, hmac.digest(salted, b"Server Key", name))


def user_of(client_first: bytes) -> str:
    """Return the user that wants to log in. Raises Refused."""
    return _user(_match(_FIRST, client_first)["name"])


def challenge(client_first: bytes, known: ScramCredential, server_nonce: str) -> Challenge:
    """Return the challenge to a client's first message. Raises Refused."""
    found = _match(_FIRST, client_first)
    user = _user(found["name"])
    if found["authzid"] and _user(found["authzid"]) != user:
        raise Refused("it asks to act for another user")
    nonce = found["nonce"] + server_nonce
    first = f"r={nonce},s={base64.b64encode(known.salt).decode()},i={ITERATIONS}"
    header = found.string[: found.start("bare")]
    return Challenge(user, first.encode(), nonce, header, f"{found['bare']},{first}", known)


def conclude(asked: Challenge, client_final: bytes) -> bytes:
    """Return the server's own proof, for a client that proved itself. Raises Refused."""
    found = _match(_FINAL, client_final)
    if found["nonce"] != asked.nonce or _bytes(found["header"]) != asked.gs2_header.encode():
        raise Refused("it answers another challenge")
    known, name = asked.credential, HASHES[asked.credential.mechanism]
    signed = f"{asked.signed},{found['unsigned']}".encode()
    proof = _bytes(found["proof"])
    signature = hmac.digest(known.stored_key, signed, name)
    if len(proof) != len(signature):
        raise Refused("its proof has another length")
    client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
    if not hmac.compare_digest(hashlib.new(name, client_key).digest(), known.stored_key):
        raise Refused("its proof is wrong")
    return b"v=" + base64.b64encode(hmac.digest(known.server_key, signed, name))


def _match(pattern: re.Pattern[str], message: bytes) -> re.Match[str]:
    try:
        found = pattern.fullmatch(message.decode())
    except UnicodeDecodeError:
        found = None
    if found is None:
        raise Refused("its message has another form")
    return found


def _user(name: str) -> str:
    """Return the name in a saslname of RFC 5802, which encodes comma and equals sign."""
    return name.replace("=2C", ",").replace("=3D", "=")


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refused("its message is not base64") from None
