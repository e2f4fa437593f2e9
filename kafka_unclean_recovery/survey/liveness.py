"""Judge which brokers live, from all that tells of them; no I/O.

Metadata and DescribeCluster are of one listener and of one moment: a broker without the listener
that the caller came in by lives, replicates, and is not listed, fenced or not. A broker that only
the controllers have fenced, or that still starts, is not listed as live either. So a broker that is
not listed is dead only where nothing else tells that it lives.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from msgspec.structs import replace

from kafka_unclean_recovery.cluster.requests.electability import NOT_ASKED, Electable
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum
from kafka_unclean_recovery.model import Cluster, PartitionState
from kafka_unclean_recovery.survey.currency import Controllers

_FRESH_MS = 2_000
"""A broker that lives fetches the metadata log at least every half second; one that is listed
nowhere and has been silent for so long is taken for dead. It is fenced when its session ends, which
is longer: 9 s unless configured otherwise."""
_SESSION_MS = 12_000
"""A broker that hangs is heard of again within its session: 9 s unless configured otherwise, and
the moment until the controllers have noticed. One that is started again fetches within that time,
long before it is listed as live."""


class Life(StrEnum):
    """Whether a broker's process runs. UNKNOWN: it is not listed, and what else would tell is not
    known."""

    LIVES = "lives"
    DEAD = "dead"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a broker lives. why: the evidence, as a clause that fits behind "broker 3"; mend:
    what would let it be asked, None where it can be, or is dead. passes: it is known in a while."""

    life: Life
    why: str
    mend: str | None = None
    passes: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """All that tells of brokers. in_sync: as in_sync_beside_a_leader tells. lived: those that were
    listed as live earlier in this run. placement: what the controllers told of those that were
    suspects; see suspects."""

    cluster: Cluster
    controllers: Controllers
    in_sync: Mapping[int, str]
    lived: Collection[int] = ()
    placement: Electable = NOT_ASKED


_LISTED = Verdict(Life.LIVES, "is listed as live")
_DEAD = Verdict(Life.DEAD, "is down")


def in_sync_beside_a_leader(cluster: Cluster, states: Iterable[PartitionState]) -> dict[int, str]:
    """Return a partition by broker that is not listed and yet is in the ISR beside a leader that
    is: the controllers take fenced brokers out of every ISR."""
    found: dict[int, str] = {}
    for state in states:
        if state.offline or state.leader not in cluster.brokers:
            continue
        for broker in state.isr:
            if broker not in cluster.brokers:
                found.setdefault(broker, str(state.topic_partition))
    return found


def verdict(broker: int, heard: Heard) -> Verdict:
    """Return whether the broker lives."""
    if broker in heard.cluster.brokers:
        return _LISTED
    fenced = broker in heard.cluster.fenced
    if (partition := heard.in_sync.get(broker)) is not None:
        return Verdict(Life.LIVES, f"is in the ISR of {partition} beside its leader", _mend(fenced))
    if (why := fetched_lately(broker, heard.controllers)) is not None:
        # One that is starting again is listed as live as soon as it answers.
        return Verdict(Life.LIVES, why, _mend(fenced), passes=broker in heard.lived)
    if broker in heard.placement.accepted:
        return Verdict(
            Life.LIVES,
            "is active, as the controllers tell, and is not listed as live",
            _mend(fenced),
        )
    passing = _may_return(broker, heard) or _may_hang(broker, heard) or _led_late(broker, heard)
    if passing is not None:
        return Verdict(Life.UNKNOWN, passing, "look again in a moment", passes=True)
    if broker in heard.placement.refused:
        return _DEAD
    if heard.controllers.quorum is None and not heard.controllers.none_to_ask:
        return Verdict(
            Life.UNKNOWN,
            "is not listed as live, and the controllers did not tell whether they hear from it",
            "bring the controllers to answer, or grant Cluster:DESCRIBE",
        )
    if (why := heard.placement.untold.get(broker)) is not None and not _tells_times(heard):
        return Verdict(
            Life.UNKNOWN,
            "is not listed as live, and nobody told when it was last heard from",
            f"whether it is active was asked for: {why}",
        )
    return _DEAD


def fetched_lately(broker: int, controllers: Controllers) -> str | None:
    """Return how long ago the broker fetched the metadata log, as a clause that fits behind "broker
    3"; None where that was too long ago to show that it lives, or nobody tells."""
    silent = _silent_ms(broker, controllers.quorum)
    if silent is None or silent > _FRESH_MS:
        return None
    return f"fetched the metadata log {silent / 1000:.1f} s ago"


def suspects(brokers: Iterable[int], heard: Heard) -> frozenset[int]:
    """Return those of the brokers of which only the controllers can tell whether they are active:
    they are listed neither as live nor as fenced, nothing shows that they live, and they may have
    been heard of within their session. Controllers of ZooKeeper place topics on any id, so they
    are not asked (AdminManager.createTopics)."""
    if heard.controllers.none_to_ask:
        return frozenset()
    strangers = set(brokers) - set(heard.cluster.fenced)
    return frozenset(
        broker
        for broker in strangers
        if verdict(broker, heard).life is not Life.LIVES and not _silent_long(broker, heard)
    )


