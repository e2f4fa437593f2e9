"""Weigh waiting against electing: the effect that the return of each dead broker would have; no
I/O.

The ISR and the ELR hold every committed record (KIP-966), so a member that returns leads again and
nothing committed is lost. A member of the ELR leads again only while the controller counts its stop
as clean. Both are true only while its disk keeps what was written to it: where the disk was read,
its log must reach every high watermark and every log that is known. For any other broker only its
disk tells.

The controller looks at no log: a member whose disk has less than the others leads all the same, and
they are truncated to it (self_election.py, start_cuts.py). That is worse than not to wait.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kafka_unclean_recovery.model import (
    Candidate,
    Effect,
    Evidence,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    Waiting,
)
from kafka_unclean_recovery.planning.led_on_return import LedOnReturn, led_on_return
from kafka_unclean_recovery.planning.lineage import count_once
from kafka_unclean_recovery.planning.reach import ends_further, forgotten, reach, records_beyond
from kafka_unclean_recovery.planning.started_replica import (
    NO_DIRECTORY,
    begins_empty,
    empty_log,
)
from kafka_unclean_recovery.wording import count_text, number_text


@dataclass(frozen=True, slots=True)
class BrokerWaiting:
    """The effect of waiting for one broker on many partitions: the number of partitions by effect.
    better_by and worse_by: records, where disks tell."""

    broker: int
    lossless: int = 0
    better: int = 0
    better_by: int = 0
    no_better: int = 0
    unknown: int = 0
    worse: int = 0
    worse_by: int = 0


def waiting_for(
    state: PartitionState,
    logs: Sequence[ReplicaLog],
    ranking: Sequence[Candidate],
    gone: Container[int] = (),
) -> tuple[Waiting, ...]:
    """Return a verdict for each dead replica, in the order of `logs`. A log directory that failed
    on a live broker does not come back by waiting, and neither does a broker that is gone."""
    leader = ranking[0].log if ranking else None
    dead = (log for log in logs if not log.live and log.broker not in gone)
    return tuple(_verdict(state, log, logs, leader) for log in dead)


def _verdict(
    state: PartitionState, log: ReplicaLog, logs: Sequence[ReplicaLog], leader: ReplicaLog | None
) -> Waiting:
    recorded = _recorded(state, log.broker)
    if log.problem == NO_DIRECTORY:
        return _shared(log.broker, Effect.UNKNOWN, None, _nowhere(state, log, logs), recorded)
    evidence = (*recorded, Evidence.DISK) if log.scanned else recorded
    led = led_on_return(state, log, logs, log.scanned.stopped_clean if log.scanned else None)
    if led is not None and led.cuts.better:
        return _shared(log.broker, Effect.WORSE, led.cuts.records, led.text, evidence)
    if (empty := begins_empty(state, log)) is not None:
        return _shared(log.broker, *_empty(empty, led), evidence)
    effect, records, why = _effect(log, logs, leader, recorded)
    if led is not None and (led.destroys or effect is Effect.UNKNOWN):
        why = f"{why}; {led.text}"
    return _shared(log.broker, effect, records, why, evidence)


def _nowhere(state: PartitionState, log: ReplicaLog, logs: Sequence[ReplicaLog]) -> str:
    """Return what is known of a replica that is in none of the directories that were scanned."""
    led = led_on_return(state, empty_log(log.broker), logs)
    then = "" if led is None else f", and {led.text}"
    return (
        f"it {NO_DIRECTORY}: scan all of its log directories; if it is in none of them, its broker"
        f" begins it empty{then}"
    )


def _empty(why: str, led: LedOnReturn | None) -> tuple[Effect, int | None, str]:
    """Return the verdict on a replica that begins empty, and cuts nobody that is known."""
    if led is None:
        return Effect.NO_BETTER, 0, why
    return Effect.UNKNOWN, None, led.text


# Most partitions of an outage wait for the same broker for the same reason. One value for all of
# them keeps the plans of 50,000 partitions small.
_shared = lru_cache(maxsize=1024)(Waiting)


def _recorded(state: PartitionState, broker: int) -> tuple[Evidence, ...]:
    members = {
        Evidence.ISR: state.isr,
        Evidence.ELR: state.elr,
        Evidence.LAST_KNOWN_ELR: state.last_known_elr,
    }
    return tuple(where for where, brokers in members.items() if broker in brokers)


def _effect(
    log: ReplicaLog,
    logs: Sequence[ReplicaLog],
    leader: ReplicaLog | None,
    recorded: Sequence[Evidence],
) -> tuple[Effect, int | None, str]:
    """Return (effect, records beyond the designated log, why)."""
    records = _records(log, leader)
    doubt = log.problem or log.suspect
    if log.scanned is not None and doubt is not None:
        return Effect.UNKNOWN, None, f"its disk does not tell for sure: {doubt}"
    eligible = Evidence.ISR in recorded or Evidence.ELR in recorded
    untold = leader is not None and _can_not_be_compared(log, leader)
    if untold and not records and not eligible:
        return Effect.UNKNOWN, None, f"which log is the newer can't be told: {_FORGOTTEN}"
    if records == 0 and not untold:
        return Effect.NO_BETTER, 0, "its disk holds nothing beyond the designated log"
    if records and leader is not None and reach(log) < reach(leader):
        why = f"what its disk holds beyond the designated log ({count_text(records, 'record')})"
        return Effect.NO_BETTER, records, f"{why} was given up by an earlier election"
    but = ""
    if eligible:
        short = _not_lossless(log, logs, recorded)
        if short is None:
            return Effect.LOSSLESS, records, _eligible(log, records, Evidence.ISR in recorded)
        but = f"; {short}"
    if untold:
        return Effect.UNKNOWN, None, f"which log is the newer can't be told: {_FORGOTTEN}{but}"
    if records is None:
        return Effect.UNKNOWN, None, f"{_unseen(log, recorded)}{but}"
    return Effect.BETTER, records, f"{_further(records, leader, recorded)}{but}"


def _not_lossless(
    log: ReplicaLog, logs: Sequence[ReplicaLog], recorded: Sequence[Evidence]
) -> str | None:
    """Return why a member of the ISR or ELR may not bring all committed records back; None for a
    disk that nobody has read."""
    if log.scanned is None:
        return None
    if log.scanned.damage is not None:
        return "its log is damaged at the end"
    if (short := fallen_short(log, logs) or outreached(log, logs)) is not None:
        return short
    if Evidence.ISR not in recorded and log.scanned.stopped_clean is False:
        return f"it is in the ELR and {UNCLEAN}"
    return None


UNCLEAN = (
    "was not shut down in order, so its return takes it out of there: it leads again only as the"
    " last known leader, or once it is designated"
)


def fallen_short(log: ReplicaLog, logs: Sequence[ReplicaLog]) -> str | None:
    """Return why a log can't hold all that was committed: it ends below a high watermark that a
    replica knew, itself included."""
    end = log.log_end_offset
    known = [(o.high_watermark, o.broker) for o in logs if o.problem is None and o.high_watermark]
    if end is None or not known or max(known)[0] <= end:
        return None
    high_watermark, broker = max(known)
    knew = "it knew itself" if broker == log.broker else f"broker {broker} knew"
    return f"its log ends at {end}, below high watermark {high_watermark} that {knew}"


def outreached(log: ReplicaLog, logs: Sequence[ReplicaLog]) -> str | None:
    """Return a clause on a log that goes further than this one, or may; not all of the difference
    need be committed."""
    for other in logs:
        if other.problem is not None or other.suspect is not None:
            continue
        if reach(other) > reach(log) or ends_further(other, log):
            return (
                f"the log of broker {other.broker} goes further (log end offset"
                f" {other.log_end_offset}, leader epoch"
                f" {number_text(other.last_written_leader_epoch)})"
            )
    return None


_FORGOTTEN = "one of them was emptied, and its leader epochs are forgotten"


def _can_not_be_compared(log: ReplicaLog, leader: ReplicaLog) -> bool:
    if forgotten(leader):
        return not log.empty
    return forgotten(log) and ends_further(log, leader)


def _records(log: ReplicaLog, leader: ReplicaLog | None) -> int | None:
    if leader is not None:
        return records_beyond(log, leader)
    return None if log.epochs is None or not log.sure else count_once([log.epochs])


def _eligible(log: ReplicaLog, records: int | None, in_isr: bool) -> str:
    more = "" if records is None else f", {count_text(records, 'record')} beyond the designated log"
    read = "nobody has read" if log.scanned is None else "was only scanned fast"
    kept = "" if log.scanned and log.sure else f" if its disk, which {read}, has kept all"
    if in_isr:
        leads = (
            f"it is in the ISR: every committed record is on it{more}{kept}, and it leads once back"
        )
        another = ", on an empty new disk too" if kept else ""
        stopped_clean = log.scanned and log.scanned.stopped_clean
        return f"{leads}{another}" if stopped_clean else f"{leads}{another}; {_WITH_ELR}"
    cleanly = (
        f"it is in the ELR: every committed record is on it{more}{kept}, and it leads once back"
        " cleanly"
    )
    if log.scanned and log.scanned.stopped_clean:
        return cleanly
    return (
        f"{cleanly}; an unclean stop takes it out of the ELR, and then it must be the last known"
        " leader"
    )


_WITH_ELR = (
    "where eligible leader replicas are on, an unclean stop takes it out of the ISR, and then it"
    " has to be designated"
)


def _unseen(log: ReplicaLog, recorded: Sequence[Evidence]) -> str:
    if log.scanned is not None:
        return "its disk was read, but not closely enough to compare: scan it in mode recover"
    if Evidence.LAST_KNOWN_ELR in recorded:
        return (
            "it is in the last known ELR, so every committed record may be on it, but out of the"
            " ELR, as after an unclean stop: scan its disk to know how far it goes"
        )
    return "nobody knows how far its log goes: scan its disk to know"


def _further(records: int, leader: ReplicaLog | None, recorded: Sequence[Evidence]) -> str:
    beyond = "" if leader is None else " beyond the designated log"
    led = ", and it is in the last known ELR" if Evidence.LAST_KNOWN_ELR in recorded else ""
    return f"its disk holds {count_text(records, 'record')}{beyond}{led}"


_IF_WHOLE = " if its log is whole"


def effect_text(waiting: Waiting) -> str:
    """Return text such as "better by 577 records"."""
    if waiting.effect is Effect.BETTER and waiting.records is not None:
        return f"better by {count_text(waiting.records, 'record')}"
    if waiting.effect is Effect.WORSE and waiting.records is not None:
        return f"worse by {count_text(waiting.records, 'record')}"
    if waiting.effect is Effect.LOSSLESS:
        return f"lossless{_IF_WHOLE}"
    return waiting.effect.value.replace("_", " ")


def by_broker(plans: Iterable[PartitionPlan]) -> tuple[BrokerWaiting, ...]:
    """Return for each dead broker what its return would do to all partitions, the broker most worth
    waiting for first."""
    found: dict[int, list[Waiting]] = {}
    for plan in plans:
        for waiting in plan.waiting:
            found.setdefault(waiting.broker, []).append(waiting)
    every = (_together(broker, verdicts) for broker, verdicts in found.items())
    return tuple(sorted(every, key=lambda w: (-w.lossless, -w.better_by, -w.better, w.broker)))


def _together(broker: int, verdicts: Sequence[Waiting]) -> BrokerWaiting:
    def count(effect: Effect) -> int:
        return sum(verdict.effect is effect for verdict in verdicts)

    return BrokerWaiting(
        broker,
        count(Effect.LOSSLESS),
        count(Effect.BETTER),
        sum(v.records or 0 for v in verdicts if v.effect is Effect.BETTER),
        count(Effect.NO_BETTER),
        count(Effect.UNKNOWN),
        count(Effect.WORSE),
        sum(v.records or 0 for v in verdicts if v.effect is Effect.WORSE),
    )


def waiting_lines(waitings: Iterable[BrokerWaiting]) -> list[str]:
    """Return a line for each broker about which anything is known."""
    told = (w for w in waitings if w.lossless or w.better or w.no_better or w.worse)
    return [f"if broker {w.broker} returns{_whole(w)}: {brings_text(w)}{_when(w)}" for w in told]


def _when(waiting: BrokerWaiting) -> str:
    return "; start-order tells when to start it" if waiting.worse else ""


def _whole(waiting: BrokerWaiting) -> str:
    """Return the condition under which the return is lossless: the disk has lost no log."""
    return " with its log whole" if waiting.lossless else ""


def brings_text(waiting: BrokerWaiting) -> str:
    """Return text such as "12 partitions lossless, 3 better by 577 records, 1 unknown"."""
    parts = [
        (waiting.lossless, "lossless"),
        (waiting.better, f"better by {count_text(waiting.better_by, 'record')}"),
        (waiting.no_better, "no better"),
        (waiting.worse, f"worse by {count_text(waiting.worse_by, 'record')} of others"),
        (waiting.unknown, "unknown"),
    ]
    told = [(number, what) for number, what in parts if number]
    return ", ".join(
        f"{number if place else count_text(number, 'partition')} {what}"
        for place, (number, what) in enumerate(told)
    )


def why_wait(waiting: BrokerWaiting) -> str:
    """Return text such as "could make 12 partitions lossless, 1 unknown, if its log is whole". Even
    a disk that was read may be exchanged before its broker starts."""
    if waiting.worse:
        return (
            f"would make {brings_text(waiting)}: it leads by itself, and they are cut to its log;"
            " elect before it starts"
        )
    if waiting.lossless:
        return f"could make {brings_text(waiting)},{_IF_WHOLE}"
    if waiting.better:
        return f"would make {brings_text(waiting)}"
    return "what that would bring is not known" if waiting.unknown else "would bring nothing more"
