"""OAUTHBEARER: where tokens come from, how a node is shown them, and that nothing tells them."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.sasl import SaslAuthenticateResponse, SaslHandshakeResponse

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.config.oauth_settings import OAuthBearer
from kafka_unclean_recovery.cluster.config.security import client_config
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.errors import ConfigError
from kafka_unclean_recovery.model import Broker

from .certificates import authority, issue, server_context
from .fake_node import Kafka, Received, ample, in_loop, listening, metadata, soon

AUTHORITY = authority()
SECRET, TOKEN = "client-sesame", "opaque.sesame-token"
PACKAGE = "org.apache.kafka.common.security.oauthbearer."
HANDLER = f"{PACKAGE}OAuthBearerLoginCallbackHandler"
MODULE = f"{PACKAGE}OAuthBearerLoginModule required"


def settings(url: str = "", options: str = "", **more: str) -> dict[str, str]:
    """Return settings; in keys of `more` underscores stand for dots."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": HANDLER,
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.jaas.config": f"{MODULE} {options};",
        **{key.replace("_", "."): value for key, value in more.items()},
    }


def granted(port: int, more: str = "", scheme: str = "https") -> dict[str, str]:
    """Return settings with client credentials, and trust in AUTHORITY."""
    trust = AUTHORITY.certificate_pem.replace("\n", "\\n")
    options = f'clientId="me" clientSecret="{SECRET}" ssl.truststore.certificates="{trust}"'
    return settings(f"{scheme}://127.0.0.1:{port}/token", f"{options} {more}")


def configured(properties: dict[str, str]) -> ClientConfig:
    config = client_config(properties, "client.properties")
    assert config.not_honoured == ()
    for secret in (SECRET, TOKEN):
        assert secret not in repr(config)
    return config


def jwt(**claims: object) -> str:
    parts: tuple[object, ...] = ({"alg": "none"}, {"sub": "sre", **claims})
    encoded = (base64.urlsafe_b64encode(json.dumps(each).encode()) for each in parts)
    return ".".join([*(text.decode().rstrip("=") for text in encoded), ""])


class Endpoint:
    """A token endpoint: what it was sent, and the answer it gives."""

    def __init__(self, body: object = None, status: str = "200 OK", raw: bytes = b"") -> None:
        body = {"access_token": TOKEN, "expires_in": 3600} if body is None else body
        text = json.dumps(body).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
        self.answer = raw or head.encode() + b"Content-Length: %d\r\n\r\n" % len(text) + text
        self.requests: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
        self.requests.append(head + (await reader.readexactly(length)).decode())
        writer.write(self.answer)
        await writer.drain()
        # As one that keeps the connection alive, whatever was asked.
        await reader.read()


@asynccontextmanager
async def endpoint(found: Endpoint, **identity: Any) -> AsyncIterator[int]:
    async with listening(found, server_context(issue(AUTHORITY, **identity))) as port:
        yield port


async def token_of(properties: dict[str, str], deadline: Deadline | None = None) -> str:
    config = configured(properties)
    assert isinstance(config.sasl, OAuthBearer)
    return (await config.sasl.tokens.token("node:9092", deadline or ample())).value


async def refusal(properties: dict[str, str], deadline: Deadline | None = None) -> str:
    with pytest.raises(ConnectionFailed) as caught:
        await token_of(properties, deadline)
    assert caught.value.kind is FailureKind.NO_TOKEN
    assert caught.value.is_authentication
    message = f"{caught.value} {caught.value!r}"
    assert message.startswith("node:9092: no token for it: ")
    assert "sesame" not in message
    return message


@pytest.mark.parametrize("in_jaas", [True, False])
@in_loop
async def test_the_grant_of_client_credentials(in_jaas: bool) -> None:
    found = Endpoint()
    async with endpoint(found) as port:
        properties = granted(port, 'scope="kafka read"')
        if not in_jaas:
            properties |= {
                "sasl.oauthbearer.client.credentials.client.id": "m:e",
                "sasl.oauthbearer.client.credentials.client.secret": "client/sesame",
                "sasl.oauthbearer.scope": "other",
                "sasl.oauthbearer.header.urlencode": "true",
            }
        assert await token_of(properties) == TOKEN
    (request,) = found.requests
    pair, scope = (f"me:{SECRET}", "kafka+read") if in_jaas else ("m%3Ae:client%2Fsesame", "other")
    assert request.startswith(f"POST /token HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n")
    assert f"\r\nAuthorization: Basic {base64.b64encode(pair.encode()).decode()}\r\n" in request
    assert request.endswith(f"\r\n\r\ngrant_type=client_credentials&scope={scope}")


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = json.dumps({"id_token": TOKEN}).encode()


