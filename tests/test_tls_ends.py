"""The ends of TLS beside a tap leave nothing open, which would fail whatever test runs then."""

from __future__ import annotations

import gc
import socket
import ssl
from contextlib import suppress
from pathlib import Path

import pytest

from tests.real.certificates import Authority
from tests.real.tls import LOOPBACK, TlsEnds

HOST = "localhost"
SECONDS = 20.0


@pytest.mark.parametrize("ended_by_the_broker", [False, True])
def test_a_client_that_stays_connected_is_cut_off_at_the_end(
    tmp_path: Path, ended_by_the_broker: bool
) -> None:
    brokers = tmp_path / "ca.pem"
    brokers.write_bytes(Authority.new().certificate_pem)
    ends = TlsEnds.made(tmp_path, HOST, brokers)
    context = ssl.create_default_context(cafile=ends.authority)
    with socket.create_server((LOOPBACK, 0)) as broker:
        with ends.secured(f"{LOOPBACK}:{broker.getsockname()[1]}") as address:
            port = int(address.rpartition(":")[2])
            plain = socket.create_connection((LOOPBACK, port), SECONDS)
            client = context.wrap_socket(plain, server_hostname=HOST)
            client.sendall(b"x")
            accepted, _ = broker.accept()
            assert accepted.recv(1) == b"x"
            if ended_by_the_broker:
                accepted.close()
        with client, accepted:
            # What is open still is told of here, and is an error then.
            gc.collect()
            with suppress(ConnectionError):
                assert client.recv(1) == b""
