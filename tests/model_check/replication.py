"""What brokers do with the log: lead, follow, commit (kafka.cluster.Partition; KIP-966, KIP-101).

A leader's rules are functions of what it knows. What it does not know of may have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.model_check.states import (
    ISR,
    NEWEST,
    NOT_ASKED,
    STALE,
    UNCHECKED,
    UNKNOWN,
    Broker,
    Leading,
    Log,
    Peer,
    State,
)


def isr_suffices(leading: Leading, min_isr: int) -> bool:
    """Return whether the high watermark may rise: it waits for an ISR of min ISR that the
    controller has confirmed (KIP-966, "Additional High Watermark advancement requirement")."""
    return sum(peer.in_isr for peer in leading.peers) >= min_isr


def replicated_end(leading: Leading) -> int:
    """Return the offset, exclusive, that the whole maximal ISR has reached: the members and those
    whom the leader has asked for."""
    return min(peer.end_offset for peer in leading.peers if peer.in_isr or peer.asked)


def in_sync(leading: Leading, log: Log, leader_epoch: int, peer: Peer) -> bool:
    """Return whether a follower may be asked for: it has reached this leader's epoch and all that
    is committed (Partition.isFollowerInSync)."""
    return peer.end_offset >= max(leading.high_watermark, epoch_start(log, leader_epoch))


def epoch_start(log: Log, leader_epoch: int) -> int:
    """Return the first offset of the leader's own epoch, the log end if it has written nothing."""
    return sum(epoch < leader_epoch for epoch in log)


def shared_end(log: Log, leaders: Log) -> int:
    """Return up to where two logs are the same, exclusive: there a follower cuts its own."""
    same = 0
    for mine, theirs in zip(log, leaders, strict=False):
        if mine != theirs:
            break
        same += 1
    return same


# Changes of a state, of the broker at this place.


def replaced(state: State, place: int, broker: Broker) -> State:
    brokers = (*state.brokers[:place], broker, *state.brokers[place + 1 :])
    return State(brokers, state.leader_epoch, state.committed)


def written(state: State, place: int, min_isr: int) -> State:
    """Return the state once the leader has appended a record."""
    leader = state.brokers[place]
    leader = leader._replace(log=(*leader.log, leader.leader_epoch))
    return _advanced(state, place, leader, min_isr)


def fetched(state: State, leader_place: int, place: int, min_isr: int) -> State:
    """Return the state after a follower's fetch: where the logs part it cuts its own; else the
    leader notes the offset it asks for, and it gets a record if there is one."""
    leader, follower = state.brokers[leader_place], state.brokers[place]
    same = shared_end(follower.log, leader.log)
    if same < len(follower.log):
        return replaced(state, place, follower._replace(log=follower.log[:same]))
    follower = follower._replace(log=follower.log + leader.log[same : same + 1])
    return replaced(asked_for_more(state, leader_place, place, min_isr), place, follower)


def asked_for_more(state: State, leader_place: int, place: int, min_isr: int) -> State:
    """Return the state after a fetch as the leader knows it; the answer may yet be lost."""
    leader = _noted(state.brokers[leader_place], place, len(state.brokers[place].log))
    return _advanced(state, leader_place, leader, min_isr)


def _noted(leader: Broker, place: int, end_offset: int) -> Broker:
    assert leader.leading is not None
    peer = leader.leading.peers[place]._replace(end_offset=end_offset, current=True)
    return _with_peer(leader, leader.leading, place, peer)


def asked(state: State, place: int, isr: Iterable[int]) -> State:
    """Return the state once the leader asked for this ISR, and does not know what came of it."""
    leader = state.brokers[place]
    assert leader.leading is not None
    peers = tuple(
        peer._replace(asked=_broker_epoch(peer, other == place) if other in isr else NOT_ASKED)
        for other, peer in enumerate(leader.leading.peers)
    )
    return replaced(state, place, leader._replace(leading=leader.leading._replace(peers=peers)))


def _broker_epoch(peer: Peer, itself: bool) -> int:
    """Return what the leader knows of it by fetches in its own epoch
    (Partition.addBrokerEpochToIsr)."""
    if itself:
        return NEWEST
    if peer.end_offset == UNKNOWN:
        return UNCHECKED
    return NEWEST if peer.current else STALE


def _with_peer(leader: Broker, leading: Leading, place: int, peer: Peer) -> Broker:
    peers = (*leading.peers[:place], peer, *leading.peers[place + 1 :])
    return leader._replace(leading=leading._replace(peers=peers))


def heard(state: State, place: int, min_isr: int) -> State:
    """Return the state once the broker has read the metadata log to its end."""
    broker = state.brokers[place]
    if not broker.seat.leader:
        follower = broker._replace(leader_epoch=state.leader_epoch, leading=None)
        return replaced(state, place, follower)
    known = broker.leading
    if known is None or broker.leader_epoch != state.leader_epoch:
        known = Leading(tuple(Peer(in_isr=False) for _ in state.brokers))
    peers = tuple(
        peer._replace(in_isr=other.seat.member == ISR, asked=NOT_ASKED)
        for peer, other in zip(known.peers, state.brokers, strict=True)
    )
    # What it was told as a follower about the high watermark is at most the true one: it may as
    # well have been told nothing.
    leader = broker._replace(
        leader_epoch=state.leader_epoch, leading=Leading(peers, known.high_watermark)
    )
    return _advanced(state, place, leader, min_isr)


def _advanced(state: State, place: int, leader: Broker, min_isr: int) -> State:
    """Return the state with this leader, and its high watermark where it now may be."""
    assert leader.leading is not None
    own = leader.leading.peers[place]._replace(end_offset=len(leader.log), current=True)
    leader = _with_peer(leader, leader.leading, place, own)
    leading = leader.leading
    assert leading is not None
    if not isr_suffices(leading, min_isr):
        return replaced(state, place, leader)
    high_watermark = max(leading.high_watermark, replicated_end(leading))
    leader = leader._replace(leading=leading._replace(high_watermark=high_watermark))
    committed = max(state.committed, leader.log[:high_watermark], key=len)
    return replaced(state, place, leader)._replace(committed=committed)


def reincarnated(state: State, place: int) -> State:
    """Return the state in which leaders know only an earlier incarnation of this broker."""
    return state._replace(brokers=tuple(_forgetting(state.brokers, place)))


def _forgetting(brokers: tuple[Broker, ...], place: int) -> Iterator[Broker]:
    for broker in brokers:
        if broker.leading is None:
            yield broker
            continue
        peer = broker.leading.peers[place]
        if peer.asked == NEWEST:
            peer = peer._replace(asked=STALE)
        if peer.end_offset != UNKNOWN:
            peer = peer._replace(current=False)
        yield _with_peer(broker, broker.leading, place, peer)
