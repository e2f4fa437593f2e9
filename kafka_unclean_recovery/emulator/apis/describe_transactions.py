"""DescribeTransactions (65) finds no transactional id, because there are none (KIP-664)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.transactions import DescribeTransactionsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import coordinator_of
from kafka_unclean_recovery.kafka_names import Errors


async def answer(context: Context, request: Any) -> Fields:
    states = [
        {"transactional_id": name, "error_code": _error(context, name)}
        for name in request.transactional_ids
    ]
    return {"transaction_states": states}


def _error(context: Context, transactional_id: str) -> int:
    here = coordinator_of(context, transactional_id) == context.broker.id
    return Errors.TRANSACTIONAL_ID_NOT_FOUND if here else Errors.NOT_COORDINATOR


API = Api(DescribeTransactionsRequest, 0, 0, answer)
