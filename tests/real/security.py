"""A secured cluster: SASL_SSL and mutual TLS for clients, an authoriser, its users and files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

from tests.real import identity_provider
from tests.real.certificates import Authority

Login = Literal["SCRAM-SHA-512", "PLAIN", "MTLS"]

SUPER_USER = "admin"
PASSWORDS: Mapping[str, str] = {"admin": "admin-secret", "sre": "sre-secret"}
LISTENER_PROTOCOLS = ("CONTROLLER:SASL_SSL", "SASL_SSL:SASL_SSL", "MTLS:SSL")
_PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer"
OAUTH_MODULE = f"{OAUTH}.OAuthBearerLoginModule"
# Since 4.0 a node reads the keys of signers from nowhere else.
_ALLOWED = "-Dorg.apache.kafka.sasl.oauthbearer.allowed."


def node_options(directory: Path) -> tuple[str, ...]:
    """Of the JVMs."""
    return (f"{_ALLOWED}urls={identity_provider.write_keys(directory).as_uri()}",)


def write_certificates(directory: Path, hosts: Collection[str] = ()) -> None:
    """ca.pem, broker.pem for every node, and a certificate for each user.

    Nodes are known as the loopback, and by the names of `hosts`.
    """
    authority = Authority.new()
    (directory / "ca.pem").write_bytes(authority.certificate_pem)
    for name in ("broker", *PASSWORDS):
        (directory / f"{name}.pem").write_bytes(authority.issue(name, hosts))


def format_arguments() -> tuple[str, ...]:
    """The SCRAM users are records that formatting leaves for the first active controller."""
    users = (f"SCRAM-SHA-512=[name={user},password={word}]" for user, word in PASSWORDS.items())
    return tuple(part for user in users for part in ("--add-scram", user))


def server_properties(directory: Path, *, broker: bool) -> dict[str, str]:
    plain_users = "".join(f' user_{user}="{word}"' for user, word in PASSWORDS.items())
    plain = _jaas(_PLAIN_MODULE, SUPER_USER, plain_users)
    settings = {
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": plain,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{SUPER_USER}",
        **_trust(directory),
        **_identity(directory, "broker"),
    }
    if not broker:
        return settings
    return (
        settings
        | _bearers(directory)
        | {
            "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512",
            "listener.name.sasl_ssl.sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN,OAUTHBEARER",
            "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": _jaas(
                _SCRAM_MODULE, SUPER_USER
            ),
            "listener.name.sasl_ssl.plain.sasl.jaas.config": plain,
            "listener.name.mtls.ssl.client.auth": "required",
            "ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/,DEFAULT",
        }
    )


def _bearers(directory: Path) -> dict[str, str]:
    """Tokens that the cluster's identity provider signed. A login lasts as long as its token."""
    keys = identity_provider.write_keys(directory)
    return {
        f"listener.name.sasl_ssl.oauthbearer.{key}": value
        for key, value in {
            "sasl.jaas.config": f"{OAUTH_MODULE} required;",
            "sasl.server.callback.handler.class": f"{OAUTH}.OAuthBearerValidatorCallbackHandler",
            "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
            "sasl.oauthbearer.expected.audience": identity_provider.AUDIENCE,
            # A broker of 4.4.0 does not start without it.
            "sasl.oauthbearer.expected.issuer": identity_provider.ISSUER,
            "connections.max.reauth.ms": "3600000",
        }.items()
    }


def client_properties(directory: Path, user: str, login: Login) -> dict[str, str]:
    """For Kafka's own tools."""
    if login == "MTLS":
        return {"security.protocol": "SSL", **_trust(directory), **_identity(directory, user)}
    module = _PLAIN_MODULE if login == "PLAIN" else _SCRAM_MODULE
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": login,
        "sasl.jaas.config": _jaas(module, user),
        **_trust(directory),
    }


def librdkafka_settings(directory: Path, user: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": user,
        "sasl.password": PASSWORDS[user],
        "ssl.ca.location": str(directory / "ca.pem"),
    }


def _jaas(module: str, user: str, more: str = "") -> str:
    return f'{module} required username="{user}" password="{PASSWORDS[user]}"{more};'


def _trust(directory: Path) -> dict[str, str]:
    return {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(directory / "ca.pem"),
    }


def _identity(directory: Path, name: str) -> dict[str, str]:
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(directory / f"{name}.pem"),
    }
