"""Error codes by the names that Kafka has for them: those that are answered somewhere here."""

from __future__ import annotations

from kafka_unclean_recovery.emulator import error_codes
from kafka_unclean_recovery.emulator.controller.events import Errors

ERROR_CODES: dict[str, int] = {
    **{name: value for name, value in vars(error_codes).items() if isinstance(value, int)},
    **{error.name: error.value for error in Errors},
}


def error_name(code: int) -> str:
    """The number itself where it is none of ours."""
    return next((name for name, known in ERROR_CODES.items() if known == code), str(code))
