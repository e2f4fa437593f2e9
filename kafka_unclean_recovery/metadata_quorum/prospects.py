"""Say what each node would do when it meets a controller that begins from the best copy. Pure.

A running node dies at once where the leader has it truncate below its high watermark, and its disk
stays as it is; a stopped one truncates when it starts (KafkaRaftClient, ReplicatedLog). Where the
voters are in the log, a node that has truncated does not look for voters in what came in place of
its own records (KRaftControlRecordStateMachine goes on behind them) until it is started again. A
broker knows no controller until then that it could register with.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.documents.quorum import ProspectJson
from kafka_unclean_recovery.log_dir.metadata.parting import Relation
from kafka_unclean_recovery.metadata_quorum.compared_copies import Compared, Copies
from kafka_unclean_recovery.metadata_quorum.copies import Copy
from kafka_unclean_recovery.metadata_quorum.refusals import role
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes

_AGAIN = (
    "; once it has truncated start it again, for it learns who the voters are at its start alone"
)


def prospects(compared: Copies, wishes: Wishes) -> Iterator[ProspectJson]:
    """Yield the nodes whose copies were read, the best first, then those that were left out."""
    best = compared.best
    again = _AGAIN if best is not None and best.kraft_version > 0 else ""
    if best is not None:
        yield _prospect(best, compared, "follows, and keeps all that it has")
    for other in compared.others:
        yield _prospect(other.copy, compared, _meets(other, best, again))
    for node in sorted(wishes.without):
        yield ProspectJson(
            node,
            "unknown",
            None,
            "not known: dies at once if it runs and goes further than the best copy; if it is"
            " stopped, it truncates what it has more when it starts, and puts replicas aside whose"
            f" topics the best copy lacks{again}",
        )


def _prospect(copy: Copy, compared: Copies, will: str) -> ProspectJson:
    running = None if copy.place.alone else copy.held_by is not None
    ends = _ends(copy)
    if ends is not None:
        will = f"dies when it starts, for {ends}" + (f"; until then {will}" if running else "")
    return ProspectJson(copy.node, role(copy, compared.image), running, will)


def _ends(copy: Copy) -> str | None:
    """Return what keeps the node from starting whoever leads, and how to mend it."""
    if copy.state_problem is not None:
        return f"{copy.state_problem}: move the file quorum-state away, and start it"
    if copy.bad_checkpoint is not None:
        return (
            f"its newest checkpoint is no good ({copy.bad_checkpoint}): move its whole"
            " __cluster_metadata-0 to another place, and it fetches all from the new controller"
        )
    return None


def _meets(other: Compared, best: Copy | None, again: str) -> str:
    found, copy = other.parting, other.copy
    if copy.end.damage is not None:
        return (
            f"is not known: its log is damaged ({copy.end.damage}); move its whole"
            " __cluster_metadata-0 to another place before it starts, and it fetches all"
        )
    if found.relation is Relation.GIVEN_UP:
        records = copy.end_offset - found.offset
        if copy.held_by is None:
            return (
                f"truncates {records} records from offset {found.offset} on when it starts{again}"
            )
        return (
            f"truncates {records} records from offset {found.offset} on; if its high watermark lies"
            f" behind that, it dies at once, and truncates when it is started again{again}"
        )
    if best is not None and found.relation is Relation.PREFIX and _begins_behind(best, copy):
        return "fetches the best copy's checkpoint, and follows"
    return "follows, and keeps all that it has"


def _begins_behind(best: Copy, copy: Copy) -> bool:
    return best.log_start_offset > copy.end_offset
