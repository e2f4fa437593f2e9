from __future__ import annotations

import os
import ssl
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig, SaslCredentials
from kafka_unclean_recovery.cluster.config.key_stores import pem_blocks
from kafka_unclean_recovery.cluster.config.properties import parse_properties
from kafka_unclean_recovery.cluster.config.security import client_config, load_client_config
from kafka_unclean_recovery.cluster.wire.tls import key_blocks
from kafka_unclean_recovery.errors import ConfigError

from .certificates import authority, issue

AUTHORITY = authority()
CLIENT = issue(AUTHORITY, name="sre")
OTHER = issue(AUTHORITY, name="other")

JAAS = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="sre" password="sesame";'
)


def configured(**properties: str) -> ClientConfig:
    """Return the configuration; in keys underscores stand for dots."""
    return client_config(_dotted(properties), "client.properties")


def refused(**properties: str) -> str:
    with pytest.raises(ConfigError) as caught:
        configured(**properties)
    message = str(caught.value)
    assert message.startswith("client.properties: ")
    assert "sesame" not in message
    return message


def _dotted(properties: dict[str, str]) -> dict[str, str]:
    return {key.replace("_", "."): value for key, value in properties.items()}


def one_line(pem: str) -> str:
    """Return the PEM text as continued lines of a properties file collapse."""
    return " ".join(pem.split("\n"))


def test_no_file_means_plaintext() -> None:
    config = ClientConfig()
    assert (config.security_protocol, config.client_id) == ("PLAINTEXT", "kafka-unclean-recovery")
    assert config.request_timeout_ms is None


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL", "sasl_ssl"])
def test_security_protocols(protocol: str) -> None:
    config = configured(security_protocol=protocol, sasl_mechanism="PLAIN", sasl_jaas_config=JAAS)
    assert config.security_protocol == protocol.upper()
    assert (config.ssl_context is not None) == protocol.upper().endswith("SSL")
    assert (config.sasl is not None) == protocol.upper().startswith("SASL")


def test_an_unknown_security_protocol() -> None:
    assert "security.protocol is unknown: set one of PLAINTEXT, SSL" in refused(
        security_protocol="TLS"
    )


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_credentials(mechanism: str) -> None:
    config = configured(
        security_protocol="SASL_PLAINTEXT", sasl_mechanism=mechanism, sasl_jaas_config=JAAS
    )
    assert config.sasl == SaslCredentials(mechanism, "sre", "sesame")
    assert "sesame" not in repr(config)


