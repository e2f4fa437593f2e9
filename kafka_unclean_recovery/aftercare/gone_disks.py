"""A broker whose disks are lost for good is not waited for: a reassignment ends its part, or new
disks under its id once nobody would follow them. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from kafka_unclean_recovery.model import PartitionState, TopicPartition
from kafka_unclean_recovery.wording import count_text


@dataclass(frozen=True, slots=True)
class GoneDisks:
    """A broker that the operator says is gone. lives: why it is not, which makes it a broker like
    any other; None where nothing shows that. partitions: how many have a replica on it, of all that
    could be seen. leaderless: those of them that no other live broker leads, or of whose ISR it
    still is."""

    broker: int
    partitions: int
    leaderless: tuple[TopicPartition, ...] = ()
    lives: str | None = None


def gone_disks(
    gone: Collection[int],
    states: Collection[PartitionState],
    live: Collection[int],
    unseen: Collection[int],
) -> tuple[GoneDisks, ...]:
    """Return what is known of each broker that is gone. states: of all partitions that could be
    seen. live: the brokers that are listed. unseen: those that live and are not listed."""
    return tuple(
        GoneDisks(
            broker,
            sum(broker in state.replicas for state in states),
            tuple(sorted(s.topic_partition for s in states if _may_lead(s, broker, live))),
            _lives(broker, live, unseen),
        )
        for broker in sorted(gone)
    )


def _may_lead(state: PartitionState, broker: int, live: Collection[int]) -> bool:
    """Return True for a partition that the broker may lead once it is back: nobody else who lives
    does, or it has not left the ISR yet, as before it is fenced."""
    led = not state.offline and state.leader in live
    return broker in state.replicas and (not led or broker in state.isr)


def _lives(broker: int, live: Collection[int], unseen: Collection[int]) -> str | None:
    if broker in live:
        return "it is live"
    return "it lives, though it is not listed" if broker in unseen else None


def advice(every: Iterable[GoneDisks]) -> Iterator[str]:
    """Yield what to do about each broker that is gone."""
    for each in every:
        who = f"broker {each.broker} is in --gone"
        if each.lives is not None:
            yield f"{who}, but {each.lives}: it is waited for like any other"
        elif not each.partitions:
            yield f"{who}, and no partition that could be seen is on it"
        elif each.leaderless:
            yield (
                f"{who}, and {_on_it(each)}: no empty disks under its id yet, for"
                f" {count_text(len(each.leaderless), 'partition')} of it"
                f" {_have(len(each.leaderless))} no other live leader, the first"
                f" {each.leaderless[0]}, and it may lead there with nothing (start-order tells"
                " where): elect first"
            )
        else:
            yield (
                f"{who}, and {_on_it(each)}: reassign them (kafka-reassign-partitions.sh), or start"
                " a broker with empty disks under its id, which follows their leaders as long as"
                " these live"
            )


def _on_it(each: GoneDisks) -> str:
    seen = f"{count_text(each.partitions, 'partition')} of those that can be seen"
    return f"{seen} {_have(each.partitions)} a replica there"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"
