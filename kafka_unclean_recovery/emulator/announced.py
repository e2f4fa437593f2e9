"""What a release announces in ApiVersions and the emulator does not answer.

These keys are announced because clients draw conclusions from them: in Kafka 4.4 the key of a
dialect of GetReplicaLogInfo is another request's.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.messages.get_replica_log_info import REQUESTS

ANNOUNCED: Mapping[str, Mapping[int, str]] = {
    "4.4.0": {93: "StreamsGroupTopologyDescriptionUpdate", 94: "UnregisterController"}
}
"""By release: the requests, all of them in version 0, by key."""


def announced(release: str) -> Mapping[int, str]:
    return ANNOUNCED.get(release, {})


def check_dialect(release: str, dialect: Dialect) -> None:
    """Raise ValueError where the release has another request by the dialect's key."""
    key = REQUESTS[dialect].API_KEY
    if key in announced(release):
        raise ValueError(
            f"dialect {dialect}: key {key} is {announced(release)[key]} in Kafka {release}"
        )