@pytest.mark.parametrize(
    ("mechanism", "jaas", "said"),
    [
        ("", JAAS, "missing, which means GSSAPI"),
        ("GSSAPI", JAAS, "set one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
        ("OAUTHBEARER", JAAS, "lacks unsecuredLoginStringClaim_sub"),
        ("PLAIN", "", "sasl.jaas.config is missing"),
        ("PLAIN", JAAS.rstrip(";"), "semicolon"),
        ("PLAIN", 'a.Module required password="sesame";', "lacks username"),
        ("PLAIN", 'a.Module required username="sre";', "lacks password"),
        ("PLAIN", 'a.Module required username="sre" password="";', "lacks password"),
        ("SCRAM-SHA-256", JAAS.replace(";", ' tokenauth="true";'), "delegation token"),
    ],
)
def test_mistakes_in_sasl(mechanism: str, jaas: str, said: str) -> None:
    message = refused(security_protocol="SASL_SSL", sasl_mechanism=mechanism, sasl_jaas_config=jaas)
    assert said in message
    assert "sasl." in message


@pytest.mark.parametrize(
    "value",
    ["", "soon", "-1", "0", "1.5", "²", "2147483648", "9" * 5000, "0" * 9 + "1" + "9" * 5000],
)
def test_a_request_timeout_that_is_no_number(value: str) -> None:
    assert "request.timeout.ms" in refused(request_timeout_ms=value)


def test_the_small_keys() -> None:
    assert configured(request_timeout_ms=f"{'0' * 5000}15").request_timeout_ms == 15
    config = configured(request_timeout_ms=" 1500 ", client_id="me")
    assert (config.request_timeout_ms, config.client_id) == (1500, "me")


@pytest.mark.parametrize(
    ("algorithm", "checked"), [(None, True), ("https", True), ("HTTPS", True), ("", False)]
)
def test_the_host_name_check(algorithm: str | None, checked: bool) -> None:
    named = {} if algorithm is None else {"ssl_endpoint_identification_algorithm": algorithm}
    config = configured(security_protocol="SSL", **named)
    assert config.check_hostname is checked
    assert config.ssl_context is not None
    assert config.ssl_context.check_hostname is checked
    assert config.ssl_context.verify_mode is ssl.CERT_REQUIRED


def test_an_unknown_host_name_check() -> None:
    key = "ssl.endpoint.identification.algorithm"
    assert key in refused(ssl_endpoint_identification_algorithm="none")


def test_keys_without_effect_are_named_in_order() -> None:
    config = configured(
        security_protocol="PLAINTEXT",
        ssl_trustmanager_algorithm="PKIX",
        ssl_enabled_protocols="TLSv1.3",
        bootstrap_servers="b1:9092",
        ssl_truststore_location="/nowhere",
    )
    assert config.not_honoured == (
        "bootstrap.servers",
        "ssl.enabled.protocols",
        "ssl.trustmanager.algorithm",
    )


def test_a_secret_that_became_a_key_is_not_named() -> None:
    text = (
        'sasl.jaas.config=a.Module required username="sre"\n  password="sesame";\nSesame2\n'
        "ssl.keystore.key=-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqG\nacks=all\n"
    )
    config = client_config(parse_properties(text, "f"), "f")
    acks, other = config.not_honoured
    assert (acks, other.split(" (")[0]) == ("acks", "what is no key of Kafka's")


@pytest.mark.parametrize("reshape", [str, one_line, str.strip])
@pytest.mark.parametrize("password", [None, "sesame"])
def test_inline_stores(reshape: Callable[[str], str], password: str | None) -> None:
    config = configured(
        security_protocol="SSL",
        ssl_truststore_type="PEM",
        ssl_truststore_certificates=reshape(AUTHORITY.certificate_pem + OTHER.certificate_pem),
        ssl_keystore_type="PEM",
        ssl_keystore_certificate_chain=reshape(CLIENT.certificate_pem),
        ssl_keystore_key=reshape(CLIENT.key_pem(password)),
        ssl_key_password=password or "",
    )
    assert config.ssl_context is not None
    assert config.ssl_context.cert_store_stats()["x509"] == 2
    assert not config.ssl_context.verify_flags & ssl.VERIFY_X509_STRICT


@pytest.mark.parametrize(
    "declared", [{}, {"ssl_truststore_type": "PEM", "ssl_keystore_type": "pem"}]
)
@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_stores_in_files(tmp_path: Path, declared: dict[str, str], form: PrivateFormat) -> None:
    trust, key = tmp_path / "ca.pem", tmp_path / "client.pem"
    trust.write_text("Bag Attributes: é\n" + AUTHORITY.certificate_pem, encoding="utf-8")
    key.write_text(CLIENT.key_pem("sesame", form) + CLIENT.certificate_pem)
    config = configured(
        security_protocol="SSL",
        ssl_truststore_location=str(trust),
        ssl_keystore_location=str(key),
        ssl_key_password="sesame",
        **declared,
    )
    assert config.ssl_context is not None


def test_a_key_is_loaded_where_there_is_no_memory_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    test_inline_stores(str, "sesame")
    assert list(tmp_path.iterdir()) == []


def test_the_system_authorities_are_trusted_without_a_trust_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tmp_path / "system.pem"
    system.write_text(AUTHORITY.certificate_pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(system))
    context = configured(security_protocol="SSL").ssl_context
    assert context is not None
    assert len(context.get_ca_certs()) == 1


def _keystore(**properties: str) -> dict[str, str]:
    inline = {
        "ssl_keystore_certificate_chain": CLIENT.certificate_pem,
        "ssl_keystore_key": CLIENT.key_pem(),
    }
    return {key: value for key, value in {**inline, **properties}.items() if value}


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        (_keystore(ssl_keystore_key=CLIENT.key_pem("sesame")), "encrypted key: set ssl.key.pass"),
        (
            _keystore(ssl_keystore_key=CLIENT.key_pem("sesame"), ssl_key_password="wrong"),
            "check that ssl.key.password opens the key",
        ),
        (
            _keystore(ssl_keystore_key=CLIENT.key_pem("sesame"), ssl_key_password="x" * 5000),
            "check that ssl.key.password opens the key",
        ),
        (_keystore(ssl_keystore_key=OTHER.key_pem()), "does not belong to the first certificate"),
        (_keystore(ssl_keystore_key=""), "set both"),
        (_keystore(ssl_keystore_certificate_chain=""), "set both"),
        (_keystore(ssl_keystore_key="sesame"), "holds no PEM private key"),
        (_keystore(ssl_keystore_certificate_chain="nothing"), "holds no PEM certificate"),
        (_keystore(ssl_keystore_location="/some/file"), "are both set"),
        (
            _keystore(
                ssl_keystore_key="-----BEGIN PRIVATE KEY----- AAAA -----END PRIVATE KEY-----"
            ),
            "can't be loaded",
        ),
        ({"ssl_truststore_certificates": "nothing"}, "holds no PEM certificate"),
        (
            {
                "ssl_truststore_certificates": "-----BEGIN CERTIFICATE----- AAAA "
                "-----END CERTIFICATE-----"
            },
            "can't read",
        ),
        (
            {
                "ssl_truststore_certificates": "-----BEGIN CERTIFICATE----- \u00e4AAA "
                "-----END CERTIFICATE-----"
            },
            "can't read: export it again",
        ),
    ],
)
def test_mistakes_in_inline_stores(properties: dict[str, str], said: str) -> None:
    message = refused(security_protocol="SSL", **properties)
    assert said in message
    assert "ssl." in message


