"""The releases of Kafka that the tests run on; the doctor tells of any other."""

from __future__ import annotations

import os

TESTED = ("4.4.0", "4.3.1", "3.9.1")
NEWEST, OLDEST = TESTED[0], TESTED[-1]
# Tests that run on one release run on this one: `make test KAFKA_RELEASE=4.3.1`.
ONE = os.environ.get("KAFKA_RELEASE", NEWEST)
if ONE not in TESTED:
    raise SystemExit(f"KAFKA_RELEASE={ONE}: take one of {', '.join(TESTED)}")
# Its metadata logs and disks are read, and no cluster of it is recovered.
READ_ONLY = "3.6.2"
