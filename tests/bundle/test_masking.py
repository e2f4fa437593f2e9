"""With --mask-names an archive has words in the place of names, and is as useful as before."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.bundle.masking import Masks, NotMasked
from kafka_unclean_recovery.documents.plan import read_plan
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.kafka_names import Errors
from tests.bundle.test_bundle import Archive, bundled, opened
from tests.cli.in_process import RECOVERY, invoke
from tests.cli.test_emulator import running
from tests.cli.test_rehearsal import elected, rehearsed, said_so_far, told
from tests.emulator.losing import lose_the_longer_log
from tests.schemas import SCHEMAS, validated

# Their pattern is that of a topic's name.
NAMED = {"topic", "name", "unclean_topics", "min_isr_of_topics"}
# The last ones are words of documents and of sentences.
TOPICS = (
    "payments",
    "payments.eu",
    "payments-0",
    "kind",
    "report",
    "elected",
    "broker",
    "a",
    "loss",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-of-acme"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def outage() -> Iterator[Cluster]:
    """Yield a cluster where partition 0 of each topic is offline."""
    with Cluster(Options(brokers=2)) as cluster:
        for topic in TOPICS:
            cluster.create_topic(topic, assignment=[(1, 2)])
            cluster.produce(topic, 0, 100)
        lose_the_longer_log(cluster, 500, TOPICS[0])
        yield cluster


@pytest.fixture
def archive(outage: Cluster, home: Path) -> Archive:
    server = outage.bootstrap_servers.split(",")[1]
    refused = ("--automated-recovery", "--accept-loss", "nobody:0")
    invoke(RECOVERY, "--bootstrap-server", server, "--all-offline-partitions", *refused)
    scan = home / "acme-disk.json"
    where = str(outage.log_directory(1))
    invoke(RECOVERY, "scan-log-dirs", where, "--output", str(scan))
    done = bundled(outage, "--mask-names", "--replica-info-file", str(scan))
    assert done.code == 0, done.stderr
    return opened(home / "ticket.tar.gz")


def test_no_name_is_left_in_it(archive: Archive, outage: Cluster) -> None:
    assert {"doctor.json", "look.json", "plan.json", "scans/1.json"} <= archive.files.keys()
    assert any(name.startswith("journals/") for name in archive.files)
    whole = b"\n".join((*archive.files.values(), *(name.encode() for name in archive.files)))
    for name in ("payments", "127.0.0.1", "acme", platform.node(), str(outage.log_directory(1))):
        assert name.encode() not in whole


def test_its_documents_are_valid_and_agree_with_each_other(archive: Archive) -> None:
    rows = {}
    for name in ("doctor.json", "look.json", "plan.json", "scans/1.json", "index.json"):
        document = validated(archive.files[name].decode())
        rows[name] = {row["topic"] for row in document.get("partitions", ())}
    assert rows["look.json"] == rows["plan.json"] <= rows["scans/1.json"]
    assert len(rows["plan.json"]) == len(TOPICS)
    assert all(re.fullmatch(r"topic-\d+", topic) for topic in rows["scans/1.json"])
    assert {row["topic"] for row in archive.index["topics"]} == rows["plan.json"]
    assert len(read_plan(archive.files["plan.json"].decode(), "it").partitions) == len(TOPICS)


def test_its_plan_can_be_rehearsed(archive: Archive, home: Path) -> None:
    with running("--from-bundle", "ticket.tar.gz") as twin:
        done = elected(*rehearsed(said_so_far(twin)))
    assert done.code == 0, done.stderr
    assert len(told(done)) == len(TOPICS)


def test_what_it_lacks_is_masked_too(outage: Cluster, home: Path) -> None:
    refused = outage.intercept("DescribeConfigs", Fail(Errors.TOPIC_AUTHORIZATION_FAILED), times=99)
    done = bundled(outage, "--mask-names")
    refused.cancel()
    assert done.code == 1
    index = opened(home / "ticket.tar.gz").files["index.json"]
    assert b"payments" not in index
    assert b"configs of topic topic-" in index
    assert "payments" not in done.stderr


def test_what_is_no_json_is_left_out_and_told(outage: Cluster, home: Path) -> None:
    (home / "acme.txt").write_text("payments")
    done = bundled(outage, "--mask-names", "--replica-info-file", "acme.txt")
    assert (done.code, "not in it: scans/1.json: its names can't be masked" in done.stderr) == (
        1,
        True,
    )


def _masks(*topics: str) -> Masks:
    masks = Masks()
    masks.learn("topic", topics)
    return masks


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("orders-0: refused", "topic-1-0: refused"),
        ("of orders, and of orders.eu-12.", "of topic-1, and of topic-2-12."),
        ("reorders, orders2, my.orders and orders.x", "reorders, orders2, my.orders and orders.x"),
        ("'orders' (orders)", "'topic-1' (topic-1)"),
        ("orders-0-1", "orders-0-1"),
        ("10.1.2.3:9092 and [fe80::1:2:3]:9092", "address:9092 and address:9092"),
        ("in /srv/acme/kafka.", "in path"),
    ],
)
def test_a_name_is_found_where_it_stands_for_itself(text: str, masked: str) -> None:
    assert _masks("orders", "orders.eu").text(text) == masked


def test_a_name_of_any_characters_is_found() -> None:
    masks = _masks("orders")
    masks.learn("group", ["the billing team", "a/b", "-odd-"])
    said = "group the billing team, a/b, -odd- and orders-1"
    assert masks.text(said) == "group group-1, group-2, group-3 and topic-1-1"


def _read_by_programs(schema: Any, key: str = "") -> Iterator[str]:
    """Yield the fields whose texts a schema does not leave free."""
    if isinstance(schema, dict):
        if key and any(word in schema for word in ("enum", "const", "pattern", "format")):
            yield key
        for name, inner in schema.get("properties", {}).items():
            yield from _read_by_programs(inner, name)
        for word in ("items", "anyOf", "prefixItems", "additionalProperties"):
            yield from _read_by_programs(schema.get(word), key)
        for inner in schema.get("$defs", {}).values():
            yield from _read_by_programs(inner)
        if reference := schema.get("$ref"):
            yield f"{key}:{reference.rpartition('/')[2]}"
    elif isinstance(schema, list):
        for inner in schema:
            yield from _read_by_programs(inner, key)


@pytest.mark.parametrize(
    "kind", ["report", "plan", "doctor", "replica-info", "cluster-observation"]
)
def test_what_programs_read_stays_as_it_is(kind: str) -> None:
    schema = SCHEMAS[f"{kind}-1.schema.json"]
    definitions = schema.get("$defs", {})
    fields = set()
    for found in _read_by_programs(schema):
        key, _, reference = found.partition(":")
        referred = definitions.get(reference, {})
        if not reference or any(word in referred for word in ("enum", "const")):
            fields.add(key)
    text = _masks(*sorted(fields), "orders")
    for key in fields - NAMED:
        assert text.masked_document({key: "orders"}) == {key: "orders"}, key


def test_a_sentence_that_may_name_a_group_is_left_out() -> None:
    content = json.dumps({"unknown": ["what group acme committed is unknown"]}).encode()
    assert b"acme" not in Masks().masked(content)


@pytest.mark.parametrize("content", [b"no json", b"\xff", b"[" * 100_000])
def test_what_cannot_be_read_is_not_masked(content: bytes) -> None:
    for ask in (Masks().learn_from, Masks().masked):
        with pytest.raises(NotMasked):
            ask(content)


NAMES = st.text("ab.-_01", min_size=1, max_size=4).filter(lambda name: name not in (".", ".."))


@pytest.mark.parametrize(
    ("names", "text", "told"),
    [
        (["0.", "0..0"], "0..0-1, 0..0 and 0.-1. lose, 0..", "{1}-1, {1} and {0}-1. lose, {0}."),
        (["-a.", "a"], "-a.-0: -a.. (a.) -a-0", "{0}-0: {0}. ({1}.) -{1}-0"),
        (["a b", "topic-1"], "a b lags; topic-1 not", "{0} lags; {1} not"),
        (["x:y", "y"], "of x:y-0, y-0", "of {0}-0, {1}-0"),
        (["-"], "--3 and - lose; " + "-" * 100_000, "{0}-3 and {0} lose; " + "-" * 100_000),
        (["a" * 300 + "."], "a" * 300 + "., but", "{0}, but"),
    ],
)
def test_a_name_is_found_whole_whatever_it_ends_with(
    names: list[str], text: str, told: str
) -> None:
    masks = _masks(*names)
    assert masks.text(text) == told.format(*(masks.words[name] for name in names))


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.integers(0, 99), st.data())
def test_a_topic_in_a_field_and_before_a_partition_is_never_left(
    topics: list[str], number: int, data: Any
) -> None:
    topic = data.draw(st.sampled_from(topics))
    document = {"topic": topic, "why": f"{topic}-{number}: it is offline; {topic} has no leader"}
    masks = _masks(*topics)
    (row,) = [json.loads(masks.masked(json.dumps(document).encode()))]
    assert row["topic"] == masks.words[topic]
    assert row["why"].startswith(masks.words[topic]) or any(
        f"{topic}-{number}" == other for other in topics
    )
    assert row["why"].endswith(f"{masks.words[topic]} has no leader")
