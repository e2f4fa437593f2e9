"""TLS and logins: clients come in by every security.protocol, and whoever may not is told why."""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from kafka_unclean_recovery.emulator import Cluster, Security, Tls
from kafka_unclean_recovery.emulator.security import scram
from kafka_unclean_recovery.emulator.security.settings import principal_of
from tests.cluster.certificates import authority, issue
from tests.emulator.secured import (
    NUMBERS,
    PASSWORD,
    TOPIC,
    USER,
    WAYS,
    WRONG,
    Papers,
    Way,
    cluster,
    make_outage,
    tool,
)
from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.records import consume_all, numbered

LOOK = ("--all-offline-partitions", "--show-replica-info", "--format", "json")
RECOVER = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
SPEAKS_TLS = "it speaks TLS: set security.protocol to SSL or SASL_SSL"
PLAIN = Way("SASL_PLAINTEXT", "PLAIN")
SCRAM_TLS = Way("SASL_SSL", "SCRAM-SHA-512")
MUTUAL = Way("SSL", mutual=True)


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    return Papers.made(tmp_path_factory.mktemp("papers"))


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def running(papers: Papers) -> Iterator[Mapping[Way, Cluster]]:
    ways = (Way("PLAINTEXT"), PLAIN, SCRAM_TLS, MUTUAL)
    made = {way: cluster(way.security(papers)) for way in ways}
    for each in made.values():
        each.__enter__()
    yield made
    for each in made.values():
        each.__exit__(None, None, None)


def _address(cluster: Cluster) -> tuple[str, int]:
    host, _, port = cluster.bootstrap_servers.partition(",")[0].rpartition(":")
    return host, int(port)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_client_comes_in_and_the_outage_is_recovered(
    papers: Papers, tmp_path: Path, way: Way
) -> None:
    with cluster(way.security(papers)) as found:
        servers = found.bootstrap_servers
        connection = {"bootstrap.servers": servers, **way.librdkafka(papers)}
        make_outage(found, connection)
        config = papers.client_file(tmp_path, way.java(papers))
        done = tool(servers, config, *RECOVER)
        warned = [line for line in done.stderr.splitlines() if "shows the password" in line]
        assert (done.code, done.stderr.splitlines()) == (0, warned)
        assert len(warned) == (way == PLAIN)
        (row,) = done.report["partitions"]
        assert (row["outcome"], row["leader"]) == ("elected", 2)
        assert consume_all(connection, TOPIC, 0) == list(map(numbered, NUMBERS))
        # Of the dead one's it would leave a socket open.
        alive = servers.split(",")[1]
        consumer: Any = KafkaConsumer(bootstrap_servers=alive, **way.kafka_python(papers))  # type: ignore[no-untyped-call]
        assert consumer.partitions_for_topic(TOPIC) == {0}
        consumer.close()
        left = [path.read_text() for path in tmp_path.rglob("*.jsonl")]
        assert left
        assert not [text for text in (*left, done.stdout) if PASSWORD in text]


@pytest.mark.parametrize(
    ("listener", "client", "changed", "sentence"),
    [
        (PLAIN, PLAIN, {}, "it refused the login of 'sre' by PLAIN"),
        (SCRAM_TLS, SCRAM_TLS, {}, "it refused the login of 'sre' by SCRAM-SHA-512"),
        (PLAIN, Way("SASL_PLAINTEXT", "SCRAM-SHA-256"), {}, "by SCRAM-SHA-256"),
        (SCRAM_TLS, Way("SSL"), {}, "if it wants a login, set security.protocol"),
        (SCRAM_TLS, Way("PLAINTEXT"), {}, SPEAKS_TLS),
        (SCRAM_TLS, PLAIN, {}, SPEAKS_TLS),
        (SCRAM_TLS, SCRAM_TLS, {"ssl.truststore.location": "stranger"}, "is not trusted"),
        (MUTUAL, Way("SSL"), {}, "ssl.keystore"),
        (Way("PLAINTEXT"), Way("SSL"), {}, "is this a plaintext listener?"),
        (Way("PLAINTEXT"), PLAIN, {}, "the listener does not use SASL"),
    ],
    ids=[
        "wrong PLAIN password",
        "wrong SCRAM password",
        "wrong SCRAM-SHA-256 password",
        "TLS without a login",
        "plaintext to a TLS port",
        "login in plaintext to a TLS port",
        "another authority",
        "no client certificate",
        "TLS to a plaintext port",
        "login to a port without",
    ],
)
def test_a_connection_that_fails_says_why_and_gives_no_secret_away(
    running: Mapping[Way, Cluster],
    papers: Papers,
    tmp_path: Path,
    listener: Way,
    client: Way,
    changed: Mapping[str, str],
    sentence: str,
) -> None:
    """The sentences are those that real brokers bring about: tests/real."""
    others = {key: str(papers.path(name)) for key, name in changed.items()}
    config = papers.client_file(tmp_path, client.java(papers, WRONG) | others)
    servers = running[listener].bootstrap_servers
    done = tool(servers, config, *LOOK)
    assert (done.code, done.stdout) == (3, "")
    assert sentence in done.stderr
    assert WRONG not in done.stderr


