"""The tool is killed in the middle of a wave: the waves before it stand, and the next run puts its
replica orders back and elects the rest.
"""

from __future__ import annotations

from tests.real.faults import trouble, with_partitions_left
from tests.real.recipes import TOPIC
from tests.real.sharing import SharedClusters
from tests.real.tap import ELECT_LEADERS, Gate
from tests.real.watching import Commands, journal_lines, make_older, open_orders, outcomes


def test_a_run_killed_between_waves_is_finished_by_the_next(
    shared_clusters: SharedClusters, commands: Commands
) -> None:
    troubled = with_partitions_left(shared_clusters, trouble())
    first, second, third = partitions = troubled.take(3)
    before = troubled.orders(partitions)
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    which = ["--path-to-json-file", wanted, "--automated-recovery", "--format", "json"]
    which += ["--canary", "1", "--wave-size", "1"]
    with troubled.tapped(3, gate := Gate(ELECT_LEADERS, nth=2)) as address:
        run = commands.start("--bootstrap-server", address, *which)
        gate.wait(lambda: run.stderr)
        assert "wave 1 of 3: 1 partition verified" in run.stderr
        run.kill()
    (journal,) = commands.journals()
    assert open_orders(journal) == {second}
    troubled.wait_for_leader([first], 3)
    assert troubled.leaders([second, third]) == {-1}
    orders = troubled.orders(partitions)
    assert (orders[first], orders[third]) == (before[first], before[third])
    assert orders[second] != before[second]

    # What the dead run sent can't be carried out any more.
    make_older(journal, 3600)
    done = commands.run("--bootstrap-server", troubled.cluster.bootstrap_servers, *which)
    assert done.code == 0, done.stderr
    assert f"{journal}: 1 replica orders are to be put back first" in done.stderr
    assert outcomes(done, TOPIC) == {
        first: ("already_online", None),
        second: ("elected", None),
        third: ("elected", None),
    }
    assert open_orders(journal) == set()
    troubled.wait_for_leader(partitions, 3)
    troubled.wait_for_orders(before)
    waves = [line for line in journal_lines(commands.journals()[-1]) if line["event"] == "wave"]
    assert [(line["number"], line["of"], line["partitions"]) for line in waves] == [
        (1, 2, 1),
        (2, 2, 1),
    ]
