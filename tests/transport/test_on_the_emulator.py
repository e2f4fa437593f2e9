"""The outages of the real clusters, recovered through the new RPCs and through the probes: the same
report, the same leaders, the same records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.mechanisms import Dialect
from tests.cli.run import ELECTION, RECOVERY, run
from tests.real.metadata import QUIETLY, SILENT
from tests.real.records import Settings, consume_all, create_topic, numbered, produce_many
from tests.real.watching import steps_noted

TOPIC = "orders"
BEST, SHORTER = 3, 4
# Of those that begin with 4 whoever goes by the order loses 500 records.
ORDERS = [order for order in permutations((1, 2, 3, 4)) if order[0] in (1, SHORTER)]
RPC = ("--transport", "replica-log-info", "--election-method", "designated")
PROBES = ("--transport", "list-offsets", "--election-method", "reorder")
MIXED = ("--transport", "replica-log-info", "--election-method", "reorder")
MIXED_TOO = ("--transport", "list-offsets", "--election-method", "designated")
MECHANISMS = [(), RPC, PROBES, MIXED, MIXED_TOO]
ALL = ("--all-offline-partitions", "--format", "json")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@contextmanager
def last_replica_standing(dialect: Dialect | None, release: str = "kip-966") -> Iterator[Cluster]:
    """Yield an outage: 4, 3, 2, 1 died in this order with writes between; 3 and 4 are back."""
    with Cluster(Options(release=release, dialect=dialect)) as cluster:
        servers = cluster.bootstrap_servers
        create_topic(servers, TOPIC, ORDERS, {"min.insync.replicas": "1"})
        _write(cluster, range(1000))
        for end, victim in ((1000, 4), (1500, 3), (2000, 2)):
            _lose(cluster, victim)
            _write(cluster, range(end, end + 500))
        _lose(cluster, 1)
        for survivor in (BEST, SHORTER):
            cluster.start(survivor)
        yield cluster


@contextmanager
def stale_tail(dialect: Dialect | None) -> Iterator[Cluster]:
    """Yield an outage: 1 holds 1200 records of epoch 0, 4 holds 1100, the last hundred newer."""
    with Cluster(Options(release="kip-966", dialect=dialect)) as cluster:
        servers = cluster.bootstrap_servers
        create_topic(servers, TOPIC, [(1, 2, 4)], {"min.insync.replicas": "1"})
        _write(cluster, range(1000), [0])
        _lose(cluster, 2)
        _lose(cluster, 4)
        _write(cluster, range(1000, 1200), [0])
        _lose(cluster, 1)
        cluster.start(2)
        unclean = ("--election-type", "unclean", "--all-topic-partitions")
        assert run(ELECTION, "--bootstrap-server", servers, *unclean).returncode == 0
        cluster.start(4)
        _write(cluster, range(5000, 5100), [0])
        _lose(cluster, 4)
        _write(cluster, range(5100, 5150), [0])
        _lose(cluster, 2)
        for survivor in (1, 4):
            cluster.start(survivor)
        yield cluster


def _write(
    cluster: Cluster, numbers: range, partitions: Sequence[int] = range(len(ORDERS))
) -> None:
    wanted = dict.fromkeys(partitions, numbers)
    produce_many(cluster.bootstrap_servers, TOPIC, wanted, acks="all")


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _recover(cluster: Cluster, *flags: str) -> tuple[int, dict[str, Any]]:
    done = run(RECOVERY, "--bootstrap-server", cluster.bootstrap_servers, *ALL, *flags)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def _described(cluster: Cluster) -> dict[int, tuple[int, list[int]]]:
    """Return (leader, replicas) by partition, as another client sees them."""
    settings: Settings = {"bootstrap.servers": cluster.bootstrap_servers, **QUIETLY}
    found = AdminClient(settings, logger=SILENT).list_topics(TOPIC, timeout=30).topics[TOPIC]
    return {number: (p.leader, p.replicas) for number, p in found.partitions.items()}


def _told(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a report says whatever it was read by, and of whichever of our clusters."""
    return [_without_source(row) for row in rows]


def _without_source(value: Any) -> Any:
    left_out = ("source", "topic_id", "broker_epoch")
    if isinstance(value, dict):
        return {k: _without_source(v) for k, v in value.items() if k not in left_out}
    return [_without_source(v) for v in value] if isinstance(value, list) else value


def _sources(rows: list[dict[str, Any]]) -> set[str]:
    return {
        log["source"]
        for row in rows
        for log in row["replica_logs"]
        if log["broker"] in (BEST, SHORTER)
    }


def _broker_epochs(rows: list[dict[str, Any]]) -> dict[int, int]:
    """Return the epochs of the brokers' processes, where the report has them."""
    logs = [log for row in rows for log in row["replica_logs"]]
    return {log["broker"]: log["broker_epoch"] for log in logs if log["broker_epoch"] is not None}


def _events(tmp_path: Path) -> list[dict[str, Any]]:
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    return [json.loads(line) for line in journal.read_text().splitlines()]


