"""Check the first message of a SCRAM server before a proof is made for it, as RFC 5802, 7 writes
it; no I/O."""

from __future__ import annotations

import re

# The limit is in org.apache.kafka.common.security.scram.internals.ScramMechanism.
LEAST_ITERATIONS = 4096
# A million costs a second, and kafka-python takes no more.
_MOST_WE_COUNT = 1_000_000
_LONGEST = 16_384
_BASE64 = rb"(?:[A-Za-z0-9/+]{4})*(?:[A-Za-z0-9/+]{2}==|[A-Za-z0-9/+]{3}=)?"
_SERVER_FIRST = re.compile(
    rb"r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+),s=(?P<salt>" + _BASE64 + rb"),i=(?P<count>[1-9][0-9]*)"
    # Extensions are passed over. One by the name of what is above would be read in its place.
    rb"(?:,[A-Za-z]=[^,\x00]+)*"
)
_ABOVE = re.compile(rb",[rsim]=")
_COUNT = re.compile(rb"(?:^|,)i=([0-9]{1,9})(?=,|$)")


class TooCheap(ValueError):
    """The proof that is asked for would let the password be guessed too soon."""


def check_server_first(message: bytes, client_nonce: bytes) -> None:
    """Raise TooCheap for fewer iterations than Kafka's clients take, ValueError for any other
    message that no server sends which does as the RFC says."""
    if len(message) > _LONGEST:
        raise ValueError("a message that is too long")
    if any(int(count) < LEAST_ITERATIONS for count in _COUNT.findall(message)):
        raise TooCheap
    match = _SERVER_FIRST.fullmatch(message)
    if match is None or not match["salt"] or _ABOVE.search(message, match.end("count")):
        raise ValueError("not a server-first-message")
    if not match["nonce"].startswith(client_nonce) or match["nonce"] == client_nonce:
        raise ValueError("a nonce to which the server adds nothing")
    if len(match["count"]) > len(str(_MOST_WE_COUNT)) or int(match["count"]) > _MOST_WE_COUNT:
        raise ValueError("too many iterations")
