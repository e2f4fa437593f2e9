"""Topics that the caller may not describe are found by their log directories: brokers leave such
topics out of metadata without an error, but still name them when they describe log directories."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.requests.log_dirs import describe_log_dirs, topics_in
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.model import Broker
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.reading import Reader

_NAMES_SHOWN = 5
_NOT_KNOWN = "whether topics are hidden from this user is not known"


@dataclass(frozen=True, slots=True)
class Hidden:
    """The result of the search for hidden topics.

    problems: sentences for the report. silent: why a broker named no topics, by broker id. refused:
    why one was not told; None where all that answered told. names: the topics that were found.
    """

    problems: tuple[str, ...] = ()
    silent: Mapping[int, str] = field(default_factory=dict)
    refused: str | None = None
    names: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Return True when every broker told."""
        return not self.silent and self.refused is None


async def hidden_topics(
    nodes: Nodes, reader: Reader, brokers: Sequence[Broker], visible: AbstractSet[str]
) -> Hidden:
    """Return topics on these disks that are not in `visible`. Raises as `reader` does."""
    problems: dict[str, None] = {}
    silent: dict[int, str] = {}
    refused: list[str] = []

    async def on_disk(broker: Broker) -> frozenset[str]:
        deadline = budgets.HIDDEN_TOPICS.deadline()
        try:
            async with nodes.apart(broker, deadline) as connection:
                return topics_in(await describe_log_dirs(connection, deadline))
        except RequestFailed as error:
            refused.append(str(error))
            problems[f"{_NOT_KNOWN} ({error}); grant Cluster:DESCRIBE"] = None
        except ConnectionFailed as error:
            silent[broker.id] = str(error)
        return frozenset()

    hidden = set().union(*await asyncio.gather(*map(on_disk, brokers))) - visible
    if silent and len(silent) == len(brokers):
        first = min(silent)
        why = f"no broker named those on its disks; broker {first}: {silent[first]}"
        problems[f"{_NOT_KNOWN}: {why}"] = None
    elif not brokers:
        problems[f"{_NOT_KNOWN}: no broker is listed as live"] = None
    if hidden:
        # Listing all topics again tells the topics created meanwhile from those that are hidden.
        late = [topic for topic in await reader.topics(None) if topic.name in hidden]
        hidden -= {topic.name for topic in late}
        if offline := sorted(t.name for t in late if any(state.offline for state in t.told)):
            problems[
                f"{some_topics(offline)} were not listed at first, and have partitions that are"
                " offline: run the command again"
            ] = None
    if hidden:
        problems[
            f"this user may not describe {some_topics(sorted(hidden))}: whether their partitions"
            " are offline is not known; grant Topic:DESCRIBE and READ"
        ] = None
    refusal = next(iter(refused), None)
    return Hidden(tuple(problems), silent, refusal, tuple(sorted(hidden)))


def not_looked(why: str) -> Hidden:
    """Return the result for a search that failed or was interrupted."""
    return Hidden((f"{_NOT_KNOWN}: {why}",), refused=why)


def some_topics(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"topics {shown} and {more} more" if more > 0 else f"topics {shown}"
