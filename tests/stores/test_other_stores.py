"""Google's store and Azure's, as far as servers of our own are like them."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.stores.location import StoreLocation, location_of
from kafka_unclean_recovery.stores.store_options import StoreOptions
from tests.stores.trees import rows, scanned, write_damaged

URIS = {
    "gs": "gs://disks/site",
    "abfs": "abfs://disks@account.dfs.core.windows.net/site",
}
_END_SECONDS = 10.0


@pytest.fixture(scope="module", autouse=True)
def credentials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Set those of nobody: a key that signs, and one that nobody checks."""
    key = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "client_email": "nobody@example",
        "private_key_id": "1",
        "private_key": key.decode(),
        "token_uri": "http://127.0.0.1:9/token",
    }
    path = tmp_path_factory.mktemp("credentials") / "account.json"
    path.write_text(json.dumps(account))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
        patch.setenv("AZURE_STORAGE_KEY", base64.b64encode(bytes(64)).decode())
        yield


@contextmanager
def served(kind: str, root: Path) -> Iterator[StoreLocation]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.stores.fake_stores", kind, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert server.stdout is not None
    try:
        with server.stdout as said:
            endpoint = f"http://127.0.0.1:{int(said.readline())}"
            options = StoreOptions(endpoint, attempts=2, timeout_seconds=2)
            location = location_of(URIS[kind], options)
            assert isinstance(location, StoreLocation)
            yield location
    finally:
        server.kill()
        server.wait(_END_SECONDS)


@pytest.mark.parametrize("kind", URIS)
def test_they_are_read_as_the_disks_are(kind: str, tmp_path: Path) -> None:
    disk = write_damaged(tmp_path / "site" / "broker-1", 1, range(4)).parent
    content = bytes(range(200))
    (disk / "broker-1" / "x.short").write_bytes(content)
    with served(kind, tmp_path) as location:
        found = scanned(location, ScanMode.DEEP)
        assert found == scanned(LocalLocation(disk), ScanMode.DEEP)
        assert len(rows(found)) == 4
        nothing = pytest.raises(Unreadable, match=r"nothing lies there|No such file")
        with nothing, (location / "no").open() as no:
            no.entries()
        with (location / "broker-1").open() as folder:
            folder.list_all()
            with folder.folder("orders-0") as below:
                assert len(below.entries()) == len(list((disk / "broker-1/orders-0").iterdir()))
            with pytest.raises(Unreadable, match="none"), folder.opened("none"):
                pass
            with folder.opened("x.short") as file:
                assert file.size == len(content)
                # Some clients ask for the rest by themselves.
                try:
                    assert file.read_at(0, len(content)) == content
                except Unreadable as error:
                    assert "x.short: byte 0" in str(error)  # noqa: PT017 - either will do
