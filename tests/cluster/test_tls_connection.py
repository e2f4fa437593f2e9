from __future__ import annotations

import asyncio
import ssl

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.config.security import client_config
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind

from .certificates import Identity, authority, issue, server_context
from .fake_node import (
    Behaviour,
    Kafka,
    ample,
    deaf,
    framed,
    hanging_up,
    in_loop,
    listening,
    read_request,
    refusing_handshakes,
    saying,
    silent,
    soon,
)
from .test_connection import all_topics

AUTHORITY = authority()
TLS_VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


def config(trusted: Identity = AUTHORITY, **properties: str) -> ClientConfig:
    """Return the configuration; in keys underscores stand for dots."""
    return client_config(
        {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": trusted.certificate_pem,
            **{key.replace("_", "."): value for key, value in properties.items()},
        },
        "client.properties",
    )


def config_with_key(identity: Identity) -> ClientConfig:
    return config(
        ssl_keystore_certificate_chain=identity.certificate_pem,
        ssl_keystore_key=identity.key_pem(),
    )


async def failure_of_opening(
    behaviour: Behaviour,
    config: ClientConfig,
    tls: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
) -> ConnectionFailed:
    async with listening(behaviour, tls) as port:
        with pytest.raises(ConnectionFailed) as caught:
            await Connection.open(host, port, config, ample())
    return caught.value


async def failure_of_handshake(config: ClientConfig, tls: ssl.SSLContext) -> ConnectionFailed:
    with refusing_handshakes(tls) as port, pytest.raises(ConnectionFailed) as caught:
        await Connection.open("127.0.0.1", port, config, ample())
    return caught.value


@pytest.mark.parametrize("version", TLS_VERSIONS)
@in_loop
async def test_a_trusted_node(version: ssl.TLSVersion) -> None:
    tls = server_context(issue(AUTHORITY), version=version)
    async with (
        listening(Kafka(), tls) as port,
        await Connection.open("127.0.0.1", port, config(), ample()) as connection,
    ):
        assert (await connection.request(all_topics(), ample())).cluster_id == "the-cluster"


@in_loop
async def test_an_intermediate_in_the_trust_store_is_trusted_as_java_does() -> None:
    intermediate = issue(AUTHORITY, ca=True, name="intermediate")
    tls = server_context(issue(intermediate))
    async with listening(Kafka(), tls) as port:
        connection = await Connection.open("127.0.0.1", port, config(intermediate), ample())
        await connection.close()


@in_loop
async def test_an_untrusted_node() -> None:
    tls = server_context(issue(authority("someone else")))
    failure = await failure_of_opening(Kafka(), config(), tls)
    assert failure.kind is FailureKind.UNTRUSTED_CERTIFICATE
    assert "ssl.truststore.location" in failure.sentence


@in_loop
async def test_a_certificate_that_has_expired() -> None:
    tls = server_context(issue(AUTHORITY, days=-0.1))
    failure = await failure_of_opening(Kafka(), config(), tls)
    assert failure.kind is FailureKind.EXPIRED_CERTIFICATE
    assert "(certificate has expired): renew it there, or set" in failure.sentence


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@in_loop
async def test_a_certificate_for_another_name(host: str) -> None:
    tls = server_context(issue(AUTHORITY, dns=["broker-1"], ips=["192.0.2.1"]))
    failure = await failure_of_opening(Kafka(), config(), tls, host)
    assert failure.kind is FailureKind.HOSTNAME_MISMATCH
    unchecked = config(ssl_endpoint_identification_algorithm="")
    async with listening(Kafka(), tls) as port:
        connection = await Connection.open(host, port, unchecked, ample())
        await connection.close()


@in_loop
async def test_an_unchecked_name_still_needs_a_trusted_certificate() -> None:
    tls = server_context(issue(authority("someone else")))
    unchecked = config(ssl_endpoint_identification_algorithm="")
    failure = await failure_of_opening(Kafka(), unchecked, tls)
    assert failure.kind is FailureKind.UNTRUSTED_CERTIFICATE


