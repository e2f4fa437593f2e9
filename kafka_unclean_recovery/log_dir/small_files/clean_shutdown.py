"""Parse `.kafka_cleanshutdown`, which a broker that stops in order leaves in every log directory.

Source: org.apache.kafka.storage.internals.checkpoint.CleanShutdownFileHandler (3.7 and later),
kafka.log.CleanShutdownFile (before).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from kafka_unclean_recovery.log_dir.errors import BadFormat, excerpt
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT64_MAX, decoded, number

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

# The file has three generations:
#
#     before KIP-966    no bytes at all
#     3.7 and later     {"version":0,"brokerEpoch":10}
#     seen in sources   version: 0
#     between the two   brokerEpoch: 10
#
# The JSON is read with its keys in either case and numbers as strings too, as drafts of KIP-966
# have them; unknown keys and later versions are accepted, as Kafka does. A broker takes the file's
# mere existence for a clean stop and skips recovery, whatever is in it: BadFormat from here means
# "stopped in order, broker epoch unknown".
_TEXT = re.compile(r"version: (\S+)\r?\nbrokerEpoch: (\S+)\s*")


@dataclass(frozen=True, slots=True)
class CleanShutdown:
    """The content of the file: the broker's last epoch, None where its version did not write it."""

    broker_epoch: int | None


def parse_clean_shutdown(data: bytes) -> CleanShutdown:
    """Parse a whole file. Raises BadFormat."""
    if not data:
        return CleanShutdown(None)
    text = decoded(CLEAN_SHUTDOWN, data)
    if match := _TEXT.fullmatch(text):
        return CleanShutdown(number(CLEAN_SHUTDOWN, match[2]))
    return CleanShutdown(_epoch_in_json(text))


def _epoch_in_json(text: str) -> int:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise BadFormat(CLEAN_SHUTDOWN, f"not a JSON object: {excerpt(text)}")
    epoch = content.get("brokerEpoch", content.get("BrokerEpoch"))
    if isinstance(epoch, str):
        return number(CLEAN_SHUTDOWN, epoch)
    if type(epoch) is not int or not 0 <= epoch <= INT64_MAX:
        raise BadFormat(CLEAN_SHUTDOWN, f"no broker epoch: {excerpt(text)}")
    return epoch
