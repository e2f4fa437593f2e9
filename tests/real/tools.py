"""Kafka's own scripts, run by main class as bin/*.sh do."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from tests.real.class_archive import class_archive
from tests.real.jars import main_class
from tests.real.jvm import TOOL_LOGGING, java_command, run

# Newest home first: the tools moved out of the core jar over the releases.
MAIN_CLASSES: Mapping[str, tuple[str, ...]] = {
    "kafka-acls": ("org.apache.kafka.tools.AclCommand", "kafka.admin.AclCommand"),
    "kafka-cluster": ("org.apache.kafka.tools.ClusterTool", "kafka.tools.ClusterTool"),
    "kafka-console-consumer": (
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        "kafka.tools.ConsoleConsumer",
    ),
    "kafka-console-producer": (
        "org.apache.kafka.tools.ConsoleProducer",
        "kafka.tools.ConsoleProducer",
    ),
    "kafka-console-share-consumer": ("org.apache.kafka.tools.consumer.ConsoleShareConsumer",),
    "kafka-consumer-groups": (
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        "kafka.admin.ConsumerGroupCommand",
    ),
    "kafka-configs": ("org.apache.kafka.tools.ConfigCommand", "kafka.admin.ConfigCommand"),
    "kafka-dump-log": (
        "org.apache.kafka.tools.DumpLogSegments",
        "kafka.tools.DumpLogSegments",
    ),
    "kafka-features": ("org.apache.kafka.tools.FeatureCommand", "kafka.admin.FeatureCommand"),
    "kafka-get-offsets": ("org.apache.kafka.tools.GetOffsetShell", "kafka.tools.GetOffsetShell"),
    "kafka-leader-election": (
        "org.apache.kafka.tools.LeaderElectionCommand",
        "kafka.admin.LeaderElectionCommand",
    ),
    "kafka-log-dirs": ("org.apache.kafka.tools.LogDirsCommand", "kafka.admin.LogDirsCommand"),
    "kafka-metadata-quorum": (
        "org.apache.kafka.tools.MetadataQuorumCommand",
        "kafka.admin.MetadataQuorumCommand",
    ),
    "kafka-reassign-partitions": (
        "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
        "kafka.admin.ReassignPartitionsCommand",
    ),
    "kafka-storage": ("org.apache.kafka.tools.StorageTool", "kafka.tools.StorageTool"),
    "kafka-topics": ("org.apache.kafka.tools.TopicCommand", "kafka.admin.TopicCommand"),
    "kafka-transactions": (
        "org.apache.kafka.tools.TransactionsCommand",
        "kafka.tools.TransactionsCommand",
    ),
}
HEAP_MB = 256


def tool_command(version: str, name: str, *arguments: str) -> list[str]:
    """Return the command line of a script, named without its .sh."""
    release, main = main_class(version, *MAIN_CLASSES[name])
    archive = f"-XX:SharedArchiveFile={class_archive(release)}"
    options = (archive, *TOOL_LOGGING)
    return java_command(release, main, *arguments, heap_mb=HEAP_MB, options=options)


def run_tool(
    version: str, name: str, *arguments: str, timeout: float, check: bool
) -> subprocess.CompletedProcess[str]:
    done = run(tool_command(version, name, *arguments), timeout)
    if check and done.returncode != 0:
        said = f"{done.stdout}\n{done.stderr}".strip()
        raise RuntimeError(f"{name} {' '.join(arguments)} ended with {done.returncode}:\n{said}")
    return done
