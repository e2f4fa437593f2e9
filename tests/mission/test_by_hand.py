"""The manual way of tests/real/test_manual_recovery.py, on the emulator. What Kafka's own script
does with the file needs Kafka's own script, and Java.
"""

from __future__ import annotations

from tests.real.test_manual_recovery import (  # noqa: F401
    test_a_dead_or_foreign_leader_is_refused_and_nothing_changes,
    test_a_leader_designated_by_hand_is_elected_and_what_it_loses_is_said,
    test_the_file_goes_in_unchanged_and_the_best_is_elected,
)
