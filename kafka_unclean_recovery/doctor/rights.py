"""The checks of rights judge each right by the answer to a request that needs it. This module does
no I/O.

Kafka's authorisation tables say which request needs which right (kafka.server.KafkaApis and
ControllerApis).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafka_unclean_recovery.cluster.requests.log_dirs import topics_in
from kafka_unclean_recovery.cluster.wire.error_codes import UNAUTHORIZED
from kafka_unclean_recovery.doctor import words
from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.facts import Facts
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.mechanisms import ElectionMethod
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.survey.answer import Answer
from kafka_unclean_recovery.wording import count_text

_ALL = "the whole job needs Cluster:ALTER and Topic(*):READ"


def right_checks(facts: Facts) -> Iterator[Check]:
    yield _describe_cluster(facts)
    if facts.method.value is not ElectionMethod.DESIGNATED:
        yield _on_cluster(
            "ALTER",
            facts.reordering,
            "AlterPartitionReassignments",
            "without it the replica order can't be written, which chooses the leader",
        )
        yield _on_cluster("ALTER", facts.electing, "ElectLeaders", "without it nobody is elected")
    else:
        yield _on_cluster(
            "ALTER",
            facts.electing,
            "ElectLeaders version 3",
            "without it nobody is elected; a broker may want CLUSTER_ACTION instead, as KIP-966 and"
            " KIP-1275 have it",
        )
    yield _hidden(facts)
    yield _on_topics(
        facts,
        "DESCRIBE",
        "ListOffsets",
        [broker.ends for broker in facts.brokers],
        "without it the log end offsets of replicas are not told",
    )
    yield _on_topics(
        facts,
        "READ",
        "Fetch",
        [broker.reads for broker in facts.brokers],
        "without it the leader epochs of replicas are not told, and none is designated",
    )
    yield from _log_info(facts)
    yield Check(
        "right_topic_write",
        Status.UNKNOWN,
        "Topic:WRITE was not tried: nothing short of producing a record tells",
        "salvage replay --execute needs it, on the topics that it produces to; nothing else does",
    )


def _describe_cluster(facts: Facts) -> Check:
    asked: dict[str, Answer[Any]] = {
        "DescribeQuorum": facts.quorum,
        "ListPartitionReassignments": facts.reassignments,
        **{f"DescribeLogDirs of broker {b.id}": b.log_dirs for b in facts.brokers},
    }
    return _judged("right_cluster_describe", "Cluster:DESCRIBE", asked, _DESCRIBE)


_DESCRIBE = (
    "without it the quorum, reassignments in progress and topics that are hidden from this user"
    " stay unknown; Cluster:ALTER implies it"
)


def _on_cluster(right: str, answer: Answer[Any], request: str, why: str) -> Check:
    code = f"right_cluster_{right.lower()}"
    return _judged(code, f"Cluster:{right}", {request: answer}, why)


def _judged(code: str, right: str, asked: Mapping[str, Answer[Any]], why: str) -> Check:
    """Return the check of a right. One request that was refused proves that the right is missing;
    else one that was answered proves that it is there."""
    refused = [request for request, answer in asked.items() if answer.refused]
    if refused:
        to_do = f"grant {right}; {_ALL}"
        return Check(
            code, Status.FAILURE, f"{right} is missing: {refused[0]} was refused", why, to_do
        )
    proof = [request for request, answer in asked.items() if not answer.failed]
    if proof:
        return Check(code, Status.OK, f"{right} is there: {proof[0]} was answered", why)
    request, answer = next(iter(asked.items()))
    what = f"{right} is not known: {request}: {answer.problem}"
    to_do = "run again when the controllers answer"
    return Check(code, Status.WARNING, what, why, to_do, untold=True)


def _on_topics(
    facts: Facts,
    right: str,
    request: str,
    tried: Iterable[Mapping[TopicPartition, int]],
    why: str,
) -> Check:
    """Return the check of a right on topics, tried on one partition of each where it lies."""
    codes = {tp.topic: code for answers in tried for tp, code in answers.items()}
    refused = sorted(t for t, code in codes.items() if code == Errors.TOPIC_AUTHORIZATION_FAILED)
    code, named = f"right_topic_{right.lower()}", f"Topic:{right}"
    if refused:
        what = f"{named} is missing on topics {words.some(refused)}: {request} was refused"
        return Check(code, Status.FAILURE, what, why, f"grant {named}; {_ALL}")
    untried = sorted({p.topic for p in facts.partitions} - codes.keys())
    if untried:
        what = f"{named} could not be tried on topics {words.some(untried)}: no live broker that"
        to_do = "run again when one of their brokers answers"
        what += " hosts them answered"
        return Check(code, Status.WARNING, what, why, to_do, untold=True)
    if not codes:
        what = f"{named} could not be tried: this user sees no topic"
        to_do = f"grant {named}, or create a topic; {_ALL}"
        return Check(code, Status.WARNING, what, why, to_do, untold=True)
    count = count_text(len(codes), "topic")
    what = f"{named} is there, on one partition of {count} each: {request} was answered"
    return Check(code, Status.OK, what, why)


def _log_info(facts: Facts) -> Iterator[Check]:
    """Check the right for GetReplicaLogInfo; yield nothing where no broker is asked by it."""
    if not any(b.spoken.value and b.spoken.value.dialect for b in facts.brokers):
        return
    code, right = "right_replica_log_info", "Cluster:CLUSTER_ACTION"
    why = "without it GetReplicaLogInfo is refused; --transport list-offsets does not need it"
    codes = {tp: found for broker in facts.brokers for tp, found in broker.infos.items()}
    refused = sorted(tp for tp, found in codes.items() if found in UNAUTHORIZED)
    if refused:
        what = f"GetReplicaLogInfo was refused for {words.some(refused)}"
        yield Check(code, Status.FAILURE, what, why, f"grant {right}, or use list-offsets")
    elif codes:
        yield Check(code, Status.OK, "GetReplicaLogInfo was answered", why)
    else:
        what = "no broker answered GetReplicaLogInfo"
        to_do = "use --transport list-offsets"
        yield Check(code, Status.WARNING, what, why, to_do, untold=True)


def _hidden(facts: Facts) -> Check:
    code, why = (
        "hidden_topics",
        (
            "brokers leave out topics that the caller may not describe, so that none of them looks"
            " offline"
        ),
    )
    told = [b.log_dirs.value for b in facts.brokers if b.log_dirs.value is not None]
    on_disk = frozenset[str]().union(*map(topics_in, told))
    seen = {topic.name for topic in facts.topics.value or ()}
    if not told or facts.topics.failed:
        what = "whether topics are hidden from this user is not known: no broker named those on"
        what += " its disks"
        return Check(code, Status.WARNING, what, why, _to_name_disks(facts), untold=True)
    if hidden := sorted(on_disk - seen):
        what = f"topics that this user may not describe: {words.some(hidden)}"
        return Check(code, Status.FAILURE, what, why, f"grant Topic:DESCRIBE and READ; {_ALL}")
    count = count_text(len(on_disk), "topic")
    what = f"this user sees all that is on the disks of brokers that answered: {count}"
    return Check(code, Status.OK, what, why)


def _to_name_disks(facts: Facts) -> str:
    """Return what to do where no broker named the topics on its disks."""
    failed = [b for b in facts.brokers if b.log_dirs.failed]
    if any(b.log_dirs.refused for b in failed):
        return "grant Cluster:DESCRIBE"
    if not failed:
        return "ask again through a bootstrap server that lists live brokers"
    return f"let this host ask broker {failed[0].id}: {failed[0].log_dirs.problem}"
