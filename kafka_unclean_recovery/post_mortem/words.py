"""The page and the Markdown have these sentences in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.model import NO_LEADER, OutcomeKind, PartitionPlan, TopicPartition
from kafka_unclean_recovery.post_mortem.learnt import learnt_sentences
from kafka_unclean_recovery.post_mortem.story import (
    Election,
    PostMortem,
    Seed,
    unread_replicas,
    utc,
)
from kafka_unclean_recovery.wording import (
    count_text,
    ids_text,
    loss_text,
    loss_texts,
    total_text,
)

_NAMES_SHOWN = 5


def headline(told: PostMortem) -> Iterator[tuple[str, bool]]:
    """Yield sentences, and whether the reader should be alarmed at each."""
    yield from map(_seed, told.seeds)
    left = told.unfinished
    orders = [(election, election.order) for election in told.elections if election.order]
    fewer = [election for election, order in orders if order.unregistered]
    kept = [(election, order) for election, order in orders if not order.unregistered]
    alone = [election for election, order in kept if order.left_alone]
    back = [election for election, order in kept if not order.left_alone]
    if left:
        count = count_text(len(left), "replica order")
        yield f"Unfinished: {count} may not be as before: {_names(left)}", True
    elif back:
        other = " other" if alone or fewer else ""
        there = all(election.partition_is_there for election in back)
        gone = "" if there else ", or gone with its topic"
        yield f"Every{other} replica order that was written is as before{gone}.", False
    if alone:
        count = count_text(len(alone), "replica order")
        names = _names([each.topic_partition for each in alone])
        yield f"Left alone, for somebody else changed them: {count}: {names}", True
    if fewer:
        count = count_text(len(fewer), "replica set")
        names = _names([each.topic_partition for each in fewer])
        yield f"Unregistered brokers have left for good {count}: {names}", True
    if not told.ended:
        yield "The last run noted no end: it was killed, or is under way still.", True
    for problem in told.problems:
        yield f"Problem: {problem}", True
    for directory, rows in told.saved:
        saved = sum(row.saved for row in rows)
        text = f"Saved before electing, in {directory}: {count_text(saved, 'tail')} of replicas"
        failed = len(rows) - saved
        yield (f"{text}; {failed} could not be saved" if failed else text), bool(failed)


def _seed(seed: Seed) -> tuple[str, bool]:
    what = f"the log directory {seed.directory} of a new controller"
    if seed.exit_code is None:
        text = f"quorum seed was to write {what}, and noted no result: it is there whole, or not"
        return f"{text} at all", True
    if seed.exit_code != 0:
        why = seed.reason or f"exit code {seed.exit_code}"
        return f"quorum seed did not write {what}: {why}", True
    return f"quorum seed wrote {what}, and read it back. {seed_text(seed)}", False


def seed_text(seed: Seed) -> str:
    """Return what was planned."""
    who = "it"
    if seed.new_controller is not None:
        who = "controller {} at {}".format(*seed.new_controller.split("@", 1))
    end = "" if seed.end_offset is None else f" up to offset {seed.end_offset}"
    lost = f", for the lost {ids_text(seed.lost)}" if seed.lost else ""
    return (
        f"Planned: {who} begins from {seed.source}{end}, in epoch {seed.epoch}{lost}; plan"
        f" {seed.plan_digest}."
    )


def _names(partitions: Sequence[TopicPartition]) -> str:
    more = len(partitions) - _NAMES_SHOWN
    names = ", ".join(map(str, partitions[:_NAMES_SHOWN]))
    return f"{names} and {more} more" if more > 0 else names


def care_text(told: PostMortem) -> Iterator[str]:
    """Yield sentences on who is affected."""
    care = told.care
    if care is None:
        if told.groups_asked:
            groups = count_text(len(told.groups), "group")
            yield f"As known before electing: {groups} beyond the ends of the elected leaders."
        else:
            yield "Unknown: this journal does not tell that groups were asked before electing."
        yield from (f"Unknown: {sentence}" for sentence in told.unknown)
        yield "Unknown since: aftercare noted nothing in this journal."
        return
    over = "it was over" if care.over else "it was not over"
    groups = count_text(len(care.groups), "group")
    yield (
        f"As aftercare saw it at {utc(care.at_ms)}, {over}: {groups} beyond the end,"
        f" {count_text(care.hanging, 'hanging transaction')},"
        f" {count_text(care.out_of_sync, 'replica')} out of the ISR."
    )
    for sentence in care.unknown[:_NAMES_SHOWN]:
        yield f"Unknown, for it could not be seen: {sentence}"
    if len(care.unknown) > _NAMES_SHOWN:
        yield f"Unknown, and {len(care.unknown) - _NAMES_SHOWN} more such, which the JSON has."


def why_no_plan(election: Election) -> str:
    """Return why the election has no plan."""
    if election.outcome is not None and election.outcome.kind is OutcomeKind.ALREADY_ONLINE:
        return "It needed no election."
    return "The journal does not tell what this was decided on."


def leader_text(election: Election) -> str:
    """Return who leads, and who was designated where that is another broker."""
    after, designated = election.after, election.designated_leader
    if after is not None and after.leader not in (None, NO_LEADER):
        leads = f"broker {after.leader} leads in epoch {after.leader_epoch}"
        other = designated not in (None, after.leader)
        return f"{leads}, designated was broker {designated}" if other else leads
    who = "nobody" if designated is None else f"broker {designated}"
    if after is None:
        return f"designated was {who}"
    return f"no leader, designated was {who}"


def loss_sentences(election: Election) -> str:
    """Return what the election cost, in sentences."""
    certain, possible = loss_pair(election)
    text = f"Certain loss: {certain}. Possible loss: {possible}."
    least = election.loss.at_least if election.loss else None
    return text if least is None else f"{text} Witnesses: at least {loss_text(least)} in all."


def total_sentence(elections: Sequence[Election]) -> str:
    """Return what all elections cost, in a sentence."""
    losses = [loss for election in elections if (loss := election.loss) is not None]
    elected = sum(election.elected_leader is not None for election in elections)
    partitions = len({election.topic_partition for election in elections})
    done = f"{count_text(elected, 'leader')} elected, of {count_text(partitions, 'partition')}"
    return f"{done}: {total_text(losses)}." if losses else f"{done}."


def since_then(told: PostMortem) -> Iterator[str]:
    """Yield what was learnt of the losses after the elections, and what waits for that still."""
    yield from learnt_sentences(told.learnt)
    unread = unread_replicas(told)
    if told.learnt.by_partition and unread:
        replicas = count_text(len(unread), "replica")
        yield f"Not known yet: what {replicas} held that were down, and may hold more."


def loss_pair(election: Election) -> tuple[str, str]:
    """Return certain and possible loss; "-" where nobody was elected."""
    return ("-", "-") if election.loss is None else loss_texts(election.loss)


def weighed(plan: PartitionPlan) -> Iterator[str]:
    """Yield the findings, and what waiting would have brought where no finding says it."""
    yield from (f"{finding.code}: {finding.message}" for finding in plan.findings)
    for waiting in plan.waiting:
        if not any(waiting.why in finding.message for finding in plan.findings):
            yield f"waiting for broker {waiting.broker}: {waiting.effect.value}: {waiting.why}"


def order_text(election: Election, left: bool) -> str:
    """Return what became of the replica order; "" where none was written."""
    order = election.order
    if order is None:
        return ""
    text = f"Replica order {ids_text(order.original)} was written as {ids_text(order.written)}"
    if order.left_alone is not None:
        return f"{text}, and left alone: {order.left_alone}"
    if left or order.restored_at_ms is None:
        return f"{text} and is not known to be back"
    gone = "" if election.partition_is_there else ", or gone with its topic,"
    return f"{text}, and was as before{gone} at {utc(order.restored_at_ms)}"
