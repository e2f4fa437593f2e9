"""What a look rests on is read through a broker that is not behind; where that can't be known, the
look goes on and says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.errors import NoControllerReachable
from kafka_unclean_recovery.survey.currency import Behind
from kafka_unclean_recovery.survey.reading import Reader

T = TypeVar("T")


async def newest(reader: Reader, read: Callable[[], Awaitable[T]]) -> tuple[T, str | None]:
    """Return (what `read` gives, which reads by this Reader; a sentence on why it may be old, None
    where it is not). Raises what `read` raises."""
    try:
        return await reader.current(read), None
    except RequestFailed as error:
        old = f"whether brokers are behind is not known ({error}); grant Cluster:DESCRIBE"
    except (Behind, NoControllerReachable) as error:
        old = f"what is read may be old: {error}"
    return await read(), old
