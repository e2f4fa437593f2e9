"""Turn an error of a socket or of OpenSSL into a ConnectionFailed that says what to do; no I/O."""

from __future__ import annotations

import errno
import os
import ssl

from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind

# These are X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH of OpenSSL's x509_vfy.h.
_MISMATCH_CODES = (62, 64)

# These are X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED.
_TIME_CODES = (9, 10)

# OpenSSL gives these reasons when the bytes that came back were no TLS records.
_NOT_TLS_REASONS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER", "UNEXPECTED_EOF")

# A server sends these alerts to refuse our certificate, or because we have none. Their prefixes
# differ between TLS and OpenSSL versions.
_CERTIFICATE_ALERTS = ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED")

_PLAINTEXT_HINT = "is this a plaintext listener? check security.protocol"


def timed_out(address: str, doing: str, *, taken: bool = False) -> ConnectionFailed:
    """Return the failure for a node that gave no answer in time. taken: as in ConnectionFailed."""
    sentence = (
        f"no answer in time while {doing}: is the node stopped, overloaded or behind a firewall"
        " that drops?"
    )
    return ConnectionFailed(FailureKind.TIMED_OUT, address, sentence, taken=taken)


def unresolved(address: str, error: OSError | ValueError) -> ConnectionFailed:
    reason = (error.strerror if isinstance(error, OSError) else None) or "not a valid host name"
    sentence = f"the host name can't be resolved ({reason}): check it, and this machine's DNS"
    return ConnectionFailed(FailureKind.UNRESOLVED_HOST, address, sentence)


def unreachable(address: str, error: OSError) -> ConnectionFailed:
    """Return the failure for a TCP connection that did not open."""
    if isinstance(error, TimeoutError) or error.errno == errno.ETIMEDOUT:
        return timed_out(address, "connecting")
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    sentence = f"no connection ({reason}): check the port, and that the broker has started"
    return ConnectionFailed(FailureKind.CLOSED_PORT, address, sentence)


def tls_failed(address: str, error: OSError) -> ConnectionFailed:
    """Return the failure for a TLS handshake that did not complete."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _refused_certificate(address, error)
    if isinstance(error, ssl.SSLError):
        return _tls_error(address, error)
    if isinstance(error, TimeoutError):
        return timed_out(address, "shaking hands over TLS")
    sentence = f"it closed the connection during the TLS handshake: {_PLAINTEXT_HINT}"
    return ConnectionFailed(FailureKind.WRONG_PROTOCOL, address, sentence)


def lost(address: str, error: Exception, tls: bool, answered: bool) -> ConnectionFailed:
    """Return the failure for an open connection that ended. answered: it brought an answer."""
    if isinstance(error, ssl.SSLError):
        return _tls_error(address, error)
    if isinstance(error, TimeoutError):
        return timed_out(address, "reading")
    if answered:
        return disconnected(address, "it closed the connection: is the node shutting down?")
    if tls:
        sentence = (
            "it closed the connection right after the TLS handshake: does the listener want a "
            "client certificate (ssl.keystore.*)?"
        )
        return disconnected(address, sentence)
    sentence = (
        "it closed the connection at once: is this a TLS or SASL listener? check security.protocol"
    )
    return ConnectionFailed(FailureKind.WRONG_PROTOCOL, address, sentence)


def disconnected(address: str, sentence: str) -> ConnectionFailed:
    return ConnectionFailed(FailureKind.DISCONNECTED, address, sentence)


def bad_answer(address: str, sentence: str) -> ConnectionFailed:
    return ConnectionFailed(FailureKind.BAD_ANSWER, address, sentence)


def _refused_certificate(address: str, error: ssl.SSLCertVerificationError) -> ConnectionFailed:
    if error.verify_code in _MISMATCH_CODES:
        sentence = (
            "its certificate is for another host name: connect by a name that stands in the "
            "certificate, or set ssl.endpoint.identification.algorithm to empty"
        )
        return ConnectionFailed(FailureKind.HOSTNAME_MISMATCH, address, sentence)
    if error.verify_code in _TIME_CODES:
        sentence = (
            f"its certificate is not valid at this time ({error.verify_message}): renew it there, "
            "or set this machine's clock"
        )
        return ConnectionFailed(FailureKind.EXPIRED_CERTIFICATE, address, sentence)
    sentence = (
        f"its certificate is not trusted ({error.verify_message}): point ssl.truststore.location "
        "at the CA that signed it"
    )
    return ConnectionFailed(FailureKind.UNTRUSTED_CERTIFICATE, address, sentence)


def _tls_error(address: str, error: ssl.SSLError) -> ConnectionFailed:
    reason = error.reason or type(error).__name__
    if "ALERT" in reason and any(word in reason for word in _CERTIFICATE_ALERTS):
        sentence = (
            f"it refused our client certificate ({_words(reason)}): set ssl.keystore.location or "
            "ssl.keystore.key to one that its CA signed and that has not expired"
        )
        return ConnectionFailed(FailureKind.CLIENT_CERTIFICATE_REQUIRED, address, sentence)
    if isinstance(error, ssl.SSLEOFError) or any(word in reason for word in _NOT_TLS_REASONS):
        sentence = f"it does not speak TLS ({_words(reason)}): {_PLAINTEXT_HINT}"
        return ConnectionFailed(FailureKind.WRONG_PROTOCOL, address, sentence)
    sentence = (
        f"TLS failed ({_words(reason)}): compare TLS versions and ciphers with the listener, and "
        "see whether it demands a client certificate (ssl.keystore.*)"
    )
    return ConnectionFailed(FailureKind.TLS_FAILED, address, sentence)


def _words(reason: str) -> str:
    return reason.replace("_", " ").lower()
