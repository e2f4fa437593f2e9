"""A small language of events, for transcripts: one line, one thing that happens.

    release kip-966                       4.3.1 where there is no such line
    brokers 1 2 3 [dirs=2]                registered and unfenced
    topic foo 1,2,3;2,3,1 min.insync.replicas=2
    partitions 4 1,2,3;2,3,1              so many in all, and the replicas of the new ones
    isr 1,2@-1 [partition=1] [by=2] [leader_epoch=3] [partition_epoch=4] [broker_epoch=5]
        [recovering]                      by the leader, with its epochs, unless it says otherwise
    isrs 1,2;1 by=1                       of partitions 0 and 1, in one request
    elr on, elr off [type=1]              eligible.leader.replicas.version, with its upgrade type
    fence 1, unfence 1, expire 1, heartbeat 1 [offset=0], fail 1 0 (its directory 0)
    shutdown 1 (controlled), stop 1 (at once)
    assign 1 0                            the replica on 1 to its directory 0
    unregister 1, register 1 [previous=-1] [same] [dirs=2], restart 1 clean|unclean
    set key=value, unset key, cluster key=value, cluster key, broker 1 key=value
    elect preferred|unclean [all], elect designated 4
    reassign 2,3,4, cancel, delete
    timer unclean, timer balance
    recover                               unclean.recovery.manager.enabled=true; from then on the
                                          manager looks at what there is after each line
    log 1 3:100 [leader_epoch=2] [broker_epoch=5]
                                          1 says that its log ends at 100, in epoch 3
    timeout                               unclean.recovery.timeout.ms have passed
    elect longest_log_balanced, elect longest_log_aggressive

Everything is about partition 0 of the topic foo, except where another is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.machine import step
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import NO_LEADER, Ids, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import (
    UNCLEAN_RECOVERY_MANAGER_ENABLED,
    State,
)
from kafka_unclean_recovery.kraft_rules.unclean_recovery import (
    awaits_last_known_elr,
    left_to_users,
    to_be_asked,
)
from tests.transcript import TESTDATA

TOPIC = "foo"
PREVIOUS = {"clean": ev.NO_PREVIOUS_REGISTRATION, "unclean": ev.UNKNOWN_BROKER_EPOCH}


@dataclass(slots=True)
class Script:
    """Plays lines on a state. What has to be unique in an event is counted."""

    state: State
    made: int = field(default=0)

    def play(self, line: str) -> str:
        """Let a line happen, and return what was answered if that is not simply yes."""
        word, *rest = line.split()
        args = [arg for arg in rest if "=" not in arg]
        given = dict(arg.split("=", 1) for arg in rest if "=" in arg)
        said = ""
        for event in _WORDS[word](self, args, given):
            said = answer(step(self.state, event))
        if self.state.recovers_uncleanly or self.state.recoveries:
            step(self.state, ev.ReviewRecoveries())
        return said

    def unique(self) -> UUID:
        self.made += 1
        return UUID(int=1000 + self.made)

    def epoch(self, broker: int) -> int:
        registration = self.state.brokers.get(broker)
        return -1 if registration is None else registration.epoch


def lines_of(given: str) -> tuple[str, list[str]]:
    """Return the release that a transcript's input is for, and what happens there."""
    lines = [line for line in given.splitlines() if line and not line.startswith("#")]
    named = lines[0].startswith("release ")
    return lines.pop(0).split()[1] if named else "4.3.1", lines


def scenario(name: str) -> tuple[str, list[str]]:
    """Return the release and the lines of the transcript with this name."""
    return lines_of((TESTDATA / "controller" / name).read_text().partition("----\n")[0])


Given = Mapping[str, str]


def ids(text: str) -> Ids:
    return tuple(int(i) for i in text.split(",") if i)


def answer(response: ev.AnyResponse) -> str:
    said = [] if response.error is Errors.NONE else [response.error.name]
    if isinstance(response, ev.AlterPartitionResponse) and response.partition_error:
        said.append(response.partition_error.name)
    if isinstance(response, ev.AlterPartitionsResponse):
        said += [f"{n} {each.partition_error.name}" for n, each in enumerate(response.results)]
    if isinstance(response, ev.ElectLeadersResponse):
        said += [f"{n}-{p} {error.name}" for n, p, error in response.results if error]
    if isinstance(response, ev.HeartbeatResponse) and not response.error:
        said += ["caught up"] if response.is_caught_up else ["behind"]
        said += ["fenced"] if response.is_fenced else ["unfenced"]
        said += ["should shut down"] if response.should_shut_down else []
    if isinstance(response, ev.RegisterBrokerResponse) and not response.error:
        said.append(f"broker_epoch={response.broker_epoch}")
    return ", ".join(said)


