"""Why the old quorum may still lead, or may lead again: a second one beside it would end it. Pure.

A seed leads by its epoch alone: live controllers truncate what they have committed, and end, and
so do brokers. No answer is no death: an address that can't be reached from here may be one that
only the cluster's own network knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies
from kafka_unclean_recovery.metadata_quorum.data_signs import shortened
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes, voters_before
from kafka_unclean_recovery.model import Finding, Severity


@dataclass(frozen=True, slots=True)
class Heard:
    """What was heard of the old quorum. answering: voters whose address answers, with it.
    unreachable: lost voters whose address takes no connection and refuses none. not_asked: those
    whose address is not known. led: sentences on what shows that the quorum lives. not_told:
    sentences on brokers that run and did not tell whether it does."""

    answering: Mapping[int, str] = field(default_factory=dict)
    unreachable: Mapping[int, str] = field(default_factory=dict)
    not_asked: frozenset[int] = frozenset()
    led: tuple[str, ...] = ()
    not_told: tuple[str, ...] = ()


def still_led(compared: Copies, wishes: Wishes, heard: Heard) -> Iterator[Finding]:
    """Yield why there may be no new quorum beside the old one."""
    if compared.best is not None:
        yield from _majority(compared, wishes)
    if heard.led:
        yield Finding(
            "quorum_lives",
            Severity.LOSS,
            "the quorum works: " + "; ".join(shortened(heard.led)) + ". A controller made from a"
            " copy would end it, and all that it has committed since would be gone",
        )
    for voter, address in sorted(heard.answering.items()):
        yield Finding(
            "lost_controller_answers",
            Severity.LOSS,
            f"controller {voter} is named as lost, and something answers at {address}: stop it, or"
            " let it lead",
        )
    yield from _unreachable(wishes, heard)


def _unreachable(wishes: Wishes, heard: Heard) -> Iterator[Finding]:
    unknown = {id_: at for id_, at in heard.unreachable.items() if id_ not in wishes.surely_gone}
    if unknown:
        named = ", ".join(f"{id_} at {at}" for id_, at in sorted(unknown.items()))
        yield Finding(
            "lost_controller_unreachable",
            Severity.UNKNOWN,
            f"the lost controllers {named} can't be reached from here, which does not show that"
            " they are gone: run this where the brokers reach them. Where you know in another way"
            " that they are, name them with --unreachable-controllers"
            f" {','.join(map(str, sorted(unknown)))}",
        )


def weighed(wishes: Wishes, heard: Heard) -> Iterator[Finding]:
    """Yield what is not known of the old quorum, and keeps nobody from making a new one."""
    gone = sorted(heard.unreachable.keys() & wishes.surely_gone)
    if gone:
        yield Finding(
            "lost_controller_taken_for_gone",
            Severity.LOSS,
            f"the lost controllers {gone} can't be reached from here, and you say that they are"
            " gone: if a majority of the voters runs, the new controller ends it, and all that it"
            " has committed since is lost",
        )
    if heard.not_asked:
        yield Finding(
            "lost_controller_not_asked",
            Severity.UNKNOWN,
            f"where the lost controllers {sorted(heard.not_asked)} listened is not known, so they"
            " were not asked: make sure that they are gone, or give --controller-quorum-voters",
        )
    if heard.not_told:
        yield Finding(
            "quorum_not_told",
            Severity.UNKNOWN,
            "brokers run and did not tell whether a controller leads: "
            + "; ".join(shortened(heard.not_told)),
        )


def _majority(compared: Copies, wishes: Wishes) -> Iterator[Finding]:
    voters = {voter.id for voter in voters_before(compared, wishes)}
    left = voters - wishes.lost
    if 2 * len(left) > len(voters) or not voters:
        yield Finding(
            "quorum_not_lost",
            Severity.LOSS,
            f"of the voters {sorted(voters)} {sorted(left)} are not named as lost, which is a"
            " majority: start them, their log is the truth; name with --lost-controllers those that"
            " are gone for good",
        )
