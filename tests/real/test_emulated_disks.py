"""The emulator's disks, judged by Kafka's own kafka-dump-log.sh. No broker runs here."""

from __future__ import annotations

from pathlib import Path

from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.kraft_rules import events as ev
from tests.emulator.steps import KEY, TOPIC, create, elect_unclean, lose, opened, partition
from tests.log_dir.cluster_metadata_encoder import batch
from tests.real.dumped_metadata import dumped, ours
from tests.real.releases import ONE
from tests.real.tools import run_tool

VERSION = ONE
METADATA = f"__cluster_metadata-0/{0:020}.log"
KINDS = {
    "BROKER_REGISTRATION_CHANGE_RECORD",
    "CLEAR_ELR_RECORD",
    "CONFIG_RECORD",
    "FEATURE_LEVEL_RECORD",
    "LeaderChange",
    "PARTITION_CHANGE_RECORD",
    "PARTITION_RECORD",
    "REGISTER_BROKER_RECORD",
    "REMOVE_TOPIC_RECORD",
    "TOPIC_RECORD",
    "UNREGISTER_BROKER_RECORD",
}


def test_kafka_reads_every_record_of_the_metadata_log_as_we_do(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3), min_isr=2)
    for broker in (2, 3, 1):
        lose(emulation, broker)
    emulation.start(emulation.brokers[2])
    elect_unclean(emulation)
    emulation.happen(ev.AlterReassignment(TOPIC, 0, (2, 4)))
    for event in (
        ev.AlterTopicConfig(TOPIC, "min.insync.replicas", "1"),
        ev.DeleteTopic(TOPIC),
        ev.UnregisterBroker(3),
    ):
        assert emulation.happen(event) == ev.Response()
    path = emulation.brokers[2].directory / METADATA
    theirs = dumped(VERSION, [path])[path]
    assert list(ours(path, theirs)) == theirs
    assert {record.kind for record in theirs} == KINDS
    assert len(theirs) == emulation.state.end_offset


def _filled(directory: Path) -> Emulation:
    """Return 300 batches: broker 1 leads and stops in order, 2 is killed and started."""
    emulation = opened(directory, brokers=2)
    create(emulation, (1, 2))
    for place in range(300):
        leader = emulation.brokers[partition(emulation).leader]
        data = batch(0, b"x" * (200 + 7 * (place % 50)), time_ms=1000 + place)
        leader.append_as_leader(leader.replicas[KEY], data)
        emulation.replicate(KEY)
        if place == 150:
            lose(emulation, 2)
            emulation.start(emulation.brokers[2])
    emulation.stop(emulation.brokers[1])
    lose(emulation, 2)
    return emulation


def test_kafka_finds_the_indexes_sound_and_true_to_the_log(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    replicas = [emulation.brokers[id_].directory / f"{TOPIC}-0" for id_ in (1, 2)]
    files = [r / f"{0:020}.{kind}" for r in replicas for kind in ("index", "timeindex")]
    assert all(file.stat().st_size > 100 for file in files)
    names = ",".join(map(str, files))
    for options in (("--index-sanity-check",), ()):
        done = run_tool(
            VERSION, "kafka-dump-log", *options, "--files", names, timeout=120.0, check=True
        )
        said = done.stdout + done.stderr
        assert said.count("passed sanity check") == (len(files) if options else 0)
        assert "ismatch" not in said
        assert "out of order" not in said.lower()
        assert "could not be found" not in said
        assert said.count("Dumping") == len(files)
