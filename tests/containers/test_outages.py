"""What is shown on brokers that are processes, shown on brokers in containers."""

from __future__ import annotations

from tests.real.test_kip_system_test import (  # noqa: F401
    test_the_system_test_of_the_kip,
)
from tests.real.test_recovers_the_best_replica import (  # noqa: F401
    test_broker_3_leads_every_partition_and_no_record_of_it_is_lost,
)
