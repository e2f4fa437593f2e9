"""The program of the one file: which of the two it is, its name or its first word says."""

import os
import ssl
import sys
from pathlib import Path

from kafka_unclean_recovery.cli import ELECTION
from kafka_unclean_recovery.cli.start import elect_leaders, unclean_recovery

# Where distributions keep the authorities that they trust; OpenSSL knows one place alone.
AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def _trust_as_the_host_does() -> None:
    if {"SSL_CERT_FILE", "SSL_CERT_DIR"}.isdisjoint(os.environ) and not Path(
        ssl.get_default_verify_paths().openssl_cafile
    ).exists():
        found = next(filter(os.path.exists, AUTHORITIES), None)
        if found is not None:
            os.environ["SSL_CERT_FILE"] = found


_trust_as_the_host_does()
if Path(sys.argv[0]).name == ELECTION:
    elect_leaders()
elif sys.argv[1:2] == ["elect-leaders"]:
    del sys.argv[1]
    elect_leaders()
else:
    unclean_recovery()
