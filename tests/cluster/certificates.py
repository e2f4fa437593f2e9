"""Certificates made for a test."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

_NOW = datetime.datetime.now(datetime.UTC)


@dataclass(frozen=True)
class Identity:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def key_pem(
        self, password: str | None = None, form: PrivateFormat = PrivateFormat.PKCS8
    ) -> str:
        encryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
        return self.key.private_bytes(Encoding.PEM, form, encryption).decode()

    def pkcs12(self, password: str) -> bytes:
        return pkcs12.serialize_key_and_certificates(
            b"me", self.key, self.certificate, None, BestAvailableEncryption(password.encode())
        )


def authority(name: str = "authority") -> Identity:
    """Return a CA without a keyUsage extension, as old company CAs are."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(name, name, key)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return Identity(builder.sign(key, hashes.SHA256()), key)


def issue(
    issuer: Identity,
    dns: Sequence[str] = (),
    ips: Sequence[str] = ("127.0.0.1",),
    ca: bool = False,
    name: str = "node",
    days: float = 1,
) -> Identity:
    """Issue a certificate. days: for which it is valid from now on."""
    key = ec.generate_private_key(ec.SECP256R1())
    common_name = issuer.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
    builder = _builder(name, str(common_name), key, days)
    if ca:
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        builder = builder.add_extension(constraints, critical=True)
    else:
        names = [
            *map(x509.DNSName, dns),
            *(x509.IPAddress(ipaddress.ip_address(ip)) for ip in ips),
        ]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Identity(builder.sign(issuer.key, hashes.SHA256()), key)


def server_context(
    identity: Identity, clients: Identity | None = None, version: ssl.TLSVersion | None = None
) -> ssl.SSLContext:
    """Return a listener's side; `clients` issued the client certificates that it demands."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if version is not None:
        context.maximum_version = version
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "server.pem")
        path.write_text(identity.certificate_pem + identity.key_pem())
        context.load_cert_chain(path)
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=clients.certificate_pem)
    return context


def _builder(
    subject: str, issuer: str, key: ec.EllipticCurvePrivateKey, days: float = 1
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_named(subject))
        .issuer_name(_named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_NOW - datetime.timedelta(days=1))
        .not_valid_after(_NOW + datetime.timedelta(days=days))
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
