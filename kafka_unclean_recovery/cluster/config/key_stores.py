"""Parse keys and certificates as Kafka's client files carry them, PEM, and as a PKCS12 store has
them, the default of keytool since Java 9, which becomes PEM too; no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kafka_unclean_recovery.errors import ConfigError

# A body has no five dashes: so an end that is missing is not looked for in all that follows. It is
# not possessive, as Python before 3.11.5 does not match such a pattern.
_BODY = r"[^-]*(?:-(?!----)[^-]*)*"
_BLOCK = re.compile(rf"-----BEGIN ([A-Z0-9 ]+)-----({_BODY})-----END \1-----")
_LINE = 64


@dataclass(frozen=True, slots=True)
class PemBlock:
    label: str
    text: str = field(repr=False)
    """The whole block, BEGIN to END, in lines that OpenSSL reads."""

    @property
    def is_certificate(self) -> bool:
        return self.label in ("CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE")

    @property
    def is_private_key(self) -> bool:
        return self.label.endswith("PRIVATE KEY")


def pem_blocks(text: str) -> list[PemBlock]:
    """Return every block in a text, without the text between the blocks.

    Bodies are wrapped anew: continued lines of a properties file collapse to one line with blanks,
    which Java reads and OpenSSL does not.
    """
    return [PemBlock(label, _wrapped(label, body)) for label, body in _BLOCK.findall(text)]


def _wrapped(label: str, body: str) -> str:
    headers, base64 = _headers_and_base64(body.split())
    lines = [base64[at : at + _LINE] for at in range(0, len(base64), _LINE)]
    begin, end = f"-----BEGIN {label}-----", f"-----END {label}-----"
    return "\n".join([begin, *headers, *lines, end, ""])


def _headers_and_base64(words: list[str]) -> tuple[list[str], str]:
    """Return the headers and the base64 of a block. Encrypted keys of the old kind carry
    `Proc-Type: ...` and `DEK-Info: ...` before the base64."""
    headers = list(_headers(words))
    base64 = "".join(words[2 * len(headers) :])
    return ([*headers, ""] if headers else []), base64


def _headers(words: list[str]) -> Iterator[str]:
    for name, value in zip(words[::2], words[1::2], strict=False):
        if not name.endswith(":"):
            return
        yield f"{name} {value}"


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
