"""A question, the stop, and each class that was predicted held against what is so afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from kafka_unclean_recovery.documents.ok_to_stop import OkToStopJson, ScenarioJson
from kafka_unclean_recovery.log_dir.metadata.image import PartitionRegistration
from kafka_unclean_recovery.model import NO_LEADER, TopicPartition
from kafka_unclean_recovery.ok_to_stop.answer import Question, answer
from tests.ok_to_stop.controllers import (
    Asked,
    Controller,
    OurController,
    kill,
    partitions,
    states,
    stop,
)

Partitions = dict[TopicPartition, PartitionRegistration]


@dataclass(slots=True)
class Compared:
    """wrong: what was predicted otherwise. classes: how often each came."""

    wrong: list[str] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)


def compare(controller: Controller, release: str, seed: int, number: int) -> Compared:
    found, chance = Compared(), Random(seed)
    short = release.rpartition(".")[0]
    for asked in states(controller, short, seed, number):
        told = answer(asked.observation, Question(frozenset(asked.brokers)))
        found.verdicts[told.verdict] += 1
        way, scenario = chance.choice(((stop, told.stop), (kill, told.kill)))
        before = partitions(controller)
        way(controller, asked.brokers)
        after = partitions(controller)
        found.classes.update(scenario.counts)
        found.wrong += _differences(asked, told, scenario, before, after)
        alone = len(asked.brokers) == 1 and not asked.shutting_down.intersection(asked.brokers)
        if way is kill and alone and isinstance(controller, OurController):
            controller.restart_after_kill(asked.brokers)
            found.wrong += _elr_differs(told, asked.brokers[0], after, partitions(controller))
    return found


def _elr_differs(
    told: OkToStopJson, broker: int, down: Partitions, returned: Partitions
) -> Iterator[str]:
    """Yield the partitions whose ELR is otherwise than it was said after the return of the one
    broker that was killed; of several, the order in which they are noticed decides. Where it was
    not in the ELR, the index of a controller of 4.3.1 may have it nevertheless, which no request
    tells (kraft_rules/partition_index.py): what comes of that is not asked."""
    rows = {TopicPartition(row.topic, row.partition): row.classes for row in told.kill.partitions}
    unsure = {TopicPartition(row.topic, row.partition) for row in told.not_known}
    # Who leads uncleanly hangs on who is shutting down, and so does the ELR.
    unsure |= {key for key, classes in rows.items() if "unclean_election" in classes}
    for key, now in returned.items():
        stranger = not set(down[key].elr) <= set(now.replicas)
        if key in unsure or stranger or len(now.replicas) == 1:
            continue
        left = broker in down[key].elr and set(down[key].elr) - set(now.elr)
        said = "leaves_elr" in rows.get(key, ())
        if bool(left) != said:
            yield f"said leaves_elr {said}, {key}: {down[key]} -> {now}"


def _differences(
    asked: Asked, told: OkToStopJson, scenario: ScenarioJson, before: Partitions, after: Partitions
) -> Iterator[str]:
    unknown = {TopicPartition(row.topic, row.partition) for row in told.not_known}
    predicted = {TopicPartition(row.topic, row.partition): row for row in scenario.partitions}
    for key, now in after.items():
        if key in unknown or not set(asked.brokers) & set(now.replicas):
            continue
        row = predicted.get(key)
        said = set() if row is None else set(row.classes) - {"leaves_elr"}
        seen = set(_seen(asked, key, before[key], now))
        others = asked.shutting_down | (set(asked.brokers) if len(asked.brokers) > 1 else set())
        if "unclean_election" in said and others & set(now.replicas):
            # Whether one of those leads uncleanly, for a while or for good, hangs on the order.
            continue
        where = f"{asked.brokers}, {key}: {before[key]} -> {now}"
        if said != seen:
            yield f"said {sorted(said)}, seen {sorted(seen)}: {where}"
        elif row is not None and row.after.leader != now.leader:
            yield f"said leader {row.after.leader}: {where}"


def _seen(
    asked: Asked, key: TopicPartition, before: PartitionRegistration, now: PartitionRegistration
) -> Iterator[str]:
    """Yield what came of it, told by Kafka's words alone: nothing of the prediction is used."""
    topic = next(t for t in asked.observation.topics if t.name == key.topic)
    assert topic.min_isr is not None
    least = min(topic.min_isr, len(now.replicas))
    offline = before.leader != NO_LEADER and now.leader == NO_LEADER
    if len(now.replicas) == 1:
        if offline:
            yield "single_replica"
        return
    unclean = now.leader not in (NO_LEADER, before.leader, *before.isr, *before.elr)
    if unclean:
        yield "unclean_election"
    if offline:
        yield "goes_offline"
    clean = {*before.isr, *before.elr} if unclean else {*now.isr, *now.elr}
    if (offline or (unclean and before.leader != NO_LEADER)) and clean <= set(asked.brokers):
        yield "last_clean_copy"
    shrunk = now.leader != NO_LEADER and len(now.isr) < len(before.isr)
    if shrunk and len(now.isr) < least <= len(before.isr):
        yield "writes_blocked"
    if shrunk and len(now.isr) == least:
        yield "at_the_floor"
