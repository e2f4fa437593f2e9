"""What a recovery costs, counted: requests, Python calls, and modules that it imports. Seconds are
measured by benchmarks/ and asserted nowhere."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from benchmarks.installed import EXTRAS, plain_environ, python
from benchmarks.outage_process import SETTINGS, make
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.apis.describe_configs import BROKER
from kafka_unclean_recovery.emulator.listener.intercepts import Rewrite, Seen
from kafka_unclean_recovery.recovery.views import States, View
from kafka_unclean_recovery.transport import reorder_elector
from tests.cli.in_process import RECOVERY, invoke

ELECT = ("--all-offline-partitions", "--automated-recovery", "--yes")
# Others are sent until something is seen: how often is a matter of time.
SENT = {
    # Of two brokers: at first, and just before the election.
    "ListOffsets": 4,
    # Of two brokers at first, and of the leader in the end.
    "Fetch": 3,
    # At first, just before the election, and just before the order is put back.
    "ListPartitionReassignments": 3,
    "DescribeLogDirs": 2,
    # Whether the topics have records in remote storage, and in the end their min.insync.replicas.
    "DescribeConfigs": 2,
    "AlterPartitionReassignments": 2,
    "ElectLeaders": 1,
}


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # A slow machine would look once more.
    monkeypatch.setattr(reorder_elector, "SOON_SECONDS", 60.0)


@contextmanager
def outage(partitions: int) -> Iterator[Cluster]:
    with Cluster(Options(brokers=3, settings=SETTINGS)) as cluster:
        make(cluster, partitions)
        for broker in (2, 3):
            cluster.start(broker)
        cluster.wait_until(lambda e: all(map(e.state.active, (2, 3))))
        yield cluster


def _proves_who_answers(request: Any) -> bool:
    """Return whether it asks a broker for its config, as connections do before Kafka 4.4."""
    return any(each.resource_type == BROKER for each in getattr(request, "resources", ()))


def _sent(partitions: int) -> Counter[str]:
    """Return how many requests of each kind one recovery sends."""
    counts: Counter[str] = Counter()
    with outage(partitions) as cluster:
        for api in SENT:

            def count(seen: Seen, api: str = api) -> None:
                counts[api] += not _proves_who_answers(seen.request)

            cluster.intercept(api, count, times=10_000)
        done = invoke(RECOVERY, "--bootstrap-server", cluster.bootstrap_servers, *ELECT)
        assert done.code == 0, done.stderr
        status = cluster.status()
    assert len(status.partitions) == partitions
    assert {partition.leader for partition in status.partitions} == {3}
    return counts


@pytest.mark.parametrize("partitions", [20, 200])
def test_any_number_of_partitions_is_recovered_by_the_same_requests(partitions: int) -> None:
    assert _sent(partitions) == SENT


Calls = Counter[tuple[str, str]]
"""How often functions were called, by file and name. What makes a frozen dataclass has no file."""

_A_DATACLASS_IS_MADE = ("<string>", "__init__")


def _called(partitions: int) -> Calls:
    """Return the Python calls of one recovery in its own thread."""
    calls: Calls = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls[frame.f_code.co_filename, frame.f_code.co_name] += 1

    with outage(partitions) as cluster:
        sys.setprofile(note)
        try:
            done = invoke(RECOVERY, "--bootstrap-server", cluster.bootstrap_servers, *ELECT)
        finally:
            sys.setprofile(None)
        assert done.code == 0, done.stderr
    return calls


def test_a_partition_more_is_few_python_calls_more() -> None:
    few, many = _called(20), _called(120)
    # What is made for each partition is a msgspec.Struct, or a name.
    assert many[_A_DATACLASS_IS_MADE] - few[_A_DATACLASS_IS_MADE] < 100
    assert (many.total() - few.total()) / 100 < 1_400


def test_offline_partitions_are_not_picked_out_of_a_view_anew_for_each_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which takes time by the square of their number."""
    picked = 0

    def counted(view: View) -> States:
        nonlocal picked
        picked += 1
        return {tp: state for tp, state in view.states.items() if state.offline}

    monkeypatch.setattr(View, "offline", property(counted))
    with outage(200) as cluster:
        look = ("--all-offline-partitions", "--show-replica-info")
        done = invoke(RECOVERY, "--bootstrap-server", cluster.bootstrap_servers, *look)
        assert done.code == 0, done.stderr
    assert picked < 100


def _described_between_waves(partitions: int) -> list[int]:
    """Return how many partitions each answer has from the first to the last election."""
    elections = 0
    sizes: list[int] = []

    def elected(_: object) -> None:
        nonlocal elections
        elections += 1

    def measured(answer: dict[str, Any]) -> dict[str, Any]:
        if 0 < elections < partitions:
            sizes.append(sum(len(topic["partitions"]) for topic in answer["topics"]))
        return answer

    with outage(partitions) as cluster:
        cluster.intercept("ElectLeaders", elected, times=10_000)
        cluster.intercept("DescribeTopicPartitions", Rewrite(measured), times=10_000)
        words = (*ELECT, "--canary", "1", "--wave-size", "1")
        done = invoke(RECOVERY, "--bootstrap-server", cluster.bootstrap_servers, *words)
        assert done.code == 0, done.stderr
    assert elections == partitions
    assert len(sizes) > partitions
    return sizes


@pytest.mark.parametrize("partitions", [10, 30])
def test_a_wave_asks_for_no_more_however_many_were_elected_before_it(partitions: int) -> None:
    assert max(_described_between_waves(partitions)) <= 2


def test_a_recovery_imports_no_client_and_nothing_of_an_extra() -> None:
    script = (
        "import sys\n"
        "from kafka_unclean_recovery.cli.start import unclean_recovery\n"
        "try: unclean_recovery()\n"
        "except SystemExit as ended: print(ended.code, *sys.modules, file=sys.stderr)\n"
    )
    with outage(2) as cluster:
        words = ("--bootstrap-server", cluster.bootstrap_servers, *ELECT)
        # Where the extras are there to be imported.
        command = python("-P", "-c", script, *words, kind=EXTRAS)
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=plain_environ()
        )
    code, *modules = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    left_out = ("kafka.", "confluent_kafka", "pyarrow", "numpy", "pyspark", "jinja2")
    assert [name for name in modules if name.startswith(left_out)] == []
    rooms = {".".join(name.split(".")[:2]) for name in modules if name.startswith("kafka_un")}
    ours = "kafka_unclean_recovery"
    assert (
        rooms & {f"{ours}.{room}" for room in ("emulator", "spark", "salvage", "log_dir")} == set()
    )
