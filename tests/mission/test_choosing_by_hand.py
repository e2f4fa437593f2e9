"""Where the tool leaves the choice to a person, the person's choice is carried out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from tests.mission.cluster import EmulatedCluster
from tests.real.cli import ELECTION
from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.trouble_recipe import ON_3
from tests.real.watching import Commands, outcomes

KAFKA_STORAGE_ERROR = 56
# Of the two brokers that live, 3 has the longer log.
LONGER, SHORTER = 3, 4


@pytest.fixture
def only_its_end_is_known(troubled: Trouble) -> Iterator[Trouble]:
    """Yield the outage while broker 3 tells where its logs end, and no leader epochs."""
    cluster = cast(EmulatedCluster, troubled.cluster)
    cluster.running.intercept("Fetch", Fail(KAFKA_STORAGE_ERROR), broker=LONGER, times=1000)
    yield troubled
    cluster.running.clear_intercepts()


def test_a_short_log_is_not_elected_over_a_longer_live_one_that_could_not_be_ranked(
    only_its_end_is_known: Trouble, commands: Commands
) -> None:
    troubled = only_its_end_is_known
    partitions = troubled.take(2)
    wanted = ("--path-to-json-file", str(commands.partitions_file({TOPIC: partitions})))
    how = ("--automated-recovery", "--accept-loss", "*", "--format", "json")
    done = commands.run("--bootstrap-server", troubled.cluster.address(4), *wanted, *how)
    assert done.code == 1
    for outcome, reason in outcomes(done, TOPIC).values():
        assert outcome == "refused"
        assert f"the log of broker {LONGER} ends further" in str(reason)
        assert "choose one by hand" in str(reason)
    assert troubled.leaders(partitions) == {-1}


@pytest.mark.parametrize("leader", [LONGER, SHORTER])
def test_the_leader_that_the_advice_has_me_choose_by_hand_is_elected(
    only_its_end_is_known: Trouble, commands: Commands, tmp_path: Path, leader: int
) -> None:
    troubled = only_its_end_is_known
    (partition,) = troubled.take(1)
    by_hand = tmp_path / "by-hand.json"
    row = {"topic": TOPIC, "partition": partition, "designatedLeader": leader}
    by_hand.write_text(json.dumps({"partitions": [row]}))
    which = ("--election-type", "designated", "--path-to-json-file", str(by_hand))
    server = ("--bootstrap-server", troubled.cluster.address(4))
    limited = ("--accept-loss", "*:0")
    done = commands.run(*server, *which, *limited, "--format", "json", command=ELECTION)
    ((outcome, reason),) = outcomes(done, TOPIC).values()
    assert (done.code, outcome) == (1, "refused")
    assert str(reason).startswith("its certain loss is unknown")
    done = commands.run(*server, *which, "--format", "json", command=ELECTION)
    (told,) = done.partitions(TOPIC).values()
    assert (told["outcome"], told["leader"]) == ("elected", leader)
    # In the end it does not tell how far its log goes either, and that is a problem.
    not_told = f"{TOPIC}-{partition}: how far the log of the elected leader goes could not be read"
    problems = [p for p in done.report["problems"] if p.startswith(not_told)]
    assert (done.code, len(problems)) == ((1, 1) if leader == LONGER else (0, 0))
    assert told["loss"]["certain"] is None
    ends = {log["broker"]: log["log_end_offset"] for log in told["replica_logs"] if log["live"]}
    assert ends[LONGER] == ON_3
    codes = {finding["code"]: finding["message"] for finding in told["findings"]}
    assert f"broker {leader} was designated by hand, since" in codes["designated_by_hand"]