@pytest.mark.parametrize("version", TLS_VERSIONS)
@in_loop
async def test_a_client_certificate_that_is_demanded(version: ssl.TLSVersion) -> None:
    tls = server_context(issue(AUTHORITY), clients=AUTHORITY, version=version)
    async with listening(Kafka(), tls) as port:
        ours = config_with_key(issue(AUTHORITY, name="sre"))
        connection = await Connection.open("127.0.0.1", port, ours, ample())
        assert (await connection.request(all_topics(), ample())).cluster_id == "the-cluster"
        await connection.close()


@pytest.mark.parametrize("version", TLS_VERSIONS)
@in_loop
async def test_a_foreign_client_certificate(version: ssl.TLSVersion) -> None:
    tls = server_context(issue(AUTHORITY), clients=AUTHORITY, version=version)
    foreign = config_with_key(issue(authority("someone else"), name="sre"))
    failure = await failure_of_handshake(foreign, tls)
    assert failure.kind is FailureKind.CLIENT_CERTIFICATE_REQUIRED
    assert failure.is_authentication


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        # Before TLS 1.3 OpenSSL's alert doesn't say what is missing.
        (ssl.TLSVersion.TLSv1_2, FailureKind.TLS_FAILED),
        (ssl.TLSVersion.TLSv1_3, FailureKind.CLIENT_CERTIFICATE_REQUIRED),
    ],
)
@in_loop
async def test_a_missing_client_certificate(version: ssl.TLSVersion, kind: FailureKind) -> None:
    tls = server_context(issue(AUTHORITY), clients=AUTHORITY, version=version)
    failure = await failure_of_handshake(config(), tls)
    assert failure.kind is kind
    assert "ssl.keystore" in failure.sentence


@in_loop
async def test_a_tls_version_the_node_does_not_speak() -> None:
    tls = server_context(issue(AUTHORITY), version=ssl.TLSVersion.TLSv1_2)
    ours = config()
    assert ours.ssl_context is not None
    ours.ssl_context.minimum_version = ssl.TLSVersion.TLSv1_3
    failure = await failure_of_handshake(ours, tls)
    assert failure.kind is FailureKind.TLS_FAILED


@pytest.mark.parametrize(
    "behaviour", [hanging_up, saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"), saying(b"\0\0\0\x20abc")]
)
@in_loop
async def test_tls_to_a_plaintext_listener(behaviour: Behaviour) -> None:
    failure = await failure_of_opening(behaviour, config())
    assert failure.kind is FailureKind.WRONG_PROTOCOL
    assert "security.protocol" in failure.sentence


@in_loop
async def test_plaintext_to_a_tls_listener() -> None:
    tls = server_context(issue(AUTHORITY))
    failure = await failure_of_opening(Kafka(), ClientConfig(), tls)
    assert failure.kind is FailureKind.WRONG_PROTOCOL
    assert "security.protocol" in failure.sentence


@in_loop
async def test_a_tls_node_that_hangs_up_after_the_handshake() -> None:
    failure = await failure_of_opening(hanging_up, config(), server_context(issue(AUTHORITY)))
    assert failure.kind is FailureKind.DISCONNECTED
    assert "client certificate" in failure.sentence


@pytest.mark.parametrize("behaviour", [silent, deaf, saying(b"\x16\x03\x03")])
@in_loop
async def test_a_handshake_that_never_ends_is_bounded(behaviour: Behaviour) -> None:
    async with listening(behaviour) as port:
        with pytest.raises(ConnectionFailed, match="TLS") as caught:
            await Connection.open("127.0.0.1", port, config(), soon())
    assert caught.value.kind is FailureKind.TIMED_OUT


@in_loop
async def test_a_tls_node_that_never_answers_is_bounded() -> None:
    async with listening(silent, server_context(issue(AUTHORITY))) as port:
        with pytest.raises(ConnectionFailed) as caught:
            await Connection.open("127.0.0.1", port, config(), soon())
    assert caught.value.kind is FailureKind.TIMED_OUT


@in_loop
async def test_closing_does_not_wait_for_a_peer_that_stopped_reading() -> None:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(framed(Kafka()._api_versions(3), (await read_request(reader)).correlation_id))
        await deaf(reader, writer)

    async with listening(behave, server_context(issue(AUTHORITY))) as port:
        connection = await Connection.open("127.0.0.1", port, config(), ample())
        with pytest.raises(ConnectionFailed):
            await connection.request(all_topics(), soon())
        await asyncio.wait_for(connection.close(), timeout=5)
