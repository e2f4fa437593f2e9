from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.cluster.config.properties import parse_properties
from kafka_unclean_recovery.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("\n \t\f\n", {}),
        ("a=b", {"a": "b"}),
        ("a = b", {"a": "b"}),
        ("a : b", {"a": "b"}),
        ("a:b", {"a": "b"}),
        ("a b c", {"a": "b c"}),
        ("a\tb", {"a": "b"}),
        ("a\fb", {"a": "b"}),
        ("  a=b  ", {"a": "b  "}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("a==b", {"a": "=b"}),
        ("a = = b", {"a": "= b"}),
        ("=b", {"": "b"}),
        ("# a=b\n  ! c=d\nd=e", {"d": "e"}),
        ("a=b # no comment", {"a": "b # no comment"}),
        ("# never continued \\\na=b", {"a": "b"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=one,\\\n   two,\\\r\n\tthree", {"a": "one,two,three"}),
        ("a=b\\\n\nc=d", {"a": "b", "c": "d"}),
        ("a=b\\\n# part of it", {"a": "b# part of it"}),
        ("a=b\\", {"a": "b"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("\\\n\na=b", {"a": "b"}),
        (r"a\ b\:c\=d = e", {"a b:c=d": "e"}),
        (r"\#a=\!b", {"#a": "!b"}),
        (r"a=\t\n\r\f\q\"\\", {"a": '\t\n\r\fq"\\'}),
        (r"a=\u0041\u00e9", {"a": "Aé"}),
        (r"a=\ud83d\ude00", {"a": "😀"}),
        (r"a=\ud83d", {"a": "�"}),
        (r"a=\\u004", {"a": r"\u004"}),
        ("a=\x85\x1c\u2028b", {"a": "\x85\x1c\u2028b"}),
    ],
)
def test_java_util_properties(text: str, expected: dict[str, str]) -> None:
    assert parse_properties(text, "client.properties") == expected


@pytest.mark.parametrize("escape", [r"\u", r"\u00-", r"\uzzzz", r"\u 041", r"\u00\u0041"])
def test_a_malformed_escape_is_named_by_line_and_never_shown(escape: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_properties(f"# one\na=\\\n b\npassword=se{escape}cret", "client.properties")
    assert str(caught.value).startswith("client.properties, line 4: a malformed \\uXXXX escape")
    assert "cret" not in str(caught.value)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.dictionaries(TEXT, TEXT, max_size=5))
def test_what_is_stored_is_loaded_again(properties: dict[str, str]) -> None:
    stored = "".join(f"{_store(key)}={_store(value)}\n" for key, value in properties.items())
    assert parse_properties(stored, "client.properties") == properties


@given(st.text())
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        parse_properties(text, "client.properties")
    except ConfigError as error:
        assert "escape" in str(error)  # noqa: PT017


def _store(text: str) -> str:
    """Return the text as java.util.Properties.store() writes it, every blank escaped."""
    units = text.encode("utf-16-be")
    codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "".join(_store_unit(code) for code in codes)


def _store_unit(code: int) -> str:
    if not 0x20 <= code <= 0x7E:
        return f"\\u{code:04x}"
    return f"\\{chr(code)}" if chr(code) in "\\=:#! " else chr(code)
