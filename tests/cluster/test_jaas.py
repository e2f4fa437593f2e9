from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.cluster.config.jaas import parse_jaas
from kafka_unclean_recovery.errors import ConfigError

MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.mark.parametrize(
    ("options", "password"),
    [
        ('username="me" password="pa ss;=\'//x";', "pa ss;='//x"),
        ("username='me' password='pa\"ss';", 'pa"ss'),
        ("username=me password=pa-ss_1$;", "pa-ss_1$"),
        ('username = "me"\n  password = "pass" ;', "pass"),
        (r'username="me" password="a\"b\\c\td\101";', 'a"b\\c\tdA'),
        ('username="me" /* who\nelse */ password="p" // the end\n;', "p"),
        ('password="p" username="me";  ', "p"),
        ('username="me" password="p" password="q";', "q"),
        ('username="me" password="";', ""),
    ],
)
@pytest.mark.parametrize("flag", ["required", "REQUIRED", "sufficient"])
def test_a_login_module(options: str, password: str, flag: str) -> None:
    module = parse_jaas(f"{MODULE} {flag} {options}", "client.properties")
    assert module.name == MODULE
    assert module.options == {"username": "me", "password": password}
    assert "password" not in repr(module)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (f'{MODULE} required password="secret"', "semicolon: add ;"),
        (f'{MODULE} required password="secret;', "quote that is never closed"),
        (f"{MODULE} required password='secret;", "quote that is never closed"),
        (f'{MODULE} required password="sec\nret";', "quote that is never closed"),
        (f'{MODULE} required password="secret"; {MODULE} required;', "one login module only"),
        (f'{MODULE} password="secret";', "`required` first"),
        (f"{MODULE};", "`required` first"),
        (";", "`required` first"),
        (f"{MODULE} required password secret;", "key=value"),
        (f"{MODULE} required password=;", "key=value"),
        (f"{MODULE} required password=sec=ret;", "key=value"),
        (f"{MODULE} required = secret;", "key=value"),
    ],
)
def test_a_mistake_is_named_with_its_fix_and_without_the_secret(value: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_jaas(value, "client.properties")
    message = str(caught.value)
    assert message.startswith("client.properties: sasl.jaas.config ")
    assert hint in message
    assert "secret" not in message


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_quoted_password_is_read_back(password: str) -> None:
    quoted = "".join(f"\\{c}" if c in '"\\' else _QUOTED.get(c, c) for c in password)
    module = parse_jaas(f'{MODULE} required password="{quoted}";', "client.properties")
    assert module.options == {"password": password}


_QUOTED = {"\n": r"\n", "\r": r"\r"}


@given(st.text(alphabet="ab=;\"'\\/* \n"))
def test_any_text_is_read_or_refused(value: str) -> None:
    try:
        parse_jaas(value, "client.properties")
    except ConfigError as error:
        assert str(error).startswith("client.properties: ")  # noqa: PT017
