"""What the operator wants of a new quorum, and whom the old one had. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies
from kafka_unclean_recovery.metadata_quorum.copies import Voter, registered_at


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the operator says. new: the controller to be made, with its one listener. lost: voters
    that are gone for good. static_voters: of the configuration, with their listeners. without:
    nodes whose copies can't be read. surely_gone: lost voters that are known to be gone though
    their addresses can't be reached from here. untried: the level of metadata.version that this
    recovery may be tried on. cluster_id: of the cluster, None where nobody named it."""

    new: Voter
    lost: frozenset[int] = frozenset()
    static_voters: tuple[Voter, ...] = ()
    without: frozenset[int] = frozenset()
    surely_gone: frozenset[int] = frozenset()
    untried: int | None = None
    cluster_id: str | None = None


def voters_before(compared: Copies, wishes: Wishes) -> tuple[Voter, ...]:
    """Return the voters of the quorum that was: those of the best copy's log; of a static quorum
    whose log does not tell them any more, those that the operator or a quorum-state names."""
    best = compared.best
    if best is None:
        return wishes.static_voters
    if best.kraft_version > 0:
        return best.voters
    told = {voter.id: voter for voter in best.voters}
    for copy in compared.copies:
        for id_ in copy.quorum_state.voters if copy.quorum_state else ():
            told.setdefault(id_, Voter(id_, None, registered_at(compared.image, id_)))
    return tuple(
        sorted((told | {v.id: v for v in wishes.static_voters}).values(), key=lambda v: v.id)
    )
