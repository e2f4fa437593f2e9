"""The checks of brokers tell which answer, which are fenced, and what they run and understand. This
module does no I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from kafka_unclean_recovery.cluster.requests.quorum_state import Fetcher, Quorum
from kafka_unclean_recovery.cluster.requests.replica_log_info import key_of
from kafka_unclean_recovery.doctor import words
from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.facts import Facts, Spoken
from kafka_unclean_recovery.kafka_names import ELR_VERSION, METADATA_VERSION, release_of
from kafka_unclean_recovery.mechanisms import Dialect, ElectionMethod

TESTED = ("3.9", "4.3", "4.4")
"""The releases that this tool's tests run on (tests/real/releases.py)."""

_FENCED = (
    "Kafka 4.0 with ELR may elect a last known leader that is fenced (KAFKA-19522)",
    "look at who leads after each election, or upgrade to 4.1 or newer before electing",
)
_RESIGNS = (
    (
        "the active controller of Kafka 4.3 and 4.4 resigns, again after each restart, when"
        " min.insync.replicas of a topic with a non-empty ELR was changed, the topic deleted, and"
        " a former ELR member then starts uncleanly"
    ),
    "during the incident, neither change min.insync.replicas nor delete topics",
)
_WITH_ELR = {"4.0": (_FENCED,), "4.3": (_RESIGNS,), "4.4": (_RESIGNS,)}

_SILENT = "a replica whose broker does not answer is not considered, however much it holds"
_DOWN = "a replica on a broker that is down can't be elected, and may hold the only copy of records"


def broker_checks(facts: Facts) -> Iterator[Check]:
    yield from _reached(facts)
    yield from _proven(facts)
    yield from _bootstrap(facts)
    yield from _other_clusters(facts)
    yield from _old(facts)
    yield from _down(facts)
    yield from _lagging(facts)
    yield from _versions(facts)
    yield _elr(facts)
    yield from _bugs(facts)
    yield from _understood(facts)
    yield _mechanism(facts)


def _reached(facts: Facts) -> Iterator[Check]:
    answering = [b.id for b in facts.brokers if not b.spoken.failed]
    if answering:
        yield Check("brokers_answer", Status.OK, f"{words.brokers(answering)} answered", _SILENT)
    for broker in facts.brokers:
        if broker.spoken.failed:
            yield Check(
                "broker_unreachable",
                Status.FAILURE,
                f"broker {broker.id} is listed as live and gave no answer: {broker.spoken.problem}",
                _SILENT,
                "open the way from this machine to its advertised listener, or look whether the"
                " process hangs",
            )
    if not facts.brokers:
        yield Check("no_live_broker", Status.FAILURE, "no broker is live", _DOWN, "start some")


def _proven(facts: Facts) -> Iterator[Check]:
    """Yield which brokers proved that it was they who answered. One that is proven to be another is
    among those that gave no answer."""
    why = (
        "behind an address may be another broker, or one of another cluster, whose log is not meant"
    )
    asked = [broker for broker in facts.brokers if not broker.spoken.failed]
    proven = [b.id for b in asked if b.proof.value is None and not b.proof.failed]
    if proven:
        what = f"{words.brokers(proven)} proved by id and cluster that it was they who answered"
        yield Check("who_answered", Status.OK, what, why)
    for broker in asked:
        if broker.proof.value is not None:
            what, _, to_do = broker.proof.value.rpartition(": ")
            yield Check("who_answered", Status.UNKNOWN, what, why, to_do)
        elif broker.proof.failed:
            what = f"nothing proves that broker {broker.id} answered: {broker.proof.problem}"
            yield Check("who_answered", Status.UNKNOWN, what, why, "run again")


def _bootstrap(facts: Facts) -> Iterator[Check]:
    for _, reason in sorted(facts.bootstrap.items()):
        yield Check(
            "bootstrap_unreachable",
            Status.NOTICE,
            f"a bootstrap server gave no connection: {reason}",
            "the first connection takes longer, and fails when the others go too",
            "leave it out of --bootstrap-server, or name more brokers",
        )


def _other_clusters(facts: Facts) -> Iterator[Check]:
    for address, cluster_id in sorted(facts.other_clusters.items()):
        yield Check(
            "bootstrap_of_another_cluster",
            Status.FAILURE,
            f"bootstrap server {address} is of cluster {cluster_id}, and this is"
            f" {facts.cluster.cluster_id}",
            "which of two clusters is recovered must not hang on who answers first",
            "name brokers of one cluster in --bootstrap-server",
        )


