"""The flag --format, the same in every command."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
