"""The language of commands: what is understood, what is refused and with which words."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.control.command_values import error_code
from kafka_unclean_recovery.emulator.control.commands import (
    FORMS,
    BadCommand,
    Command,
    NotDone,
    grammar,
    parse_line,
    parse_scenario,
    usage,
)
from kafka_unclean_recovery.emulator.control.executing import commands_done, execute, run
from kafka_unclean_recovery.emulator.disks.damage import Damage
from kafka_unclean_recovery.emulator.faults import CLIENTS, CONTROLLER, STOPPED, Drop
from kafka_unclean_recovery.emulator.listener.intercepts import Where
from kafka_unclean_recovery.kraft_rules.events import ElectionType

# What other means give: the life of the context manager, and looking by Python.
NOT_COMMANDS = {
    "bootstrap_servers",
    "log_directories",
    "log_directory",
    "look",
    "opened",
    "partition",
}
OTHERWISE_NAMED = {
    "elect_leaders": "elect-leaders",
    "alter_configs": "alter-configs",
    "pause_controller": "pause",
    "resume_controller": "resume",
}


@pytest.mark.parametrize(
    ("line", "name", "values"),
    [
        (
            "create-topic orders partitions=3 replication-factor=2 min.insync.replicas=2",
            "create-topic",
            {
                "TOPIC": "orders",
                "partitions": 3,
                "replication-factor": 2,
                "configs": {"min.insync.replicas": "2"},
            },
        ),
        (
            "create-topic a replica-assignment=1:2:4,2:4:1",
            "create-topic",
            {"TOPIC": "a", "replica-assignment": [(1, 2, 4), (2, 4, 1)], "configs": {}},
        ),
        (
            "alter-configs a retention.ms=",
            "alter-configs",
            {"TOPIC": "a", "configs": {"retention.ms": ""}},
        ),
        (
            "produce a-b-0 10 acks=1 timeout-ms=1500  # through the leader",
            "produce",
            {"TOPIC-PARTITION": ("a-b", 0), "COUNT": 10, "acks": "1", "timeout-ms": 1.5},
        ),
        (
            "elect-leaders designated a-0 designated-leader=3",
            "elect-leaders",
            {
                "preferred|unclean|designated": ElectionType.DESIGNATED,
                "TOPIC-PARTITION": ("a", 0),
                "designated-leader": 3,
            },
        ),
        ("kill 4 3", "kill", {"BROKER": (4, 3)}),
        ("pause controller 2", "pause", {"BROKER|controller": (CONTROLLER, 2)}),
        (
            "drop-link 1 clients how=reset",
            "drop-link",
            {"BROKER": 1, "BROKER|controller|clients": CLIENTS, "how": Drop.RESET},
        ),
        (
            "delay-link 1 controller ms=250",
            "delay-link",
            {"BROKER": 1, "BROKER|controller|clients": CONTROLLER, "ms": 0.25},
        ),
        ("wipe 2 index=1", "wipe", {"BROKER": 2, "index": 1}),
        ("exchange-disk 2", "exchange-disk", {"BROKER": 2}),
        (
            "reassign a-0 replicas=4,2",
            "reassign",
            {"TOPIC-PARTITION": ("a", 0), "replicas": (4, 2)},
        ),
        (
            "reassign a-0 replicas=",
            "reassign",
            {"TOPIC-PARTITION": ("a", 0), "replicas": None},
        ),
        (
            "corrupt-disk 1 a-0 damage=cut",
            "corrupt-disk",
            {"BROKER": 1, "TOPIC-PARTITION": ("a", 0), "damage": Damage.CUT},
        ),
        ("lag 2 records=all", "lag", {"BROKER": 2, "records": STOPPED}),
        (
            "intercept 'ElectLeaders' no-answer=after times=2",
            "intercept",
            {"API": "ElectLeaders", "no-answer": True, "times": 2},
        ),
        (
            "intercept 43 error=NOT_CONTROLLER broker=2",
            "intercept",
            {"API": "43", "error": 41, "broker": 2},
        ),
        (
            "intercept Metadata leave-out=orders-0,payments",
            "intercept",
            {"API": "Metadata", "leave-out": frozenset({"orders-0", "payments"})},
        ),
        (
            "intercept Fetch leave-out=all",
            "intercept",
            {"API": "Fetch", "leave-out": None},
        ),
        (
            "intercept Fetch error=6 of=orders-0 times=2",
            "intercept",
            {"API": "Fetch", "error": 6, "of": frozenset({"orders-0"}), "times": 2},
        ),
        (
            "intercept Fetch error=NONE where=top",
            "intercept",
            {"API": "Fetch", "error": 0, "where": Where.TOP},
        ),
        (
            "intercept Fetch throttle-ms=1500",
            "intercept",
            {"API": "Fetch", "throttle-ms": 1.5},
        ),
        ("lag-metadata 2 ms=all", "lag-metadata", {"BROKER": 2, "ms": STOPPED}),
        (
            "wait-until a-0 leader=none isr= elr=2,1",
            "wait-until",
            {"TOPIC-PARTITION": ("a", 0), "leader": -1, "isr": (), "elr": (2, 1)},
        ),
        ("status", "status", {}),
    ],
)
def test_a_line_is_a_command_with_its_values(line: str, name: str, values: Any) -> None:
    assert parse_line(line) == Command(name, values)


@pytest.mark.parametrize("line", ["", "   ", "# kill 1", "\t# kill 1"])
def test_comments_and_empty_lines_are_nothing(line: str) -> None:
    assert parse_line(line) is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("smash 1", "'smash' is no command; there are create-topic, "),
        ("kill", "BROKER is missing; it is written: kill BROKER..."),
        ("kill 4 3 4", "4 is given twice"),
        ("kill one", "'one' is no broker"),
        ("kill 0", "'0' is no broker"),
        ("kill 1 now=yes", "now= is not among its keys: none"),
        ("produce a-0", "COUNT is missing"),
        ("produce a 5", "'a' is no partition: TOPIC-NUMBER"),
        ("produce a/b-0 5", "'a/b' is no name of a topic"),
        ("produce a-0 0", "'0' is not 1 or more"),
        ("produce a-0 5 6", "'6' is one word too many"),
        ("produce a-0 5 acks=2", "acks=2: '2' is none of all, 1, 0"),
        ("produce a-0 5 batch=1 batch=2", "batch= is given twice"),
        ("produce a-0 99999999999999", "is no whole number"),
        ("create-topic a min_isr=2", "min_isr= is not among its keys: partitions, "),
        ("create-topic ..", "'..' is no name of a topic"),
        ("create-topic a replica-assignment=1:x", "replica-assignment=1:x: 'x' is no broker"),
        ("drop-link 1 moon", "'moon' is no end of a link"),
        ("delay-link 1 2", "give one of ms="),
        ("lag 1", "give one of records="),
        ("reassign a-0", "give one of replicas="),
        ("reassign a-0 replicas=2,x", "replicas=2,x: 'x' is no broker"),
        ("intercept Fetch", "give one of error=, leave-out=, throttle-ms=, no-answer="),
        ("intercept Fetch error=6 close=after", "give one of"),
        ("intercept Fetch error=OOPS", "'OOPS' is no error known here; give its number"),
        ("intercept Fetch leave-out=a,,b", "names of entries are wanted, as in orders-0,payments"),
        ("intercept Fetch error=6 where=here", "'here' is none of everywhere, top, entries"),
        ("intercept Fetch close=never", "'never' is none of before, after"),
        ("elect-leaders clean", "'clean' is none of preferred, unclean, designated"),
        ("corrupt-disk 1 damage=fire", "damage=fire: 'fire' is none of flip, cut"),
        ("status 'all", "No closing quotation"),
    ],
)
def test_a_wrong_line_says_what_is_wrong_and_what_is_allowed(line: str, says: str) -> None:
    with pytest.raises(BadCommand) as raised:
        parse_line(line)
    assert says in str(raised.value)


def test_a_wrong_line_of_a_scenario_is_named() -> None:
    with pytest.raises(BadCommand, match=r"^a\.scenario, line 3: 'oops' is no command"):
        list(parse_scenario("# one\nstatus\noops\n", "a.scenario"))


def test_a_command_that_is_refused_names_its_line_and_ends_the_scenario() -> None:
    content = "kill 1\n\nkill 9\nkill 2\n"
    with Cluster() as cluster:
        with pytest.raises(BadCommand, match=r"^s, line 3: kill: there is no broker 9$"):
            run(cluster, parse_scenario(content, "s"))
        assert [b.process for b in cluster.status().brokers[:2]] == ["dead", "running"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("kill 4 99", "kill: there is no broker 99"),
        ("fence 1 99", "fence: there is no broker 99"),
        ("stop 1 4", "stop: broker 4 is dead, not running"),
        ("start 4 1", "start: broker 1 is running, not dead"),
        ("pause controller 1 4", "pause: broker 4 is dead, not running"),
        ("resume 1", "resume: broker 1 is running, not paused"),
    ],
)
def test_nothing_is_done_to_the_first_when_another_can_not_be_meant(line: str, says: str) -> None:
    with Cluster() as cluster:
        cluster.kill(4)
        before = cluster.status()
        with pytest.raises(BadCommand, match=says) as raised:
            execute(cluster, parse_line(line) or Command(""))
        assert not isinstance(raised.value, NotDone)
        assert cluster.status() == before


def test_what_was_done_to_some_is_told_when_the_next_fails() -> None:
    with Cluster(Options(brokers=2)) as cluster:
        execute(cluster, Command("kill", {"BROKER": (1, 2)}))
        cluster.lose_disk(2)
        with pytest.raises(NotDone, match=r"start: broker 2 can't .*; it was done to broker 1$"):
            execute(cluster, Command("start", {"BROKER": (1, 2)}))
        assert cluster.status().brokers[0].process == "running"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("create-topic orders", "topic orders can't be created: TOPIC_ALREADY_EXISTS"),
        ("produce orders-0 5", "not acknowledged: NOT_ENOUGH_REPLICAS"),
        ("produce orders-0 5 broker=2", "broker 2 does not lead orders-0"),
        ("wait-until orders-0 leader=2 timeout-ms=10", "wait-until: not within 0.01 s"),
        ("elect-leaders unclean none-0", "election of none-0: UNKNOWN_TOPIC_OR_PARTITION"),
        ("reassign orders-0 replicas=1,9", "can't be reassigned: INVALID_REPLICA_ASSIGNMENT"),
        ("reassign orders-0 replicas=", "can't be reassigned: NO_REASSIGNMENT_IN_PROGRESS"),
    ],
)
def test_what_the_cluster_refuses_was_tried(line: str, says: str) -> None:
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2)], configs={"min.insync.replicas": "2"})
        cluster.kill(2)
        cluster.fence(2)
        with pytest.raises(NotDone, match=says):
            execute(cluster, parse_line(line) or Command(""))


def test_a_line_after_others_were_carried_out_fails_after_the_fact() -> None:
    with Cluster(Options(brokers=1)) as cluster, pytest.raises(NotDone, match="there is no broker"):
        run(cluster, parse_scenario("create-topic a\nkill 9\n", "s"))


def test_help_is_the_grammar_or_one_line_of_it() -> None:
    assert grammar().splitlines() == [usage(name) for name in FORMS]
    assert grammar("kill") == "kill BROKER...\n"
    with pytest.raises(BadCommand, match="'smash' is no command"):
        grammar("smash")


def test_every_error_is_known_by_name_and_by_number() -> None:
    assert (error_code("-1"), error_code("41"), error_code("NOT_CONTROLLER")) == (-1, 41, 41)


def test_every_command_is_written_as_its_usage_says_and_done() -> None:
    assert set(FORMS) == commands_done()
    assert usage("intercept") == (
        "intercept API error=|leave-out=|throttle-ms=|no-answer=|close=|delay-ms=|delay-answer-ms="
        " [of=] [where=] [broker=] [times=]"
    )
    assert usage("create-topic").endswith("[replica-assignment=] [CONFIG=]...")


def test_what_a_cluster_can_do_there_is_a_command_for() -> None:
    methods = {name for name in vars(Cluster) if not name.startswith("_")} - NOT_COMMANDS
    commands = {OTHERWISE_NAMED.get(name, name.replace("_", "-")) for name in methods}
    assert commands <= set(FORMS)


# Each of them once, on one cluster, and what the cluster is like then.
EVERYTHING = """
create-topic orders replica-assignment=1:2:3 min.insync.replicas=2
create-topic other partitions=2 replication-factor=3
create-topic brief
delete-topic brief
alter-configs orders min.insync.replicas=1
alter-broker-configs min.insync.replicas=2
produce orders-0 10 batch=3
flush 1
kill 4
fence 4
start 4
pause 3
resume 3
pause controller
resume controller
fence 3
wait-until orders-0 isr=2,1
unfence 3
stop 1
wait-until orders-0 leader=2 timeout-ms=10000
start 1
elect-leaders preferred orders-0
wait-until orders-0 leader=1
reassign orders-0 replicas=1,3,2
power-off 4
start 4
kill 3
exchange-disk 3
exchange-disk 3
corrupt-disk 3 orders-0 damage=cut seed=1
lose-disk 3
wipe 3 index=0
start 3
drain 4
unregister-broker 4
drop-link 1 2
delay-link 2 3 ms=5
drop-link 3 clients how=reset
restore-link 2 1
lag 2 records=5 partition=orders-0
lag-metadata 4 ms=250 fetched=yes
lead-astray 1 2
lead-astray 3 nowhere
unlist 2 3
list-again 3
intercept Fetch error=6 times=3
share-group workers orders-0 start=3 done=4-5
"""


def test_every_command_does_something_to_a_cluster() -> None:
    with Cluster() as cluster:
        scenario = list(parse_scenario(EVERYTHING, "everything"))
        run(cluster, scenario)
        assert cluster.status().faults == (
            "link 3 clients dropped how=reset",
            "link 3 2 delayed ms=5",
            "broker 2 lags records=5 partition=orders-0",
            "metadata of broker 4 lags ms=250 fetched=yes",
            "address of broker 1 leads to broker 2",
            "address of broker 3 leads nowhere",
            "broker 2 has no listener for clients",
            "intercept Fetch times=3: Fail(error=6)",
        )
        assert cluster.status().brokers[3].process == "dead"
        assert cluster.look(lambda e: sorted(e.state.brokers)) == [1, 2, 3]
        topics = cluster.look(lambda e: {t.name: dict(t.configs) for t in e.state.topics.values()})
        assert topics == {"orders": {"min.insync.replicas": "1"}, "other": {}}
        assert cluster.look(lambda e: e.state.cluster_configs) == {"min.insync.replicas": "2"}
        assert cluster.partition("orders", 0).leader == 1
        (state,) = cluster.look(lambda e: list(e.share_groups["workers"].states.values()))
        assert (state.start_offset, state.done) == (3, (4, 5))
        exported = execute(cluster, Command("metrics"))
        assert "kafka_controller_kafkacontroller_globaltopiccount 2" in exported.splitlines()
        said = execute(cluster, Command("status"))
        assert "orders-0 leader=1 leader-epoch=2 replicas=1,3,2 isr=" in said
        assert "log-end-offsets=1:10,3:10,2:10\n" in said
        for name in ("restore-links", "clear-intercepts"):
            execute(cluster, Command(name))
        for line in ("lead-astray 1 1", "lead-astray 3 3", "list-again 2"):
            execute(cluster, parse_line(line) or Command(""))
        assert len(cluster.status().faults) == 2
        last = execute(cluster, parse_line("produce orders-0 1 acks=1") or Command(""))
        assert last == "orders-0: 1 records from offset 10 on\n"
    done = {command.name for _, command in scenario}
    assert done | {"help", "status", "metrics", "restore-links", "clear-intercepts"} == set(FORMS)


def test_what_does_not_come_is_waited_for_until_its_deadline() -> None:
    with Cluster(Options(brokers=1)) as cluster:
        execute(cluster, Command("create-topic", {"TOPIC": "a", "configs": {}}))
        with pytest.raises(BadCommand, match=r"wait-until: not within 0\.05 s"):
            execute(cluster, parse_line("wait-until a-0 leader=2 timeout-ms=50") or Command(""))
