"""The checks of partitions are about offline partitions, reassignments, and elections that nobody
asks for. This module does no I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kafka_unclean_recovery.cluster.requests.configs import ConfigSource
from kafka_unclean_recovery.cluster.requests.describe import not_told
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.doctor import words
from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.facts import Facts
from kafka_unclean_recovery.kafka_names import CONSUMER_OFFSETS, TRANSACTION_STATE, Errors
from kafka_unclean_recovery.kafka_names import UNCLEAN_LEADER_ELECTION_ENABLE as UNCLEAN
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.planning.dead_leaders import dead_leaders_text, led_by_the_dead
from kafka_unclean_recovery.planning.self_election import elected_by_return
from kafka_unclean_recovery.wording import count_text

_FIRST = (CONSUMER_OFFSETS, TRANSACTION_STATE)
_RACE = (
    "the controller then elects by itself, whoever comes first: whenever a broker comes or goes,"
    " and every unclean.leader.election.interval.ms (5 minutes); records that a better replica"
    " holds are gone before a plan is made"
)
_GRANT = "grant Topic:DESCRIBE_CONFIGS, or ask somebody who has it"
_WHERE = {
    ConfigSource.TOPIC: "set on the topics",
    ConfigSource.ALL_BROKERS: "set for all brokers",
    ConfigSource.ONE_BROKER: "set for a broker",
    ConfigSource.FILE: "set in the file of the broker that was asked",
}


def partition_checks(facts: Facts) -> Iterator[Check]:
    yield _offline(facts)
    yield from _led_on_return(facts)
    yield from _led_unseen(facts)
    yield from _led_by_the_dead(facts)
    yield _reassignments(facts)
    yield from _unclean(facts)


def _offline(facts: Facts) -> Check:
    why, to_do = "these are what a recovery is for", "ask through other brokers"
    if facts.topics.failed:
        what = f"partitions are not known: {facts.topics.problem}"
        untold = not facts.topics.refused
        return Check("offline_partitions", Status.FAILURE, what, why, to_do, untold)
    count, offline = len(facts.partitions), facts.offline
    errors = not_told(facts.topics.value or ())
    if errors and not offline:
        what = f"not known of {words.some(sorted(errors))}: {', '.join(sorted({*errors.values()}))}"
        return Check("offline_partitions", Status.FAILURE, what, why, to_do, untold=True)
    if not offline:
        what = f"none is offline of what this user may see: {count_text(count, 'partition')}"
        unseen = len(facts.led_unseen)
        what += f", {unseen} of them led by brokers without our listener" if unseen else ""
        return Check("offline_partitions", Status.OK, what, why)
    first = [topic for topic in _FIRST if any(p.topic == topic for p in offline)]
    names = words.some(p.topic_partition for p in offline)
    to_do = "look at them: --all-offline-partitions --show-replica-info"
    if first:
        to_do += f"; recover {' and '.join(first)} first, groups and transactions hang on them"
    what = f"offline are {len(offline)} of {count_text(count, 'partition')}: {names}"
    return Check("offline_partitions", Status.WARNING, what, why, to_do)


def _led_on_return(facts: Facts) -> Iterator[Check]:
    """Yield a warning for each dead broker that the controller elects by itself once it is back."""
    found: dict[int, list[TopicPartition]] = defaultdict(list)
    for state in facts.offline:
        for broker in state.offline_replicas:
            led = elected_by_return(state, broker, None)
            if led is not None and led.leader == broker:
                found[broker].append(state.topic_partition)
    for broker, partitions in sorted(found.items()):
        count = count_text(len(partitions), "offline partition")
        yield Check(
            "led_on_return",
            Status.WARNING,
            f"broker {broker} leads {count} by itself once it is back: {words.some(partitions)}",
            "the controller compares no logs: however little the disk of that broker has kept, live"
            " replicas are cut to it",
            f"before broker {broker} starts, ask before-start with its disk",
        )


def _led_unseen(facts: Facts) -> Iterator[Check]:
    if facts.led_unseen:
        first = min(facts.led_unseen)
        count = count_text(len(facts.led_unseen), "partition")
        yield Check(
            "led_unseen",
            Status.WARNING,
            f"{count} only look as if nobody led them: {words.some(sorted(facts.led_unseen))};"
            f" of {first}: {facts.led_unseen[first]}",
            "they are not recovered, and who comes in by this listener can't use them",
            "come in by a listener that all brokers advertise",
        )


def _led_by_the_dead(facts: Facts) -> Iterator[Check]:
    dead = {p.topic_partition: p for p in facts.partitions if led_by_the_dead(p, facts.cluster)}
    if dead:
        yield Check(
            "dead_leaders",
            Status.WARNING,
            dead_leaders_text(dead, facts.cluster),
            "a partition that the cluster calls led is not recovered, and clients wait for a dead"
            " broker",
            "run again, as a broker may have come back just now; else bring these brokers back, or"
            " have the controller of this cluster take their leadership away",
        )


def _reassignments(facts: Facts) -> Check:
    code, why = "reassignments", "an election would complete the reassignment of its partition, and"
    why += " may elect an adding replica that is empty; such partitions are refused"
    if facts.reassignments.failed:
        what = f"reassignments in progress are not known: {facts.reassignments.problem}"
        to_do = "nothing is elected until they are known"
        return Check(code, Status.WARNING, what, why, to_do, untold=True)
    found = facts.reassignments.value or {}
    if not found:
        return Check(code, Status.OK, "no reassignment is in progress", why)
    stuck = [tp for tp in sorted(found) if tp in {p.topic_partition for p in facts.offline}]
    count = count_text(len(found), "reassignment")
    what = f"{count} in progress: {words.some(sorted(found))}"
    to_do = "let them finish or cancel them before an incident"
    if stuck:
        what += f"; offline of these: {words.some(stuck)}"
        to_do = (
            "bring a broker of the old replica set back; else reassign the offline ones back"
            " to that set, the best replica first, elect it, and cancel what is left then"
            " (--automated-recovery --end-reassignment TOPIC-PARTITION does all three); do not"
            " cancel before: where unclean elections are allowed the controller then elects blindly"
        )
    return Check(code, Status.WARNING, what, why, to_do)


def _unclean(facts: Facts) -> Iterator[Check]:
    if facts.configs.failed:
        yield _not_known(f"{facts.configs.problem}")
        return
    by_source, unread = defaultdict(list), defaultdict(list)
    for topic, config in sorted((facts.configs.value or {}).items()):
        if config.error != Errors.NONE or config.value is None:
            unread[config.error].append(topic)
        elif config.value == "true":
            by_source[config.source].append(topic)
    lacking = sorted(
        {t.name for t in facts.topics.value or ()} - (facts.configs.value or {}).keys()
    )
    for source, topics in sorted(by_source.items()):
        yield _enabled(facts, source, topics)
    for error, topics in sorted(unread.items()):
        if error == Errors.NONE:
            yield _not_told(topics)
        else:
            yield _not_known(f"{error_name(error)} for topics {words.some(topics)}")
    if lacking:
        yield _not_known(f"the answer lacks topics {words.some(lacking)}", "run again")
    if not by_source and not unread and not lacking:
        what = f"{UNCLEAN} is false for every topic, as a broker has it; a controller's own file"
        yield Check("unclean_elections", Status.OK, f"{what} is not shown", _RACE)


def _enabled(facts: Facts, source: ConfigSource, topics: list[str]) -> Check:
    offline = sorted({p.topic for p in facts.offline} & set(topics))
    what = f"{UNCLEAN} is true for topics {words.some(topics)}"
    if source in _WHERE:
        what += f", {_WHERE[source]}"
    to_do = f"set {UNCLEAN}=false until the incident is over"
    if source is ConfigSource.FILE:
        what += "; what the controllers' files say is not shown, and counts"
    if offline:
        what += f"; offline among these: {words.some(offline)}"
        to_do += ", before any broker is started or stopped"
    return Check("unclean_elections", Status.WARNING, what, _RACE, to_do)


def _not_known(reason: str, to_do: str = _GRANT) -> Check:
    what = f"whether {UNCLEAN} is true is not known: {reason}"
    return Check("unclean_elections", Status.UNKNOWN, what, _RACE, to_do)


def _not_told(topics: list[str]) -> Check:
    """Return the check for topics without this config: brokers answered, so rights are there."""
    what = f"the broker that was asked tells no {UNCLEAN} of topics {words.some(topics)}"
    to_do = "look at its own documentation: it may elect uncleanly by itself, or never"
    return Check("unclean_elections", Status.UNKNOWN, what, _RACE, to_do)
