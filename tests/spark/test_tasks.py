"""What the driver and the tasks of a bulk scan do, without Spark: tasks run here, one by one."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory
from kafka_unclean_recovery.log_dir.replica_scan import Replica
from kafka_unclean_recovery.log_dir.small_files.properties_files import MetaProperties
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.spark import new_files
from kafka_unclean_recovery.spark.doubts import Cases, Doubts
from kafka_unclean_recovery.spark.new_files import read_rows, whole_rows, write_rows, write_text
from kafka_unclean_recovery.spark.places import address_of, location_of
from kafka_unclean_recovery.spark.scan import bundles, metadata
from kafka_unclean_recovery.spark.scan.bundles import bundle_file, make_bundles
from kafka_unclean_recovery.spark.scan.gathering import ScanSummary, summary_of
from kafka_unclean_recovery.spark.scan.job import Home, abandon, asked_there, begun
from kafka_unclean_recovery.spark.scan.listing import (
    Listed,
    ListedRoot,
    Unread,
    chosen_of,
    list_roots,
    listed_roots,
    roots_asked,
)
from kafka_unclean_recovery.spark.scan.metadata import newest_of, rank_metadata, weigh_metadata
from kafka_unclean_recovery.spark.scan.roots_table import roots_of
from kafka_unclean_recovery.spark.scan.scanning import (
    done_file,
    join_pieces,
    scan_bundles,
)
from kafka_unclean_recovery.spark.scan.work_items import REPLICA_COST, Measured, bundled, packed
from tests.log_dir import replica_directories as disks
from tests.log_dir.cluster_metadata_encoder import leader_change, topic
from tests.log_dir.test_scan import log_directory
from tests.metadata_quorum.disks import static_log, write_node
from tests.spark.scans import asked

DEEP = ScanMode.DEEP
NOW = "2026-01-02T03:04:05+00:00"
_arrow: Any = pyarrow
_parquet: Any = pyarrow.parquet


def batches(*numbers: int) -> Iterator[Any]:
    yield _arrow.RecordBatch.from_pydict({"id": list(numbers)})


def prepared(
    home: Home, roots: list[Path], share: int, apart: Container[int] = ()
) -> tuple[int, int]:
    """Prepare up to the plan, and return (bundles, replicas in pieces). apart: places."""
    wanted = asked(roots, DEEP, share=share)
    with begun(home, wanted, NOW):
        settings = home.settings
        list(list_roots(settings, batches(*range(len(roots)))))
        listed = roots_asked(wanted)
        chosen = chosen_of(listed_roots(home, wanted, listed))
        places = {one.place for one in chosen.listed}
        made = make_bundles(home, listed, places, apart, cores=2)
        write_text(home.plan, json.dumps({"compacted": []}))
    return made.count, made.joins


def log_of(home: Home, name: str) -> list[dict[str, Any]]:
    return [row["log"] for row in read_rows(done_file(home, name))]


def test_one_huge_replica_among_many_small_is_spread_over_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Next to these sizes, what opening a file costs would be all.
    monkeypatch.setattr(bundles, "REPLICA_COST", 1)
    root = log_directory(tmp_path / "b1", 1, {f"small-{n}": 2 for n in range(30)})
    huge = disks.plain_log()
    disks.write_files(root / "huge-0", disks.replica_files(huge))
    home = Home(tmp_path / "out")
    count, joins = prepared(home, [root], share=700)
    assert joins == 1
    holds = [
        number
        for number in range(count)
        if any(item["pieces"] for item in read_rows(bundle_file(home, number)))
    ]
    assert len(holds) > 1
    settings = home.settings
    list(scan_bundles(settings, batches(*range(count))))
    # What its tasks found is not read again.
    active = root / "huge-0" / huge.segments[-1].name
    active.write_bytes(bytes(active.stat().st_size))
    list(join_pieces(settings, batches(0)))
    (row,) = log_of(home, "j0")
    assert (row["topic"], row["log_end_offset"]) == ("huge", huge.end_offset)
    small = [row for number in range(count) for row in log_of(home, str(number))]
    assert len({row["partition"] for row in small if row["topic"] == "small"}) == 30


def test_what_is_done_is_not_read_again(tmp_path: Path) -> None:
    root = log_directory(tmp_path / "b1", 1, {f"a-{n}": 2 for n in range(40)})
    home = Home(tmp_path / "out")
    count, _ = prepared(home, [root], share=3 * REPLICA_COST)
    assert count > 2
    settings = home.settings
    list(scan_bundles(settings, batches(0, 1)))
    done = tmp_path / "out" / "work" / "done"
    before = {path: path.stat().st_mtime_ns for path in done.iterdir()}
    for log in root.glob("*/*.log"):
        log.unlink()
    list(scan_bundles(settings, batches(*range(count))))
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert {row["log_end_offset"] for row in log_of(home, "0")} == {2}
    assert {row["log_end_offset"] for row in log_of(home, "2")} == {0}
    assert len(list(done.iterdir())) == count


def test_a_piece_that_can_not_be_read_costs_its_replica_alone(tmp_path: Path) -> None:
    root = log_directory(tmp_path / "b1", 1, {"a-0": 2})
    log = disks.plain_log()
    disks.write_files(root / "huge-0", disks.replica_files(log))
    home = Home(tmp_path / "out")
    count, _ = prepared(home, [root], share=700)
    (root / "huge-0" / log.segments[1].name).unlink()
    (root / "huge-0" / log.segments[1].name).mkdir()
    settings = home.settings
    list(scan_bundles(settings, batches(*range(count))))
    list(join_pieces(settings, batches(0)))
    (row,) = log_of(home, "j0")
    assert row["trust"] == "unusable"
    assert "not a plain file" in row["reason"]


def test_a_task_that_does_not_see_the_output_directory_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"job.json can't be read .* same path"):
        asked_there(Home(tmp_path / "elsewhere").settings)


def test_a_row_too_few_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "made" / "x.parquet"

    def fail() -> None:
        schema = _arrow.schema([("a", _arrow.int32())])
        with whole_rows(path, schema) as add:
            add({"a": 1})
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert list(path.parent.iterdir()) == []


def test_rows_come_back_however_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_files, "_ROWS_AT_A_TIME", 3)
    schema = _arrow.schema([("a", _arrow.int32())])
    for count in (0, 2, 3, 7):
        write_rows(tmp_path / "x.parquet", ({"a": n} for n in range(count)), schema)
        assert [row["a"] for row in read_rows(tmp_path / "x.parquet")] == list(range(count))
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]


@given(st.lists(st.integers(0, 100)), st.integers(1, 20))
def test_bundles_are_neighbours_of_about_the_same_cost(costs: list[int], count: int) -> None:
    made = list(bundled(costs, count))
    assert [place for bundle in made for place in bundle] == list(range(len(costs)))
    assert all(len(bundle) for bundle in made)
    most = max(costs, default=0)
    for bundle in made:
        assert sum(costs[bundle.start : bundle.stop]) <= sum(costs) / count + most


@given(st.lists(st.integers(0, 3_000_000), max_size=500), st.integers(1, 10_000_000))
def test_items_hold_a_share_and_the_replica_that_fills_it(sizes: list[int], share: int) -> None:
    found = [
        Measured(str(n), Replica(1, TopicPartition("a", n), ""), size)
        for n, size in enumerate(sizes)
    ]
    groups = list(packed(found, share))
    assert [one for group in groups for one in group] == found
    for group in groups:
        assert len(group) <= 200
        assert sum(one.size + REPLICA_COST for one in group[:-1]) < share


def listed(place: int, *same: str, cluster: str | None = "c1") -> Listed:
    meta = MetaProperties(1, place, cluster, None)
    directory = LogDirectory(
        location_of(f"/d{place}", {}), meta, False, {}, {}, {}, frozenset(), {}, ()
    )
    return Listed(place, same, directory, has_metadata=False)


def test_log_directories_count_once_but_for_those_that_are_left_out() -> None:
    locked = ("locked; left out",)
    links = (("link to z", ("z",)), ("link to q", ("q",)))
    roots = [
        ListedRoot(locked, links, None, (listed(0, "x", "y"), Unread(("u",), "u: torn"))),
        ListedRoot((), (), "nothing here", ()),
        ListedRoot(locked, (), None, (listed(1, "y", "z"), Unread(("u",), "u: torn"))),
        ListedRoot((), (), None, (listed(2, "z"), listed(3, "w", cluster=None))),
    ]
    chosen = chosen_of(roots)
    assert [one.place for one in chosen.listed] == [0, 3]
    assert chosen.unseen == ("locked; left out", "nothing here", "link to q", "u: torn")
    assert chosen.found
    assert not chosen_of(roots[1:2]).found
    away = chosen_of(roots, ["file:///d0", "file:///d9"])
    assert [one.place for one in away.listed] == [3]
    assert away.left_out == {"file:///d0"}


def test_of_metadata_logs_the_first_of_the_greatest_authority_counts() -> None:
    weighed = [
        {"number": 0, "problem": "torn"},
        {"number": 3, "authority": [5, 90]},
        {"number": 1, "authority": [4, 900]},
        {"number": 2, "authority": [5, 90]},
    ]
    assert newest_of(weighed) == 2
    assert newest_of(weighed[:1]) is None


def test_the_first_doubt_of_all_tasks_is_told() -> None:
    rows = [
        {
            "partitions": 1,
            "replicas": 2,
            "doubts": {
                "unusable": {"count": 0, "first": None},
                "suspect": {"count": count, "first": [topic, 10, 1, "why"]},
                "short": {"count": 1, "first": [topic, 10, 1, "below"]},
            },
        }
        for count, topic in ((2, "b"), (3, "a"))
    ]
    whole = summary_of(rows)
    assert (whole.partitions, whole.replicas) == (2, 4)
    assert whole.doubts == Doubts(
        Cases(), Cases(5, ("a", 10, 1, "why")), Cases(2, ("a", 10, 1, "below"))
    )
    assert summary_of([]) == ScanSummary()


def test_a_job_goes_on_with_the_same_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "out")
    first = asked([tmp_path / "a"], DEEP, topics="x.*")
    with begun(home, first, NOW) as at:
        assert at == NOW
        other, same_home = "2027-01-01T00:00:00+00:00", begun(home, first, NOW)
        with pytest.raises(InputError, match="another spark scan is writing there"), same_home:
            pass
    with begun(home, first, other) as at:
        assert at == NOW
    for changed, named in (
        (replace(first, mode=ScanMode.FAST), r"other mode \(deep, not fast\)"),
        (replace(first, roots=("file:///b",)), "other roots"),
        (replace(first, share=1), "other share"),
        (replace(first, topics=None), "other topics"),
        (replace(first, version="9"), "other version"),
        (replace(first, partitions=(("a", 1),)), "other partitions"),
    ):
        with pytest.raises(InputError, match=named), begun(home, changed, NOW):
            pass
    abandon(home)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_no_scans_is_left_alone(tmp_path: Path) -> None:
    empty, first = tmp_path / "out", asked([tmp_path], DEEP)
    empty.mkdir()
    with begun(Home(empty), first, NOW):
        pass
    for name, text in (("job.json", '{"kind": "x"}'), ("job.json", "]"), ("mine", "")):
        theirs = tmp_path / "theirs"
        theirs.mkdir(exist_ok=True)
        (theirs / name).write_text(text)
        with (
            pytest.raises(InputError, match="not what a spark scan left"),
            begun(Home(theirs), first, NOW),
        ):
            pass
        assert [path.name for path in theirs.iterdir()] == [name]
        (theirs / name).unlink()
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match="Not a directory"),
        begun(Home(tmp_path / "file"), first, NOW),
    ):
        pass


@pytest.mark.parametrize("name", [b"plain", b"with space %20", b"broken \xff", b"#?;"])
def test_a_path_comes_back_from_its_address(name: bytes) -> None:
    location = location_of(os.fsdecode(b"/mnt/" + name), {})
    address = address_of(location)
    address.encode()
    assert location_of(address, {}) == location


def test_roots_out_of_a_table(tmp_path: Path) -> None:
    text = 'broker,root\n1,/mnt/a\n2,"/mnt/b, c"\n'
    assert roots_of(text.encode("utf-8-sig"), "x") == ["/mnt/a", "/mnt/b, c"]
    _parquet.write_table(_arrow.table({"root": ["/mnt/a"]}), tmp_path / "x")
    assert roots_of((tmp_path / "x").read_bytes(), "x") == ["/mnt/a"]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "no column root"),
        (b"path\n/a\n", r"no column root \(it has path\)"),
        (b"root\n/a\n\n \n", "row 2 has no root"),
        (b"a,root\n1\n", "row 1 has no root"),
        (b'root\n"/a', "unexpected end"),
        (b"root\n\xff", "neither Parquet nor UTF-8"),
        (b"PAR1 and no more", "no whole Parquet file"),
    ],
)
def test_a_table_without_roots_is_refused(data: bytes, error: str) -> None:
    with pytest.raises(InputError, match=f"^roots.csv: .*{error}"):
        roots_of(data, "roots.csv")


def _told_of(entry: Any, settings: dict[str, Any]) -> list[dict[str, Any]]:
    ids = pyarrow.RecordBatch.from_pydict({"id": list(range(len(settings["locations"])))})
    told = [json.loads(text) for rows in entry(settings, [ids]) for text in rows[0].to_pylist()]
    return [row for row in told if "number" in row]


def test_a_metadata_log_that_repeats_the_furthest_is_not_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = static_log().and_then(1, topic("more"))
    written = [log, static_log(), log.and_then(7, leader_change(102, (102,)))]
    locations = [str(write_node(tmp_path, n, each)) for n, each in enumerate(written, 1)]
    settings: dict[str, Any] = {"locations": locations, "store": {}}
    reach = [row["reach"] for row in _told_of(rank_metadata, settings)]
    assert reach.index(max(reach)) == 2
    (third,) = _told_of(weigh_metadata, {**settings, "locations": locations[2:]})
    assert (third["sound"], third["authority"][0]) == (True, 7)
    monkeypatch.setattr(metadata, "read_node", lambda location: pytest.fail(f"reads {location}"))
    settings["furthest"] = {"location": locations[2], "authority": third["authority"]}
    assert all(row["repeats"] for row in _told_of(weigh_metadata, settings))
