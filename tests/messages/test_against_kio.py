"""Our messages against kio, which has its own codec and classes generated from Kafka's files.

kio lacks AlterPartition 0 and 1, which Kafka 4 dropped, and what no released Kafka speaks:
ElectLeaders 3 and GetReplicaLogInfo.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import random
import types
import typing
import uuid
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32Timedelta

from kafka_unclean_recovery.messages import elect_leaders, share_groups
from tests.controller_messages import controller
from tests.messages.building import build, plain

MESSAGES_EACH = 250
ERROR_CODES = tuple(ErrorCode)
VERSIONS = {
    "alter_partition": (controller, "AlterPartition", range(2, 4)),
    "broker_registration": (controller, "BrokerRegistration", range(5)),
    "broker_heartbeat": (controller, "BrokerHeartbeat", range(3)),
    "unregister_broker": (controller, "UnregisterBroker", range(1)),
    "assign_replicas_to_dirs": (controller, "AssignReplicasToDirs", range(1)),
    "elect_leaders": (elect_leaders, "ElectLeaders", range(3)),
    "describe_share_group_offsets": (share_groups, "DescribeShareGroupOffsets", range(2)),
    "alter_share_group_offsets": (share_groups, "AlterShareGroupOffsets", range(1)),
    "read_share_group_state": (share_groups, "ReadShareGroupState", range(1)),
}
CASES = [
    pytest.param(
        getattr(module, name + kind),
        api,
        kind,
        version,
        id=f"{name}{kind}-v{version}",
    )
    for api, (module, name, versions) in VERSIONS.items()
    for version in versions
    for kind in ("Request", "Response")
]


@pytest.mark.parametrize(("ours", "api", "kind", "version"), CASES)
def test_random_messages_read_and_write_as_kio_does(
    ours: Any, api: str, kind: str, version: int
) -> None:
    module = import_module(f"kio.schema.{api}.v{version}.{kind.lower()}")
    theirs = getattr(module, ours.json["name"])
    chance = random.Random(f"{api} {kind} {version}")
    for _ in range(MESSAGES_EACH):
        entity = _random_entity(theirs, chance)
        values = _as_ours(entity)
        written = build(ours, values).encode(version=version)
        assert written.hex() == _written_by_kio(entity).hex()
        assert plain(ours.decode(bytes(written), version=version)) == values
        assert entity_reader(theirs)(io.BytesIO(written).getvalue(), 0)[0] == entity


def _written_by_kio(entity: Any) -> bytes:
    buffer = io.BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()


def _random_entity(entity_class: Any, chance: random.Random) -> Any:
    hints = typing.get_type_hints(entity_class)
    return entity_class(
        **{
            field.name: _random_value(hints[field.name], field.metadata.get("kafka_type"), chance)
            for field in dataclasses.fields(entity_class)
        }
    )


def _random_value(hint: Any, kafka_type: str | None, chance: random.Random) -> Any:
    options = typing.get_args(hint)
    if isinstance(hint, types.UnionType) and types.NoneType in options:
        return None if chance.random() < 0.2 else _random_value(options[0], kafka_type, chance)
    if typing.get_origin(hint) is tuple:
        count = chance.choice((0, 1, 2, 3, 200))
        if dataclasses.is_dataclass(options[0]):
            count = min(count, 3)
        return tuple(_random_value(options[0], kafka_type, chance) for _ in range(count))
    if dataclasses.is_dataclass(hint):
        return _random_entity(hint, chance)
    assert kafka_type is not None
    found = _RANDOM[kafka_type](chance)
    return found if isinstance(found, bool | uuid.UUID | ErrorCode) else hint(found)


def _integer(bits: int, signed: bool = True) -> Callable[[random.Random], int]:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return lambda chance: chance.choice(
        (low, -1 if signed else 1, 0, high, chance.randint(0, high))
    )


_RANDOM: dict[str, Callable[[random.Random], Any]] = {
    "int8": _integer(8),
    "int16": _integer(16),
    "uint16": _integer(16, signed=False),
    "int32": _integer(32),
    "int64": _integer(64),
    "bool": lambda chance: chance.random() < 0.5,
    "uuid": lambda chance: uuid.UUID(int=chance.getrandbits(128) | 1),
    "string": lambda chance: "é" * chance.choice((0, 1, 70)) + str(chance.random()),
    "error_code": lambda chance: chance.choice(ERROR_CODES),
    "timedelta_i32": lambda chance: datetime.timedelta(milliseconds=chance.getrandbits(31)),
}


def _as_ours(entity: Any) -> dict[str, Any]:
    return {
        _our_name(field): _our_value(getattr(entity, field.name))
        for field in dataclasses.fields(entity)
    }


def _our_name(field: dataclasses.Field[Any]) -> str:
    # Python's own names have an underscore behind them there.
    return field.name.rstrip("_") + (
        "_ms" if field.metadata.get("kafka_type") == "timedelta_i32" else ""
    )


def _our_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_our_value(each) for each in value]
    if isinstance(value, i32Timedelta | datetime.timedelta):
        return value // datetime.timedelta(milliseconds=1)
    if isinstance(value, int):
        return value if isinstance(value, bool) else int(value)
    return _as_ours(value) if dataclasses.is_dataclass(value) else value