def _silent_long(broker: int, heard: Heard) -> bool:
    silent = _silent_ms(broker, heard.controllers.quorum)
    return silent is not None and silent > _SESSION_MS


def _tells_times(heard: Heard) -> bool:
    quorum = heard.controllers.quorum
    return quorum is not None and quorum.tells_times


def _may_return(broker: int, heard: Heard) -> str | None:
    """Return why a broker that was live earlier in this run may be starting again, as a clause that
    fits behind "broker 3"; None where it has been silent for too long. One that is starting refuses
    connections, as a dead one does, and may start with another disk."""
    if broker not in heard.lived:
        return None
    silent = _silent_ms(broker, heard.controllers.quorum)
    if silent is None:
        return (
            "was live earlier in this run, and nobody told when it was last heard from: it may be"
            " starting again"
        )
    if silent > _SESSION_MS:
        return None
    return (
        f"was live earlier in this run, and fetched the metadata log {silent / 1000:.1f} s ago: it"
        " may be starting again"
    )


def _may_hang(broker: int, heard: Heard) -> str | None:
    """Return why a broker that is neither listed as live nor as fenced may live in silence, as a
    clause that fits behind "broker 3"; None where it does not. Where fenced ones are not listed
    either, each dead broker looks so at first, and only the controllers know which are fenced."""
    quorum = heard.controllers.quorum
    if quorum is None or broker in heard.cluster.fenced:
        return None
    if broker in heard.placement.refused and not heard.cluster.lists_fenced:
        return None
    silent = _silent_ms(broker, quorum)
    if silent is None or silent > _SESSION_MS:
        return None
    return (
        f"is not listed, not even as fenced, and fetched the metadata log {silent / 1000:.1f} s ago"
    )


def _led_late(broker: int, heard: Heard) -> str | None:
    """Return that a broker may run, or be starting, unheard, as a clause that fits behind "broker
    3"; None where the controllers would have heard from it. A new leader of them has heard from
    nobody at first."""
    quorum = heard.controllers.quorum
    if quorum is None or not quorum.tells_times:
        return None
    told = {fetcher.id for fetcher in (*quorum.observers, *quorum.voters)}
    if broker in told or told >= heard.cluster.brokers.keys():
        return None
    return (
        "is not listed as live, and the controllers have not heard from all that are: they led late"
    )


def _silent_ms(broker: int, quorum: Quorum | None) -> int | None:
    """Return how long ago the broker last fetched, in ms; None where nobody tells. An observer is
    forgotten after 300 s, and a new leader begins without any (LeaderState)."""
    if quorum is None:
        return None
    told = [quorum.silent_ms(f) for f in (*quorum.observers, *quorum.voters) if f.id == broker]
    return min((ms for ms in told if ms is not None), default=None)


def _mend(fenced: bool) -> str:
    if fenced:
        return "it is fenced: let it finish its start, or reach the controllers again"
    return (
        "it has no listener that leads here: come in by one that all brokers advertise, or give it"
        " this one"
    )


def doubts(brokers: Iterable[int], heard: Heard) -> dict[int, str]:
    """Return why those of the brokers that are not listed as live are not known to be dead, as a
    clause that fits behind "broker 3"."""
    found = {broker: verdict(broker, heard) for broker in sorted(set(brokers))}
    return {
        broker: f"{each.why}; {each.mend}"
        for broker, each in found.items()
        if each.life is not Life.DEAD and each is not _LISTED
    }


def not_known_yet(brokers: Iterable[int], heard: Heard) -> tuple[int, ...]:
    """Return those of the brokers that are not known to be dead now, and will be known to live, or
    to be dead, in a while."""
    return tuple(broker for broker in sorted(set(brokers)) if verdict(broker, heard).passes)


def unseen(brokers: Iterable[int], heard: Heard) -> dict[int, str]:
    """Return what shows that those of the brokers live which are listed neither as live nor as
    fenced, as a clause that fits behind "broker 3". Where fenced ones are not told, only a place in
    an ISR shows that a broker is none of them."""
    strangers = sorted(set(brokers) - set(heard.cluster.fenced))
    if not heard.cluster.lists_fenced:
        strangers = [broker for broker in strangers if broker in heard.in_sync]
    found = {broker: verdict(broker, heard) for broker in strangers}
    return {
        broker: f"{each.why}; {each.mend}"
        for broker, each in found.items()
        if each.life is Life.LIVES and each is not _LISTED
    }


def with_unregistered(
    state: PartitionState, cluster: Cluster, living: Container[int]
) -> PartitionState:
    """Return the partition with its replicas on brokers that are not listed, fenced or not, and are
    not among the living. A broker without the listener that is asked, dead or silent for a moment,
    looks the same: the controllers know the difference, when they are given a list that names
    it."""
    if not (state.offline and cluster.lists_fenced):
        return state
    known = {*cluster.brokers, *cluster.fenced}
    unlisted = tuple(b for b in state.replicas if b not in known and b not in living)
    return replace(state, unregistered_replicas=unlisted) if unlisted else state
