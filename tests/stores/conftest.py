"""One S3 server on loopback for all tests here, and the proxy that they reach it through."""

from __future__ import annotations

import http.client
import logging
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

import pytest
from moto.server import ThreadedMotoServer

from kafka_unclean_recovery.stores.location import StoreLocation, location_of
from kafka_unclean_recovery.stores.store_options import StoreOptions
from tests.stores.faulty_proxy import Proxy, proxy_of

KEY_ID = "AKIANOBODY"
SECRET = "dontprintme0123456789"
REGION = "us-east-1"
# The server checks no signature, but who is named is the owner.
_OWNER = (
    f"AWS4-HMAC-SHA256 Credential={KEY_ID}/20260101/{REGION}/s3/aws4_request,"
    " SignedHeaders=host, Signature=none"
)

Upload = Callable[[Path, str], StoreLocation]
"""(a directory, its prefix) -> where it lies now."""


@pytest.fixture(scope="session")
def s3_port() -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        # A line for every request would bury what a test that fails says.
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
        server.start()
        try:
            yield server.get_host_and_port()[1]
        finally:
            server.stop()


@pytest.fixture(scope="session")
def _proxy(s3_port: int) -> Iterator[Proxy]:
    with proxy_of(s3_port) as proxy:
        yield proxy


@pytest.fixture
def proxy(_proxy: Proxy) -> Iterator[Proxy]:
    _proxy.reset()
    yield _proxy
    _proxy.reset()


@pytest.fixture
def options(proxy: Proxy) -> StoreOptions:
    return StoreOptions(proxy.endpoint, REGION, attempts=3, timeout_seconds=2)


@pytest.fixture(scope="session")
def bucket(s3_port: int) -> Iterator[Callable[[str, bytes], None]]:
    """Yield what puts an object into the bucket `disks`."""
    store = http.client.HTTPConnection("127.0.0.1", s3_port, timeout=20)

    def put(path: str, content: bytes) -> None:
        store.request("PUT", f"/{quote(path)}", content, {"Authorization": _OWNER})
        answer = store.getresponse()
        answer.read()
        assert answer.status == HTTPStatus.OK, path

    put("disks", b"")
    yield lambda key, content: put(f"disks/{key}", content)
    store.close()


@pytest.fixture
def upload(bucket: Callable[[str, bytes], None], options: StoreOptions) -> Upload:
    def uploaded(directory: Path, prefix: str) -> StoreLocation:
        for path in directory.rglob("*"):
            if path.is_file():
                bucket(f"{prefix}/{path.relative_to(directory)}", path.read_bytes())
        location = location_of(f"s3://disks/{prefix}", options)
        assert isinstance(location, StoreLocation)
        return location

    return uploaded