@pytest.fixture(scope="module")
def by_the_probes(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return the rows of the report on an emulated cluster that offers nothing new."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with last_replica_standing(None) as cluster:
            code, report = _recover(cluster, "--automated-recovery", *PROBES)
    assert code == 0
    rows: list[dict[str, Any]] = report["partitions"]
    return rows


@pytest.mark.parametrize("flags", MECHANISMS, ids=lambda f: "-".join(f[1::2]) or "auto")
@pytest.mark.parametrize("dialect", Dialect)
def test_every_mechanism_recovers_the_best_replica_and_tells_the_same(
    by_the_probes: list[dict[str, Any]], dialect: Dialect, flags: tuple[str, ...]
) -> None:
    with last_replica_standing(dialect) as cluster:
        told = cluster.look(lambda e: {id_: e.brokers[id_].epoch for id_ in (BEST, SHORTER)})
        code, report = _recover(cluster, "--automated-recovery", *flags)
        assert code == 0
        assert _told(report["partitions"]) == _told(by_the_probes)
        assert _described(cluster) == {n: (BEST, list(o)) for n, o in enumerate(ORDERS)}
        assert consume_all(cluster.bootstrap_servers, TOPIC, 1) == list(map(numbered, range(1500)))
    seen = {"list-offsets"} if "list-offsets" in flags else {"replica-log-info"}
    assert _sources(report["partitions"]) == seen
    assert _broker_epochs(report["partitions"]) == (told if seen == {"replica-log-info"} else {})
    for row in report["partitions"]:
        assert (row["outcome"], row["leader"]) == ("elected", BEST)
        assert {"certain": 0, "possible": None}.items() <= row["loss"].items()


@pytest.mark.parametrize(
    ("flags", "designated"), [((), True), (RPC, True), (PROBES, False), (MIXED, False)]
)
def test_a_designated_election_is_one_step_and_a_reorder_is_put_back(
    tmp_path: Path, flags: tuple[str, ...], designated: bool
) -> None:
    with last_replica_standing(Dialect.REVERTED) as cluster:
        assert _recover(cluster, "--automated-recovery", *flags)[0] == 0
    steps = ["elect", "outcome"] if designated else ["reorder", "elect", "restored", "outcome"]
    assert steps_noted(_events(tmp_path)) == ["begin", "consent", *steps, "end"]
    (elect,) = (line for line in _events(tmp_path) if line["event"] == "elect")
    assert elect.get("method") == ("designated" if designated else None)


@pytest.mark.parametrize("dialect", [*Dialect, None])
def test_the_longest_log_is_seen_to_be_the_wrong_one(dialect: Dialect | None) -> None:
    # The current epoch, which is all that KIP-1275 has, is the same on both.
    with stale_tail(dialect) as cluster:
        code, report = _recover(cluster, "--automated-recovery")
        assert code == 0
        (row,) = report["partitions"]
        assert (row["outcome"], row["leader"]) == ("elected", 4)
        assert row["loss"]["certain"] == 200
        numbers = [*range(1000), *range(5000, 5100)]
        assert consume_all(cluster.bootstrap_servers, TOPIC, 0) == list(map(numbered, numbers))


def test_a_leader_designated_by_hand_is_elected_through_the_rpc(tmp_path: Path) -> None:
    manual = tmp_path / "manual.json"
    manual.write_text(
        json.dumps({"partitions": [{"topic": TOPIC, "partition": 0, "designatedLeader": SHORTER}]})
    )
    with last_replica_standing(Dialect.KIP_1275) as cluster:
        servers = ("--bootstrap-server", cluster.bootstrap_servers)
        how = ("--election-type", "designated", "--path-to-json-file", str(manual))
        done = run(ELECTION, *servers, *how, *RPC, "--format", "json")
        (row,) = json.loads(done.stdout)["partitions"]
        assert (done.returncode, row["outcome"], row["leader"]) == (0, "elected", SHORTER)
        assert {"certain": 500, "possible": None}.items() <= row["loss"].items()
        assert _described(cluster)[1][0] == -1


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--election-method", "designated"), "use --election-method reorder"),
        (("--transport", "replica-log-info"), "use --transport list-offsets"),
    ],
)
def test_what_a_cluster_does_not_offer_is_said_and_nothing_is_done_instead(
    tmp_path: Path, flags: tuple[str, ...], says: str
) -> None:
    with last_replica_standing(None, "4.3.1") as cluster:
        servers = ("--bootstrap-server", cluster.bootstrap_servers)
        done = run(RECOVERY, *servers, *ALL, "--automated-recovery", *flags)
        assert (done.returncode, done.stdout) == (2, "")
        assert says in done.stderr
        assert {leader for leader, _ in _described(cluster).values()} == {-1}
    assert not {"reorder", "elect"} & {line["event"] for line in _events(tmp_path)}


def test_key_93_of_kafka_4_4_is_never_taken_for_a_dialect(tmp_path: Path) -> None:
    with last_replica_standing(None, "4.4.0") as cluster:
        named = ("--transport", "replica-log-info", "--replica-log-info-dialect", "reverted")
        servers = ("--bootstrap-server", cluster.bootstrap_servers)
        done = run(RECOVERY, *servers, *ALL, "--show-replica-info", *named)
        assert "GetReplicaLogInfo (reverted): it announces key 94" in done.stdout + done.stderr
        code, report = _recover(cluster, "--automated-recovery")
        assert (code, {row["outcome"] for row in report["partitions"]}) == (0, {"elected"})


def test_a_broker_without_the_named_dialect_is_no_candidate() -> None:
    with last_replica_standing(Dialect.KIP_966) as cluster:
        named = ("--transport", "replica-log-info", "--replica-log-info-dialect", "reverted")
        code, report = _recover(cluster, "--automated-recovery", *named)
        assert code == 1
        assert {row["outcome"] for row in report["partitions"]} == {"no_candidate"}
        problems = {log["problem"] for row in report["partitions"] for log in row["replica_logs"]}
        assert any("does not speak GetReplicaLogInfo (reverted)" in p for p in problems)
        assert {leader for leader, _ in _described(cluster).values()} == {-1}
