"""What before-start says of a real broker's disk is what the broker's start then does to it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.dump_log import ReplicaTruth, Span, replica_truth
from tests.real.foretelling import Row, before_start, said_since
from tests.real.releases import TESTED
from tests.real.replica_offsets import replica_offsets
from tests.real.start_outage import (
    AGAIN,
    ALONE,
    EARLY,
    EMPTIED,
    EXPIRED,
    FIRST,
    GONE,
    LAST,
    LATE,
    LIVE,
    MOVED,
    NEW,
    OLD_END,
    ONLY,
    OWN,
    REFILLED,
    SHARED,
    TAIL,
    TIMEOUT,
    WAITS,
    WITHIN,
    begin,
    finish,
    led_by,
)
from tests.real.waiting import wait_until
from tests.real.witnesses import read_records

Place = tuple[str, int]
STRANGE = "AAAAAAAAQACAAAAAAAAAAA"
LOST = OLD_END - FIRST
# As a broker leaves it that dies right after its topic was deleted.
MARKED = f"former-0.{'0' * 32}-delete"
DELETES_SOON = {"log.segment.delete.delay.ms": "1000", "log.initial.task.delay.ms": "500"}


@dataclass(frozen=True, slots=True)
class Started:
    """What was foretold of broker 1's start, and what it did. strange, refused: with a cluster id
    that is not the cluster's own: what was foretold, and what was said by the broker, which ended.
    """

    cluster: KafkaCluster
    live: Row
    beside_a_scan: Row
    disks: Row
    strange: Row
    refused: str
    unchanged: bool
    names: frozenset[str]

    def row(self, place: Place) -> Row:
        return rows(self.live)[place]


def rows(document: Row) -> Mapping[Place, Row]:
    return {(row["topic"], row["partition"]): row for row in document["partitions"]}


def _scanned(home: Path, *directories: Path) -> tuple[str, str]:
    scan = home / f"scan-{len(list(home.iterdir()))}.json"
    words = ("scan-log-dirs", *map(str, directories), "--output", str(scan))
    Cli(home).offline(*words)
    return "--replica-info-file", str(scan)


@pytest.fixture(scope="module", params=TESTED)
def started(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Started]:
    home = tmp_path_factory.mktemp("before-start")
    with KafkaCluster.create(home / "cluster", request.param, properties=DELETES_SOON) as cluster:
        cluster.start()
        begin(cluster)
        finish(cluster, home)
        shutil.copytree(cluster.log_dir(OWN) / f"{ONLY}-0", cluster.log_dir(OWN) / MARKED)
        where = ("--bootstrap-server", cluster.bootstrap_servers)
        live = before_start(home, cluster, OWN, *where).json
        early = _scanned(home, cluster.log_dir(EARLY))
        beside = before_start(home, cluster, OWN, *where, *early).json
        # As if nothing lived any more: files of running nodes, which do not move just now.
        every = (*map(cluster.log_dir, (LIVE, EARLY, LATE)), *map(_metadata, [cluster]))
        disks = before_start(home, cluster, OWN, *_scanned(home, *every)).json
        strange, refused, unchanged = _start_as_a_stranger(home, cluster, where)
        cluster.start_node(OWN)
        for topic, isr in (("tails", {OWN, LIVE}), (EMPTIED, {OWN, LIVE}), (EXPIRED, {OWN, LIVE})):
            cluster.wait_until_partitions(topic, lambda p, isr=isr: set(p.isr) == isr, TIMEOUT)  # type: ignore[misc]
        for topic in (ONLY, LAST):
            cluster.wait_until_partitions(topic, lambda p: p.leader == OWN, TIMEOUT)
        names = frozenset(path.name for path in cluster.log_dir(OWN).iterdir())
        yield Started(cluster, live, beside, disks, strange, refused, unchanged, names)


def _metadata(cluster: KafkaCluster) -> Path:
    return cluster.log_dir(cluster.spec.controller_ids[0])


def _start_as_a_stranger(
    home: Path, cluster: KafkaCluster, where: tuple[str, str]
) -> tuple[Row, str, bool]:
    """Return (what was foretold, what the broker said, whether its replicas are as they were)."""
    meta = cluster.log_dir(OWN) / "meta.properties"
    own, before = meta.read_text(), _segments(cluster)
    meta.write_text(re.sub(r"cluster\.id=.*", f"cluster.id={STRANGE}", own))
    done = before_start(home, cluster, OWN, *where)
    said = cluster.output(OWN).stat().st_size
    cluster.start_node(OWN, wait=False)
    try:
        wait_until(
            lambda: not cluster.alive(OWN) or STRANGE in said_since(cluster, OWN, said),
            TIMEOUT,
            lambda: f"refused: {said_since(cluster, OWN, said)[-2000:]}",
        )
    finally:
        cluster.kill(OWN)
        meta.write_text(own)
    return done.json, said_since(cluster, OWN, said), _segments(cluster) == before


def _segments(cluster: KafkaCluster) -> dict[str, bytes]:
    root = cluster.log_dir(OWN)
    paths = (p for p in root.glob("*-*/*.log") if "__cluster_metadata" not in p.parent.name)
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


EFFECTS = {
    TAIL: "truncated",
    REFILLED: "truncated",
    (AGAIN, 0): "stray",
    (GONE, 0): "stray",
    (MOVED, 0): "stray",
    (ONLY, 0): "leads",
    (LAST, 0): "leads",
    (WAITS, 0): "waits",
    (EMPTIED, 0): "emptied",
    (EXPIRED, 0): "kept",
    (WITHIN, 0): "truncated",
    ("former", 0): "deleted",
}


def test_every_replica_is_told_and_disks_alone_tell_the_same(started: Started) -> None:
    assert {p: row["effect"] for p, row in rows(started.live).items()} == EFFECTS
    # A broker that is dead and unread may have more than the last known leader, which was killed.
    assert (started.live["destroys"], started.live["untold"]) == (True, True)
    assert f"what broker {EARLY} loses then is not known" in started.row((LAST, 0))["why"]
    assert (started.beside_a_scan["destroys"], started.beside_a_scan["untold"]) == (True, False)
    # From disks unclean.leader.election.enable is not known, and no log start that was moved within
    # the minute between two checkpoints.
    disks = rows(started.disks)
    untold = {(WAITS, 0), (AGAIN, 0)}
    for place in untold:
        assert disks[place]["effect"] == "unknown"
        assert "unclean.leader.election.enable" in disks[place]["why"]
    assert "was deleted, and made again under the same name" in disks[AGAIN, 0]["why"]
    moved = {(EMPTIED, 0), (EXPIRED, 0), (WITHIN, 0)}
    for place in moved:
        assert disks[place]["effect"] in ("unknown", EFFECTS[place])
    for place in EFFECTS.keys() - untold - moved:
        for key in ("effect", "offset", "records", "expired"):
            assert disks[place][key] == started.row(place)[key], place


@pytest.mark.parametrize("place", [TAIL, REFILLED])
def test_a_tail_is_cut_at_the_offset_and_by_the_records_foretold(
    started: Started, place: Place
) -> None:
    row = started.row(place)
    assert (row["offset"], row["records"], row["unique"]) == (FIRST, LOST, LOST)
    assert (row["unread"], row["leader"], row["log_end_offset"]) == ([EARLY], LIVE, OLD_END)
    # Broker 3, which is dead too, has what it shared with 1 before it died.
    beside = rows(started.beside_a_scan)[place]
    assert (beside["records"], beside["unique"], beside["unread"]) == (LOST, ALONE, [])
    assert SHARED == LOST - ALONE
    # Record by record: what 1 had written from that offset on is gone, and nothing else of it.
    written = [led_by(OWN)(number) for number in range(OLD_END)]
    now = read_records(started.cluster, [place])[place]
    assert now[: row["offset"]] == written[: row["offset"]]
    assert now[row["offset"] :] == [led_by(LIVE)(n) for n in range(FIRST, FIRST + NEW[place])]
    assert len(set(written) - set(now)) == row["records"]


def test_who_is_cut_within_a_batch_of_its_leader_fetches_no_more(started: Started) -> None:
    """So it stays until its directory is put aside, for which there is a command."""
    row, cluster = started.row((WITHIN, 0)), started.cluster
    assert f"broker {OWN} may then fetch it no more" in row["why"]
    assert any(f"{WITHIN}-0" in each for each in started.live["commands"])

    def said() -> str:
        return said_since(cluster, OWN, 0)

    wait_until(lambda: f"Unexpected offset in append to {WITHIN}-0" in said(), TIMEOUT, said)
    assert set(cluster.view(LIVE).topics[WITHIN][0].isr) == {LIVE}
    offsets = replica_offsets(cluster.address(OWN), [WITHIN])[WITHIN]
    assert (offsets.start, offsets.end) == (0, row["offset"])
    whys = {topic: each["why"] for (topic, _), each in rows(started.live).items()}
    assert [topic for topic, why in whys.items() if "fetch it no more" in why] == [WITHIN]


def test_what_is_marked_is_deleted(started: Started) -> None:
    marked = started.cluster.log_dir(OWN) / MARKED
    wait_until(lambda: not marked.exists(), TIMEOUT, lambda: f"{marked} deleted")


# After what is deleted was, for strays would be by then, too.
@pytest.mark.parametrize("topic", [AGAIN, GONE, MOVED])
def test_a_stray_is_put_aside_and_stays(started: Started, topic: str) -> None:
    assert started.row((topic, 0))["records"] == FIRST
    pattern = re.compile(rf"{topic}-0\.[0-9a-f]{{32}}-stray")
    (aside,) = filter(pattern.fullmatch, started.names)
    (segment,) = (started.cluster.log_dir(OWN) / aside).glob("*.log")
    assert led_by(OWN)(FIRST - 1) in segment.read_bytes()
    assert (f"{topic}-0" in started.names) == (topic == AGAIN)


def test_who_leads_again_has_kept_all(started: Started) -> None:
    for topic, end in ((ONLY, FIRST), (LAST, OLD_END)):
        row = started.row((topic, 0))
        assert (row["leader"], row["records"], row["log_end_offset"]) == (OWN, 0, end)
        values = read_records(started.cluster, [(topic, 0)])[topic, 0]
        assert values == [led_by(OWN)(number) for number in range(end)]


def test_a_stranger_is_refused_and_its_disk_stays_as_it_is(started: Started) -> None:
    assert {row["effect"] for row in started.strange["partitions"]} == {"refused"}
    assert STRANGE in started.strange["partitions"][0]["why"]
    assert (started.strange["destroys"], started.strange["untold"]) == (False, False)
    assert re.search("INCONSISTENT_CLUSTER_ID|InconsistentClusterId", started.refused)
    assert started.unchanged


def test_what_the_files_hold_in_the_end_is_what_was_foretold(started: Started) -> None:
    """The last test: broker 1 is killed for it."""
    started.cluster.kill(OWN)
    # Their leader's log starts where its records were deleted.
    assert started.row((EMPTIED, 0))["expired"] == FIRST
    assert started.row((EMPTIED, 0))["records"] == 0
    assert started.row((EXPIRED, 0))["expired"] == FIRST // 2
    truth = {
        topic: replica_truth(started.cluster, OWN, topic, 0) for topic in (EMPTIED, WAITS, ONLY)
    }
    assert truth[EMPTIED].log_start == truth[EMPTIED].log_end == FIRST + 50
    assert truth[WAITS] == ReplicaTruth(0, FIRST, [Span(0, 0, FIRST)])
    tail = replica_truth(started.cluster, OWN, *TAIL)
    assert [(s.start, s.end) for s in tail.lineage] == [(0, FIRST), (FIRST, FIRST + NEW[TAIL])]