def test_a_certificate_for_another_host_is_refused_unless_the_check_is_off(
    papers: Papers, tmp_path: Path
) -> None:
    with cluster(Security("SSL", papers.tls("elsewhere"))) as found:
        settings = Way("SSL").java(papers)
        config = papers.client_file(tmp_path, settings)
        done = tool(found.bootstrap_servers, config, *LOOK)
        assert done.code == 3
        assert "127.0.0.1" in done.stderr
        assert "certificate" in done.stderr
        unchecked = {"ssl.endpoint.identification.algorithm": ""}
        config = papers.client_file(tmp_path, settings | unchecked)
        assert tool(found.bootstrap_servers, config, *LOOK).code == 0


def test_a_mechanism_that_is_not_enabled_is_answered_with_those_that_are(
    papers: Papers, tmp_path: Path
) -> None:
    security = PLAIN.security(papers, mechanisms=("SCRAM-SHA-512", "PLAIN"))
    with cluster(security) as found:
        with Wire(*_address(found)) as wire:
            answer = wire.ask(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
            assert (answer.error_code, answer.mechanisms) == (33, ["SCRAM-SHA-512", "PLAIN"])
            assert _closed(wire)
        way = Way("SASL_PLAINTEXT", "SCRAM-SHA-256")
        config = papers.client_file(tmp_path, way.java(papers))
        done = tool(found.bootstrap_servers, config, *LOOK)
        assert done.code == 3
        assert "one it enables (SCRAM-SHA-512, PLAIN)" in done.stderr


@pytest.mark.not_emulated("other security")
@pytest.mark.parametrize("mechanism", ["GSSAPI", "OAUTHBEARER"])
def test_other_mechanisms_are_not_enabled(running: Mapping[Way, Cluster], mechanism: str) -> None:
    with Wire(*_address(running[PLAIN])) as wire:
        answer = wire.ask(SaslHandshakeRequest(mechanism=mechanism), 1)
        assert answer.error_code == 33


def _closed(wire: Wire) -> bool:
    with pytest.raises(OSError) as failed:
        wire.ask(ApiVersionsRequest(), 3)
    return not isinstance(failed.value, TimeoutError)


def _log_in(wire: Wire, token: bytes) -> Any:
    assert wire.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == 0
    return wire.ask(SaslAuthenticateRequest(auth_bytes=token), 2)


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (b"\0sre\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0nobody\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0sre\0", "Authentication failed: password not specified"),
        (b"\0\0wrong", "Authentication failed: username not specified"),
        (b"sre", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (f"admin\0{USER}\0{PASSWORD}".encode(), "Authentication failed: Client requested"),
    ],
)
def test_a_login_that_fails_is_answered_58_and_closed(
    running: Mapping[Way, Cluster], token: bytes, said: str
) -> None:
    with Wire(*_address(running[PLAIN])) as wire:
        answer = _log_in(wire, token)
        assert answer.error_code == 58
        assert answer.error_message.startswith(said)
        assert _closed(wire)


