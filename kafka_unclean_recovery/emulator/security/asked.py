"""A request, what the client may do who sent it, and the forms that rules about it take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.security.rights import Operation, Resource, Rights


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, and the context of the client who sent it."""

    api: Api
    context: Context
    request: Any

    @property
    def rights(self) -> Rights:
        return self.context.rights

    async def answered(self) -> Fields | None:
        return await self.api.answer(self.context, self.request)

    def may(self, operation: Operation, topic: Any) -> bool:
        """Of an entry that names a topic. An id that is nobody's is left to the API."""
        name = getattr(topic, "name", None) or getattr(topic, "topic", None)
        if not name:
            known = self.context.topic(None, getattr(topic, "topic_id", None))
            name = None if known is None else known.name
        return name is None or self.rights.may(operation, Resource.TOPIC, name)


@dataclass(frozen=True, slots=True)
class Named:
    """As an entry of a request that names a topic."""

    name: str


Rule = Callable[[Asked], Awaitable[Fields | None]]
Refusal = Callable[[Any], Fields]


async def anyone(asked: Asked) -> Fields | None:
    return await asked.answered()


def needs_cluster(operation: Operation, refusal: Refusal) -> Rule:
    """A right on the cluster, or the whole request is refused."""

    async def rule(asked: Asked) -> Fields | None:
        if asked.rights.may(operation, Resource.CLUSTER):
            return await asked.answered()
        return refusal(asked.request)

    return rule


def parted(requested: str, answered: str, may: Callable[[Asked, Any], bool], no: Refusal) -> Rule:
    """Some entries of the request's list are answered, the others refused."""

    async def rule(asked: Asked) -> Fields | None:
        entries = getattr(asked.request, requested) or []
        allowed = [entry for entry in entries if may(asked, entry)]
        refused = [no(entry) for entry in entries if not may(asked, entry)]
        setattr(asked.request, requested, allowed)
        fields = await asked.answered()
        return None if fields is None else fields | {answered: [*fields[answered], *refused]}

    return rule


def on_topic(operation: Operation) -> Callable[[Asked, Any], bool]:
    return lambda asked, entry: asked.may(operation, entry)
