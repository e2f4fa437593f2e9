"""Read a PKCS12 store, the default of keytool since Java 9, as the PEM texts that OpenSSL takes."""

from __future__ import annotations

from typing import Any

from kafka_unclean_recovery.cluster.wire.errors import ConfigError


def is_pkcs12(data: bytes) -> bool:
    """Return True for what begins as a DER sequence; a JKS store begins with 0xFEEDFEED. Java looks
    at the content too (keystore.type.compat), so a store may be declared as the other type."""
    return data.startswith(b"\x30")


def certificates_of(data: bytes, password: str | None, where: str) -> str:
    """Return every certificate of the store as PEM. Raises ConfigError, and ImportError without the
    extra `keystores`."""
    return "".join(_certificates(_opened(data, password, where)))


def identity_of(data: bytes, password: str | None, where: str) -> str:
    """Return the key, not encrypted, and its certificates as PEM, the key's own first. Raises as
    certificates_of does."""
    from cryptography.hazmat.primitives import serialization as form

    store = _opened(data, password, where)
    if store.key is None:
        return "".join(_certificates(store))
    key = store.key.private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
    ).decode()
    return "".join([*_certificates(store), key])


def _certificates(store: Any) -> list[str]:
    from cryptography.hazmat.primitives.serialization import Encoding

    own = [] if store.cert is None else [store.cert]
    found = [*own, *store.additional_certs]
    return [each.certificate.public_bytes(Encoding.PEM).decode() for each in found]


def _opened(data: bytes, password: str | None, where: str) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    try:
        return load_pkcs12(data, None if password is None else password.encode())
    except UnsupportedAlgorithm:
        why = "it is encrypted in a way that OpenSSL no longer reads; make it again with keytool"
    except ValueError:
        # The library's own words may quote the content.
        why = "check its password (ssl.truststore.password, ssl.keystore.password)"
    raise ConfigError(f"{where} can't be opened as a PKCS12 store: {why}")
