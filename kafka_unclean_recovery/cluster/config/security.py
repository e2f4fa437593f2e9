"""Turn a Kafka client file into a ClientConfig, the values that a connection needs.

Keys mean what they mean to Kafka's own tools. Keys that have no effect here are named in
ClientConfig.not_honoured, so that nobody relies on them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from kafka_unclean_recovery.cluster.config import oauth_settings
from kafka_unclean_recovery.cluster.config.client_config import (
    DEFAULT_CLIENT_ID,
    ClientConfig,
    SaslCredentials,
)
from kafka_unclean_recovery.cluster.config.config_providers import declares_providers, resolve
from kafka_unclean_recovery.cluster.config.jaas import parse_jaas
from kafka_unclean_recovery.cluster.config.named_files import read_text
from kafka_unclean_recovery.cluster.config.oauth_settings import OAuthBearer, oauth_bearer
from kafka_unclean_recovery.cluster.config.properties import parse_properties
from kafka_unclean_recovery.cluster.wire.tls import hostname_checked, tls_context
from kafka_unclean_recovery.errors import ConfigError

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")

HONOURED = oauth_settings.HONOURED | frozenset(
    {
        "security.protocol",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.certificates",
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.key.password",
        "ssl.endpoint.identification.algorithm",
        "sasl.mechanism",
        "sasl.jaas.config",
        "client.id",
        "request.timeout.ms",
    }
)

_LONGEST_TIMEOUT_MS = 2**31 - 1
_LONGEST_CLIENT_ID = 2**15 - 1
_KEY = re.compile(r"acks|retries|[a-z]{2,}(\.[a-z0-9_-]+)+")
_NO_KEY = "what is no key of Kafka's (a value that goes on needs a \\ at the end of each line)"


def load_client_config(path: str) -> ClientConfig:
    """Read a client file. Raises ConfigError.

    The file is ISO-8859-1, as Java reads it: other characters are written \\uXXXX.
    """
    return client_config(load_properties(path), path)


def load_properties(path: str) -> dict[str, str]:
    """Return the keys of a client file, its config.providers resolved. Raises ConfigError."""
    text = read_text(path, "--command-config", "command line")
    return resolve(parse_properties(text, path), path, os.environ)


def client_config(properties: Mapping[str, str], source: str) -> ClientConfig:
    """Return the ClientConfig that the keys of a client file ask for; `source` names the file in
    errors. Raises ConfigError."""
    protocol = _protocol(properties, source)
    check_hostname = hostname_checked(properties, source)
    tls = protocol.endswith("SSL")
    return ClientConfig(
        security_protocol=protocol,
        ssl_context=tls_context(properties, source, check_hostname) if tls else None,
        check_hostname=check_hostname,
        sasl=_credentials(properties, source) if protocol.startswith("SASL") else None,
        client_id=_client_id(properties, source),
        request_timeout_ms=_request_timeout_ms(properties, source),
        not_honoured=_not_honoured(properties),
    )


def _client_id(properties: Mapping[str, str], source: str) -> str:
    client_id = properties.get("client.id") or DEFAULT_CLIENT_ID
    if len(client_id.encode()) > _LONGEST_CLIENT_ID:
        raise ConfigError(f"{source}: client.id is longer than a request can carry: shorten it")
    return client_id


def _not_honoured(properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys that have no effect here, sorted. A value that goes on without a backslash
    before the line end becomes a key, so a key that does not look like one of Kafka's may be a
    password or a line of a private key, and is not named."""
    without = {k for k in properties if k not in HONOURED and not declares_providers(k)}
    named = {key for key in without if _KEY.fullmatch(key)}
    return (*sorted(named), *([_NO_KEY] if without - named else []))


def _protocol(properties: Mapping[str, str], source: str) -> str:
    protocol = properties.get("security.protocol", "PLAINTEXT").strip().upper()
    if protocol in PROTOCOLS:
        return protocol
    raise ConfigError(f"{source}: security.protocol is unknown: set one of {', '.join(PROTOCOLS)}")


def _request_timeout_ms(properties: Mapping[str, str], source: str) -> int | None:
    if "request.timeout.ms" not in properties:
        return None
    text = properties["request.timeout.ms"].strip()
    # isdigit alone admits a superscript two, and int refuses 5,000 digits with an error of its own.
    if text.isascii() and text.isdigit():
        digits = text.lstrip("0") or "0"
        if 0 < int(digits[:11]) <= _LONGEST_TIMEOUT_MS:
            return int(digits)
    raise ConfigError(
        f"{source}: request.timeout.ms is no number of milliseconds from 1 to "
        f"{_LONGEST_TIMEOUT_MS}: write digits only, such as 30000"
    )


def _credentials(properties: Mapping[str, str], source: str) -> SaslCredentials | OAuthBearer:
    mechanism = _mechanism(properties, source)
    jaas = properties.get("sasl.jaas.config", "")
    if not jaas.strip():
        raise ConfigError(
            f"{source}: sasl.jaas.config is missing: add the login module with username and "
            "password (java.security.auth.login.config is not read here)"
        )
    if mechanism == "OAUTHBEARER":
        return oauth_bearer(properties, jaas, source)
    options = parse_jaas(jaas, source).options
    if options.get("tokenauth", "").lower() == "true":
        raise ConfigError(
            f"{source}: sasl.jaas.config asks for a delegation token (tokenauth), which is not "
            "supported: log in with a user name and password"
        )
    for option in ("username", "password"):
        if not options.get(option):
            raise ConfigError(f'{source}: sasl.jaas.config lacks {option}: add {option}="..."')
    return SaslCredentials(mechanism, options["username"], options["password"])


def _mechanism(properties: Mapping[str, str], source: str) -> str:
    mechanism = properties.get("sasl.mechanism", "").strip()
    supported = ", ".join(MECHANISMS)
    if not mechanism:
        raise ConfigError(
            f"{source}: sasl.mechanism is missing, which means GSSAPI (Kerberos), and that is not "
            f"supported: set one of {supported}"
        )
    if mechanism not in MECHANISMS:
        raise ConfigError(
            f"{source}: this sasl.mechanism is not supported: set one of {supported}, or ask for "
            "a listener that enables one"
        )
    return mechanism
