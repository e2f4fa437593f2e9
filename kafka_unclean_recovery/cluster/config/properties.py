"""A client file is a Java properties file; errors name the file, the line and the fix."""

from __future__ import annotations

from kafka_unclean_recovery.documents.reading.java_properties import (
    BadEscape,
    parse_java_properties,
)
from kafka_unclean_recovery.errors import ConfigError


def parse_properties(text: str, source: str) -> dict[str, str]:
    """Return the keys and values; `source` names the file in errors. Raises ConfigError."""
    try:
        return parse_java_properties(text)
    except BadEscape as error:
        raise ConfigError(
            f"{source}, line {error.line}: a malformed \\uXXXX escape: write four hex digits "
            "after \\u, or \\\\u for a backslash and a u"
        ) from None