def _old(facts: Facts) -> Iterator[Check]:
    if facts.old is not None:
        yield Check(
            "metadata_old",
            Status.WARNING,
            f"brokers and topics may be those of a while ago: {facts.old}",
            "a broker that is cut off from the controllers answers from its old metadata",
            "look at the way from the brokers to the controllers, and run again",
            untold=True,
        )


def _down(facts: Facts) -> Iterator[Check]:
    if not facts.fenced_told:
        yield Check(
            "fenced_not_told",
            Status.UNKNOWN,
            "brokers that are registered, fenced and hold no replica are not known: DescribeCluster"
            " tells fenced ones from Kafka 4.1 on",
            _DOWN,
        )
    replicas = {r for p in facts.partitions for r in p.replicas}
    down = sorted((replicas | set(facts.cluster.fenced)) - facts.cluster.brokers.keys())
    for broker in down:
        what, to_do = _state_of(broker, facts)
        what = f"broker {broker} {_listed(broker, facts)}: {what}"
        yield Check("broker_down", Status.WARNING, what, _DOWN, to_do)
    if not down:
        yield Check("broker_down", Status.OK, "no broker that is known is down", _DOWN)


def _listed(broker: int, facts: Facts) -> str:
    if broker in facts.cluster.fenced:
        return "is fenced"
    return "is not listed" if broker in facts.unseen else "is not live"


def _state_of(broker: int, facts: Facts) -> tuple[str, str]:
    """Return (how the broker is, what to do). A broker that starts reads metadata long before it is
    unfenced. One that is not even listed as fenced has no listener here."""
    if broker in facts.unseen:
        evidence, _, mend = facts.unseen[broker].partition("; ")
        what = f"it {evidence}, so it lives, and has no listener that leads here"
        return what, mend.partition(": ")[2]
    quorum = facts.quorum.value.quorum if facts.quorum.value else None
    bring_back = (
        "if it can be started with its disk, start it before electing: what its disk kept is not"
        " lost, but after a kill the ELR does not count it, and a disk that lost its end may lead"
        " all the same; scan-log-dirs tells"
    )
    found = None if quorum is None else _observer(quorum, broker)
    if quorum is None or not quorum.tells_times:
        return "whether it runs is not known", bring_back
    if found is None or (silent := quorum.silent_ms(found)) is None:
        return "the active controller has not heard of it since it leads", bring_back
    if quorum.follows(found):
        starting = "so it is starting, recovering its logs, or only just gone"
        what = f"it read metadata {words.seconds(silent)} ago, {starting}"
        return what, "wait for it (--wait-for-brokers) before electing"
    return f"it last read metadata {words.seconds(silent)} ago", bring_back


def _observer(quorum: Quorum, broker: int) -> Fetcher | None:
    every = (*quorum.observers, *quorum.voters)
    return next((fetcher for fetcher in every if fetcher.id == broker), None)


def _lagging(facts: Facts) -> Iterator[Check]:
    """Yield the live brokers that stopped reading metadata. A death shows here seconds before the
    session ends."""
    quorum = facts.quorum.value.quorum if facts.quorum.value else None
    if quorum is None or not quorum.tells_times:
        return
    for broker in sorted(facts.cluster.brokers):
        found = _observer(quorum, broker)
        silent = None if found is None else quorum.silent_ms(found)
        if found is not None and silent is not None and not quorum.follows(found):
            yield Check(
                "broker_stopped_reading_metadata",
                Status.WARNING,
                f"broker {broker} is listed as live, and last read metadata"
                f" {words.seconds(silent)} ago",
                "it may be dead or cut off already, and goes by old metadata if it is not",
                "look at the broker before relying on it",
            )


def _versions(facts: Facts) -> Iterator[Check]:
    why = "what a broker can be asked, and the rules of elections, depend on the release"
    by_release = defaultdict(list)
    for broker in facts.brokers:
        if broker.spoken.value is not None:
            by_release[_release(broker.spoken.value)].append(broker.id)
    runs = "; ".join(f"{words.brokers(ids)}: {name}" for name, ids in sorted(by_release.items()))
    if len(by_release) > 1:
        yield Check(
            "releases", Status.NOTICE, runs, why, "finish the upgrade before the next incident"
        )
    elif by_release:
        status = Status.UNKNOWN if _NOT_TOLD in by_release else Status.OK
        yield Check("releases", status, runs, why)
    yield from _not_tried(facts)
    level = facts.finalized.get(METADATA_VERSION)
    if level is not None:
        what = f"metadata.version {level} (Kafka {release_of(level)})"
        yield Check("metadata_version", Status.OK, what, why)


