"""Build an ssl.SSLContext from the ssl.* keys of a Kafka client file."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from kafka_unclean_recovery.cluster.config.key_stores import (
    PemBlock,
    certificates_of,
    identity_of,
    is_pkcs12,
    pem_blocks,
)
from kafka_unclean_recovery.cluster.config.named_files import read_text
from kafka_unclean_recovery.errors import ConfigError
from kafka_unclean_recovery.shown import shell_word

_CONVERT_CERTIFICATES = {
    "JKS": "keytool -importkeystore -srckeystore {path} -srcstoretype JKS -destkeystore "
    "trust.p12 -deststoretype PKCS12, then "
    "openssl pkcs12 -in trust.p12 -nokeys -out trust.pem",
    "PKCS12": "openssl pkcs12 -in {path} -nokeys -out trust.pem",
}
_CONVERT_KEY = {
    "JKS": "keytool -importkeystore -srckeystore {path} -srcstoretype JKS -destkeystore "
    "client.p12 -deststoretype PKCS12, then "
    "openssl pkcs12 -in client.p12 -out client.pem",
    "PKCS12": "openssl pkcs12 -in {path} -out client.pem",
}


def tls_context(properties: Mapping[str, str], source: str, check_hostname: bool) -> ssl.SSLContext:
    """Return the context that ssl.truststore.*, ssl.keystore.* and ssl.key.password ask for. Raises
    ConfigError.

    Without a trust store the system's authorities are trusted, as Java trusts its own.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = check_hostname
    # Java trusts whatever stands in the trust store, an intermediate as well as a root, and
    # doesn't ask a CA for the extensions of RFC 5280 that Python 3.13 insists on.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    for which, inline in (("truststore", "certificates"), ("keystore", "key")):
        _refuse_both(properties, f"ssl.{which}.location", f"ssl.{which}.{inline}", source)
    _trust(context, properties, source)
    _identify(context, properties, source)
    return context


def _refuse_both(properties: Mapping[str, str], one: str, other: str, source: str) -> None:
    if properties.get(one) and properties.get(other):
        raise ConfigError(f"{source}: {one} and {other} are both set: keep one of them")


def _trust(context: ssl.SSLContext, properties: Mapping[str, str], source: str) -> None:
    certificates = trusted_certificates(properties, source)
    if certificates is None:
        context.load_default_certs()
        return
    key = _trust_key(properties)
    try:
        context.load_verify_locations(cadata="".join(block.text for block in certificates))
    except (ssl.SSLError, TypeError) as error:  # TypeError: other characters than base64 has
        reason = getattr(error, "reason", None)
        raise ConfigError(
            f"{source}: {key} holds a certificate that OpenSSL can't read"
            f"{f' ({reason})' if reason else ''}: export it again"
        ) from error


def trusted_certificates(properties: Mapping[str, str], source: str) -> list[PemBlock] | None:
    """Return the certificates of the trust store, at least one; None without a trust store. Raises
    ConfigError."""
    inline = properties.get("ssl.truststore.certificates")
    text = inline or _store(properties, "truststore", source, _CONVERT_CERTIFICATES)
    if text is None:
        return None
    certificates = [block for block in pem_blocks(text) if block.is_certificate]
    if not certificates:
        key = _trust_key(properties)
        raise ConfigError(f"{source}: {key} holds no PEM certificate: point it at the CA's")
    return certificates


def _trust_key(properties: Mapping[str, str]) -> str:
    inline = properties.get("ssl.truststore.certificates")
    return "ssl.truststore.certificates" if inline else "ssl.truststore.location"


def _identify(context: ssl.SSLContext, properties: Mapping[str, str], source: str) -> None:
    blocks, key = key_blocks(properties, source)
    if blocks is None:
        return
    for wanted, found in (
        ("certificate", any(block.is_certificate for block in blocks)),
        ("private key", any(block.is_private_key for block in blocks)),
    ):
        if not found:
            raise ConfigError(f"{source}: {key} holds no PEM {wanted}: put both into it")
    _load_key(context, blocks, properties.get("ssl.key.password"), f"{source}: {key}")


