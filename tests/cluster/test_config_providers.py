from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from kafka_unclean_recovery.cluster.config.client_config import SaslCredentials
from kafka_unclean_recovery.cluster.config.config_providers import replaced, resolve
from kafka_unclean_recovery.cluster.config.named_files import LARGEST_BYTES
from kafka_unclean_recovery.cluster.config.security import load_client_config
from kafka_unclean_recovery.errors import ConfigError

PACKAGE = "org.apache.kafka.common.config.provider."
DECLARED = {
    "config.providers": "file, env,directory",
    "config.providers.file.class": f"{PACKAGE}FileConfigProvider",
    "config.providers.env.class": f"{PACKAGE}EnvVarConfigProvider",
    "config.providers.directory.class": f"{PACKAGE}DirectoryConfigProvider",
}
ENVIRONMENT = {"SECRET": "sesame", "TWICE": "${env:SECRET}"}


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    directory = tmp_path / "secrets"
    directory.mkdir()
    (directory / "kafka.properties").write_text("password = sésame\\u0021\n", encoding="utf-8")
    (directory / "password").write_bytes(b"line\r\n")
    (tmp_path / "elsewhere").write_text("password=other")
    return directory


def looked_up(value: str, more: dict[str, str] | None = None) -> str:
    properties = {**DECLARED, **(more or {}), "key": value}
    return resolve(properties, "client.properties", ENVIRONMENT)["key"]


def test_what_declared_providers_hold_takes_the_place_of_variables(secrets: Path) -> None:
    file = secrets / "kafka.properties"
    assert looked_up(f"a ${{file:{file}:password}} b") == "a sésame! b"
    assert looked_up("${env:SECRET}/${env:SECRET}") == "sesame/sesame"
    assert looked_up(f"${{directory:{secrets}:password}}") == "line\r\n"
    assert looked_up("${env:TWICE}") == "${env:SECRET}"


@pytest.mark.parametrize("value", ["${vault:a:b}", "${env}", "$env:SECRET", "${}", "}${", "a$b"])
def test_what_names_no_declared_provider_is_a_value_like_any_other(value: str) -> None:
    assert looked_up(value) == value


def test_without_config_providers_nothing_is_looked_up() -> None:
    assert resolve({"key": "${env:SECRET}"}, "f", ENVIRONMENT) == {"key": "${env:SECRET}"}


@pytest.mark.parametrize(
    ("value", "more", "says"),
    [
        ("${env:MISSING}", {}, "asks for MISSING, which is not in the environment: export it"),
        ("${env:path:SECRET}", {}, "has a path"),
        (
            "${env:SECRET}",
            {"config.providers.env.param.allowlist.pattern": "KAFKA_.*"},
            "asks for SECRET, which allowlist.pattern does not let in",
        ),
        (
            "${env:X}",
            {"config.providers.env.param.allowlist.pattern": "("},
            "no regular expression",
        ),
        ("${file:/nowhere/x:password}", {}, "'/nowhere/x', which can't be read"),
        ("${file:{secrets}/kafka.properties:other}", {}, "asks for 'other', which"),
        ("${file:{secrets}/kafka.properties}", {}, "has no path"),
        ("${directory:{secrets}:../elsewhere}", {}, "names no file"),
        ("${directory:{secrets}:missing}", {}, "which can't be read"),
        (
            "${file:{secrets}/../elsewhere:password}",
            {"config.providers.file.param.allowed.paths": "/opt,{secrets}"},
            "which lies outside of allowed.paths",
        ),
        (
            "${env:SECRET}",
            {"config.providers.env.class": "a.Vault"},
            "set config.providers.env.class to one of",
        ),
        (
            "${env:SECRET}",
            {"config.providers.env.class": ""},
            "set config.providers.env.class to one of",
        ),
    ],
)
def test_a_variable_without_a_value_is_an_error(
    secrets: Path, value: str, more: dict[str, str], says: str
) -> None:
    placed = {key: text.replace("{secrets}", str(secrets)) for key, text in more.items()}
    with pytest.raises(ConfigError) as caught:
        looked_up(value.replace("{secrets}", str(secrets)), placed)
    assert str(caught.value).startswith("client.properties: key: ${")
    assert says in str(caught.value)
    assert "sesame" not in str(caught.value)


def test_allowed_paths_let_in_what_lies_below_them(secrets: Path) -> None:
    allowed = {"config.providers.file.param.allowed.paths": f"/opt, {secrets}"}
    assert looked_up(f"${{file:{secrets}/kafka.properties:password}}", allowed) == "sésame!"


def test_a_password_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", "sesame")
    path = tmp_path / "client.properties"
    path.write_text(
        "config.providers=env\n"
        f"config.providers.env.class={PACKAGE}EnvVarConfigProvider\n"
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        'sasl.jaas.config=a.Module required username="sre" password="${env:KAFKA_PASSWORD}";\n'
    )
    config = load_client_config(str(path))
    assert config.sasl == SaslCredentials("PLAIN", "sre", "sesame")
    assert config.not_honoured == ()


@pytest.mark.parametrize(
    ("value", "more", "says"),
    [
        ("${env:BYTES}", {}, "asks for BYTES, whose value is not UTF-8 text"),
        (
            "${env:SECRET}",
            {"config.providers.env.param.allowlist.pattern": "a{99999999999999}"},
            "no regular expression",
        ),
        (
            "${env:SECRET}",
            {"config.providers.env.param.allowlist.pattern": "(" * 50_000},
            "no regular expression",
        ),
        ("${file:/\0:password}", {"config.providers.file.param.allowed.paths": "/"}, "be held"),
        ("${file:/x:password}", {"config.providers.file.param.allowed.paths": "/\0"}, "be held"),
        (
            "${file:{secrets}/loop/x:password}",
            {"config.providers.file.param.allowed.paths": "{secrets}"},
            ": ${file:...} ",
        ),
    ],
)
def test_a_variable_that_can_not_be_looked_up_is_no_traceback(
    secrets: Path, value: str, more: dict[str, str], says: str
) -> None:
    (secrets / "loop").symlink_to(secrets / "loop")
    placed = {key: text.replace("{secrets}", str(secrets)) for key, text in more.items()}
    placed |= {**DECLARED, **placed, "key": value.replace("{secrets}", str(secrets))}
    with pytest.raises(ConfigError) as caught:
        resolve(placed, "client.properties", {**ENVIRONMENT, "BYTES": "pass\udcff"})
    assert says in str(caught.value)
    assert "pass\udcff" not in str(caught.value)


def test_variables_stand_where_kafkas_pattern_finds_them() -> None:
    kafkas = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")
    some = random.Random(46)
    found = 0
    for _ in range(5_000):
        text = "".join(some.choices(("${", "}", ":", "a", "b", "$", "{", "\n"), k=14))

        def told(*groups: str) -> str | None:
            return None if groups[0] == "a" else repr(groups)

        expected = kafkas.sub(lambda match: told(*match.groups(default="")) or match[0], text)
        assert replaced(text, told) == expected
        found += expected != text
    assert found > 500


def test_a_file_of_nothing_but_beginnings_of_variables_is_read_in_no_time() -> None:
    """What is quadratic takes minutes here."""
    for filling in ("${", "${a:"):
        value = (filling * LARGEST_BYTES)[:LARGEST_BYTES]
        begun = time.process_time()
        assert looked_up(value) == value
        assert time.process_time() - begun < 5
