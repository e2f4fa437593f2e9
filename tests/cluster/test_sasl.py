from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.sasl import SaslAuthenticateResponse, SaslHandshakeResponse

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig, SaslCredentials
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.cluster.wire.login_apis import SASL_AUTHENTICATE, SASL_HANDSHAKE
from kafka_unclean_recovery.cluster.wire.sasl import log_in
from tests.hostile.fields import At, changed, fields
from tests.hostile.odd import EXTREMES, TEXTS

from .fake_node import Kafka, Received, ample, in_loop, listening, metadata, soon
from .scram_server import ScramServer

Login = Callable[[bytes], bytes]
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


class Guarded:
    """Answers of a node that enables one mechanism and logs in by `login`, afresh each time."""

    def __init__(self, mechanism: str, login: Callable[[], Login]) -> None:
        self.mechanism = mechanism
        self._new_login = login
        self._login: Login | None = None

    def __call__(self, request: Received) -> Any:
        if request.key == 17:
            return self._handshake(request)
        if request.key == 36:
            return self._authenticate(request)
        return metadata(request)

    def _handshake(self, request: Received) -> Any:
        self._login = self._new_login()
        enabled = request.message.mechanism == self.mechanism
        return SaslHandshakeResponse(
            version=request.version, error_code=0 if enabled else 33, mechanisms=[self.mechanism]
        )

    def _authenticate(self, request: Received) -> Any:
        assert self._login is not None
        try:
            token = self._login(request.message.auth_bytes)
        except PermissionError as error:
            return SaslAuthenticateResponse(
                version=request.version, error_code=58, error_message=str(error), auth_bytes=b""
            )
        return SaslAuthenticateResponse(
            version=request.version, error_code=0, error_message=None, auth_bytes=token
        )


def plain(name: str, password: str) -> Login:
    def login(token: bytes) -> bytes:
        if token.decode().split("\0")[1:] != [name, password]:
            raise PermissionError("Authentication failed: Invalid username or password")
        return b""

    return login


def guarded(mechanism: str, name: str, password: str, impostor: bool = False) -> Guarded:
    if mechanism == "PLAIN":
        return Guarded(mechanism, lambda: plain(name, password))
    return Guarded(mechanism, lambda: ScramServer(mechanism, name, password, impostor).step)


def config(mechanism: str, name: str = "sre", password: str = "sesame") -> ClientConfig:
    return ClientConfig("SASL_PLAINTEXT", sasl=SaslCredentials(mechanism, name, password))


async def refusal(answer: Callable[[Received], Any], config: ClientConfig) -> ConnectionFailed:
    async with listening(Kafka(answer)) as port:
        with pytest.raises(ConnectionFailed) as caught:
            await Connection.open("127.0.0.1", port, config, ample())
    assert "sesame" not in f"{caught.value!r} {caught.value}"
    return caught.value


