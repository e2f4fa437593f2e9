"""InitProducerId (22) gives ids to idempotent producers, and none to transactional ones."""

from __future__ import annotations

from typing import Any

from kafka.protocol.producer.transaction import InitProducerIdRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.kafka_names import Errors


async def answer(context: Context, request: Any) -> Fields:
    if request.transactional_id is not None:
        error = Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return {"error_code": error, "producer_id": -1, "producer_epoch": -1}
    return {"producer_id": context.emulation.new_producer_id(), "producer_epoch": 0}


API = Api(InitProducerIdRequest, 0, 5, answer)