@pytest.mark.parametrize("which", ["truststore", "keystore"])
@pytest.mark.parametrize("declared", ["JKS", ""])
def test_a_jks_store_is_answered_with_the_command_that_converts_it(
    tmp_path: Path, which: str, declared: str
) -> None:
    store = tmp_path / "store"
    store.write_bytes(b"\xfe\xed\xfe\xed" + bytes(40))
    properties = {f"ssl_{which}_location": str(store)}
    if declared:
        properties[f"ssl_{which}_type"] = declared
    message = refused(security_protocol="SSL", **properties)
    assert f"ssl.{which}.location" in message
    assert f"ssl.{which}.type=PEM" in message
    assert f"keytool -importkeystore -srckeystore {store} -srcstoretype JKS" in message


@pytest.fixture(scope="module")
def java_stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of identity.p12 and trust.p12, made by keytool."""
    where = tmp_path_factory.mktemp("stores")
    (where / "ca.pem").write_text(AUTHORITY.certificate_pem)
    opened = ("-storetype", "PKCS12", "-storepass", "sesame", "-noprompt")
    made = ("-genkeypair", "-alias", "me", "-keyalg", "EC", "-dname", "CN=me")
    trusted = ("-importcert", "-alias", "ca", "-file", "ca.pem")
    for name, command in (("identity", made), ("trust", trusted)):
        line = ["keytool", *command, "-keystore", f"{name}.p12", *opened]
        subprocess.run(line, cwd=where, check=True, capture_output=True, timeout=60)
    return where


# Java reads a PKCS12 store that is declared as JKS, which is what Kafka does by default.
@pytest.mark.parametrize("declared", ["JKS", "", "PKCS12", "pkcs12"])
def test_pkcs12_stores_of_java_are_read_as_they_are(java_stores: Path, declared: str) -> None:
    properties = {"security.protocol": "SSL"}
    for which, name in (("truststore", "trust"), ("keystore", "identity")):
        properties[f"ssl.{which}.location"] = str(java_stores / f"{name}.p12")
        properties[f"ssl.{which}.password"] = "sesame"
        if declared:
            properties[f"ssl.{which}.type"] = declared
    context = client_config(properties, "client.properties").ssl_context
    assert context is not None
    (trusted,) = context.get_ca_certs(binary_form=True)
    assert trusted == AUTHORITY.certificate.public_bytes(Encoding.DER)
    blocks, _ = key_blocks(properties, "client.properties")
    assert blocks is not None
    assert [block.is_private_key for block in blocks] == [False, True]


@pytest.mark.parametrize("which", ["truststore", "keystore"])
@pytest.mark.parametrize("password", ["open", "x" * 5000])
def test_a_wrong_password_of_a_store_is_named_and_not_told(
    java_stores: Path, which: str, password: str
) -> None:
    store = {f"ssl_{which}_location": str(java_stores / "identity.p12")}
    message = refused(security_protocol="SSL", **store, **{f"ssl_{which}_password": password})
    assert f"ssl.{which}.location can't be opened as a PKCS12 store: check its pass" in message
    assert password not in message.replace("can't be opened", "")


def test_a_key_store_without_its_password_asks_for_it(java_stores: Path) -> None:
    store = str(java_stores / "identity.p12")
    assert "set ssl.keystore.password" in refused(
        security_protocol="SSL", ssl_keystore_location=store
    )


def test_a_store_cut_short_is_no_crash(tmp_path: Path) -> None:
    store = tmp_path / "store.p12"
    store.write_bytes(CLIENT.pkcs12("sesame")[:100])
    at = {"ssl_keystore_location": str(store), "ssl_keystore_password": "sesame"}
    assert "can't be opened as a PKCS12 store" in refused(security_protocol="SSL", **at)


def test_without_the_extra_the_command_and_the_extra_are_told(
    java_stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    store = java_stores / "trust.p12"
    message = refused(security_protocol="SSL", ssl_truststore_location=str(store))
    assert f"openssl pkcs12 -in {store}" in message
    assert "pip install 'kafka-unclean-recovery[keystores]'" in message


@pytest.mark.parametrize("which", ["truststore", "keystore"])
def test_a_store_that_cannot_be_read(tmp_path: Path, which: str) -> None:
    for path in (tmp_path / "missing", tmp_path):
        message = refused(security_protocol="SSL", **{f"ssl_{which}_location": str(path)})
        assert f"ssl.{which}.location names" in message
        assert "can't be read" in message


def test_a_file_from_beginning_to_end(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    certificate = textwrap.indent(AUTHORITY.certificate_pem.strip(), "  ").replace("\n", " \\\n")
    path.write_text(
        "# how we connect\nsecurity.protocol = SASL_SSL\nsasl.mechanism: SCRAM-SHA-512\n"
        "sasl.jaas.config=a.ScramLoginModule REQUIRED \\\n  username='sre' \\\n"
        '  password="s\\u00e9same\\\\\\\\";\n'
        f"ssl.truststore.type=PEM\nssl.truststore.certificates={certificate}\nacks=all\n",
        encoding="latin-1",
    )
    config = load_client_config(str(path))
    assert config.sasl == SaslCredentials("SCRAM-SHA-512", "sre", "sésame\\")
    assert config.ssl_context is not None
    assert config.not_honoured == ("acks",)


def test_a_client_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--command-config names"):
        load_client_config(str(tmp_path / "missing"))


def test_a_legacy_key_keeps_its_headers_when_collapsed() -> None:
    collapsed = (
        "-----BEGIN EC PRIVATE KEY----- Proc-Type: 4,ENCRYPTED DEK-Info: AES-128-CBC,00FF "
        f"{'QUJD' * 20} -----END EC PRIVATE KEY-----"
    )
    [block] = pem_blocks(collapsed)
    assert block.is_private_key
    assert "QUJD" not in repr(block)
    assert block.text.splitlines() == [
        "-----BEGIN EC PRIVATE KEY-----",
        "Proc-Type: 4,ENCRYPTED",
        "DEK-Info: AES-128-CBC,00FF",
        "",
        "QUJD" * 16,
        "QUJD" * 4,
        "-----END EC PRIVATE KEY-----",
    ]


def test_pem_written_with_escaped_line_ends() -> None:
    escaped = AUTHORITY.certificate_pem.replace("\n", "\\n")
    properties = parse_properties(f"ssl.truststore.certificates={escaped}", "client.properties")
    assert pem_blocks(properties["ssl.truststore.certificates"])[0].text == (
        AUTHORITY.certificate_pem
    )


@pytest.mark.parametrize(
    ("protocol", "mechanism", "shown"),
    [
        ("SASL_PLAINTEXT", "PLAIN", True),
        ("SASL_SSL", "PLAIN", False),
        ("SASL_PLAINTEXT", "SCRAM-SHA-256", False),
        ("SASL_PLAINTEXT", "SCRAM-SHA-512", False),
    ],
)
def test_a_password_that_the_network_sees_is_warned_of(
    protocol: str, mechanism: str, shown: bool
) -> None:
    config = configured(
        security_protocol=protocol,
        sasl_mechanism=mechanism,
        sasl_jaas_config='x.Y required username="sre" password="sesame";',
    )
    warned = [w for w in config.warnings if "shows the password" in w]
    assert bool(warned) == shown
    assert "sesame" not in "".join(config.warnings)


def test_host_names_that_are_not_checked_are_warned_of() -> None:
    unchecked = {"ssl_endpoint_identification_algorithm": ""}
    (warning,) = configured(security_protocol="SSL", **unchecked).warnings
    assert warning.startswith("ssl.endpoint.identification.algorithm is empty")
    assert not list(configured(security_protocol="SSL").warnings)
    assert not list(configured(**unchecked).warnings)


def test_a_client_id_that_no_request_carries_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"client\.id is longer"):
        configured(client_id="x" * 40_000)
