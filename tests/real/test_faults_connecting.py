"""A connection that fails says why within seconds, exits with 3, and gives no secret away."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.real.certificates import Authority
from tests.real.cluster import KafkaCluster
from tests.real.faults import Trouble, secured
from tests.real.ports import LOOPBACK, PortLease
from tests.real.security import PASSWORDS
from tests.real.sharing import SharedClusters
from tests.real.watching import Commands

SECONDS = 20.0
WRONG = "not-the-password"
SPEAKS_TLS = "it speaks TLS: set security.protocol to SSL or SASL_SSL"


@pytest.fixture
def guarded(shared_clusters: SharedClusters) -> KafkaCluster:
    return shared_clusters.outage(secured())


@pytest.fixture
def silent_port() -> Iterator[str]:
    """Yield a port at which TCP connects, and nobody ever says a word."""
    with socket.create_server((LOOPBACK, 0)) as listener:
        yield f"{LOOPBACK}:{listener.getsockname()[1]}"


@pytest.fixture
def closed_port() -> Iterator[str]:
    lease = PortLease.of(1)
    yield f"{LOOPBACK}:{lease.ports[0]}"
    lease.release()


def _config(cluster: KafkaCluster, directory: Path, changed: Mapping[str, str | None]) -> str:
    """Write the user's client file with other values; None leaves a key out."""
    lines = cluster.client_properties("sre").read_text().splitlines()
    settings: dict[str, str | None] = {**dict(line.split("=", 1) for line in lines), **changed}
    path = directory / "client.properties"
    path.write_text("".join(f"{k}={v}\n" for k, v in settings.items() if v is not None))
    return str(path)


def _fails(commands: Commands, server: str, config: str | None, sentence: str) -> None:
    more = () if config is None else ("--command-config", config)
    for action in (("--show-replica-info",), ("--automated-recovery", "--yes")):
        which = ("--all-offline-partitions", *action)
        run = commands.start("--bootstrap-server", server, *more, *which)
        done = run.finish()
        assert done.code == 3, done
        assert sentence in done.stderr
        assert server in done.stderr
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert run.seconds < SECONDS
        left = [path.read_text() for path in run.home.rglob("*") if path.is_file()]
        for secret in (*PASSWORDS.values(), WRONG):
            assert not [text for text in (done.stderr, *left) if secret in text]


def _jaas(module: str, password: str) -> str:
    package = "org.apache.kafka.common.security"
    return f'{package}.{module} required username="sre" password="{password}";'


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"sasl.jaas.config": _jaas("scram.ScramLoginModule", WRONG)},
            "it refused the login of 'sre' by SCRAM-SHA-512",
        ),
        (
            {
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": _jaas("plain.PlainLoginModule", WRONG),
            },
            "it refused the login of 'sre' by PLAIN",
        ),
        ({"sasl.mechanism": "SCRAM-SHA-256"}, "SCRAM-SHA-512"),
        ({"security.protocol": "SSL"}, "if it wants a login, set security.protocol"),
        (
            {"security.protocol": "PLAINTEXT"},
            SPEAKS_TLS,
        ),
        (
            {"security.protocol": "SASL_PLAINTEXT"},
            SPEAKS_TLS,
        ),
    ],
    ids=[
        "wrong SCRAM password",
        "wrong PLAIN password",
        "mechanism not enabled",
        "TLS without a login",
        "plaintext to a TLS port",
        "login in plaintext to a TLS port",
    ],
)
def test_a_login_that_fails_says_why(
    guarded: KafkaCluster,
    commands: Commands,
    tmp_path: Path,
    changed: Mapping[str, str],
    sentence: str,
) -> None:
    config = _config(guarded, tmp_path, changed)
    _fails(commands, guarded.address(3), config, sentence)


def test_without_a_client_file_a_secured_port_is_told(
    guarded: KafkaCluster, commands: Commands
) -> None:
    _fails(commands, guarded.address(3), None, SPEAKS_TLS)


def test_a_broker_of_an_unknown_authority_is_not_trusted(
    guarded: KafkaCluster, commands: Commands, tmp_path: Path
) -> None:
    stranger = tmp_path / "stranger.pem"
    stranger.write_bytes(Authority.new().certificate_pem)
    config = _config(guarded, tmp_path, {"ssl.truststore.location": str(stranger)})
    _fails(commands, guarded.address(3), config, "its certificate is not trusted")


def test_a_listener_that_wants_a_client_certificate_says_so(
    guarded: KafkaCluster, commands: Commands, tmp_path: Path
) -> None:
    without = {"security.protocol": "SSL", "sasl.mechanism": None, "sasl.jaas.config": None}
    config = _config(guarded, tmp_path, without)
    _fails(commands, guarded.mtls_address(3), config, "ssl.keystore")


def test_a_broker_whose_certificate_has_another_name_is_not_trusted(
    guarded: KafkaCluster, commands: Commands, tmp_path: Path
) -> None:
    # Another way to write the loopback address.
    elsewhere = guarded.address(3).replace("localhost", "127.1")
    says = "its certificate is for another host name"
    _fails(commands, elsewhere, _config(guarded, tmp_path, {}), says)


def test_a_client_certificate_of_an_unknown_authority_is_told(
    guarded: KafkaCluster, commands: Commands, tmp_path: Path
) -> None:
    shown = tmp_path / "client.pem"
    shown.write_bytes(Authority.new().issue("sre"))
    mutual = {"security.protocol": "SSL", "sasl.mechanism": None, "sasl.jaas.config": None}
    config = _config(guarded, tmp_path, {**mutual, "ssl.keystore.location": str(shown)})
    _fails(commands, guarded.mtls_address(3), config, "it refused our client certificate")


def test_tls_to_a_plaintext_port_is_told(
    troubled: Trouble, guarded: KafkaCluster, commands: Commands, tmp_path: Path
) -> None:
    config = _config(guarded, tmp_path, {})
    _fails(commands, troubled.cluster.address(3), config, "is this a plaintext listener?")


def test_a_closed_port_is_told(commands: Commands, closed_port: str) -> None:
    _fails(commands, closed_port, None, "check the port, and that the broker has started")


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SASL_SSL"])
def test_a_silent_port_is_given_up_when_time_is_up(
    guarded: KafkaCluster, commands: Commands, tmp_path: Path, silent_port: str, protocol: str
) -> None:
    patience = {"security.protocol": protocol, "request.timeout.ms": "2000"}
    config = _config(guarded, tmp_path, patience)
    _fails(commands, silent_port, config, "no answer in time")
