"""The checks of controllers are about their quorum and about clocks. This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum
from kafka_unclean_recovery.doctor import words
from kafka_unclean_recovery.doctor.check import Check, Status
from kafka_unclean_recovery.doctor.facts import ClockOffset, Facts
from kafka_unclean_recovery.wording import count_text

_QUORUM = "without a quorum of controllers nothing can be elected; replicas can still be looked at"
_CLOCK = (
    "times in journals and reports are compared with those in brokers' logs, and certificates,"
    " retention and replayed records go by the clock"
)
_SKEW_MS = 5_000


def controller_checks(facts: Facts) -> Iterator[Check]:
    yield from _quorum(facts)
    yield _clock(facts)
    yield Check(
        "clock_brokers",
        Status.UNKNOWN,
        "clocks of brokers are not known: no request of Kafka's answers a broker's time",
        _CLOCK,
        "compare them where they run, as by chronyc tracking",
    )


def _quorum(facts: Facts) -> Iterator[Check]:
    if facts.zookeeper:
        what = (
            "the cluster runs on ZooKeeper, and has no quorum; one of its brokers is the controller"
        )
        yield Check("quorum", Status.OK, what, _QUORUM)
        return
    if facts.quorum.failed:
        to_do = "grant Cluster:DESCRIBE" if facts.quorum.refused else "bring controllers back first"
        what = f"the controller quorum is not known: {facts.quorum.problem}"
        yield Check("quorum", Status.FAILURE, what, _QUORUM, to_do)
        return
    quorum = facts.quorum.value.quorum if facts.quorum.value else None
    if quorum is None:
        what = "no controller leads the quorum"
        yield Check("quorum", Status.FAILURE, what, _QUORUM, "bring controllers back first")
        return
    yield from _voters(quorum)


def _voters(quorum: Quorum) -> Iterator[Check]:
    gone = [voter for voter in quorum.voters if not quorum.follows(voter)]
    voters = count_text(len(quorum.voters), "voter")
    if not quorum.tells_times:
        what = f"controller {quorum.leader} leads {voters}; who follows is not told"
        yield Check("quorum", Status.UNKNOWN, what, _QUORUM)
        return
    following = len(quorum.voters) - len(gone)
    what = f"controller {quorum.leader} leads; following are {following} of {voters}"
    if not quorum.up:
        yield Check("quorum", Status.FAILURE, what, _QUORUM, "bring controllers back first")
    elif gone:
        ids = ", ".join(str(voter.id) for voter in gone)
        to_do = f"bring controller {ids} back, before one more is lost"
        yield Check("quorum", Status.WARNING, f"{what}, without {ids}", _QUORUM, to_do)
    else:
        yield Check("quorum", Status.OK, what, _QUORUM)


def _clock(facts: Facts) -> Check:
    clock = facts.quorum.value.clock if facts.quorum.value else None
    if clock is None:
        what = "the active controller's clock is not known: DescribeQuorum would tell it"
        return Check("clock_controller", Status.UNKNOWN, what, _CLOCK)
    if abs(clock.ahead_ms) - clock.uncertainty_ms > _SKEW_MS:
        to_do = "set the clocks right, this machine's too"
        return Check("clock_controller", Status.WARNING, _clock_text(clock), _CLOCK, to_do)
    return Check("clock_controller", Status.OK, _clock_text(clock), _CLOCK)


def _clock_text(clock: ClockOffset) -> str:
    side = "ahead of" if clock.ahead_ms >= 0 else "behind"
    return (
        f"the active controller's clock is {words.seconds(abs(clock.ahead_ms))} {side} this"
        f" machine's, give or take {words.seconds(clock.uncertainty_ms)}"
    )
