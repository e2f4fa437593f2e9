"""The settings of a Java client file are translated for librdkafka. They hold secrets: show them to
nobody."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig, SaslCredentials
from kafka_unclean_recovery.cluster.config.oauth_settings import OAuthBearer
from kafka_unclean_recovery.cluster.config.security import client_config, load_properties
from kafka_unclean_recovery.cluster.wire.tls import key_blocks, trusted_certificates
from kafka_unclean_recovery.deadline import Deadline

LibrdkafkaToken = tuple[str, float, str, Mapping[str, str]]
Settings = dict[str, str | int | bool | Callable[[str], LibrdkafkaToken]]

_SHORTEST_MS, _LONGEST_MS = 10, 300_000
_TOKEN_SECONDS = 30.0


def load_settings(bootstrap_server: str, path: str | None) -> tuple[Settings, ClientConfig]:
    """Return librdkafka's settings, and the settings of our own connections, which were checked
    when they were read. Raises ConfigError, whose message holds no value."""
    source = path or "command line"
    properties = {} if path is None else load_properties(path)
    config = client_config(properties, source)
    settings: Settings = {
        "bootstrap.servers": bootstrap_server,
        "client.id": config.client_id,
        "security.protocol": config.security_protocol,
    }
    if config.request_timeout_ms is not None:
        bounded = min(max(config.request_timeout_ms, _SHORTEST_MS), _LONGEST_MS)
        settings["socket.timeout.ms"] = bounded
    if config.security_protocol.endswith("SSL"):
        settings |= _tls(properties, source, config.check_hostname)
    if config.sasl is not None:
        settings |= _sasl(config.sasl)
    return settings, config


def _sasl(credentials: SaslCredentials | OAuthBearer) -> Settings:
    if isinstance(credentials, SaslCredentials):
        return {
            "sasl.mechanism": credentials.mechanism,
            "sasl.username": credentials.username,
            "sasl.password": credentials.password,
        }
    tokens, extensions = credentials.tokens, dict(credentials.extensions)

    def token(_config: str) -> LibrdkafkaToken:
        # librdkafka calls this in a thread of its own, so nothing is shared with our own
        # connections.
        fetched = asyncio.run(tokens.source.fetch(Deadline.after(_TOKEN_SECONDS)))
        return fetched.value, time.time() + fetched.lifetime, "", extensions

    return {"sasl.mechanism": credentials.mechanism, "oauth_cb": token}


def _tls(properties: dict[str, str], source: str, check_hostname: bool) -> Settings:
    """Return the TLS settings with PEM by value, so that a store means the same as to our own
    connections."""
    settings: Settings = {
        "ssl.endpoint.identification.algorithm": "https" if check_hostname else "none"
    }
    trusted = trusted_certificates(properties, source)
    if trusted is not None:
        settings["ssl.ca.pem"] = "".join(block.text for block in trusted)
    blocks, _ = key_blocks(properties, source)
    if blocks is None:
        return settings
    settings["ssl.certificate.pem"] = "".join(b.text for b in blocks if b.is_certificate)
    settings["ssl.key.pem"] = "".join(b.text for b in blocks if b.is_private_key)
    if password := properties.get("ssl.key.password"):
        settings["ssl.key.password"] = password
    return settings