@pytest.mark.parametrize(
    "raw",
    [
        CHUNKED + b"5\r\n" + BODY[:5] + b"\r\n%x\r\n" % len(BODY[5:]) + BODY[5:] + b"\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY)
        + BODY,
    ],
    ids=["chunked", "continued"],
)
@in_loop
async def test_other_ways_to_answer(raw: bytes) -> None:
    async with endpoint(Endpoint(raw=raw)) as port:
        assert await token_of(granted(port)) == TOKEN


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (
            Endpoint({"error": "invalid_client", "error_description": SECRET}, "401 Unauthorized"),
            "it answered 401 (invalid_client): check the client id, its secret and the scope",
        ),
        (Endpoint({"error": f"<{SECRET}>"}, "400 Bad Request"), "it answered 400: check"),
        (Endpoint(status="302 Found"), "it answered 302: check"),
        (Endpoint([]), "its answer holds no access_token"),
        (Endpoint({"access_token": "sesame\x01auth=x"}), "is no token: it has other characters"),
        (Endpoint({"access_token": jwt(exp=time.time() - 60)}), " s ago: renew it, or set the"),
        (Endpoint(raw=b"sesame\r\n\r\n"), "its answer is no HTTP"),
        (Endpoint(raw=b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (2 << 20)), "is longer than 1048576"),
    ],
    ids=[
        "refused", "odd error", "redirected", "no object", "split", "expired", "no HTTP", "endless"
    ],
)  # fmt: skip
@in_loop
async def test_an_endpoint_that_gives_no_token(found: Endpoint, says: str) -> None:
    async with endpoint(found) as port:
        message = await refusal(granted(port))
    assert f"https://127.0.0.1:{port}/token: " in message
    assert says in message


@in_loop
async def test_an_endpoint_is_not_believed_by_its_word() -> None:
    found = Endpoint()
    untrusted = {"ssl.truststore.certificates": issue(AUTHORITY).certificate_pem}
    async with endpoint(found, ips=["127.0.0.9"]) as port:
        message = await refusal(granted(port))
        assert "its certificate is for another host name" in message
        assert "(ssl.* for it stand in sasl.jaas.config)" in message
        unchecked = granted(port, "ssl.endpoint.identification.algorithm=''")
        assert await token_of(unchecked) == TOKEN
        # What the brokers' side of the file trusts is not asked, as in Kafka.
        options = f'clientId="me" clientSecret="{SECRET}"'
        url = f"https://127.0.0.1:{port}/token"
        message = await refusal(settings(url, options) | untrusted)
        assert "its certificate is not trusted" in message
    assert len(found.requests) == 1
    assert "no connection (connection refused)" in await refusal(granted(port))


