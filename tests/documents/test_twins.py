"""An entry of a document that has field by field what a domain type has: each is listed, with the
reason why there are two."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import kafka_unclean_recovery
from tests.structure import modules_below

_STRICT = "read with every key there and each number in its bounds; model imports no codec"
_CTL = "ctl makes it, and imports no codec"
_ROOM = "the room that makes it imports the document to write it"
TWINS = {
    ("shared.EpochSpanJson", "model.EpochSpan"): _STRICT,
    ("shared.LossJson", "model.Loss"): _STRICT,
    ("shared.FindingJson", "model.Finding"): _STRICT,
    ("shared.DivergenceJson", "model.Divergence"): _STRICT,
    ("shared.ScannedJson", "model.Scanned"): _STRICT,
    ("shared.ReplicaLogJson", "model.ReplicaLog"): _STRICT,
    ("shared.TopicPartitionJson", "model.TopicPartition"): "model's is a tuple, JSON's an object",
    ("replica_info.WholeDiskJson", "model.WholeDisk"): _STRICT,
    ("replica_info.UnfencedJson", "model.Unfenced"): _STRICT,
    ("replica_info.FencingJson", "model.Fencing"): _STRICT,
    ("report.WaitingJson", "model.Waiting"): _STRICT,
    ("report.BrokerWaitingJson", "planning.broker_return.BrokerWaiting"): (
        "the schema bounds its numbers; planning imports no codec"
    ),
    ("salvage.SpanJson", "model.EpochSpan"): "its epoch may be unknown",
    ("emulator.BrokerJson", "emulator.control.status.BrokerStatus"): _CTL,
    ("emulator.LogJson", "emulator.control.status.ReplicaStatus"): _CTL,
    ("emulator.PartitionJson", "emulator.control.status.PartitionStatus"): _CTL,
    ("emulator.StatusJson", "emulator.control.status.Status"): _CTL,
    ("loss_by_topic.TopicLossJson", "report.loss_by_topic.TopicLoss"): _ROOM,
    ("salvage.SegmentJson", "salvage.raw_segments.RawSegment"): _ROOM,
    ("salvage.TransactionJson", "salvage.transactions.Transaction"): _ROOM,
    ("aftercare.GoneDisksJson", "aftercare.gone_disks.GoneDisks"): _ROOM,
    ("aftercare.ProducerJson", "cluster.requests.transactions.ProducerState"): (
        "cluster imports no documents"
    ),
    ("quorum.ListenerJson", "metadata_quorum.copies.Listener"): _ROOM,
    ("quorum.VoterJson", "metadata_quorum.copies.Voter"): _ROOM,
    ("post_mortem.MomentJson", "post_mortem.story.Moment"): _ROOM,
    ("post_mortem.StepJson", "post_mortem.next_steps.Step"): _ROOM,
    ("post_mortem.ProducedJson", "post_mortem.learnt.Produced"): _ROOM,
    ("post_mortem.QuorumSeedJson", "post_mortem.story.Seed"): _ROOM,
    ("start_order.HarmJson", "start_order.result.Harm"): _ROOM,
    ("start_order.StartJson", "start_order.result.Start"): _ROOM,
    ("start_order.GoneJson", "start_order.result.Gone"): _ROOM,
    ("replica_info.MetadataJson", "emulator.broker.log.EpochEnd"): "by chance: of another log",
    ("bundle.ConfigJson", "kraft_rules.events.AlterClusterConfig"): "by chance: one is an order",
    ("bundle.ConfigJson", "log_dir.metadata.batches.KeyValue"): "by chance: of bytes",
}


def _types() -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Yield (room and name, whether it is an entry, its fields but those of the format)."""
    for module in modules_below(Path(kafka_unclean_recovery.__file__).parent):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                annotated = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
                names = [name.id for name in annotated if isinstance(name, ast.Name)]
                told = tuple(name for name in names if name not in ("format_version", "kind"))
                room = module.name.removeprefix("kafka_unclean_recovery.")
                yield f"{room}.{node.name}", "Entry" in map(ast.unparse, node.bases), told


def test_each_twin_has_its_reason() -> None:
    types = list(_types())
    entries = [(name.removeprefix("documents."), told) for name, entry, told in types if entry]
    others = [(name, told) for name, entry, told in types if not entry and len(told) > 1]
    found = {(entry, name) for entry, told in entries for name, same in others if told == same}
    assert found == TWINS.keys()