@pytest.mark.parametrize("user", [USER, "nobody"])
def test_scram_does_not_tell_whether_there_is_such_a_user(
    running: Mapping[Way, Cluster], user: str
) -> None:
    with Wire(*_address(running[PLAIN])) as wire:
        wire.ask(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
        answer = wire.ask(SaslAuthenticateRequest(auth_bytes=f"n,,n={user},r=a".encode()), 2)
        if user == USER:
            nonce = bytes(answer.auth_bytes).decode().split(",")[0]
            proof = f"c=biws,{nonce},p=AAAA".encode()
            answer = wire.ask(SaslAuthenticateRequest(auth_bytes=proof), 2)
        assert (answer.error_code, bytes(answer.auth_bytes)) == (58, b"")
        assert answer.error_message == (
            "Authentication failed during authentication due to invalid credentials with SASL "
            "mechanism SCRAM-SHA-256"
        )
        assert _closed(wire)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(["Metadata"], id="a request without a login"),
        pytest.param(["ApiVersions", "ApiVersions"], id="ApiVersions twice"),
        pytest.param(["SaslAuthenticate"], id="a token without a handshake"),
        pytest.param(["SaslHandshake", "Metadata"], id="a request instead of a token"),
        pytest.param(["SaslHandshake", "ApiVersions"], id="ApiVersions instead of a token"),
    ],
)
def test_what_is_out_of_turn_before_the_login_closes_the_connection(
    running: Mapping[Way, Cluster], asked: list[str]
) -> None:
    requests: Mapping[str, tuple[Any, int]] = {
        "ApiVersions": (ApiVersionsRequest(), 3),
        "Metadata": (build(MetadataRequest, {"topics": None}), 9),
        "SaslHandshake": (SaslHandshakeRequest(mechanism="PLAIN"), 1),
        "SaslAuthenticate": (SaslAuthenticateRequest(auth_bytes=b"\0sre\0pw"), 2),
    }
    with Wire(*_address(running[PLAIN])) as wire:
        for name in asked[:-1]:
            assert wire.ask(*requests[name]).error_code == 0
        with pytest.raises(ConnectionError):
            wire.ask(*requests[asked[-1]])


def test_an_unknown_version_of_api_versions_may_be_asked_again_before_the_login(
    running: Mapping[Way, Cluster],
) -> None:
    with socket.create_connection(_address(running[PLAIN]), timeout=10) as sock:
        for version, error in ((99, 35), (0, 0)):
            frame = b"\0\x12" + version.to_bytes(2, "big") + b"\0\0\0\x07\xff\xff"
            sock.sendall(len(frame).to_bytes(4, "big") + frame)
            length = int.from_bytes(_received(sock, 4), "big")
            answer = _received(sock, length)
            assert (answer[:4], answer[4:6]) == (b"\0\0\0\x07", error.to_bytes(2, "big"))


def _received(sock: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        chunk = sock.recv(count - len(found))
        if not chunk:
            raise EOFError
        found += chunk
    return found


def _send_bare(sock: socket.socket, token: bytes) -> None:
    sock.sendall(len(token).to_bytes(4, "big") + token)


@pytest.mark.parametrize(("password", "answer"), [(PASSWORD, b"\0\0\0\0"), (WRONG, b"")])
def test_tokens_come_bare_after_version_0_of_the_handshake(
    running: Mapping[Way, Cluster], password: str, answer: bytes
) -> None:
    with Wire(*_address(running[PLAIN])) as wire:
        assert wire.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0).error_code == 0
        _send_bare(wire._socket, f"\0{USER}\0{password}".encode())
        assert wire._socket.recv(100) == answer
        if password == PASSWORD:
            assert wire.ask(build(MetadataRequest, {"topics": None}), 9).cluster_id


@pytest.mark.parametrize("listener", [Way("PLAINTEXT"), PLAIN], ids=str)
def test_a_login_where_none_is_due_is_answered_34(
    running: Mapping[Way, Cluster], listener: Way
) -> None:
    with Wire(*_address(running[listener])) as wire:
        if listener is PLAIN:
            assert _log_in(wire, f"\0{USER}\0{PASSWORD}".encode()).error_code == 0
        for request, version in (
            (SaslHandshakeRequest(mechanism="PLAIN"), 1),
            (SaslAuthenticateRequest(auth_bytes=b""), 2),
        ):
            assert wire.ask(request, version).error_code == 34


def test_scram_is_that_of_rfc_7677() -> None:
    """Section 3, with its nonce and its salt."""
    nonce = "rOprNGfwEbeRWgbNEkqO"
    known = scram.credential("SCRAM-SHA-256", "pencil", bytes.fromhex(SALT))
    first = scram.challenge(f"n,,n=user,r={nonce}".encode(), known, SERVER_NONCE)
    both = nonce + SERVER_NONCE
    assert first.server_first.decode() == f"r={both},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    proof = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    final = scram.conclude(first, f"c=biws,r={both},p={proof}".encode())
    assert final == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    for wrong in (
        f"c=biws,r={both},p={proof.replace('d', 'e', 1)}",
        f"c=biws,r={both},p=",
        f"c=biws,r={nonce},p={proof}",
        f"c=eSws,r={both},p={proof}",
        "",
    ):
        with pytest.raises(scram.Refused):
            scram.conclude(first, wrong.encode())