def show(state: State) -> list[str]:
    """Return a line for each partition: leader, both epochs, and whatever is not empty."""
    return [
        f"{topic.name}-{number} {show_partition(partition)}"
        + show_recovery(state, TopicIdPartition(topic.topic_id, number))
        for topic in sorted(state.topics.values(), key=lambda topic: topic.name)
        for number, partition in sorted(topic.partitions.items())
    ]


def show_partition(partition: PartitionRegistration) -> str:
    sets = {
        "elr": partition.elr,
        "last_known_elr": partition.last_known_elr,
        "adding": partition.adding_replicas,
        "removing": partition.removing_replicas,
    }
    return " ".join(
        [
            f"leader={'none' if partition.leader == NO_LEADER else partition.leader}",
            f"epochs={partition.leader_epoch}/{partition.partition_epoch}",
            f"replicas={_join(partition.replicas)}",
            f"isr={_join(partition.isr)}",
            *(f"{name}={_join(found)}" for name, found in sets.items() if found),
            *(
                [f"last_known_leader={partition.last_known_leader}"]
                if partition.last_known_leader != NO_LEADER
                else []
            ),
            *(["recovering"] if partition.leader_recovery_state else []),
        ]
    )


def show_recovery(state: State, key: TopicIdPartition) -> str:
    """Return its strategy, whom it can ask, and who has answered."""
    recovery = state.recoveries.get(key)
    if recovery is None:
        left = " left_to_users" if left_to_users(state, key) else ""
        return left + (" awaits_last_known_elr" if awaits_last_known_elr(state, key) else "")
    asked, answered = to_be_asked(state, key), tuple(sorted(recovery.answers))
    return " ".join(
        [
            f" recovery={recovery.strategy.value}",
            *([f"asked={_join(asked)}"] if asked else []),
            *([f"answered={_join(answered)}"] if answered else []),
            *(["timed_out"] if recovery.timed_out else []),
        ]
    )


def _join(found: Ids) -> str:
    return ",".join(map(str, found))


# The words: what each makes of its arguments and of its key=value ones.

Words = Callable[[Script, list[str], Given], list[ev.Event]]


def _register(script: Script, args: list[str], given: Given) -> list[ev.Event]:
    broker = int(args[0])
    incarnation = script.unique()
    if "same" in args:
        incarnation = script.state.brokers[broker].incarnation_id
    previous = int(given.get("previous", script.epoch(broker)))
    count = int(given.get("dirs", 1))
    log_dirs = tuple(_log_dir(broker, number) for number in range(count))
    return [ev.RegisterBroker(broker, incarnation, previous, log_dirs)]


def _log_dir(broker: int, number: int) -> UUID:
    return UUID(int=500 + 10 * broker + number)


def _restart(script: Script, args: list[str], _: Given) -> list[ev.Event]:
    previous = PREVIOUS[args[1]]
    return [
        ev.UnregisterBroker(int(args[0])),
        *_register(script, args[:1], {"previous": str(previous)}),
    ]


def _brokers(script: Script, args: list[str], given: Given) -> list[ev.Event]:
    dirs = f"dirs={given.get('dirs', 1)}"
    for broker in args:
        script.play(f"register {broker} {dirs}")
        script.play(f"unfence {broker}")
    return []


def _heartbeat(fence: bool, shut_down: bool) -> Words:
    def made(script: Script, args: list[str], given: Given) -> list[ev.Event]:
        broker = int(args[0])
        epoch = int(given.get("broker_epoch", script.epoch(broker)))
        offset = int(given.get("offset", script.state.end_offset))
        return [ev.Heartbeat(broker, epoch, offset, fence, shut_down)]

    return made


def _fail(script: Script, args: list[str], _: Given) -> list[ev.Event]:
    broker, *numbers = map(int, args)
    offline = tuple(_log_dir(broker, number) for number in numbers)
    offset = script.state.end_offset
    return [ev.Heartbeat(broker, script.epoch(broker), offset, offline_log_dirs=offline)]


def _assign(script: Script, args: list[str], given: Given) -> list[ev.Event]:
    broker, number = map(int, args)
    partition = int(given.get("partition", 0))
    epoch = int(given.get("broker_epoch", script.epoch(broker)))
    name = given.get("topic", TOPIC)
    return [ev.AssignReplicaToDir(broker, epoch, name, partition, _log_dir(broker, number))]


def _topic(script: Script, args: list[str], given: Given) -> list[ev.Event]:
    name, assignment = args
    replicas = dict(enumerate(map(ids, assignment.split(";"))))
    return [ev.CreateTopic(name, script.unique(), replicas, given)]