@pytest.mark.parametrize("name", ["sre", "a,b=c", "zoë"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@in_loop
async def test_the_right_password_logs_in(mechanism: str, name: str) -> None:
    node = Kafka(guarded(mechanism, name, "sésame, ouvre=toi"))
    async with (
        listening(node) as port,
        await Connection.open(
            "127.0.0.1", port, config(mechanism, name, "sésame, ouvre=toi"), ample()
        ) as connection,
    ):
        assert (await connection.request(MetadataRequest(), ample())).cluster_id == "the-cluster"
    tokens = 1 if mechanism == "PLAIN" else 2
    assert [r.key for r in node.received] == [18, 17, *([36] * tokens), 3]
    assert node.received[1].version == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
@in_loop
async def test_a_wrong_password_is_refused_in_the_nodes_words(mechanism: str) -> None:
    failure = await refusal(guarded(mechanism, "sre", "other"), config(mechanism))
    assert failure.kind is FailureKind.AUTHENTICATION_FAILED
    assert failure.is_authentication
    said = {"PLAIN": "Invalid username or password"}.get(mechanism, "wrong proof")
    assert said in failure.sentence
    assert "'sre'" in failure.sentence


@in_loop
async def test_an_unknown_user_is_refused() -> None:
    failure = await refusal(guarded("SCRAM-SHA-256", "other", "x"), config("SCRAM-SHA-256"))
    assert failure.kind is FailureKind.AUTHENTICATION_FAILED


@in_loop
async def test_a_mechanism_that_is_not_enabled_is_answered_with_those_that_are() -> None:
    failure = await refusal(guarded("SCRAM-SHA-512", "sre", "sesame"), config("PLAIN"))
    assert failure.kind is FailureKind.MECHANISM_NOT_ENABLED
    assert "(SCRAM-SHA-512)" in failure.sentence


@pytest.mark.parametrize("iterations", ["1", "4095", "8192,i=4095"])
@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@in_loop
async def test_no_proof_is_given_for_fewer_iterations_than_kafkas_own_clients_ask_for(
    mechanism: str, iterations: str
) -> None:
    server = ScramServer(mechanism, "sre", "sesame", iterations=iterations)
    node = Guarded(mechanism, lambda: server.step)
    failure = await refusal(node, config(mechanism))
    assert failure.kind is FailureKind.AUTHENTICATION_FAILED
    assert "fewer than 4096 iterations" in failure.sentence
    assert len(server.messages) == 2, "the proof was sent"


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@in_loop
async def test_a_server_that_does_not_know_the_password_is_not_believed(mechanism: str) -> None:
    failure = await refusal(guarded(mechanism, "sre", "sesame", impostor=True), config(mechanism))
    assert failure.kind is FailureKind.AUTHENTICATION_FAILED
    assert "is this the cluster you mean" in failure.sentence


@pytest.mark.parametrize(
    "token",
    [b"", b"nonsense", b"\xff", b"r=1,s=!,i=4096", b"r=1,i=4096", b"r=1,s=YWJj,i=-1", b"e=other"],
)
@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "PLAIN"])
@in_loop
async def test_a_server_that_answers_nonsense_is_not_believed(mechanism: str, token: bytes) -> None:
    if (mechanism, token) == ("PLAIN", b""):
        return  # the right answer there
    node = Guarded(mechanism, lambda: lambda _: token)
    failure = await refusal(node, config(mechanism))
    assert failure.kind is FailureKind.AUTHENTICATION_FAILED


@in_loop
async def test_a_listener_without_sasl_says_so() -> None:
    def answer(request: Received) -> Any:
        return SaslHandshakeResponse(version=request.version, error_code=34, mechanisms=[])

    failure = await refusal(answer, config("PLAIN"))
    assert failure.kind is FailureKind.WRONG_PROTOCOL
    assert "security.protocol" in failure.sentence


@pytest.mark.parametrize("silent_at", [17, 36])
@in_loop
async def test_a_login_that_stalls_ends_at_the_deadline(silent_at: int) -> None:
    node = guarded("PLAIN", "sre", "sesame")
    stalling = Kafka(lambda request: None if request.key == silent_at else node(request))
    async with listening(stalling) as port:
        with pytest.raises(ConnectionFailed) as caught:
            await Connection.open("127.0.0.1", port, config("PLAIN"), soon())
    assert caught.value.kind is FailureKind.TIMED_OUT


