"""Split the small text files that Kafka keeps beside its logs into lines and numbers.

Kafka writes these files whole to a temporary file, syncs it and renames it, so a file that is cut
short was damaged later. Kafka never writes a sign, a blank or a zero in front of a number.
"""

from __future__ import annotations

import re

from kafka_unclean_recovery.log_dir.errors import BadFormat, excerpt

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")


def decoded(what: str, data: bytes) -> str:
    """Decode UTF-8 to text. Raises BadFormat."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadFormat(what, f"byte {error.start} is not UTF-8") from None


def whole_lines(what: str, data: bytes) -> list[str]:
    """Return the lines, each ended by LF (or CR LF, as on Windows). Raises BadFormat when the last
    is not ended."""
    lines = decoded(what, data).split("\n")
    if lines.pop():
        raise BadFormat(what, "the last line is cut short")
    return [line.removesuffix("\r") for line in lines]


def number(what: str, text: str, largest: int = INT64_MAX) -> int:
    """Parse a decimal number in [0, largest]. Raises BadFormat."""
    if _NUMBER.fullmatch(text) is None or (value := int(text)) > largest:
        raise BadFormat(what, f"{excerpt(text)} is not a number from 0 to {largest}")
    return value
