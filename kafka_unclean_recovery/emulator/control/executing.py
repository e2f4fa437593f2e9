"""This module carries out the commands of commands.py on a cluster.

To give the language a method of Cluster, add a Form there and a line to _DO here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from kafka_unclean_recovery.emulator.administration import Refused
from kafka_unclean_recovery.emulator.broker.broker import Process
from kafka_unclean_recovery.emulator.cluster import Cluster
from kafka_unclean_recovery.emulator.control.commands import (
    CONFIGS,
    BadCommand,
    Command,
    NotDone,
    grammar,
)
from kafka_unclean_recovery.emulator.control.metrics import prometheus_text
from kafka_unclean_recovery.emulator.control.status import partition_status, render, render_json
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import CONTROLLER, Drop
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Action,
    Close,
    Delay,
    Fail,
    LeaveOut,
    NoAnswer,
    Throttle,
    Where,
)

Values = Mapping[str, Any]
TIMEOUT = 30.0
"""A command that waits, and is not told how long, waits for so many seconds."""


def execute(cluster: Cluster, command: Command) -> str:
    """Carry out a command and return its answer as text, which may be empty. Raises BadCommand for
    a command that is wrong, NotDone for one that the cluster refuses, or that did not succeed in
    time."""
    try:
        return _DO[command.name](cluster, command.values) or ""
    except (NotDone, Refused, TimeoutError) as error:
        raise NotDone(f"{command.name}: {error}") from None
    except ValueError as error:
        raise BadCommand(f"{command.name}: {error}") from None


def commands_done() -> set[str]:
    """Return the names of all commands that are carried out here."""
    return set(_DO)


def run(cluster: Cluster, scenario: Iterable[tuple[str, Command]]) -> None:
    """Carry out one command after the other; see parse_scenario. Raises BadCommand that names the
    place, NotDone where an earlier command was carried out."""
    for number, (place, command) in enumerate(scenario):
        try:
            execute(cluster, command)
        except BadCommand as error:
            kind = NotDone if number else type(error)
            raise kind(f"{place}: {error}") from None


def _create_topic(cluster: Cluster, values: Values) -> None:
    cluster.create_topic(
        values["TOPIC"],
        values.get("partitions"),
        values.get("replication-factor"),
        assignment=values.get("replica-assignment"),
        configs=values[CONFIGS],
    )


def _configs(values: Values) -> dict[str, str | None]:
    """Return the configs to set. A config with an empty value is removed."""
    if not values[CONFIGS]:
        raise ValueError(
            "name a config, as in min.insync.replicas=2; without a value it is removed"
        )
    return {key: value or None for key, value in values[CONFIGS].items()}


def _produce(cluster: Cluster, values: Values) -> str:
    topic, partition = values["TOPIC-PARTITION"]
    named = {key: values[key] for key in ("acks", "batch", "broker") if key in values}
    timeout = values.get("timeout-ms", TIMEOUT)
    count = values["COUNT"]
    first = cluster.produce(topic, partition, count, **named, timeout=timeout)
    return f"{topic}-{partition}: {count} records from offset {first} on\n"


def _share_group(cluster: Cluster, values: Values) -> None:
    topic, partition = values["TOPIC-PARTITION"]
    cluster.share_group(
        values["GROUP"], topic, partition, values["start"], values.get("done", (0, 0))
    )


def _elect(cluster: Cluster, values: Values) -> None:
    topic, partition = values.get("TOPIC-PARTITION", (None, 0))
    cluster.elect_leaders(
        values["preferred|unclean|designated"],
        topic,
        partition,
        designated_leader=values.get("designated-leader"),
    )


def _reassign(cluster: Cluster, values: Values) -> None:
    topic, partition = values["TOPIC-PARTITION"]
    cluster.reassign(topic, partition, values["replicas"])


def _each(
    doing: Callable[[Cluster, int], None], wanted: Process | None = None
) -> Callable[[Cluster, Values], None]:
    """Return a function that acts on each broker. `wanted`: the state of their processes."""

    def do(cluster: Cluster, values: Values) -> None:
        brokers = values["BROKER"]
        _check_all(cluster, brokers, wanted)
        _one_by_one({f"broker {id_}": partial(doing, cluster, id_) for id_ in brokers})

    return do


def _power_off(cluster: Cluster, values: Values) -> None:
    _check_all(cluster, values["BROKER"], None)
    cluster.power_off(*values["BROKER"])


def _processes(
    of_broker: Callable[[Cluster, int], None],
    of_controller: Callable[[Cluster], None],
    wanted: Process,
) -> Callable[[Cluster, Values], None]:
    def do(cluster: Cluster, values: Values) -> None:
        processes = values["BROKER|controller"]
        brokers = [id_ for id_ in processes if id_ != CONTROLLER]
        _check_all(cluster, brokers, wanted)
        steps = {f"broker {id_}": partial(of_broker, cluster, id_) for id_ in brokers}
        if CONTROLLER in processes:
            steps["the controller"] = partial(of_controller, cluster)
        _one_by_one(steps)

    return do


def _check_all(cluster: Cluster, brokers: Iterable[int], wanted: Process | None) -> None:
    """Check all brokers before anything is done to the first. Raises ValueError."""

    def check(emulation: Emulation) -> None:
        for id_ in brokers:
            if wanted is None:
                emulation.broker(id_)
            else:
                emulation.broker_that_is(wanted, id_)

    cluster.look(check)


def _one_by_one(steps: Mapping[str, Callable[[], None]]) -> None:
    """Run steps one by one. `steps` is keyed by the name of the process that each acts on."""
    done: list[str] = []
    for name, do in steps.items():
        try:
            do()
        except ValueError as error:
            if not done:
                raise
            raise NotDone(f"{error}; it was done to {', '.join(done)}") from None
        done.append(name)


def _ends(values: Values) -> tuple[int, int]:
    return values["BROKER"], values["BROKER|controller|clients"]


def _lag(cluster: Cluster, values: Values) -> None:
    topic, partition = values.get("partition", (None, 0))
    cluster.lag(values["BROKER"], values["records"], topic, partition)


def _intercept(cluster: Cluster, values: Values) -> None:
    cluster.intercept(
        values["API"],
        _action(values),
        broker=values.get("broker"),
        times=values.get("times", 1),
    )


def _action(values: Values) -> Action:
    if "error" in values:
        return _failure(values["error"], values)
    if unfit := [key for key in ("of", "where") if key in values]:
        raise ValueError(f"{unfit[0]}= goes with error=")
    (key,) = _ACTIONS.keys() & values.keys()
    return _ACTIONS[key](values[key])


def _failure(error: int, values: Values) -> Fail:
    if "of" in values and "where" in values:
        raise ValueError("give one of of=, where=: what is of some entries is told in them")
    return Fail(error, values.get("where", Where.EVERYWHERE), values.get("of"))


_ACTIONS: Mapping[str, Callable[[Any], Action]] = {
    "leave-out": LeaveOut,
    "throttle-ms": Throttle,
    "no-answer": NoAnswer,
    "close": Close,
    "delay-ms": Delay,
    "delay-answer-ms": lambda seconds: Delay(seconds, carried_out=True),
}


def _corrupt_disk(cluster: Cluster, values: Values) -> str:
    topic, partition = values.get("TOPIC-PARTITION", (None, 0))
    named = {key: values[key] for key in ("damage", "seed") if key in values}
    done = cluster.corrupt_disk(values["BROKER"], topic, partition, **named)
    return f"{done.topic}-{done.partition}: byte {done.position} of {done.segment}\n"


def _wait_until(cluster: Cluster, values: Values) -> None:
    topic, partition = values["TOPIC-PARTITION"]
    wanted = {name: values[name] for name in ("leader", "isr", "elr") if name in values}

    def is_so(emulation: Emulation) -> bool:
        found = partition_status(emulation, topic, partition)
        return all(_same(getattr(found, name), value) for name, value in wanted.items())

    cluster.wait_until(is_so, values.get("timeout-ms", TIMEOUT))


def _same(found: Any, wanted: Any) -> bool:
    """Return whether two values are the same. Brokers may come in any order."""
    return set(found) == set(wanted) if isinstance(wanted, tuple) else bool(found == wanted)


_RENDER = {"text": render, "json": render_json}

_DO: Mapping[str, Callable[[Cluster, Values], str | None]] = {
    "create-topic": _create_topic,
    "delete-topic": lambda cluster, values: cluster.delete_topic(values["TOPIC"]),
    "alter-configs": lambda cluster, v: cluster.alter_configs(v["TOPIC"], _configs(v)),
    "alter-broker-configs": lambda cluster, v: cluster.alter_configs(None, _configs(v)),
    "produce": _produce,
    "share-group": _share_group,
    "elect-leaders": _elect,
    "reassign": _reassign,
    "kill": _each(Cluster.kill),
    "power-off": _power_off,
    "stop": _each(Cluster.stop, Process.RUNNING),
    "drain": _each(Cluster.drain, Process.RUNNING),
    "start": _each(Cluster.start, Process.DEAD),
    "pause": _processes(Cluster.pause, Cluster.pause_controller, Process.RUNNING),
    "resume": _processes(Cluster.resume, Cluster.resume_controller, Process.PAUSED),
    "unregister-broker": _each(Cluster.unregister_broker, Process.DEAD),
    "fence": _each(Cluster.fence),
    "unfence": _each(Cluster.unfence, Process.RUNNING),
    "flush": _each(Cluster.flush),
    "lose-disk": lambda cluster, v: cluster.lose_disk(v["BROKER"], v.get("index", 0)),
    "wipe": lambda cluster, v: cluster.wipe(v["BROKER"], v.get("index", 0)),
    "exchange-disk": lambda cluster, v: cluster.exchange_disk(v["BROKER"], v.get("index", 0)),
    "corrupt-disk": _corrupt_disk,
    "drop-link": lambda cluster, v: cluster.drop_link(*_ends(v), v.get("how", Drop.SILENCE)),
    "delay-link": lambda cluster, v: cluster.delay_link(*_ends(v), v["ms"]),
    "restore-link": lambda cluster, v: cluster.restore_link(*_ends(v)),
    "restore-links": lambda cluster, _: cluster.restore_links(),
    "lag": _lag,
    "lag-metadata": lambda cluster, v: cluster.lag_metadata(
        v["BROKER"], v["ms"], fetched=v.get("fetched", False)
    ),
    "lead-astray": lambda cluster, v: cluster.lead_astray(v["BROKER"], v["TO-BROKER|nowhere"]),
    "unlist": _each(Cluster.unlist),
    "list-again": _each(Cluster.list_again),
    "intercept": _intercept,
    "clear-intercepts": lambda cluster, _: cluster.clear_intercepts(),
    "wait-until": _wait_until,
    "status": lambda cluster, v: _RENDER[v.get("format", "text")](cluster.status()),
    "help": lambda _, v: grammar(v.get("COMMAND")),
    "metrics": lambda cluster, _: prometheus_text(cluster.metrics()),
}