@pytest.mark.parametrize("mechanism", MECHANISMS)
@in_loop
async def test_nothing_is_logged(mechanism: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with listening(Kafka(guarded(mechanism, "sre", "sesame"))) as port:
        connection = await Connection.open("127.0.0.1", port, config(mechanism), ample())
        await connection.close()
    assert caplog.records == []


def server_first(message: str) -> Callable[[], Login]:
    """Return a server whose first message is this, with {nonce} for the client's."""

    def login(token: bytes) -> bytes:
        nonce = token.decode().partition("r=")[2].partition(",")[0]
        return message.format(nonce=nonce).encode()

    return lambda: login


@pytest.mark.parametrize(
    "message",
    [
        "i=1,r={nonce}server,s=YWJj",
        "s=YWJj,i=1,r={nonce}server",
        "r={nonce}server,s=YWJj,i=4096,i=1",
        "r={nonce}server,s=YWJj,i=0001",
    ],
)
@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@in_loop
async def test_no_proof_of_few_iterations_is_sent_wherever_their_number_stands(
    mechanism: str, message: str
) -> None:
    node = Kafka(Guarded(mechanism, server_first(message)))
    async with listening(node) as port:
        with pytest.raises(ConnectionFailed, match="fewer than 4096 iterations"):
            await Connection.open("127.0.0.1", port, config(mechanism), ample())
    assert [request.key for request in node.received] == [18, 17, 36], "the proof was sent"


@pytest.mark.parametrize(
    "message",
    [
        "m=must,r={nonce}server,s=YWJj,i=4096",
        "r={nonce},s=YWJj,i=4096",
        "r=server,s=YWJj,i=4096",
        "s=YWJj,r={nonce}server,i=4096",
        "i=4096,r={nonce}server,s=YWJj",
        "r={nonce}server,s=YWJj,i=4096,s=YWJk",
        "r={nonce}server,s=YWJj,i=4096,r={nonce}other",
        "r={nonce}server,s=YWJj,i=4096,m=must",
        "r={nonce}server,s=YWJj,i=04096",
        "r={nonce}server,s=YWJj,i=4_096",
        "r={nonce}server,s=YW Jj,i=4096",
        "r={nonce}server,s=,i=4096",
        "r={nonce}server,s=YWJj,i=1000001",
        "r={nonce}server,s=YWJj,i=" + "9" * 5000,
        "r={nonce}server,s=YWJj,i=4096,x",
        "r={nonce}" + "a" * 20_000 + ",s=YWJj,i=4096",
    ],
)
@in_loop
async def test_no_proof_is_sent_for_a_message_that_the_rfc_does_not_know(message: str) -> None:
    node = Kafka(Guarded("SCRAM-SHA-256", server_first(message)))
    async with listening(node) as port:
        with pytest.raises(ConnectionFailed, match="is this the cluster you mean"):
            await Connection.open("127.0.0.1", port, config("SCRAM-SHA-256"), ample())
    assert [request.key for request in node.received] == [18, 17, 36], "the proof was sent"


@in_loop
async def test_extensions_of_a_servers_first_message_are_passed_over() -> None:
    server = ScramServer("SCRAM-SHA-256", "sre", "sesame", iterations="4096,x=y")
    async with (
        listening(Kafka(Guarded("SCRAM-SHA-256", lambda: server.step))) as port,
        await Connection.open("127.0.0.1", port, config("SCRAM-SHA-256"), ample()),
    ):
        pass


def _told(name: str) -> dict[str, Any]:
    if name == SASL_HANDSHAKE.name:
        return {"error_code": 0, "mechanisms": ["PLAIN"]}
    return {"error_code": 0, "error_message": None, "auth_bytes": b"", "session_lifetime_ms": 0}


@pytest.mark.parametrize("at", [*fields(SASL_HANDSHAKE), *fields(SASL_AUTHENTICATE)], ids=str)
@in_loop
async def test_whatever_is_told_at_a_login_lets_in_or_refuses(at: At) -> None:
    """Each text and each extreme in each field of both answers, with an error and without."""
    values = [*TEXTS.values()] if at.is_text else [*EXTREMES[at.kind]]
    refusals, lifetimes = set(), set()
    for value, error in itertools.product(values, (0, 33, 34, 58)):

        async def ask(request: Message) -> Any:
            answer = _told(request.api.name) | {"error_code": error}  # noqa: B023 - awaited below
            if request.api.name == at.api:
                changed(answer, at, value)  # noqa: B023
            return answer

        try:
            lifetimes.add(await log_in(ask, SaslCredentials("PLAIN", "a", "b"), "b:1", ample()))
        except ConnectionFailed as refused:
            refusals.add(refused.kind)
    assert refusals <= {
        FailureKind.AUTHENTICATION_FAILED,
        FailureKind.MECHANISM_NOT_ENABLED,
        FailureKind.WRONG_PROTOCOL,
    }
    assert all(seconds is None or seconds > 0 for seconds in lifetimes)
