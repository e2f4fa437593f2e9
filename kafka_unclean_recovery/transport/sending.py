"""Requests that change the cluster are noted in the journal when they are sent and when their
answer leaves nothing open, so the journal of a run that died shows which requests may still be on
their way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.boot_clock import boot_time
from kafka_unclean_recovery.cluster.controller import Controller, Unsure
from kafka_unclean_recovery.cluster.requests.controller_requests import PartitionResult
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import UNSURE
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.documents.journal_lines import JournalError
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.transport.gate import NotSent

Answers = Mapping[TopicPartition, PartitionResult]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request to note. needs_note: the request is not sent where the journal can't note it;
    requests that put things back are sent all the same."""

    request: str
    partitions: int
    needs_note: bool = True


def at_once() -> None:
    """Let any request pass: one that puts something back is sent whatever has changed."""


async def noted(
    controller: Controller,
    journal: Journal,
    sent: Sent,
    request: Callable[[Connection, Deadline], Awaitable[Answers]],
    gate: Callable[[], None] = at_once,
) -> Answers:
    """Send one request, note it, and return its answers. `gate` is asked directly before the
    request is sent, when the connection is open and the line is written; it raises NotSent. Raises
    Unsure, RequestFailed, and NotSent and JournalError before the request is sent."""
    number = 1 + journal.count("sent")

    async def sending(broker: str) -> None:
        now = boot_time()
        written = await asyncio.to_thread(
            journal.note,
            "sent",
            number=number,
            request=sent.request,
            partitions=sent.partitions,
            broker=broker,
            boot_id=None if now is None else now.boot_id,
            boot_ms=None if now is None else now.ms,
        )
        # A journal that somebody removed is written anew, and nothing more is begun.
        if sent.needs_note and not (written and journal.failure is None):
            raise JournalError(journal.failure or "")
        gate()

    try:
        answers = await controller.ask(request, sending)
    except (JournalError, NotSent, RequestFailed):
        journal.note("answered", number=number)
        raise
    except Unsure:
        if not controller.haunted:
            journal.note("answered", number=number)
        raise
    if not any(answer.error in UNSURE for answer in answers.values()):
        journal.note("answered", number=number)
    return answers


async def settle(controller: Controller, journal: Journal, reason: str) -> None:
    """Wait until no given-up request can still be carried out, and note it. Raises Unsure."""
    await controller.settle(reason)
    journal.note("settled")
