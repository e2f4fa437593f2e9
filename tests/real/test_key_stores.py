"""Stores that keytool made, against a broker that wants certificates: PKCS12 is read as it is, a
JKS store is refused with the command that converts it, and so is a wrong password."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization import load_pem_private_key as load_key
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509 import load_pem_x509_certificates

from tests.real import security
from tests.real.cli import Finished
from tests.real.cluster import KafkaCluster
from tests.real.sharing import SharedClusters
from tests.real.watching import Commands

PASSWORD, WRONG = "open-sesame", "close-sesame"
KEYTOOL_TIMEOUT = 60.0
LOOK = ("--all-offline-partitions", "--show-replica-info")


@pytest.fixture(scope="module")
def cluster(shared_clusters: SharedClusters) -> KafkaCluster:
    return shared_clusters.plain(brokers=1, secured=True)


@pytest.fixture(scope="module")
def pem(cluster: KafkaCluster) -> dict[str, str]:
    return security.client_properties(cluster.directory, security.SUPER_USER, "MTLS")


@pytest.fixture(scope="module", params=["PKCS12", "JKS"])
def stores(
    request: pytest.FixtureRequest, pem: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Return client properties with stores of this type, made by keytool of the PEM files."""
    where = tmp_path_factory.mktemp("stores")
    kind = request.param
    identity = Path(pem["ssl.keystore.location"]).read_bytes()
    own, *above = load_pem_x509_certificates(identity)
    sealed = BestAvailableEncryption(PASSWORD.encode())
    key: Any = load_key(identity, None)
    made = serialize_key_and_certificates(b"me", key, own, above, sealed)
    (where / "made.p12").write_bytes(made)
    trusted = ("-importcert", "-alias", "ca", "-file", pem["ssl.truststore.location"])
    _keytool(where, *trusted, "-keystore", "trust", "-storetype", kind, "-storepass", PASSWORD)
    source = ("-srckeystore", "made.p12", "-srcstoretype", "PKCS12", "-srcstorepass", PASSWORD)
    target = ("-destkeystore", "identity", "-deststoretype", kind, "-deststorepass", PASSWORD)
    _keytool(where, "-importkeystore", *source, *target)
    settings = {"security.protocol": "SSL"}
    for which, name in (("truststore", "trust"), ("keystore", "identity")):
        settings[f"ssl.{which}.type"] = kind
        settings[f"ssl.{which}.location"] = str(where / name)
        settings[f"ssl.{which}.password"] = PASSWORD
    return settings


def _keytool(where: Path, *words: str) -> None:
    line = ["keytool", *words, "-noprompt"]
    subprocess.run(line, cwd=where, check=True, capture_output=True, timeout=KEYTOOL_TIMEOUT)


def test_the_stores_open_a_connection_or_the_command_that_converts_them_is_told(
    cluster: KafkaCluster, commands: Commands, stores: dict[str, str]
) -> None:
    done = _looked(cluster, commands, stores)
    if stores["ssl.keystore.type"] == "PKCS12":
        assert (done.code, done.stderr) == (0, "")
    else:
        assert done.code == 2
        assert "keytool -importkeystore" in done.stderr
    assert PASSWORD not in done.stdout + done.stderr


@pytest.mark.parametrize("which", ["truststore", "keystore"])
def test_a_wrong_password_is_told_and_not_shown(
    cluster: KafkaCluster, commands: Commands, stores: dict[str, str], which: str
) -> None:
    key = f"ssl.{which}.password"
    done = _looked(cluster, commands, stores | {key: WRONG})
    assert done.code == 2
    if stores["ssl.keystore.type"] == "PKCS12":
        assert f"ssl.{which}.location can't be opened as a PKCS12 store" in done.stderr
    assert WRONG not in done.stdout + done.stderr


def test_the_pem_files_open_the_same_connection(
    cluster: KafkaCluster, commands: Commands, pem: dict[str, str]
) -> None:
    done = _looked(cluster, commands, pem)
    assert (done.code, done.stderr) == (0, "")


def _looked(cluster: KafkaCluster, commands: Commands, settings: Mapping[str, str]) -> Finished:
    file = commands.directory / "client.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    address = cluster.mtls_address(cluster.live_brokers[0])
    server = ("--bootstrap-server", address, "--command-config", str(file))
    return commands.run(*server, *LOOK)
