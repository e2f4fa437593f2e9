"""Judge whether the quorum that runs is the one that was planned. Pure.

What is not known proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.cluster.requests.quorum_state import Fetcher, Quorum
from kafka_unclean_recovery.documents.quorum import ProofJson, QuorumPlanJson, QuorumVerifyJson
from kafka_unclean_recovery.metadata_quorum.data_signs import shortened
from kafka_unclean_recovery.metadata_quorum.live import Live
from kafka_unclean_recovery.metadata_quorum.put_aside import PutAside

_ASK = "not known: give --bootstrap-server"
_NO_STRAYS = "no broker whose log directories were given has put partitions aside"


def verdict(
    plan: QuorumPlanJson, quorum: Quorum | str, live: Live | None, aside: PutAside | None = None
) -> QuorumVerifyJson:
    """Return each thing that was looked at. `quorum` is a sentence where no leader was found;
    `live` is None where no broker was named, `aside` where no log directory was."""
    disks = () if aside is None else (_strays(plan, aside),)
    proofs = (*_quorum(plan, quorum), *_cluster(plan, quorum, live), *disks)
    return QuorumVerifyJson(
        format_version=1,
        kind="quorum-verify",
        cluster_id=plan.cluster_id,
        proven=all(proof.holds for proof in proofs),
        proofs=proofs,
        not_looked_at=(f"{_NO_STRAYS}: give --log-dirs on their hosts",) if aside is None else (),
    )


def _quorum(plan: QuorumPlanJson, quorum: Quorum | str) -> Iterator[ProofJson]:
    if isinstance(quorum, str):
        yield ProofJson("a controller leads", False, quorum)
        return
    new = plan.new_controller.id
    voters = sorted(voter.id for voter in quorum.voters)
    yield ProofJson(
        "a controller leads, and a majority follows", quorum.up, f"leader {quorum.leader}"
    )
    epoch = quorum.leader_epoch
    yield ProofJson(
        f"its epoch is {plan.epoch} or above", epoch >= plan.epoch, f"leader epoch {epoch}"
    )
    end = plan.seed.end_offset
    yield ProofJson(
        f"the high watermark is beyond the end of the copy, {end}",
        quorum.high_watermark > end,
        f"high watermark {quorum.high_watermark}",
    )
    yield ProofJson(f"{new} is a voter", new in voters, f"voters {voters}{_to_join(plan, quorum)}")
    yield _lost(plan, quorum, voters)


def _to_join(plan: QuorumPlanJson, quorum: Quorum) -> str:
    """Say which survivors of a dynamic quorum follow without a vote."""
    before = {voter.id for voter in plan.voters_before} - set(plan.lost)
    follow = {observer.id for observer in quorum.observers} - {v.id for v in quorum.voters}
    survivors = sorted(before & follow)
    if not survivors or plan.seed.kraft_version == 0:
        return ""
    return f"; {survivors} live and have no vote: kafka-metadata-quorum.sh add-controller on each"


def _lost(plan: QuorumPlanJson, quorum: Quorum, voters: list[int]) -> ProofJson:
    """Return whether controllers that were lost are back. As observers they may be new ones, about
    to be added; with their old disks they lead if they outnumber the new one when it fails."""
    what = "no controller that was lost is a voter or follows, unless it was made anew"
    lost = set(plan.lost) - {plan.new_controller.id}
    back = [f for f in quorum.voters if f.id in lost and not _made_anew(plan, quorum, f)]
    behind = (f for f in quorum.observers if f.id in lost and not _made_anew(plan, quorum, f))
    following = sorted({observer.id for observer in behind})
    none_votes = not back
    if not (none_votes and following):
        return ProofJson(what, none_votes, f"voters {voters}")
    why = "stop each whose disk is from before; one that was formatted anew may be added"
    return ProofJson(what, None, f"{following} follow or did in the last 5 minutes: {why}")


def _made_anew(plan: QuorumPlanJson, quorum: Quorum, node: Fetcher) -> bool:
    """Return True where the node is not the one that was lost, or has nothing any more of what that
    one had. Where the voters are in the log their directory ids tell; in a static quorum all keep
    their ids, and a voter that is not behind has the new log."""
    if plan.seed.kraft_version == 0:
        voter = any(each.id == node.id for each in quorum.voters)
        return voter and quorum.follows(node) and _caught_up(quorum, node.id)
    before = {voter.id: voter.directory_id for voter in plan.voters_before}.get(node.id)
    return None not in (before, node.directory_id) and before != node.directory_id


def _cluster(plan: QuorumPlanJson, quorum: Quorum | str, live: Live | None) -> Iterator[ProofJson]:
    observers = "every broker follows, up to the high watermark"
    leaderless = "every partition with a live replica has a leader"
    if live is None or live.problem is not None:
        why = _ASK if live is None else str(live.problem)
        yield ProofJson(observers, None, why)
        yield ProofJson(leaderless, None, why)
        return
    if plan.cluster_id:
        same = live.cluster_id == plan.cluster_id
        yield ProofJson("the brokers are of this cluster", same, str(live.cluster_id))
    if not isinstance(quorum, str):
        behind = [b for b in sorted(live.brokers) if not _caught_up(quorum, b)]
        found = f"brokers {sorted(live.brokers)}" + (f", behind: {behind}" if behind else "")
        yield ProofJson(observers, bool(live.brokers) and not behind, found)
        yield _registered(plan, quorum, live)
    # Topics that this user may not describe are left out of an answer without an error.
    described, had = len(live.topics), plan.seed.topics
    yield ProofJson(
        "brokers describe as many topics as the copy has",
        described >= had,
        f"{described} of {had}" + (": some are gone, or hidden from this user" * (described < had)),
    )
    without = live.leaderless
    found = "; ".join(shortened(without)) if without else f"{len(live.topics)} topics"
    if without:
        found += ": kafka-unclean-recovery --all-offline-partitions shows what can lead"
    yield ProofJson(leaderless, not without, found)


def _registered(plan: QuorumPlanJson, quorum: Quorum, live: Live) -> ProofJson:
    """Return whether a broker is registered that does not live. A broker that knew more than the
    new controller ends when it follows; without its disk nobody can tell it from one that had been
    stopped before."""
    what = "every registered broker lives"
    known = live.brokers | (set(plan.brokers) if live.fenced is None else live.fenced)
    fetching = {f.id for f in (*quorum.observers, *quorum.voters) if quorum.follows(f)}
    gone = known - live.brokers - fetching - set(plan.lost)
    if not gone:
        return ProofJson(what, True, f"brokers {sorted(known)}")
    ran = sorted(gone & {p.node for p in plan.prospects if p.running and p.node is not None})
    if ran:
        return ProofJson(what, False, f"{ran} ran when the plan was made, and do not any more")
    return ProofJson(
        what,
        None,
        f"{sorted(gone)} are registered and do not live: one that ran when the new controller"
        " started has ended by it (see its log), and its disk may have more; start those that were"
        " stopped, and unregister those that are gone for good",
    )


def _strays(plan: QuorumPlanJson, aside: PutAside) -> ProofJson:
    """Return that there are none but those that the plan has. When one was put aside its directory
    does not tell, so one that the plan does not have counts."""
    new = [stray.where for stray in aside.strays if stray.name not in plan.put_aside]
    if new:
        why = "; the plan does not have them, and their directories do not tell since when they are"
        return ProofJson(_NO_STRAYS, False, "; ".join(shortened(new)) + why)
    unknown = list(aside.problems)
    if plan.cluster_id and aside.clusters - {plan.cluster_id}:
        unknown.append(f"log directories of clusters {sorted(aside.clusters)} were given")
    if unknown:
        return ProofJson(_NO_STRAYS, None, "; ".join(shortened(unknown)))
    before = f", {len(aside.strays)} were there before the plan" if aside.strays else ""
    return ProofJson(_NO_STRAYS, True, f"log directories of nodes {sorted(aside.nodes)}{before}")


def _caught_up(quorum: Quorum, broker: int) -> bool:
    follower = next((each for each in quorum.observers if each.id == broker), None)
    # A combined node is a voter and a broker in one.
    follower = follower or next((each for each in quorum.voters if each.id == broker), None)
    end = None if follower is None else follower.log_end_offset
    # The last record may be a NoOp of this instant.
    return end is not None and end >= quorum.high_watermark - 1
