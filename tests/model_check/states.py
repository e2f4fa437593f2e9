"""What the model knows: values of one partition, its brokers, and what was ever committed.

Nothing in a state names a broker. Each is a place in the tuple of brokers, and what others know of
it is in their tuples at the same place, so that to swap two brokers is to swap places.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

UP, STOPPED, CRASHED = range(3)
"""A broker's process: running; shut down cleanly; gone uncleanly, and not registered since."""

OUT, ISR, ELR = range(3)
"""What a replica is to the controller."""

UNKNOWN = -1
"""A log end that the leader has not heard of in its epoch."""

NOBODY = -1
"""In place of a leader epoch: the broker follows nobody that could answer."""

NOTHING_HEARD = -2
"""The same of a broker that has started and not read the metadata log yet."""

Log = tuple[int, ...]
"""The leader epoch of each record, by offset. One leader writes in an epoch, and so these two are
all that a record is."""


class Seat(NamedTuple):
    """A broker and its replica as the controller has them. last_known: in the last known ELR."""

    fenced: bool = False
    member: int = ISR
    leader: bool = False
    last_known: bool = False
    last_known_leader: bool = False


NOT_ASKED, STALE, NEWEST, UNCHECKED = range(4)
"""Whether a leader has asked for this replica in the ISR, and by which broker epoch: that of an
incarnation that is registered no more, of the present one, or none."""


class Peer(NamedTuple):
    """A replica as a leader sees it. end_offset: exclusive. current: the fetch that said so came
    from the incarnation that is registered now. asked: in the ISR that it has asked for, until it
    hears what became of that."""

    in_isr: bool
    asked: int = NOT_ASKED
    end_offset: int = UNKNOWN
    current: bool = True


class Leading(NamedTuple):
    """A broker that leads, or thinks so. current: it knows the partition's newest change."""

    peers: tuple[Peer, ...]
    high_watermark: int = 0
    current: bool = True


class Broker(NamedTuple):
    """leader_epoch: the one it goes by. open: an unclean shutdown from which the replica has not
    come back into the ISR."""

    seat: Seat = Seat()
    process: int = UP
    log: Log = ()
    open: bool = False
    leader_epoch: int = 0
    leading: Leading | None = None


class State(NamedTuple):
    """leader_epoch: the controller's. committed: the longest log below a high watermark so far."""

    brokers: tuple[Broker, ...]
    leader_epoch: int = 0
    committed: Log = ()


def initial(brokers: int, isr: int, records: int = 0) -> State:
    """Return the first state: so many are in the ISR, and all have heard so; they hold so many
    records, all committed."""
    log = (0,) * records
    member, lagging = Broker(log=log), Broker(Seat(member=OUT))
    peers = (Peer(in_isr=True, end_offset=records),) * isr + (Peer(in_isr=False),) * (brokers - isr)
    leader = Broker(Seat(leader=True), log=log, leading=Leading(peers, records))
    followers = (member,) * (isr - 1) + (lagging,) * (brokers - isr)
    return canonical(State((leader, *followers), committed=log))[0]


@lru_cache(maxsize=1 << 16)
def canonical(state: State) -> tuple[State, tuple[int, ...]]:
    """Return the one that stands for all states that differ in the names of brokers, in the values
    of leader epochs, or in whom a broker follows in vain; and where each broker now is.

    This is exact, as long as no two brokers lead in one epoch: what compares equal can be swapped.
    """
    brokers, leader_epoch, committed = _epochs_ranked(_without_vain_followers(state))
    leaders = sorted(
        (broker.leader_epoch, broker.leading.peers)
        for broker in brokers
        if broker.leading is not None
    )
    keys = [
        (broker[:_LEADING], broker.leading is None, [peers[place] for _, peers in leaders])
        for place, broker in enumerate(brokers)
    ]
    order = tuple(sorted(range(len(keys)), key=keys.__getitem__))
    return State(_reordered(brokers, order), leader_epoch, committed), order


_LEADING = Broker._fields.index("leading")


def _reordered(brokers: tuple[Broker, ...], order: tuple[int, ...]) -> tuple[Broker, ...]:
    moved = []
    for place in order:
        broker = brokers[place]
        if broker.leading is not None:
            peers, high_watermark, current = broker.leading
            peers = tuple([peers[other] for other in order])
            broker = broker._replace(leading=Leading(peers, high_watermark, current))
        moved.append(broker)
    return tuple(moved)


def _without_vain_followers(state: State) -> State:
    """Return the state in which nobody follows by an epoch in which nobody ever leads."""
    brokers, leader_epoch, committed = state
    epochs = {broker.leader_epoch for broker in brokers if broker.leading is not None}
    epochs |= {NOBODY, NOTHING_HEARD}
    if any(broker.seat.leader for broker in brokers):
        epochs.add(leader_epoch)
    if all(broker.leader_epoch in epochs for broker in brokers):
        return state
    followers = tuple(
        broker if broker.leader_epoch in epochs else broker._replace(leader_epoch=NOBODY)
        for broker in brokers
    )
    return State(followers, leader_epoch, committed)


def _epochs_ranked(state: State) -> State:
    """Return the state with leader epochs by rank: only which is the newer counts."""
    epochs = {state.leader_epoch, *state.committed}
    for broker in state.brokers:
        epochs.update(broker.log)
        epochs.add(broker.leader_epoch)
    rank = {epoch: place for place, epoch in enumerate(sorted(e for e in epochs if e >= 0))}
    if all(epoch == place for epoch, place in rank.items()):
        return state
    rank |= {NOBODY: NOBODY, NOTHING_HEARD: NOTHING_HEARD}
    brokers = tuple(
        broker._replace(
            log=tuple(rank[epoch] for epoch in broker.log),
            leader_epoch=rank[broker.leader_epoch],
        )
        for broker in state.brokers
    )
    committed = tuple(rank[epoch] for epoch in state.committed)
    return State(brokers, rank[state.leader_epoch], committed)
