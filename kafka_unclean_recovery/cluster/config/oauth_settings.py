"""Read the settings of SASL/OAUTHBEARER from a Kafka client file (KIP-255, KIP-768, KIP-1139); the
only I/O is reading TLS stores."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from kafka_unclean_recovery.cluster.config.jaas import parse_jaas
from kafka_unclean_recovery.cluster.wire.oauth_tokens import (
    ClientCredentials,
    TokenFile,
    Tokens,
    TokenSource,
    UnsecuredTokens,
)
from kafka_unclean_recovery.cluster.wire.tls import hostname_checked, tls_context
from kafka_unclean_recovery.errors import ConfigError

_HANDLER = "sasl.login.callback.handler.class"
_URL = "sasl.oauthbearer.token.endpoint.url"
_RETRIEVER = "sasl.oauthbearer.jwt.retriever.class"
_CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id"
_CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105 - its name
_SCOPE = "sasl.oauthbearer.scope"
_URL_ENCODED = "sasl.oauthbearer.header.urlencode"
HONOURED = frozenset({_HANDLER, _URL, _RETRIEVER, _CLIENT_ID, _CLIENT_SECRET, _SCOPE, _URL_ENCODED})

_PACKAGE = "org.apache.kafka.common.security.oauthbearer."
_SECURED_HANDLERS = (
    f"{_PACKAGE}OAuthBearerLoginCallbackHandler",
    f"{_PACKAGE}secured.OAuthBearerLoginCallbackHandler",
)
_UNSECURED_HANDLER = f"{_PACKAGE}internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler"
_RETRIEVERS = tuple(
    f"{_PACKAGE}{name}JwtRetriever" for name in ("Default", "ClientCredentials", "File")
)
_ASSERTION = "sasl.oauthbearer.assertion."
_STRING, _NUMBER, _LIST = (f"unsecuredLogin{kind}Claim_" for kind in ("String", "Number", "List"))
# The patterns are those of RFC 7628, 3.1. The key "auth" is taken: it names the token itself.
_EXTENSION_KEY = re.compile(r"(?!auth$)[A-Za-z]+")
_EXTENSION_VALUE = re.compile(r"[\x21-\x7e \t\r\n]+")


@dataclass(frozen=True, slots=True)
class OAuthBearer:
    """A login by tokens. extensions: SASL extensions such as logicalCluster."""

    tokens: Tokens = field(compare=False, repr=False)
    extensions: Mapping[str, str] = field(default_factory=dict, repr=False)
    mechanism: str = "OAUTHBEARER"


def oauth_bearer(properties: Mapping[str, str], jaas: str, source: str) -> OAuthBearer:
    """Return the login that the client file asks for. Raises ConfigError."""
    options = parse_jaas(jaas, source).options
    handler = properties.get(_HANDLER, "").strip()
    if handler in _SECURED_HANDLERS:
        token_source = _secured(properties, options, source)
        return OAuthBearer(Tokens(token_source), _extensions(options, "extension_", source))
    if handler not in ("", _UNSECURED_HANDLER):
        raise ConfigError(
            f"{source}: this {_HANDLER} is not supported: set it to {_SECURED_HANDLERS[0]}"
        )
    extensions = _extensions(options, "unsecuredLoginExtension_", source)
    return OAuthBearer(Tokens(_unsecured(options, source)), extensions)


def _secured(properties: Mapping[str, str], options: Mapping[str, str], source: str) -> TokenSource:
    _refuse_others(properties, source)
    url = properties.get(_URL, "").strip()
    if not url:
        raise ConfigError(f"{source}: {_URL} is missing: set it to https://... or file:///...")
    parts = _url(url, source)
    if parts.scheme == "file":
        return TokenFile(unquote(parts.path))
    client_id = properties.get(_CLIENT_ID) or options.get("clientId")
    secret = properties.get(_CLIENT_SECRET) or options.get("clientSecret")
    for key, option, value in (
        (_CLIENT_ID, "clientId", client_id),
        (_CLIENT_SECRET, "clientSecret", secret),
    ):
        if not value:
            raise ConfigError(f"{source}: {key} is missing, and {option} of sasl.jaas.config too")
    assert client_id
    assert secret
    tls = None
    if parts.scheme == "https":
        # As in Kafka, the TLS stores of the endpoint are options of the login module.
        where = f"{source}: sasl.jaas.config"
        tls = tls_context(options, where, hostname_checked(options, where))
    return ClientCredentials(
        url,
        tls,
        client_id,
        secret,
        properties.get(_SCOPE) or options.get("scope"),
        properties.get(_URL_ENCODED, "").strip().lower() == "true",
    )


def _refuse_others(properties: Mapping[str, str], source: str) -> None:
    if properties.get(_RETRIEVER, _RETRIEVERS[0]).strip() not in _RETRIEVERS:
        raise ConfigError(f"{source}: this {_RETRIEVER} is not supported: leave it out")
    if assertion := next((key for key in properties if key.startswith(_ASSERTION)), None):
        raise ConfigError(
            f"{source}: {assertion}: client assertions are not supported: have a token written to "
            f"a file, and set {_URL} to it (file:///...)"
        )


def _url(url: str, source: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ConfigError(f"{source}: {_URL} is no URL: write https://host/path") from None
    if parts.username is not None or parts.password is not None:
        raise ConfigError(f"{source}: {_URL} holds a user or password: take it out")
    if parts.scheme == "file" and parts.path.startswith("/") and not parts.netloc:
        return parts
    spelt = url.isascii() and url.isprintable() and " " not in url and port != 0
    if parts.scheme not in ("https", "http") or not parts.hostname or not spelt:
        raise ConfigError(f"{source}: {_URL} must be https://host/path or file:///path")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise ConfigError(
            f"{source}: {_URL} would send the client secret unencrypted: use https (http is for "
            "this machine alone)"
        )
    return parts


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unsecured(options: Mapping[str, str], source: str) -> UnsecuredTokens:
    """Read the options by the names that OAuthBearerUnsecuredLoginCallbackHandler gives them."""
    claims: dict[str, object] = {}
    for option, value in options.items():
        if option.startswith(_STRING):
            claims[option.removeprefix(_STRING)] = value
        elif option.startswith(_NUMBER):
            claims[option.removeprefix(_NUMBER)] = _number(option, value, source)
        elif option.startswith(_LIST) and value:
            # The first character of the value is the separator of the others.
            claims[option.removeprefix(_LIST)] = value[1:].split(value[0])
    name = options.get("unsecuredLoginPrincipalClaimName", "sub")
    if not claims.get(name):
        raise ConfigError(
            f"{source}: sasl.jaas.config lacks {_STRING}{name}, and {_HANDLER} is not set: for "
            f"tokens of an identity provider set it to {_SECURED_HANDLERS[0]}"
        )
    lifetime = "unsecuredLoginLifetimeSeconds"
    return UnsecuredTokens(claims, _number(lifetime, options.get(lifetime, "3600"), source))


def _number(option: str, value: str, source: str) -> float:
    if re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,9})?", value):
        return float(value) if "." in value else int(value)
    raise ConfigError(f"{source}: sasl.jaas.config: {option} is no number: write digits")


def _extensions(options: Mapping[str, str], prefix: str, source: str) -> dict[str, str]:
    found = {
        option.removeprefix(prefix): value
        for option, value in options.items()
        if option.startswith(prefix)
    }
    for key, value in found.items():
        if not _EXTENSION_KEY.fullmatch(key) or not _EXTENSION_VALUE.fullmatch(value):
            raise ConfigError(
                f"{source}: sasl.jaas.config: {prefix}{key} is no SASL extension: its name has "
                "letters alone, its value what can be printed"
            )
    return found
