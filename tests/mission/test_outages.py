"""What is shown on the outages of real clusters, shown on the emulator: by the probes, and by the
new RPCs. Each dialect of them has its tests in tests/transport/test_on_the_emulator.py.
"""

from __future__ import annotations

from tests.real.test_kip_system_test import (  # noqa: F401
    test_the_system_test_of_the_kip,
)
from tests.real.test_recovers_the_best_replica import (  # noqa: F401
    test_broker_3_leads_every_partition_and_no_record_of_it_is_lost,
    test_the_stock_script_on_a_copy_loses_500_records_wherever_4_comes_before_3,
)
from tests.real.test_replica_info_is_the_truth import (  # noqa: F401
    test_followers_are_seen_past_their_high_watermark,
    test_lineages_are_seen_whole,
    test_the_table_marks_the_designated_leader,
)
from tests.real.test_stale_tail import (  # noqa: F401
    test_the_newer_epoch_is_elected_over_the_longer_log,
)