@pytest.mark.parametrize("silent_at", ["handshake", "answer"])
@in_loop
async def test_an_endpoint_that_stalls_is_given_up_at_the_deadline(silent_at: str) -> None:
    async def stall(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            pass

    tls = server_context(issue(AUTHORITY)) if silent_at == "answer" else None
    async with listening(stall, tls) as port:
        assert "no answer in time" in await refusal(granted(port), soon())


@in_loop
async def test_an_answer_that_is_cut_off_is_none() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n" + BODY)
        writer.close()

    async with listening(half) as port:
        assert "its answer is no HTTP" in await refusal(granted(port, scheme="http"))


@in_loop
async def test_an_endpoint_with_an_address_of_ipv6_may_have_the_usual_port() -> None:
    options = f'clientId="me" clientSecret="{SECRET}"'
    assert "no connection (" in await refusal(settings("http://[::1]/token", options))


@in_loop
async def test_plain_http_is_for_this_machine_alone() -> None:
    async with listening(Endpoint()) as port:
        assert await token_of(granted(port, scheme="http")) == TOKEN
    elsewhere = settings("http://idp.example/token", f'clientId=me clientSecret="{SECRET}"')
    with pytest.raises(ConfigError, match="unencrypted: use https"):
        configured(elsewhere)


@in_loop
async def test_one_token_serves_until_it_is_used_up_or_refused() -> None:
    found = Endpoint({"access_token": TOKEN, "expires_in": 0.001})
    async with endpoint(found) as port:
        config = configured(granted(port))
        assert isinstance(config.sasl, OAuthBearer)
        tokens = config.sasl.tokens
        await tokens.token("a", ample())
        await asyncio.sleep(0.002)
        found.answer = Endpoint().answer
        second, third = await asyncio.gather(tokens.token("a", ample()), tokens.token("b", ample()))
        assert second is third
        assert len(found.requests) == 2
        tokens.forget(second)
        await tokens.token("a", ample())
        assert len(found.requests) == 3


@in_loop
async def test_a_token_in_a_file_is_read_each_time_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "a token"
    path.write_text(f"{TOKEN}\n")
    properties = settings(f"file://{tmp_path}/a%20token")
    assert await token_of(properties) == TOKEN
    path.write_text(jwt(exp=time.time() - 90.5))
    assert f"{path}: its token expired " in await refusal(properties)
    path.write_text("sésame")
    assert f"{path}: the file can't be read (not a token)" in await refusal(properties)
    path.unlink()
    assert "can't be read (No such file or directory)" in await refusal(properties)


@in_loop
async def test_a_token_file_that_never_ends_is_given_up_and_holds_up_nobody(tmp_path: Path) -> None:
    pipe = tmp_path / "token"
    os.mkfifo(pipe)
    others = asyncio.create_task(asyncio.sleep(0.05))
    message = await refusal(settings(pipe.as_uri()), soon())
    assert f"{pipe}: the file is one whose end did not come within 0.2 s" in message
    assert others.done(), "the loop stood still"
    os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))  # Lets go who still reads.
    assert "/dev/zero: the file can't be read (more than 1048576 bytes" in await refusal(
        settings("file:///dev/zero")
    )


@pytest.mark.parametrize(
    "expires_in", ["9" * 400, "-" + "9" * 400, "1e400", "-1e400", "NaN", "0", "true", '"x"', "{}"]
)
@in_loop
async def test_a_token_is_good_for_a_while_however_odd_its_lifetime(expires_in: str) -> None:
    odd = jwt(exp=time.time() + 600)
    body = f'{{"access_token": "{odd}", "expires_in": {expires_in}}}'.encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with endpoint(Endpoint(raw=head + body)) as port:
        config = configured(granted(port))
        assert isinstance(config.sasl, OAuthBearer)
        token = await config.sasl.tokens.token("node:9092", ample())
    assert 500 < token.lifetime <= 366 * 86_400


@pytest.mark.parametrize(
    ("exp", "says"),
    [
        (10**300, None),
        (-(10**300), "its token expired "),
        (float("inf"), None),
        (float("nan"), None),
        ("soon", None),
    ],
)
@in_loop
async def test_odd_times_in_a_token_are_no_traceback(
    tmp_path: Path, exp: object, says: str | None
) -> None:
    path = tmp_path / "token"
    path.write_text(jwt(exp=exp))
    if says is None:
        assert await token_of(settings(path.as_uri())) == path.read_text()
    else:
        message = await refusal(settings(path.as_uri()))
        assert says in message
        assert len(message) < 1000


