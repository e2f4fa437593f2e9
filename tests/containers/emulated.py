"""An outage on an emulated cluster within one container, for a shell there."""

from __future__ import annotations

# Afterwards $brokers are its addresses, and it ends with the shell. `read` waits for its second
# line, which comes when the outage is there.
OUTAGE = """
mkfifo /tmp/told
kafka-unclean-recovery emulator --scenario last-replica-standing > /tmp/told &
trap "kill $!" EXIT
exec 9< /tmp/told
read -r told <&9
read -r ready <&9
brokers=${told#bootstrap.servers=}
"""
RECOVERY = (
    'kafka-unclean-recovery --bootstrap-server "$brokers" --all-offline-partitions'
    " --automated-recovery --yes\n"
)
RECOVERED = (
    "3 partitions: 3 online, 0 offline; 3 elected; certain loss 0 records, possible loss unknown"
)
