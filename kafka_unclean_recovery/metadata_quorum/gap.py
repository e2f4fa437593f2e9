"""Say by name what a stretch of the metadata log does: topics, configs, ACLs, users, partitions.

Values of configs, and all of passwords, are left out: they are secrets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata import records as keys
from kafka_unclean_recovery.log_dir.metadata.batches import Batch
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.metadata.records import MetadataRecord, decode_record

Fields = Mapping[str, Any]
_SHOWN = 100
# What is of no weight: a quorum writes it all the time, or again when it is missing.
_SILENT = {keys.NO_OP, keys.BEGIN_TRANSACTION, keys.END_TRANSACTION, keys.ABORT_TRANSACTION}
_RESOURCES = {0: "unknown", 2: "topic", 4: "broker", 8: "broker logger", 16: "client metrics"}
_ACL_RESOURCES = {
    2: "topic",
    3: "group",
    4: "cluster",
    5: "transactional id",
    6: "token",
    7: "user",
}


def described(batches: Iterable[Batch], known: MetadataImage) -> tuple[str, ...]:
    """Return a sentence for each thing that the batches change, most often changed first, at most
    100, and one on how many more there are. `known` has the names of earlier topics. Batches whose
    records can't be decoded are counted."""
    names = {str(id_): name for id_, name in known.topics.items()}
    found: Counter[str] = Counter()
    for batch in batches:
        if batch.control:
            continue
        try:
            decoded = [decode_record(record.value or b"") for record in batch.records()]
        except BadFormat:
            found["batches that can't be decoded"] += 1
            continue
        for record in decoded:
            if isinstance(record, MetadataRecord):
                _count(record, names, found)
            else:
                found[f"{record.name} version {record.version}, not known here"] += 1
    said = [what if n == 1 else f"{what} ({n} records)" for what, n in found.items()]
    more = len(said) - _SHOWN
    return (*said[:_SHOWN], *([f"and {more} more"] if more > 0 else []))


def _count(record: MetadataRecord, names: dict[str, str], found: Counter[str]) -> None:
    if record.api_key in _SILENT:
        return
    if record.api_key == keys.TOPIC:
        names[str(record.fields["topic_id"])] = record.fields["name"]
    describe = _DESCRIBE.get(record.api_key)
    topic = names.get(str(record.fields.get("topic_id")), "a topic that is not known")
    found[describe(record.fields, topic) if describe else record.name] += 1


def _acl(fields: Fields, _: str) -> str:
    kind = _ACL_RESOURCES.get(fields["resource_type"], f"resource {fields['resource_type']}")
    return f"ACL of {fields['principal']} on {kind} {fields['resource_name']}"


def _config(fields: Fields, _: str) -> str:
    kind = _RESOURCES.get(fields["resource_type"], f"resource {fields['resource_type']}")
    done = "removed" if fields["value"] is None else "set"
    return f"config {fields['name']} of {kind} {fields['resource_name'] or '(default)'} {done}"


def _change(fields: Fields, topic: str) -> str:
    return f"partition {topic}-{fields['partition_id']} changed"


_DESCRIBE: Mapping[int, Callable[[Fields, str], str]] = {
    keys.TOPIC: lambda f, _: f"topic {f['name']} created ({f['topic_id']})",
    keys.REMOVE_TOPIC: lambda f, topic: f"topic {topic} deleted ({f['topic_id']})",
    keys.PARTITION: lambda f, topic: f"partition {topic}-{f['partition_id']} created",
    keys.PARTITION_CHANGE: _change,
    keys.CONFIG: _config,
    keys.ACCESS_CONTROL_ENTRY: _acl,
    keys.REMOVE_ACCESS_CONTROL_ENTRY: lambda f, _: f"ACL {f['id']} removed",
    keys.SCRAM_CREDENTIAL: lambda f, _: f"SCRAM credentials of user {f['name']} set",
    keys.REMOVE_SCRAM_CREDENTIAL: lambda f, _: f"SCRAM credentials of user {f['name']} removed",
    keys.REGISTER_BROKER: lambda f, _: f"broker {f['broker_id']} registered",
    keys.UNREGISTER_BROKER: lambda f, _: f"broker {f['broker_id']} unregistered",
    keys.BROKER_REGISTRATION_CHANGE: lambda f, _: f"broker {f['broker_id']} fenced or unfenced",
    keys.FENCE_BROKER: lambda f, _: f"broker {f['id']} fenced",
    keys.UNFENCE_BROKER: lambda f, _: f"broker {f['id']} unfenced",
    keys.FEATURE_LEVEL: lambda f, _: f"feature {f['name']} set to level {f['feature_level']}",
    keys.CLIENT_QUOTA: lambda f, _: f"quota {f['key']} changed",
    keys.PRODUCER_IDS: lambda f, _: "producer ids handed out",
    keys.REGISTER_CONTROLLER: lambda f, _: f"controller {f['controller_id']} registered",
}
