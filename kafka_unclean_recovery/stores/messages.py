"""Stores' error messages become fit to print here: short, no control characters, no secrets."""

from __future__ import annotations

import re

from kafka_unclean_recovery.shown import shown

_LONGEST = 400
_READ = 4 * _LONGEST
# The pattern finds signed URLs and tokens, because an error may quote a request. Keys of objects
# are no secrets.
_SECRET = re.compile(
    r"(?i)((?:(?:signature|token|secret|password|credential|account_?key)[\w-]*|\bsig)"
    r"\s*[=:]\s*[\"']?|\bbearer\s+)[^\s&,;\"'<>]+"
)
_USER = re.compile(r"(://)[^/\s@]*:[^/\s@]*@")


def without_secrets(text: str) -> str:
    return _USER.sub(r"\1", _SECRET.sub(r"\1[hidden]", text))


def why(error: Exception) -> str:
    """Return the message of a pyarrow exception, fit to print."""
    said = " ".join(str(error)[:_READ].split()) or type(error).__name__
    text = shown(without_secrets(said))
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
