"""Say what is to be done, in which order, to bring a new quorum up from a plan. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies
from kafka_unclean_recovery.metadata_quorum.copies import Voter
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes, voters_before
from kafka_unclean_recovery.shown import shell_word

SEED = "kafka-unclean-recovery quorum seed"
VERIFY = "kafka-unclean-recovery quorum verify"
NEW_DIRECTORY = "NEWDIR"
"""It stands in the steps for the log directory of the new controller."""


def after_seed(planned: Sequence[str]) -> tuple[str, ...]:
    """Return the steps of a plan that come after the one in which `quorum seed` is run."""
    return tuple(planned[_number(planned, SEED, 0) :])


def between(planned: Sequence[str], done: str | None, coming: str | None) -> list[str]:
    """Return the steps of a plan, each with its number, that come after the one in which a command
    is run and before that of another one; None for no such bound."""
    begin = 0 if done is None else _number(planned, done, 0)
    end = len(planned)
    if coming is not None:
        end = _number(planned, coming, end + 1) - 1
    return [f"step {number}: {planned[number - 1]}" for number in range(begin + 1, end + 1)]


def _number(planned: Sequence[str], command: str, absent: int) -> int:
    found = (number for number, step in enumerate(planned, 1) if command in step)
    return max(found, default=absent)


def steps(compared: Copies, wishes: Wishes, cluster_id: str) -> Iterator[str]:
    """Yield a sentence for each step."""
    best = compared.best
    assert best is not None
    (listener,) = wishes.new.listeners
    dynamic = best.kraft_version > 0
    address = address_text(listener.host, listener.port)
    yield (
        "stop nothing that runs: brokers go on without a quorum, and follow the new controller by"
        " themselves"
    )
    yield "copy every __cluster_metadata-0 aside before anything is started"
    yield (
        "keep the lost controllers from starting: move their meta.properties away, or take over"
        " their addresses"
    )
    yield (
        f"on the host of {address}: {SEED} --plan PLAN --output-dir"
        f" {NEW_DIRECTORY}, with the copy where the plan has it"
    )
    yield from _configuration(wishes.new, dynamic)
    yield (
        f"start it, and: {VERIFY} --plan PLAN --bootstrap-server BROKERS"
        f" --bootstrap-controller {address}"
    )
    yield (
        "start the brokers that are stopped, once all else holds, and verify again on the host of"
        " each with --log-dirs: a partition that it put aside is one that the copy does not have;"
        " those that are gone for good: kafka-cluster.sh unregister --id ID"
    )
    yield "elect leaders where none leads: kafka-unclean-recovery --all-offline-partitions"
    if dynamic:
        yield from _joining(sorted(_survivors(compared, wishes)), address)
    yield from _growing(wishes.new, dynamic, cluster_id)


def _survivors(compared: Copies, wishes: Wishes) -> set[int]:
    before = {voter.id for voter in voters_before(compared, wishes)}
    return before - wishes.lost - {wishes.new.id}


def _joining(survivors: Sequence[int], address: str) -> Iterator[str]:
    """Yield the step that makes living controllers voters again, for the log names only one."""
    if survivors:
        yield (
            f"controllers {survivors} live, follow the new one, and do not vote any more: on the"
            " host of each, once it has caught up, kafka-metadata-quorum.sh --bootstrap-controller"
            f" {address} --command-config ITS_CONFIGURATION add-controller"
        )


def _configuration(new: Voter, dynamic: bool) -> Iterator[str]:
    (listener,) = new.listeners
    address = address_text(listener.host, listener.port)
    quorum = (
        f"controller.quorum.bootstrap.servers={address}"
        if dynamic
        else f"controller.quorum.voters={new.id}@{address}"
    )
    yield (
        "give it the configuration of a lost controller with these lines:"
        f" node.id={new.id} process.roles=controller"
        f" controller.listener.names={listener.name} listeners={listener.name}://{address}"
        f" log.dirs={NEW_DIRECTORY} {quorum}; the address must be one that the brokers have in"
        " controller.quorum.voters or controller.quorum.bootstrap.servers"
    )


def _growing(new: Voter, dynamic: bool, cluster_id: str) -> Iterator[str]:
    (listener,) = new.listeners
    address = address_text(listener.host, listener.port)
    if dynamic:
        yield (
            "grow back to the old size one at a time: kafka-storage.sh format --no-initial-"
            f"controllers -t {shell_word(cluster_id or 'CLUSTER_ID')}, start it, and"
            f" kafka-metadata-quorum.sh --bootstrap-controller {address}"
            " --command-config ITS_CONFIGURATION add-controller"
        )
        return
    yield (
        "grow back to the old size one at a time, never by two empty ones at once: format it,"
        " restart all voters with the longer controller.quorum.voters, and wait until it has caught"
        " up before the next"
    )