def _partitions(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    replicas = tuple(map(ids, args[1].split(";"))) if args[1:] else ()
    return [ev.CreatePartitions(given.get("topic", TOPIC), int(args[0]), replicas)]


def _isr(script: Script, args: list[str], given: Given) -> list[ev.Event]:
    name = given.get("topic", TOPIC)
    number = int(given.get("partition", 0))
    topic = script.state.topic(name)
    now = None if topic is None else topic.partitions.get(number)
    leader = int(given.get("by", now.leader if now else 1))
    members = [member.partition("@") for member in args[0].split(",") if member != "none"]
    return [
        ev.AlterPartition(
            broker=leader,
            broker_epoch=int(given.get("broker_epoch", script.epoch(leader))),
            topic=name,
            partition=number,
            leader_epoch=int(given.get("leader_epoch", now.leader_epoch if now else 0)),
            partition_epoch=int(given.get("partition_epoch", now.partition_epoch if now else 0)),
            new_isr=tuple((int(i), int(epoch or script.epoch(int(i)))) for i, _, epoch in members),
            leader_recovery_state=int("recovering" in args),
        )
    ]


def _isrs(script: Script, args: list[str], given: Given) -> list[ev.Event]:
    changes = []
    for number, isr in enumerate(args[0].split(";")):
        changes += _isr(script, [isr], {"partition": str(number), **given})
    return [ev.AlterPartitions(tuple(c for c in changes if isinstance(c, ev.AlterPartition)))]


def _elr(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    level = ("off", "on").index(args[0])
    kind = ev.UPGRADE if level else ev.SAFE_DOWNGRADE
    return [ev.UpdateElrVersion(level, int(given.get("type", kind)))]


def _config(args: list[str], given: Given) -> tuple[str, str | None]:
    return next(iter(given.items())) if given else (args[0], None)


def _set(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    return [ev.AlterTopicConfig(TOPIC, *_config(args, given))]


def _cluster(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    return [ev.AlterClusterConfig(*_config(args, given))]


def _broker(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    return [ev.AlterBrokerConfig(int(args[0]), *_config(args[1:], given))]


def _elect(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    kind = ev.ElectionType(args[0])
    number = int(given.get("partition", 0))
    partitions = None if "all" in args else ((TOPIC, number),)
    designated = tuple(map(int, args[1:])) if kind is ev.ElectionType.DESIGNATED else ()
    return [ev.ElectLeaders(kind, partitions, designated)]


def _recover(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    return [ev.AlterClusterConfig(UNCLEAN_RECOVERY_MANAGER_ENABLED, "true")]


def _log(script: Script, args: list[str], given: Given) -> list[ev.Event]:
    broker = int(args[0])
    written, end = map(int, args[1].split(":"))
    topic = script.state.topic(given.get("topic", TOPIC))
    number = int(given.get("partition", 0))
    now = None if topic is None else topic.partitions.get(number)
    return [
        ev.ReplicaLogInfo(
            broker=broker,
            broker_epoch=int(given.get("broker_epoch", script.epoch(broker))),
            topic_id=UUID(int=0) if topic is None else topic.topic_id,
            partition=number,
            current_leader_epoch=int(given.get("leader_epoch", now.leader_epoch if now else 0)),
            last_written_leader_epoch=written,
            log_end_offset=end,
        )
    ]


def _timeout(script: Script, args: list[str], given: Given) -> list[ev.Event]:
    topic = script.state.topic(TOPIC)
    topic_id = UUID(int=0) if topic is None else topic.topic_id
    return [ev.RecoveryTimeout(topic_id, int(given.get("partition", 0)))]


def _reassign(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    return [ev.AlterReassignment(TOPIC, int(given.get("partition", 0)), ids(args[0]))]


def _cancel(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    return [ev.AlterReassignment(TOPIC, int(given.get("partition", 0)), None)]


def _delete(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    return [ev.DeleteTopic(args[0] if args else TOPIC)]


def _timer(_: Script, args: list[str], given: Given) -> list[ev.Event]:
    return [ev.ElectUncleanLeaders() if args[0] == "unclean" else ev.BalanceLeaders()]


_WORDS: Mapping[str, Words] = {
    "brokers": _brokers,
    "register": _register,
    "unregister": lambda _, args, given: [ev.UnregisterBroker(int(args[0]))],
    "restart": _restart,
    "heartbeat": _heartbeat(fence=False, shut_down=False),
    "unfence": _heartbeat(fence=False, shut_down=False),
    "fence": _heartbeat(fence=True, shut_down=False),
    "shutdown": _heartbeat(fence=False, shut_down=True),
    "stop": _heartbeat(fence=True, shut_down=True),
    "expire": lambda _, args, given: [ev.SessionExpired(int(args[0]))],
    "fail": _fail,
    "assign": _assign,
    "topic": _topic,
    "partitions": _partitions,
    "delete": _delete,
    "isr": _isr,
    "isrs": _isrs,
    "elr": _elr,
    "set": _set,
    "unset": _set,
    "cluster": _cluster,
    "broker": _broker,
    "elect": _elect,
    "reassign": _reassign,
    "cancel": _cancel,
    "timer": _timer,
    "recover": _recover,
    "log": _log,
    "timeout": _timeout,
}
