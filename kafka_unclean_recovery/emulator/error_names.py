"""The table has the error codes that are answered here, by their names in Kafka."""

from __future__ import annotations

from kafka_unclean_recovery.emulator import error_codes
from kafka_unclean_recovery.kraft_rules.events import Errors

ERROR_CODES: dict[str, int] = {
    **{name: value for name, value in vars(error_codes).items() if isinstance(value, int)},
    **{error.name: error.value for error in Errors},
}


def error_name(code: int) -> str:
    """Return the name of an error code, or the number itself if the code is not in the table."""
    return next((name for name, known in ERROR_CODES.items() if known == code), str(code))