def key_blocks(properties: Mapping[str, str], source: str) -> tuple[list[PemBlock] | None, str]:
    """Return the blocks of the key store, None without one, and the key that named it. Raises
    ConfigError."""
    chain = properties.get("ssl.keystore.certificate.chain")
    private = properties.get("ssl.keystore.key")
    if chain and private:
        return pem_blocks(chain + "\n" + private), "ssl.keystore.certificate.chain with .key"
    if chain or private:
        raise ConfigError(
            f"{source}: ssl.keystore.certificate.chain and ssl.keystore.key go together: set both"
        )
    text = _store(properties, "keystore", source, _CONVERT_KEY)
    return (None if text is None else pem_blocks(text)), "ssl.keystore.location"


def _load_key(
    context: ssl.SSLContext, blocks: list[PemBlock], password: str | None, where: str
) -> None:
    def give_password() -> str:
        # Without this function OpenSSL would prompt on the terminal.
        if not password:
            raise ConfigError(f"{where} holds an encrypted key: set ssl.key.password")
        return password

    try:
        with _as_file("".join(block.text for block in blocks)) as path:
            context.load_cert_chain(path, password=give_password)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{where} can't be loaded: {_key_hint(error, password)}") from None


def _key_hint(error: Exception, password: str | None) -> str:
    reason = str(getattr(error, "reason", None) or "")
    if "MISMATCH" in reason:
        return "the private key does not belong to the first certificate"
    if password:
        return "check that ssl.key.password opens the key"
    return f"OpenSSL says {reason.replace('_', ' ').lower() or 'nothing'}; export it again"


def _store(
    properties: Mapping[str, str], which: str, source: str, convert: Mapping[str, str]
) -> str | None:
    """Return the PEM text of a store given by location, or None when none is given."""
    key = f"ssl.{which}.location"
    path = properties.get(key)
    if not path:
        return None
    declared = properties.get(f"ssl.{which}.type", "").upper()
    text = read_text(path, key, source)
    if declared == "PEM" or (not declared and "-----BEGIN " in text):
        return text
    data = text.encode("latin-1")
    if not is_pkcs12(data):
        raise ConfigError(_only_pem(f"{source}: {key}", which, path, declared or "JKS", convert))
    password = properties.get(f"ssl.{which}.password")
    if which == "keystore" and not password:
        raise ConfigError(f"{source}: {key} is a PKCS12 store: set ssl.keystore.password")
    read = identity_of if which == "keystore" else certificates_of
    try:
        return read(data, password, f"{source}: {key}")
    except ImportError:
        said = _only_pem(f"{source}: {key}", which, path, "PKCS12", convert)
        extra = "pip install 'kafka-unclean-recovery[keystores]' reads it as it is"
        raise ConfigError(f"{said}; or {extra}") from None


def _only_pem(where: str, which: str, path: str, kind: str, convert: Mapping[str, str]) -> str:
    """Return why the store is refused, and the command that converts it."""
    command = convert.get(kind, convert["JKS"]).format(path=shell_word(path))
    phrase = " and ssl.key.password to its pass phrase" if which == "keystore" else ""
    return (
        f"{where} is a {kind} store, and only PEM can be read here: run {command}; then set"
        f" ssl.{which}.location to the .pem file, ssl.{which}.type=PEM{phrase}"
    )


def hostname_checked(properties: Mapping[str, str], source: str) -> bool:
    """Return True unless ssl.endpoint.identification.algorithm is there and empty. Raises
    ConfigError."""
    key = "ssl.endpoint.identification.algorithm"
    algorithm = properties.get(key, "https").strip().lower()
    if algorithm in ("https", ""):
        return algorithm == "https"
    raise ConfigError(f"{source}: {key} is unknown: set https, or nothing for no host name check")


@contextlib.contextmanager
def _as_file(text: str) -> Iterator[str]:
    """Give the path of a private key while OpenSSL needs one, in memory if possible."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        with os.fdopen(os.memfd_create("client-key"), "w") as file:
            file.write(text)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        # The file is created with mode 0600, and is gone when the block ends.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(text)
            file.flush()
            yield file.name
