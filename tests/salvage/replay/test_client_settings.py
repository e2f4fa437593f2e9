"""A Java client file as settings of librdkafka."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_unclean_recovery.errors import ConfigError
from kafka_unclean_recovery.salvage.replay.client_settings import Settings, load_settings
from kafka_unclean_recovery.salvage.replay.producing import Client, ProducingFailed
from tests.emulator.secured import Papers


def settings(directory: Path, lines: Mapping[str, str]) -> Settings:
    path = directory / "client.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    return load_settings("h:1", str(path))[0]


def test_without_a_file_it_is_plaintext() -> None:
    found, config = load_settings("h:1", None)
    assert found["bootstrap.servers"] == "h:1"
    assert (found["security.protocol"], config.not_honoured) == ("PLAINTEXT", ())


def test_java_s_keys_have_librdkafka_s_names(tmp_path: Path) -> None:
    papers = Papers.made(tmp_path)
    jaas = 'LoginModule required username="sre" password="secret";'
    found = settings(
        tmp_path,
        {
            "security.protocol": "SASL_SSL",
            "ssl.truststore.location": str(papers.path("ca")),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(papers.path("sre")),
            "ssl.endpoint.identification.algorithm": "",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": jaas,
            "client.id": "me",
            "request.timeout.ms": "900000",
        },
    )
    pems = {key: str(found.pop(key)) for key in list(found) if key.endswith(".pem")}
    assert found == {
        "bootstrap.servers": "h:1",
        "client.id": "me",
        "security.protocol": "SASL_SSL",
        "socket.timeout.ms": 300_000,
        "ssl.endpoint.identification.algorithm": "none",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "sre",
        "sasl.password": "secret",
    }
    kinds = {key: text.splitlines()[0].strip("-").split()[-1] for key, text in pems.items()}
    assert kinds == {
        "ssl.ca.pem": "CERTIFICATE",
        "ssl.certificate.pem": "CERTIFICATE",
        "ssl.key.pem": "KEY",
    }


def test_the_host_name_is_checked_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    found = settings(tmp_path, {"security.protocol": "SSL"})
    assert found["ssl.endpoint.identification.algorithm"] == "https"


def test_what_our_own_connections_refuse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"sasl\.mechanism is missing"):
        settings(tmp_path, {"security.protocol": "SASL_SSL"})


def test_a_setting_that_librdkafka_refuses_is_not_quoted() -> None:
    client = Client({"bootstrap.servers": "h:1", "ssl.key.pem": "secret", "security.protocol": "?"})
    with pytest.raises(ProducingFailed) as error:
        client.producer([])
    assert str(error.value) == "librdkafka can't use these client settings (_INVALID_ARG)"
