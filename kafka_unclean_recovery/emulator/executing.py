"""What each command does to a cluster: the language of commands.py, carried out.

To give the language a method of Cluster, add a Form there and a line to _DO here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_unclean_recovery.emulator.cluster import Cluster
from kafka_unclean_recovery.emulator.commands import CONFIGS, BadCommand, Command
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import CONTROLLER, Drop
from kafka_unclean_recovery.emulator.intercepts import (
    Action,
    Close,
    Delay,
    Fail,
    LeaveOut,
    NoAnswer,
    Throttle,
    Where,
)
from kafka_unclean_recovery.emulator.metrics import prometheus_text
from kafka_unclean_recovery.emulator.status import partition_status, render, render_json

Values = Mapping[str, Any]
TIMEOUT = 30.0
"""In seconds, of what waits and is not told how long."""


def execute(cluster: Cluster, command: Command) -> str:
    """The answer as text, empty where there is nothing to say. Raises BadCommand for what the
    cluster refuses, or what did not happen in time."""
    try:
        return _DO[command.name](cluster, command.values) or ""
    except (ValueError, TimeoutError) as error:
        raise BadCommand(f"{command.name}: {error}") from None


def commands_done() -> set[str]:
    """The names of all."""
    return set(_DO)


def run(cluster: Cluster, scenario: Iterable[tuple[str, Command]]) -> None:
    """One command after the other; see parse_scenario. Raises BadCommand that names the place."""
    for place, command in scenario:
        try:
            execute(cluster, command)
        except BadCommand as error:
            raise BadCommand(f"{place}: {error}") from None


def _create_topic(cluster: Cluster, values: Values) -> None:
    cluster.create_topic(
        values["TOPIC"],
        values.get("partitions"),
        values.get("replication-factor"),
        assignment=values.get("replica-assignment"),
        configs=values[CONFIGS],
    )


def _configs(values: Values) -> dict[str, str | None]:
    """An empty one is removed."""
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


def _elect(cluster: Cluster, values: Values) -> None:
    topic, partition = values.get("TOPIC-PARTITION", (None, 0))
    cluster.elect_leaders(
        values["preferred|unclean|designated"],
        topic,
        partition,
        designated_leader=values.get("designated-leader"),
    )


def _each(method: Callable[[Cluster, int], None]) -> Callable[[Cluster, Values], None]:
    def do(cluster: Cluster, values: Values) -> None:
        for broker in values["BROKER"]:
            method(cluster, broker)

    return do


def _processes(
    of_broker: Callable[[Cluster, int], None], of_controller: Callable[[Cluster], None]
) -> Callable[[Cluster, Values], None]:
    def do(cluster: Cluster, values: Values) -> None:
        for process in values["BROKER|controller"]:
            if process == CONTROLLER:
                of_controller(cluster)
            else:
                of_broker(cluster, process)

    return do


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
    """Brokers in any order."""
    return set(found) == set(wanted) if isinstance(wanted, tuple) else bool(found == wanted)


_RENDER = {"text": render, "json": render_json}

_DO: Mapping[str, Callable[[Cluster, Values], str | None]] = {
    "create-topic": _create_topic,
    "delete-topic": lambda cluster, values: cluster.delete_topic(values["TOPIC"]),
    "alter-configs": lambda cluster, v: cluster.alter_configs(v["TOPIC"], _configs(v)),
    "alter-broker-configs": lambda cluster, v: cluster.alter_configs(None, _configs(v)),
    "produce": _produce,
    "elect-leaders": _elect,
    "kill": _each(Cluster.kill),
    "power-off": _each(Cluster.power_off),
    "stop": _each(Cluster.stop),
    "start": _each(Cluster.start),
    "pause": _processes(Cluster.pause, Cluster.pause_controller),
    "resume": _processes(Cluster.resume, Cluster.resume_controller),
    "fence": _each(Cluster.fence),
    "unfence": _each(Cluster.unfence),
    "flush": _each(Cluster.flush),
    "lose-disk": lambda cluster, v: cluster.lose_disk(v["BROKER"], v.get("index", 0)),
    "wipe": lambda cluster, v: cluster.wipe(v["BROKER"], v.get("index", 0)),
    "corrupt-disk": _corrupt_disk,
    "drop-link": lambda cluster, v: cluster.drop_link(*_ends(v), v.get("how", Drop.SILENCE)),
    "delay-link": lambda cluster, v: cluster.delay_link(*_ends(v), v["ms"]),
    "restore-link": lambda cluster, v: cluster.restore_link(*_ends(v)),
    "restore-links": lambda cluster, _: cluster.restore_links(),
    "lag": _lag,
    "lag-metadata": lambda cluster, v: cluster.lag_metadata(v["BROKER"], v["ms"]),
    "intercept": _intercept,
    "clear-intercepts": lambda cluster, _: cluster.clear_intercepts(),
    "wait-until": _wait_until,
    "status": lambda cluster, v: _RENDER[v.get("format", "text")](cluster.status()),
    "metrics": lambda cluster, _: prometheus_text(cluster.metrics()),
}
