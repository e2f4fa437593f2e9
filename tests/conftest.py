"""Options of the whole test suite."""

from __future__ import annotations

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling, Scheduling
from xdist.workermanage import WorkerController

from tests import selecting

_SPARK = "tests/spark/"
# Each of these takes a core or waits for 20 s or more, or needs Java; `make test` runs them like
# all others.
_SLOW = (
    _SPARK,
    "tests/aftercare/test_looking.py",
    "tests/cli/test_emulator.py",
    "tests/cli/test_salvage.py",
    "tests/cli/test_scan_log_dirs.py",
    "tests/cli/test_secrets.py",
    "tests/cli/test_standard_streams.py",
    "tests/cli/test_witnesses.py",
    "tests/emulator/test_clients.py",
    "tests/emulator/test_outage.py",
    "tests/emulator/test_security.py",
    "tests/emulator/test_torment.py",
    "tests/examples/test_kubernetes.py",
    "tests/examples/test_rehearsal.py",
    "tests/log_dir/test_corruption.py",
    "tests/log_dir/test_hostile_tree.py",
    "tests/log_dir/test_pieces.py",
    "tests/mission/",
    "tests/model_check/",
    "tests/simulation/",
    "tests/stores/test_faults.py",
    "tests/transport/test_honest_elections.py",
    "tests/transport/test_on_the_emulator.py",
)

# A busy machine takes its time: that an example took long says nothing of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write what the code says now into tests/testdata, for review as a diff",
    )
    selecting.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(selecting.Selecting(config))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests on real Kafka first: the scheduler below takes from both ends. The order is
    otherwise as collected."""
    items.sort(key=lambda item: item.get_closest_marker("real") is None)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what takes long, before `-m` chooses."""
    if item.nodeid.startswith(_SLOW):
        item.add_marker("slow")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Make a scheduler that gives each worker a file at a time, or all of Spark, whose one session
    its tests share.

    The last worker begins at the end of the list: tests that compute fill the time in which tests
    on real Kafka wait. Groups by marks (--dist loadgroup) come to nothing with pytest 9.
    """
    if config.getvalue("dist") != "loadfile":
        return None
    scheduling = LoadFileScheduling(config, log)
    file_of = scheduling._split_scope

    def together(nodeid: str) -> str:
        return _SPARK if nodeid.startswith(_SPARK) else file_of(nodeid)

    scheduling._split_scope = together
    assign = scheduling._assign_work_unit

    def from_either_end(worker: WorkerController) -> None:
        files = scheduling.workqueue
        if len(scheduling.nodes) > 1 and worker is scheduling.nodes[-1]:
            files.move_to_end(next(reversed(files)), last=False)
        assign(worker)

    scheduling._assign_work_unit = from_either_end
    return scheduling
