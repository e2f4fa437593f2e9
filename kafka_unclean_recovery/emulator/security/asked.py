"""An Asked is a request with its client's rights, and the functions here are the forms of rules
about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.security.rights import Operation, Resource, Rights


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, and the context of the client that sent it."""

    api: Api
    context: Context
    request: Any

    @property
    def rights(self) -> Rights:
        return self.context.rights

    async def answered(self) -> Fields | None:
        return await self.api.answer(self.context, self.request)

    def may(self, operation: Operation, topic: Any) -> bool:
        """Return whether the client may do this to the topic that an entry names. An unknown topic
        id is left to the API."""
        name = getattr(topic, "name", None) or getattr(topic, "topic", None)
        if not name:
            known = self.context.topic(None, getattr(topic, "topic_id", None))
            name = None if known is None else known.name
        return name is None or self.rights.may(operation, Resource.TOPIC, name)


@dataclass(frozen=True, slots=True)
class Named:
    """A stand-in for a request's entry that names a topic."""

    name: str


Rule = Callable[[Asked], Awaitable[Fields | None]]
Refusal = Callable[[Any], Fields]


async def anyone(asked: Asked) -> Fields | None:
    return await asked.answered()


def needs_cluster(operation: Operation, refusal: Refusal) -> Rule:
    """Return a rule that asks for a right on the cluster, or else refuses the whole request."""

    async def rule(asked: Asked) -> Fields | None:
        if asked.rights.may(operation, Resource.CLUSTER):
            return await asked.answered()
        return refusal(asked.request)

    return rule


def parted(requested: str, answered: str, may: Callable[[Asked, Any], bool], no: Refusal) -> Rule:
    """Return a rule that answers the entries that the client may have and refuses the others."""

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
