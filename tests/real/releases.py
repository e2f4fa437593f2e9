"""The releases of Kafka that the tests run on; the doctor tells of any other."""

from __future__ import annotations

TESTED = ("4.4.0", "4.3.1", "3.9.1")
