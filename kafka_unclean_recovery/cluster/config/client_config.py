"""The way to connect, as values: what a Kafka client file asks for.

The readers of such files are in security.py, for which a run without a file does not wait.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka_unclean_recovery.cluster.config.oauth_settings import OAuthBearer

DEFAULT_CLIENT_ID = "kafka-unclean-recovery"


@dataclass(frozen=True, slots=True)
class SaslCredentials:
    """The mechanism (PLAIN or SCRAM) and the user that logs in."""

    mechanism: str
    username: str
    password: str = field(repr=False)


_SHOWS_SECRET = ("PLAIN", "OAUTHBEARER")


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The way to connect. request_timeout_ms: None unless the file sets it. not_honoured: the keys
    of the file that have no effect here, sorted, and none that may be part of a secret."""

    security_protocol: str = "PLAINTEXT"
    ssl_context: ssl.SSLContext | None = None
    check_hostname: bool = True
    sasl: SaslCredentials | OAuthBearer | None = None
    client_id: str = DEFAULT_CLIENT_ID
    request_timeout_ms: int | None = None
    not_honoured: tuple[str, ...] = ()

    @property
    def warnings(self) -> Iterator[str]:
        """Yield what a stranger on the network could do to these connections."""
        shows = self.sasl is not None and self.sasl.mechanism in _SHOWS_SECRET
        if shows and self.security_protocol == "SASL_PLAINTEXT":
            assert self.sasl is not None
            yield (
                f"{self.sasl.mechanism} over SASL_PLAINTEXT shows the password or token to whoever"
                " sees the network: SASL_SSL hides it"
            )
        if self.ssl_context is not None and not self.check_hostname:
            yield (
                "ssl.endpoint.identification.algorithm is empty: whoever has any certificate of"
                " these authorities is taken for a broker"
            )
