"""The sentence that names the numbers and the setting which decide what becomes of a partition."""

from __future__ import annotations

from kafka_unclean_recovery.model import NO_LEADER
from kafka_unclean_recovery.ok_to_stop.prediction import Class, Predicted
from kafka_unclean_recovery.wording import ids_text

_SOURCES = {
    "topic": "set on the topic",
    "all_brokers": "set for all brokers",
    "one_broker": "set for a broker",
    "file": "set in the brokers' files",
    "default": "the default",
}


def because(outcome: Predicted) -> str:
    """Return why the partition is of its gravest class; of a partition that is bad already, why."""
    if not outcome.classes:
        if outcome.before.leader == NO_LEADER:
            return f"it has no leader; ISR {ids_text(outcome.before.isr)}"
        return f"ISR {ids_text(outcome.before.isr)}; {_min_isr(outcome)}"
    return _WHY[outcome.classes[0]](outcome)


def _min_isr(outcome: Predicted) -> str:
    topic, replicas = outcome.topic, len(outcome.replicas)
    source = _SOURCES.get(topic.min_isr_source, "of a source that is not known")
    if topic.min_isr is not None and topic.min_isr > outcome.min_isr == replicas:
        return (
            f"min.insync.replicas {topic.min_isr}, {source}, counts as {replicas}: it has"
            f" {replicas} replicas"
        )
    return f"min.insync.replicas {outcome.min_isr}, {source}"


def _members(outcome: Predicted) -> str:
    elr = f", ELR {ids_text(outcome.before.elr)}" if outcome.before.elr else ""
    return f"ISR {ids_text(outcome.before.isr)}{elr} of replicas {ids_text(outcome.replicas)}"


def _unclean(outcome: Predicted) -> str:
    return (
        f"unclean.leader.election.enable is true: {outcome.after.leader} would lead, which is not"
        f" in {_members(outcome)}"
    )


def _last_copy(outcome: Predicted) -> str:
    return f"all of {_members(outcome)} that are clean would be stopped"


def _survivor(outcome: Predicted) -> str:
    whom = ids_text(outcome.survivors)
    return f"nobody leads it, and the best of its live copies would be stopped: that of {whom}"


def _offline(outcome: Predicted) -> str:
    unclean = "" if outcome.topic.unclean else "; unclean.leader.election.enable is false"
    return f"nobody else of {_members(outcome)} lives{unclean}"


def _one_replica(outcome: Predicted) -> str:
    return f"replication factor 1, on broker {outcome.replicas[0]}"


def _isr_shrinks(outcome: Predicted) -> str:
    return (
        f"ISR {ids_text(outcome.before.isr)} becomes {ids_text(outcome.after.isr)};"
        f" {_min_isr(outcome)}"
    )


def _elr(outcome: Predicted) -> str:
    return f"{_isr_shrinks(outcome)}; its return from a kill leaves the ELR"


_WHY = {
    Class.UNCLEAN_ELECTION: _unclean,
    Class.LAST_CLEAN_COPY: _last_copy,
    Class.OFFLINE_SURVIVOR: _survivor,
    Class.GOES_OFFLINE: _offline,
    Class.WRITES_BLOCKED: _isr_shrinks,
    Class.BELOW_MARGIN: _isr_shrinks,
    Class.SINGLE_REPLICA: _one_replica,
    Class.LEAVES_ELR: _elr,
    Class.AT_THE_FLOOR: _isr_shrinks,
}