def _not_tried(facts: Facts) -> Iterator[Check]:
    spoken = [b.spoken.value for b in facts.brokers if b.spoken.value is not None]
    told = {release_of(s.metadata_version) for s in spoken if s.metadata_version is not None}
    untried = sorted(told.difference(TESTED))
    if untried:
        yield Check(
            "release_not_tried",
            Status.NOTICE,
            f"Kafka {', '.join(untried)}: this tool was not tried on it, but on"
            f" {', '.join(TESTED)}",
            "what real brokers do was seen on those releases alone",
            "rehearse on a cluster of this release before an incident",
        )


_NOT_TOLD = "a release that it does not tell"


def _release(spoken: Spoken) -> str:
    if spoken.emulator:
        return "the emulator of this tool"
    if spoken.metadata_version is None:
        return _NOT_TOLD
    return f"Kafka {release_of(spoken.metadata_version)}"


def _elr(facts: Facts) -> Check:
    why = (
        "an ELR member that was shut down in order and comes back is elected by the controller;"
        " after an unclean stop it is out of the ELR"
    )
    level = facts.finalized.get(ELR_VERSION)
    if level is None and not facts.finalized:
        shown = any(p.elr or p.last_known_elr for p in facts.partitions)
        if shown:
            return Check("elr", Status.OK, "eligible leader replicas are on", why)
        what = "no broker tells whether eligible leader replicas are on"
        return Check("elr", Status.UNKNOWN, what, why)
    state = f"on (version {level})" if level else "off"
    return Check("elr", Status.OK, f"eligible leader replicas are {state}", why)


def _bugs(facts: Facts) -> Iterator[Check]:
    why = "elections of these releases may do harm that no plan foresees"
    spoken = [b.spoken.value for b in facts.brokers if b.spoken.value is not None]
    releases = {release_of(s.metadata_version) for s in spoken if s.metadata_version is not None}
    bugs = {bug: None for r in sorted(releases) for bug in known_bugs(r, facts.finalized)}
    for what, to_do in bugs:
        yield Check("known_election_bug", Status.NOTICE, what, why, to_do)
    if releases and not bugs:
        what = f"no election bug is known of Kafka {', '.join(sorted(releases))} as it is set up"
        yield Check("known_election_bug", Status.OK, what, why)
    if not releases:
        what = "the release of the controllers is not known, so neither are its bugs"
        yield Check("known_election_bug", Status.UNKNOWN, what, why)


def _understood(facts: Facts) -> Iterator[Check]:
    for broker in facts.brokers:
        if broker.spoken.value is not None and broker.spoken.value.missing:
            yield Check(
                "request_not_understood",
                Status.FAILURE,
                f"broker {broker.id} does not speak {', '.join(broker.spoken.value.missing)}",
                "how far its replicas go can't be asked, or nobody can be elected through it",
                "read its disk instead (--log-dirs), or elect through another broker",
            )


def _mechanism(facts: Facts) -> Check:
    why = "it decides which requests are sent, and which rights they need"
    spoken = [b.spoken.value for b in facts.brokers if b.spoken.value is not None]
    problems = [s.not_offered for s in spoken if s.not_offered is not None]
    if facts.method.problem is not None or problems:
        return Check(
            "mechanism",
            Status.FAILURE,
            facts.method.problem or problems[0],
            why,
            "choose others with --transport, --election-method and --replica-log-info-dialect",
        )
    seen = (
        " and ".join(sorted({_transport_text(s.dialect) for s in spoken})) or "no broker answered"
    )
    if facts.method.value is ElectionMethod.DESIGNATED:
        elected = "leaders are elected by ElectLeaders version 3, which names them"
    else:
        elected = (
            "leaders are elected by writing the replica order best first, an unclean election, and"
            " the old order again, as no released Kafka lets a leader be named"
        )
    return Check("mechanism", Status.OK, f"{seen}; {elected}", why)


def _transport_text(dialect: Dialect | None) -> str:
    if dialect is None:
        return "replicas are asked by ListOffsets and Fetch (list-offsets)"
    return f"replicas are asked by GetReplicaLogInfo as in {dialect} (key {key_of(dialect)})"


def known_bugs(release: str, finalized: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Return (what elections of a release may do, what to do about it), for a cluster with these
    features.

    KAFKA-19522 is fixed in 4.1.0. The other bug was reproduced on 4.3.1 and 4.4.0; whether other
    releases with ELR have it was not tried.
    """
    return _WITH_ELR.get(release, ()) if finalized.get(ELR_VERSION, 0) > 0 else ()
