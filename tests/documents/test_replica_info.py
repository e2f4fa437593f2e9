"""The file that scan-log-dirs writes, and how strictly it is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from msgspec.structs import replace

from kafka_unclean_recovery.documents.replica_info import parse_replica_info, replica_info_json
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    EpochSpan,
    Finding,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Scanned,
    Severity,
    TopicPartition,
)
from tests.infos import any_infos
from tests.schemas import SCHEMAS

SCHEMA = jsonschema.Draft202012Validator(SCHEMAS["replica-info-1.schema.json"])

INFO = ReplicaInfo(
    cluster_id="cluster-1",
    scanned_at="2026-01-02T03:04:05+00:00",
    brokers=(1, 2),
    partitions=(
        PartitionInfo(
            TopicPartition("orders", 0),
            PartitionState("orders", "t-1", 0, -1, 7, (1, 2), (1,), (), (2,), (1, 2), (), ()),
            (
                ReplicaLog(
                    1,
                    False,
                    2,
                    0,
                    15,
                    30,
                    (EpochSpan(0, 0, 10), EpochSpan(2, 10, 30)),
                    "log-dirs",
                    None,
                    "a gap",
                    10,
                    Scanned(ScanMode.DEEP, "/data/orders-0", "t-1", "d-1", 12, 4096, 30, "bad CRC"),
                ),
                ReplicaLog(2, False, source="log-dirs", problem="Input/output error"),
            ),
            (Finding("stray_directory", Severity.NOTICE, "put aside"),),
        ),
        PartitionInfo(TopicPartition("orders", 1), None, ()),
    ),
    metadata_epoch=3,
    metadata_end_offset=812,
    problems=("/data2: left out",),
)


def test_a_scan_is_written_with_a_line_for_each_partition() -> None:
    text = replica_info_json(INFO)
    document = json.loads(text)
    SCHEMA.validate(document)
    assert {key: value for key, value in document.items() if key != "partitions"} == {
        "format_version": 1,
        "kind": "replica-info",
        "cluster_id": "cluster-1",
        "scanned_at": "2026-01-02T03:04:05+00:00",
        "brokers": [1, 2],
        "metadata": {"epoch": 3, "end_offset": 812},
        "problems": ["/data2: left out"],
        "interrupted": False,
        "whole": [],
        "unclean_topics": None,
    }
    assert sum(line.startswith('{"topic": "orders"') for line in text.splitlines()) == 2
    first, second = document["partitions"]
    assert first["removing_replicas"] == []
    assert second["removing_replicas"] is second["topic_id"] is None
    assert first["replica_logs"][0]["scanned"]["mode"] == "deep"


def test_what_was_written_is_read_back() -> None:
    assert parse_replica_info(replica_info_json(INFO), "f.json") == INFO


def test_a_log_that_was_emptied_on_purpose_is_no_contradiction() -> None:
    part = INFO.partitions[0]
    emptied = replace(part.replica_logs[0], log_start_offset=7, log_end_offset=7, epochs=())
    info = replace(INFO, partitions=(replace(part, replica_logs=(emptied,)),))
    assert parse_replica_info(replica_info_json(info), "f.json") == info


def test_a_file_that_was_written_before_broker_epochs_and_clean_stops_is_read() -> None:
    document = json.loads(replica_info_json(INFO))
    for found in document["partitions"][0]["replica_logs"]:
        del found["broker_epoch"]
        if found["scanned"]:
            del found["scanned"]["stopped_clean"]
    for row in document["partitions"]:
        del row["tiered"]
    SCHEMA.validate(document)
    assert parse_replica_info(json.dumps(document), "f.json") == INFO


@given(any_infos())
def test_any_scan_is_valid_json_and_is_read_back(info: ReplicaInfo) -> None:
    text = replica_info_json(info)
    SCHEMA.validate(json.loads(text))
    assert parse_replica_info(text, "f.json") == info


def test_partitions_are_sorted_whatever_order_they_come_in() -> None:
    document = json.loads(replica_info_json(INFO))
    document["partitions"].reverse()
    assert parse_replica_info(json.dumps(document), "f.json") == INFO


def refused(change: Callable[[Any], object]) -> str:
    """Return the error for the document of INFO once `change` was at it."""
    document = json.loads(replica_info_json(INFO))
    change(document)
    with pytest.raises(InputError) as caught:
        parse_replica_info(json.dumps(document), "f.json")
    return str(caught.value)


def put(value: object, *path: str | int) -> Callable[[Any], object]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return change


PART = ("partitions", 0)
LOG = (*PART, "replica_logs", 0)
SPANS = (*LOG, "epochs")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            put("plan", "kind"),
            'f.json: kind: is not "replica-info"; give a file that scan-log-dirs',
        ),
        (put(2, "format_version"), "f.json: format_version: only 1 is known here; use the version"),
        (put(True, "format_version"), "f.json: format_version: only 1 is known here; use the ver"),
        (put(7, "cluster_id"), "f.json: cluster_id: must be a text in double quotes, not 7"),
        (put("noon", "scanned_at"), "f.json: scanned_at: must be a time in ISO 8601 with its off"),
        (put("2026-01-02T03:04:05", "scanned_at"), "f.json: scanned_at: must be a time in ISO 8"),
        (put([1, 1], "brokers"), "f.json: brokers: names a broker twice"),
        (put(["1"], "brokers"), 'f.json: brokers[0]: must be a whole number, not "1"'),
        (put([True], "brokers"), "f.json: brokers[0]: must be a whole number, not true"),
        (put({}, "metadata"), 'f.json: metadata: has no "epoch"'),
        (put({"epoch": 1}, "metadata"), 'f.json: metadata: has no "end_offset"'),
        (put(3, "metadata"), "f.json: metadata: must be an object {...}, not 3"),
        (put([3], "problems"), "f.json: problems[0]: must be a text in double quotes, not 3"),
        (put("no", "interrupted"), 'f.json: interrupted: must be true or false, not "no"'),
        (put(1, "extra"), 'f.json: has "extra", which is not known here; remove it'),
        (put({}, "partitions"), "f.json: partitions: must be a list [...], not an object"),
        (put([1], "partitions"), "f.json: partitions[0]: must be an object {...}, not 1"),
        (put("a b", *PART, "topic"), "f.json: partitions[0].topic: is not a legal topic name"),
        (put("..", *PART, "topic"), "f.json: partitions[0].topic: is not a legal topic name"),
        (put(-1, *PART, "partition"), "f.json: partitions[0].partition: must be a number from 0 "),
        (put(1, *PART, "partition"), "f.json: partitions[1]: orders-1 was already there; keep one"),
        (put(-2, *PART, "leader"), "f.json: partitions[0].leader: must be a number from -1 to 2"),
        (put(2**31, *PART, "leader_epoch"), "f.json: partitions[0].leader_epoch: must be a number"),
        (put(None, *PART, "isr"), "f.json: partitions[0].isr: is null, but topic_id is not; scan"),
        (put([], *PART, "replicas"), "f.json: partitions[0].replicas: is empty, but every part"),
        (put([2, 2], *PART, "elr"), "f.json: partitions[0].elr: names a broker twice"),
        (
            put("bad", *PART, "findings", 0, "severity"),
            'findings[0].severity: must be one of "loss',
        ),
        (put(2, *LOG, "broker"), "f.json: partitions[0].replica_logs[1]: broker 2 was already th"),
        (put(True, *LOG, "live"), "replica_logs[0].live: must be false: a scan of disks sees no "),
        (put(-2, *LOG, "last_written_leader_epoch"), "must be a number from -1 to 2147483647, not"),
        (put(-1, *LOG, "high_watermark"), "replica_logs[0].high_watermark: must be a number from"),
        (put(2**63, *LOG, "log_end_offset"), "replica_logs[0].log_end_offset: must be a number fr"),
        (put(1.5, *LOG, "certain_end_offset"), "certain_end_offset: must be a whole number, not 1"),
        (put(-1, *LOG, "broker_epoch"), "replica_logs[0].broker_epoch: must be a number from 0 to"),
        (put(None, *LOG, "source"), "replica_logs[0].source: must be a text in double quotes, no"),
        (put(31, *LOG, "log_start_offset"), "log_end_offset: 30 is below the log start 31; scan"),
        (put(1, *LOG, "log_start_offset"), "replica_logs[0].epochs: begin below the log start 1"),
        (put(29, *LOG, "log_end_offset"), "replica_logs[0].epochs: go beyond the log end offset "),
        (put(-1, *SPANS, 0, "epoch"), "epochs[0].epoch: must be a number from 0 to 2147483647, "),
        (put(0, *SPANS, 1, "epoch"), "epochs[1]: must be of a newer epoch and begin where the o"),
        (put(11, *SPANS, 1, "start_offset"), "epochs[1]: must be of a newer epoch and begin whe"),
        (put(10, *SPANS, 1, "end_offset"), "epochs[1].end_offset: must be above start_offset; sc"),
        (put([], *LOG, "scanned"), "replica_logs[0].scanned: must be an object {...}, not a list"),
        (put("slow", *LOG, "scanned", "mode"), 'scanned.mode: must be one of "fast", "recover", '),
        (put(-1, *LOG, "scanned", "size"), "replica_logs[0].scanned.size: must be a number from 0"),
    ],
)
def test_what_a_scan_can_not_say_is_refused(change: Callable[[Any], object], message: str) -> None:
    error = refused(change)
    assert error.startswith("f.json: ")
    assert message in error


def _objects(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    own = [value] if isinstance(value, dict) else []
    return own + [found for one in inner for found in _objects(one)]


def _without(number: int, key: str) -> Callable[[Any], object]:
    return lambda document: _objects(document)[number].pop(key)


def _with_colour(number: int) -> Callable[[Any], object]:
    return lambda document: _objects(document)[number].update(colour=1)


LATER = (
    "broker_epoch",
    "stopped_clean",
    "unproven",
    "tiered",
    "whole",
    "unclean_topics",
    "fencing",
)


def test_every_key_of_every_object_is_needed_but_what_older_files_lack() -> None:
    places = [
        (number, key)
        for number, found in enumerate(_objects(json.loads(replica_info_json(INFO))))
        for key in found
        if key not in LATER
    ]
    assert len(places) > 60
    for number, key in places:
        error = refused(_without(number, key))
        assert key in error, (number, key)


def test_no_object_may_hold_a_key_that_is_not_known() -> None:
    for number in range(len(_objects(json.loads(replica_info_json(INFO))))):
        error = refused(_with_colour(number))
        assert 'has "colour", which is not known here' in error


def test_a_key_given_twice_is_refused_wherever_it_stands() -> None:
    text = replica_info_json(INFO)
    for key in ("brokers", "partition", "broker", "mode", "epoch", "code"):
        twice = text.replace(f'"{key}": ', f'"{key}": 1, "{key}": ')
        with pytest.raises(InputError, match=rf'has "{key}" twice'):
            parse_replica_info(twice, "f.json")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"kind": NaN}'])
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^f\.json: "):
        parse_replica_info(text, "f.json")
