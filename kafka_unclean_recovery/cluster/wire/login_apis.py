"""The layouts of the requests that log in."""

from __future__ import annotations

from kafka_unclean_recovery.cluster.wire.api import Api

_NEVER = 0x7FFF

SASL_HANDSHAKE = Api(
    17,
    "SaslHandshake",
    # Version 0 is for nodes before Kafka 1.0: the tokens would follow bare, without
    # SaslAuthenticate.
    (1, 1),
    _NEVER,
    """
    mechanism text
    """,
    """
    error_code int16
    mechanisms [text]
    """,
)

SASL_AUTHENTICATE = Api(
    36,
    "SaslAuthenticate",
    (0, 2),
    2,
    """
    auth_bytes bytes
    """,
    """
    error_code int16
    error_message text?
    auth_bytes bytes
    session_lifetime_ms int64 1+ =0
    """,
)
