"""ListTransactions (66) lists nothing, because there are no transactions (KIP-664)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.transactions import ListTransactionsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields


async def answer(_: Context, __: Any) -> Fields:
    return {"unknown_state_filters": [], "transaction_states": []}


API = Api(ListTransactionsRequest, 0, 1, answer)
