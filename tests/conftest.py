"""Options of the whole test suite."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling, Scheduling
from xdist.workermanage import WorkerController

from tests import running_time, selecting
from tests.units import CONTAINERS, SPARK, kafka_first, next_unit, unit_of

# Before the package is imported, whose deadlines remember the clock that they find.
running_time.install()

# Where a test reads what a terminal gets, it reads the text; tests of colours ask for them.
os.environ["NO_COLOR"] = "1"

# Each of these takes a core or waits for 20 s or more, or needs Java; `make test` runs them like
# all others.
_SLOW = (
    CONTAINERS,
    SPARK,
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
    "tests/test_runs.py",
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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage meanwhile, and never again what the tests are made of, which stays to the
    end: each worker has 11,000 of them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(selecting.Selecting(config))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what takes long, before `-m` chooses."""
    if item.nodeid.startswith(_SLOW):
        item.add_marker("slow")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Make a scheduler that gives each worker a unit of tests/units.py at a time.

    Groups by marks (--dist loadgroup) come to nothing with pytest 9.
    """
    if config.getvalue("dist") != "loadfile":
        return None
    scheduling = LoadFileScheduling(config, log)
    scheduling._split_scope = unit_of
    assign = scheduling._assign_work_unit

    def assign_next(worker: WorkerController) -> None:
        number = scheduling.nodes.index(worker)
        kafka = kafka_first(number, len(scheduling.nodes))
        left = scheduling.workqueue
        busy = {
            unit
            for other, units in scheduling.assigned_work.items()
            for unit, done in units.items()
            if other is not worker and not all(done.values())
        }
        left.move_to_end(next_unit(left, kafka=kafka, busy=busy), last=False)
        assign(worker)

    scheduling._assign_work_unit = assign_next
    return scheduling
