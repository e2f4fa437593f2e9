"""The errors that can occur between choosing a node and getting its answer."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from kafka_unclean_recovery.errors import InputError


class FailureKind(StrEnum):
    """The reasons why a connection or a request failed, as stable words that are fit for JSON."""

    CLOSED_PORT = "closed-port"
    UNRESOLVED_HOST = "unresolved-host"
    TIMED_OUT = "timed-out"
    UNTRUSTED_CERTIFICATE = "untrusted-certificate"
    EXPIRED_CERTIFICATE = "expired-certificate"
    HOSTNAME_MISMATCH = "hostname-mismatch"
    TLS_FAILED = "tls-failed"
    WRONG_PROTOCOL = "wrong-protocol"
    AUTHENTICATION_FAILED = "authentication-failed"
    MECHANISM_NOT_ENABLED = "mechanism-not-enabled"
    NO_TOKEN = "no-token"  # noqa: S105 - its name
    CLIENT_CERTIFICATE_REQUIRED = "client-certificate-required"
    DISCONNECTED = "disconnected"
    BAD_ANSWER = "bad-answer"
    UNSUPPORTED_VERSION = "unsupported-version"
    NO_CONTROLLER = "no-controller"
    OTHER_CLUSTER = "other-cluster"
    OTHER_NODE = "other-node"


_AUTHENTICATION = frozenset(
    {
        FailureKind.AUTHENTICATION_FAILED,
        FailureKind.MECHANISM_NOT_ENABLED,
        FailureKind.NO_TOKEN,
        FailureKind.CLIENT_CERTIFICATE_REQUIRED,
    }
)

# Every other failure was reported by a process that listens there, so it tells more.
_NOBODY_SPOKE = (FailureKind.UNRESOLVED_HOST, FailureKind.CLOSED_PORT, FailureKind.TIMED_OUT)


class ConnectionFailed(Exception):
    """A node could not be reached, or a request to it got no usable answer.

    `address` is "host:port"; `sentence` says what happened and what to do; `taken` is True where
    the connection was open, and the node silent.
    """

    def __init__(
        self, kind: FailureKind, address: str, sentence: str, *, taken: bool = False
    ) -> None:
        super().__init__(kind, address, sentence)
        self.kind = kind
        self.address = address
        self.sentence = sentence
        self.taken = taken

    def __str__(self) -> str:
        return f"{self.address}: {self.sentence}"

    @property
    def is_authentication(self) -> bool:
        """Return True when the node refused who we are: asking others the same way won't help."""
        return self.kind in _AUTHENTICATION

    @property
    def takes_none(self) -> bool:
        """Return True when nobody takes a connection there: no process runs, or it starts."""
        return not self.taken and not self.is_authentication

    def again(self) -> ConnectionFailed:
        """Return a copy to raise elsewhere: one exception raised twice mixes its tracebacks."""
        return ConnectionFailed(self.kind, self.address, self.sentence, taken=self.taken)


class NoBrokerReachable(Exception):
    """None of the bootstrap addresses gave a connection; `failures` holds one reason for each."""

    def __init__(self, failures: Iterable[ConnectionFailed]) -> None:
        self.failures = tuple(failures)
        super().__init__(self.failures)

    def __str__(self) -> str:
        return f"no broker could be reached: {self.reasons}"

    @property
    def reasons(self) -> str:
        return "; ".join(_by_reason(self.failures))

    @property
    def is_authentication(self) -> bool:
        return any(failure.is_authentication for failure in self.failures)

    @property
    def nobody_listens(self) -> bool:
        """Return True where each address refused: its host is up, and no process listens there."""
        return all(failure.kind is FailureKind.CLOSED_PORT for failure in self.failures)


class NoControllerReachable(NoBrokerReachable):
    """The active controller answered through none of the brokers."""

    def __str__(self) -> str:
        return f"the controller quorum answers through no broker: {self.reasons}"


class ClustersMixed(InputError):
    """The brokers that the user named for one cluster belong to two; the message names both."""

    def again(self) -> ClustersMixed:
        return ClustersMixed(*self.args)


def most_telling(failures: Iterable[ConnectionFailed]) -> ConnectionFailed:
    """Return the failure an operator should read first, out of at least one."""
    return max(failures, key=_telling)


def _telling(failure: ConnectionFailed) -> int:
    if failure.is_authentication:
        return len(_NOBODY_SPOKE) + 1
    if failure.kind in _NOBODY_SPOKE:
        return _NOBODY_SPOKE.index(failure.kind)
    return len(_NOBODY_SPOKE)


def _by_reason(failures: Iterable[ConnectionFailed]) -> list[str]:
    addresses: dict[str, list[str]] = {}
    for failure in failures:
        addresses.setdefault(failure.sentence, []).append(failure.address)
    return [f"{', '.join(where)}: {sentence}" for sentence, where in addresses.items()]
