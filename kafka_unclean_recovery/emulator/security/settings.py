"""These settings secure the listeners of an emulated cluster, and give principals their rights."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kafka_unclean_recovery.emulator.security.rights import EVERY_RIGHT, Rights, parse_right

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
ANONYMOUS = "ANONYMOUS"


@dataclass(frozen=True, slots=True)
class Tls:
    """The PEM files of TLS. `certificate` may hold the key too. With `client_authorities` clients
    must show a certificate that one of these authorities issued."""

    certificate: Path
    key: Path | None = None
    key_password: str | None = field(default=None, repr=False)
    client_authorities: Path | None = None


@dataclass(frozen=True, slots=True)
class Security:
    """The security of every broker's listener. Raises ValueError for settings that do not fit
    together.

    users: passwords by name, for SASL. rights: by principal, as in "Cluster:ALTER",
    "Topic(*):READ", "Group(mine):DESCRIBE"; a principal that is not named there has none. None
    means that there is no authorizer, and every principal may do everything. A principal is the
    name that SASL logged in, or with client certificates alone their subject, as in "CN=sre", or
    ANONYMOUS.
    """

    protocol: str = "PLAINTEXT"
    tls: Tls | None = None
    mechanisms: tuple[str, ...] = MECHANISMS
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    rights: Mapping[str, Iterable[str]] | None = None
    super_users: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise ValueError(f"security protocol {self.protocol!r}: use {', '.join(PROTOCOLS)}")
        if self.encrypted != (self.tls is not None):
            needs = "needs a certificate: set tls" if self.encrypted else "has no TLS: drop tls"
            raise ValueError(f"security protocol {self.protocol} {needs}")
        if unknown := set(self.mechanisms) - set(MECHANISMS):
            raise ValueError(f"SASL mechanism {min(unknown)!r}: use {', '.join(MECHANISMS)}")
        if self.sasl and not (self.users and self.mechanisms):
            raise ValueError(f"security protocol {self.protocol} needs users and mechanisms")
        for each in (self.rights or {}).values():
            for text in each:
                parse_right(text)

    @property
    def encrypted(self) -> bool:
        return self.protocol in ("SSL", "SASL_SSL")

    @property
    def sasl(self) -> bool:
        return self.protocol in ("SASL_PLAINTEXT", "SASL_SSL")

    def rights_of(self, principal: str) -> Rights:
        if self.rights is None or principal in self.super_users:
            return EVERY_RIGHT
        return Rights(frozenset(map(parse_right, self.rights.get(principal, ()))))


def server_context(tls: Tls) -> ssl.SSLContext:
    """Return the TLS context. Raises OSError, so also ssl.SSLError, for unusable files."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # Without a password OpenSSL would ask for one on the terminal.
    context.load_cert_chain(tls.certificate, tls.key, password=lambda: tls.key_password or "")
    if tls.client_authorities is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(tls.client_authorities)
    return context


def principal_of(certificate: Mapping[str, object] | None) -> str:
    """Return the subject of a client's certificate, as SSLSocket.getpeercert has it, last part
    first (RFC 2253, and Kafka's DefaultKafkaPrincipalBuilder), or ANONYMOUS without one."""
    subject = (certificate or {}).get("subject")
    if not isinstance(subject, tuple) or not subject:
        return ANONYMOUS
    parts = ["+".join(f"{_SHORT.get(k, k)}={_escaped(v)}" for k, v in rdn) for rdn in subject]
    return ",".join(reversed(parts))


_SHORT = {
    "commonName": "CN",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "countryName": "C",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}


def _escaped(value: str) -> str:
    return "".join(f"\\{each}" if each in ',+"\\<>;' else each for each in value)