def test_a_proof_of_scram_for_another_nonce_is_refused() -> None:
    """By a client that knows the password."""
    known = scram.credential("SCRAM-SHA-256", "pencil", bytes.fromhex(SALT))
    first = scram.challenge(b"n,,n=user,r=a", known, "b")
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", bytes.fromhex(SALT), 4096)
    key = hmac.digest(salted, b"Client Key", "sha256")
    for nonce in ("ab", "ac"):
        unsigned = f"c=biws,r={nonce}"
        signed = f"n=user,r=a,{first.server_first.decode()},{unsigned}".encode()
        signature = hmac.digest(known.stored_key, signed, "sha256")
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True)))
        final = unsigned.encode() + b",p=" + proof
        if nonce == "ab":
            assert scram.conclude(first, final).startswith(b"v=")
        else:
            with pytest.raises(scram.Refused, match="another challenge"):
                scram.conclude(first, final)


SALT = "5b6d99689d12358eeca04b141236fa81"
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"y,,n=user,r=a",
        b"p=tls,,n=user,r=a",
        b"n,,r=a",
        b"n,,n=user,r=",
        b"\xff\xfe",
        b"n,,n=",
    ],
)
def test_another_first_message_of_scram_is_refused(first: bytes) -> None:
    with pytest.raises(scram.Refused):
        scram.user_of(first)


def test_nobody_acts_for_another_by_scram() -> None:
    known = scram.credential("SCRAM-SHA-256", "pencil", b"salt")
    scram.challenge(b"n,a=us=2Cer,n=us=2Cer,r=a", known, "b")
    with pytest.raises(scram.Refused):
        scram.challenge(b"n,a=admin,n=user,r=a", known, "b")


def test_secrets_are_in_no_repr_and_no_log(
    papers: Papers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tls = Tls(papers.path("server"), key_password=PASSWORD)
    security = Security("SASL_SSL", tls, users={USER: PASSWORD})
    known = scram.credential("SCRAM-SHA-512", PASSWORD, b"salt")
    assert PASSWORD not in repr(security)
    assert "stored_key" not in repr(known)
    with caplog.at_level(logging.DEBUG), cluster(security) as found:
        assert PASSWORD not in repr(found.options)
        for password in (PASSWORD, WRONG):
            config = papers.client_file(tmp_path, SCRAM_TLS.java(papers, password))
            assert tool(found.bootstrap_servers, config, *LOOK).code == (password == WRONG) * 3
    assert PASSWORD not in caplog.text


def test_an_encrypted_key_is_opened_by_its_password_alone(papers: Papers, tmp_path: Path) -> None:
    identity = issue(authority())
    pem = tmp_path / "encrypted.pem"
    pem.write_text(identity.certificate_pem + identity.key_pem(PASSWORD))
    with cluster(Security("SSL", Tls(pem, key_password=PASSWORD))):
        pass
    for password in (None, WRONG):
        with pytest.raises(OSError), cluster(Security("SSL", Tls(pem, key_password=password))):
            pass


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"protocol": "TLS"}, "use PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
        ({"protocol": "SSL"}, "needs a certificate: set tls"),
        ({"protocol": "PLAINTEXT", "tls": Tls(Path("x.pem"))}, "has no TLS: drop tls"),
        ({"protocol": "SASL_PLAINTEXT"}, "needs users"),
        ({"mechanisms": ("GSSAPI",)}, "SASL mechanism 'GSSAPI'"),
        ({"rights": {USER: ["Topic:READ"]}}, "Topic needs a name"),
        ({"rights": {USER: ["Cluster(x):ALTER"]}}, "Cluster has no name"),
        ({"rights": {USER: ["Cluster:READ"]}}, "Cluster has the operations ALTER, "),
        ({"rights": {USER: ["READ"]}}, "write it as"),
    ],
)
def test_what_does_not_fit_together_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("(", "\\(")):
        Security(**wrong)


def test_a_client_certificate_s_subject_is_its_principal() -> None:
    subject = ((("countryName", "CH"),), (("organizationName", "A, B"),), (("commonName", "sre"),))
    assert principal_of({"subject": subject}) == "CN=sre,O=A\\, B,C=CH"
    assert principal_of(None) == "ANONYMOUS"
