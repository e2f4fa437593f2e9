"""The parsers of on-disk formats raise one exception, BadFormat."""

from __future__ import annotations

_LONGEST_EXCERPT = 60


class BadFormat(Exception):
    """The bytes break their format.

    `what` names the format, or the part of a batch, that is bad; `detail` says in what way. Both
    are short whatever the input was, and the exception travels between processes (pickle).
    """

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(what, detail)
        self.what = what
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.what}: {self.detail}"


def excerpt(value: object) -> str:
    """Return the beginning of a value that was found, short enough for `BadFormat.detail`."""
    text = ascii(value)
    return text if len(text) <= _LONGEST_EXCERPT else text[:_LONGEST_EXCERPT] + "..."