@in_loop
async def test_unsecured_tokens_hold_the_claims_of_the_login_module() -> None:
    options = (
        'unsecuredLoginStringClaim_sub="sre" unsecuredLoginNumberClaim_level=7 '
        'unsecuredLoginListClaim_scope="|a|b" unsecuredLoginLifetimeSeconds=60'
    )
    token = await token_of(settings(options=options, sasl_login_callback_handler_class=""))
    header, claims, signature = token.split(".")
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "none"}
    found = json.loads(base64.urlsafe_b64decode(claims + "=="))
    assert (found["sub"], found["level"], found["scope"]) == ("sre", 7, ["a", "b"])
    assert found["exp"] - found["iat"] == 60
    # Brokers truncate their clock to ms, and refuse what was issued later.
    assert found["iat"] == int(found["iat"])
    assert signature == ""


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        (settings(), "sasl.oauthbearer.token.endpoint.url is missing"),
        (settings("https://[x/"), "is no URL"),
        (settings("ftp://host/x"), "must be https://host/path or file:///path"),
        (settings("https:///x"), "must be https://host/path"),
        (settings("https://host/a b"), "must be https://host/path"),
        (settings("https://host/\r\nX: sesame"), "must be https://host/path"),
        (settings("file://host/x"), "must be https://host/path or file:///path"),
        (settings("https://me:sesame@host/x"), "holds a user or password"),
        (settings("https://host/x"), "client.id is missing, and clientId of sasl.jaas.config"),
        (settings("https://host/x", "clientId=me"), "client.secret is missing"),
        (settings("https://h/", "clientId=a clientSecret=b ssl.truststore.location=/x"), "'/x'"),
        (settings("file:///x", sasl_login_callback_handler_class="x.Y"), "not supported: set it"),
        (settings("file:///x", sasl_oauthbearer_jwt_retriever_class="x"), "retriever.class is not"),
        (settings("https://h/", sasl_oauthbearer_assertion_file="/k"), "assertions are not"),
        (settings("file:///x", "extension_auth=x"), "extension_auth is no SASL extension"),
        (settings("file:///x", "extension_a='\\001'"), "extension_a is no SASL extension"),
        (
            settings(options="unsecuredLoginStringClaim_sub=a unsecuredLoginNumberClaim_n=b")
            | {"sasl.login.callback.handler.class": ""},
            "unsecuredLoginNumberClaim_n is no number",
        ),
    ],
)  # fmt: skip
def test_mistakes_in_the_client_file(properties: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        client_config(properties, "client.properties")
    message = str(caught.value)
    assert says in message
    assert message.startswith("client.properties: ")
    assert "sesame" not in message


class Listener:
    """Enables OAUTHBEARER, and takes one token."""

    def __init__(self, message: str, session_ms: int = 0) -> None:
        self.wanted = message.encode()
        self.shown: list[bytes] = []
        self.session_ms = session_ms

    def __call__(self, request: Received) -> Any:
        if request.key == 17:
            assert request.message.mechanism == "OAUTHBEARER"
            return SaslHandshakeResponse(
                version=request.version, error_code=0, mechanisms=["OAUTHBEARER"]
            )
        if request.key != 36:
            return metadata(request)
        self.shown.append(request.message.auth_bytes)
        told: dict[str, Any] = {"error_code": 0, "error_message": None, "auth_bytes": b""}
        if self.shown[-1] == b"\x01":
            told |= {"error_code": 58, "error_message": '{"status":"invalid_token"}'}
        elif self.shown[-1] != self.wanted:
            told["auth_bytes"] = b'{"status":"invalid_token"}'
        told["session_lifetime_ms"] = self.session_ms
        return SaslAuthenticateResponse(version=request.version, **told)


def held_in(path: Path, token: str, options: str = "") -> ClientConfig:
    path.write_text(token)
    return configured(settings(path.as_uri(), options))


@in_loop
async def test_a_node_takes_the_token_and_the_extensions(tmp_path: Path) -> None:
    config = held_in(tmp_path / "token", TOKEN, "extension_logicalCluster=lkc-1 extension_b='c d'")
    node = Listener(f"n,,\x01auth=Bearer {TOKEN}\x01logicalCluster=lkc-1\x01b=c d\x01\x01")
    async with (
        listening(Kafka(node)) as port,
        await Connection.open("127.0.0.1", port, config, ample()) as connection,
    ):
        assert (await connection.request(MetadataRequest(), ample())).cluster_id == "the-cluster"
        assert not connection.closed


@in_loop
async def test_a_node_that_refuses_the_token_is_asked_why(tmp_path: Path) -> None:
    node, config = Listener("another"), held_in(tmp_path / "token", TOKEN)
    async with listening(Kafka(node)) as port:
        with pytest.raises(ConnectionFailed) as caught:
            await Connection.open("127.0.0.1", port, config, ample())
    assert caught.value.kind is FailureKind.AUTHENTICATION_FAILED
    assert 'it refused our token ({"status":"invalid_token"}): check' in caught.value.sentence
    assert node.shown[1:] == [b"\x01"]
    assert "sesame" not in f"{caught.value!r} {caught.value}"


@in_loop
async def test_a_login_that_ends_soon_is_made_again(tmp_path: Path) -> None:
    config = held_in(tmp_path / "token", TOKEN)
    node = Listener(f"n,,\x01auth=Bearer {TOKEN}\x01\x01", session_ms=1)
    async with listening(Kafka(node)) as port:
        nodes = Nodes([], config)
        broker = Broker(1, "127.0.0.1", port)
        first = await nodes.broker(broker, ample())
        while not first.closed:
            await asyncio.sleep(0.001)
        node.session_ms = 3_600_000
        second = await nodes.broker(broker, ample())
        assert second is not first
        assert await nodes.broker(broker, ample()) is second
        # Who still waits for an answer gets it.
        assert (await first.request(MetadataRequest(), ample())).cluster_id == "the-cluster"
        await nodes.close()
