"""A run against one cluster has connections, a journal and signals, and ends with an exit code for
each expected error."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.boot_clock import boot_time
from kafka_unclean_recovery.cli.connecting import client_config, count_down
from kafka_unclean_recovery.cli.metrics_file import timed
from kafka_unclean_recovery.cli.terminal import standard_streams
from kafka_unclean_recovery.cli.terminal.console import Console, Pulse, clocked
from kafka_unclean_recovery.cluster.controller import Controller, Patience, Unsure
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.documents.journal_lines import (
    JournalError,
    Reordered,
    half_done,
    outstanding,
    unfinished,
)
from kafka_unclean_recovery.errors import NOT_ALL, UNREACHABLE, USAGE, Exit, usage
from kafka_unclean_recovery.files.journal import Journal, JournalBusy, only_holder
from kafka_unclean_recovery.files.private_files import make_private_directory
from kafka_unclean_recovery.files.state_directory import (
    link_to,
    new_path,
    state_directory,
    unfinished_journals,
    why_not_to_use,
)
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.mechanisms import Wishes
from kafka_unclean_recovery.model import Cluster, TopicPartition
from kafka_unclean_recovery.planning.waves import Pace
from kafka_unclean_recovery.recovery.observe import Observer
from kafka_unclean_recovery.recovery.recover import Publish, Run
from kafka_unclean_recovery.recovery.views import MissingRight, QuorumSilent
from kafka_unclean_recovery.shutdown import Interrupted, Stop
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport import Elector
from kafka_unclean_recovery.transport.choosing import ChosenSource, elector_for, method_for
from kafka_unclean_recovery.transport.electing import Means
from kafka_unclean_recovery.transport.led_logs import LedLogs
from kafka_unclean_recovery.transport.moved_sets import MovedSets
from kafka_unclean_recovery.transport.order_standing import kept_text
from kafka_unclean_recovery.transport.replica_order import ReplicaOrder, resume
from kafka_unclean_recovery.transport.sending import settle
from kafka_unclean_recovery.transport.wave_elector import WaveElector

_LOCK = "lock"
_CHOOSING_SECONDS = 10.0
_KEEP_SECONDS = 0.25
# Bootstrap servers that no broker advertises get this long to name their cluster.
_STRANGERS_SECONDS = 0.25
_NO_WISHES = Wishes()


@dataclass(frozen=True, slots=True)
class Session:
    console: Console
    stop: Stop
    nodes: Nodes
    reader: Reader
    controller: Controller

    wishes: Wishes
    # One for all of a run: the last look reads ends alone where it reads over the same connection.
    source: ChosenSource

    def exit_code(self, code: int) -> int:
        """Return the exit code of the process when the work ended with `code`."""
        asked = self.stop.exit_code
        return standard_streams.exit_code(code) if asked is None else asked

    async def cluster(self) -> Cluster:
        """Return the cluster as first described. Raises ClustersMixed when a bootstrap server
        belongs to another cluster."""
        cluster, _ = await self.stop.unless(self.reader.cluster())
        await self.nodes.only_one_cluster(_STRANGERS_SECONDS)
        return cluster

    def observer(self) -> Observer:
        progress = clocked(Pulse(self.console))
        return Observer(self.nodes, self.reader, self.source, self.stop, progress, self.console.say)

    def new_run(self, publish: Publish) -> Run:
        """Return the means of the phases (recovery/recover.py)."""
        leaders = LedLogs(self.nodes)
        return Run(
            self.observer(), self.reader, leaders, self.stop, timed, self.console.say, publish
        )

    async def elector(self, journal: Journal, retries: int, pace: Pace) -> Elector:
        """Return the elector of the chosen mechanism. Raises NotOffered."""
        deadline = Deadline.after(_CHOOSING_SECONDS)
        method = await method_for(self.nodes, self.wishes, deadline)
        means = Means(
            self.reader,
            self.source,
            self.controller,
            journal,
            self.stop,
            self.console.say,
            clocked(Pulse(self.console)),
            retries,
            slowed=self.nodes.slowed,
        )
        return WaveElector(elector_for(method, means), means, pace)


def run(
    console: Console,
    bootstrap_server: str,
    command_config: Path | None,
    work: Callable[[Session], Awaitable[int]],
    wishes: Wishes = _NO_WISHES,
) -> int:
    """Return the exit code of `work`; every expected failure of it becomes a sentence and an exit
    code. Raises Exit(2)."""
    bootstrap, config = parse_bootstrap(bootstrap_server), client_config(command_config)
    for key in config.not_honoured:
        console.say(f"{command_config}: {key} is not honoured")
    for warning in config.warnings:
        console.say(f"{command_config}: {warning}")
    timeout = config.request_timeout_ms
    seconds = budgets.READ.seconds if timeout is None else timeout / 1000

    async def with_session() -> int:
        stop = Stop(console.say, console.last_words)
        stop.install()
        nodes = Nodes(bootstrap, config)
        patience = Patience() if timeout is None else Patience(answer=timeout / 1000)
        reader = Reader(nodes, time.monotonic, seconds)
        connecting = asyncio.create_task(count_down(console, nodes, seconds))
        controller = Controller(nodes, patience, time.monotonic, console.say)
        try:
            source = ChosenSource(nodes, wishes)
            session = Session(console, stop, nodes, reader, controller, wishes, source)
            code = await _guarded(work(session), console, controller)
        finally:
            connecting.cancel()
            stop.tell()
            await nodes.close()
            stop.let_go()
        return session.exit_code(code)

    return asyncio.run(with_session())


_ALL_DOWN = "; where every broker is down, start-order tells which to start first"
_CONTROLLER = (
    "where this is a controller's address, give a broker's; where every broker is down, give it to"
    " start-order as --bootstrap-controller"
)


async def _guarded(work: Awaitable[int], console: Console, controller: Controller) -> int:
    try:
        return await work
    except Exit as error:
        code, sentence = error.code, str(error)
    except NoBrokerReachable as error:
        code, sentence = UNREACHABLE, f"{error}{_ALL_DOWN if error.nobody_listens else ''}"
    except ConnectionFailed as error:
        # A SASL listener answers ApiVersions in plaintext and hangs up on anything else.
        hint = "; if it wants a login, set security.protocol in --command-config"
        if error.kind is FailureKind.UNSUPPORTED_VERSION:
            hint = f"; {_CONTROLLER}"
        code, sentence = UNREACHABLE, f"{error}{hint}"
    except JournalError as error:
        # Exit code 2 promises that nothing was changed.
        code, sentence = NOT_ALL if controller.has_sent else USAGE, str(error)
    except (MissingRight, QuorumSilent, RequestFailed, Unsure) as error:
        code, sentence = NOT_ALL, str(error)
        if getattr(error, "code", None) == Errors.MISMATCHED_ENDPOINT_TYPE:
            code = UNREACHABLE
            sentence = f"{error}; {_CONTROLLER}"
    except Interrupted:
        return NOT_ALL
    console.say(sentence)
    return code


@contextlib.asynccontextmanager
async def journal_of(
    session: Session,
    path: Path | None,
    cluster_id: str,
    command: str,
    ignored: Sequence[Path] = (),
) -> AsyncIterator[Journal]:
    """Finish what earlier runs left open, then open the journal of this run.

    ignored: journals that can't be read and that the user allows to ignore. Each user can have one
    run at a time on a cluster, because a run would take another run's temporary replica order for
    the original.
    """
    directory = own_state_directory(cluster_id)
    session.stop.leaves_a_journal()
    with _only_run(directory):
        held = await _finish_others(session, directory, path, cluster_id, ignored)
        with Journal.open(path or new_path(directory)) as journal:
            found = await finish(session, journal, cluster_id)
            held |= {s.topic_partition: _held_text(journal.path) for s in found.stuck}
            journal.held = held
            link = journal.link = None if path is None else _linked(path, directory)
            journal.write("begin", version=__version__, cluster_id=cluster_id, command=command)
            keeping = asyncio.create_task(_keep(journal))
            try:
                yield journal
            finally:
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
            if link is not None and not half_done(journal.lines):
                journal.link = None
                link.unlink(missing_ok=True)
        if journal.failure is not None:
            raise Exit(NOT_ALL, _incomplete(journal, journal.failure))


async def _keep(journal: Journal) -> None:
    """Have the journal written anew soon after somebody removed it: a request may be awaited for a
    minute, and the run may be killed in it."""
    while True:
        await asyncio.sleep(_KEEP_SECONDS)
        await asyncio.to_thread(journal.keep)


def _incomplete(journal: Journal, failure: str) -> str:
    text = f"{failure}: not all that this run did is in the journal"
    if unfinished(journal.lines):
        text += f"; make room there, then run with --resume {journal.path}"
    return text


async def _finish_others(
    session: Session,
    directory: Path,
    path: Path | None,
    cluster_id: str,
    ignored: Sequence[Path],
) -> dict[TopicPartition, str]:
    """Finish what earlier runs left in journals other than the journal of this run. Return the
    partitions whose order can't be put back, and what to do. Raises Exit(2)
    for a journal that can't be read: its run may have left changed replica orders, or requests that
    are still on their way."""
    paths, complaints = unfinished_journals(directory, half_done)
    for unreadable, complaint in complaints.items():
        if not any(_same(unreadable, each) for each in ignored):
            raise usage(
                f"{complaint}: what its run left half done is not known, so nothing is elected;"
                " restore it, or, where the replica orders are known to be as before, give"
                f" --ignore-journal {unreadable}"
            )
        session.console.say(f"{complaint}; ignored, as --ignore-journal says")
    held: dict[TopicPartition, str] = {}
    for left in paths:
        if not _same(left, path):
            with Journal.open(left) as journal:
                found = await finish(session, journal, cluster_id)
            held |= {step.topic_partition: _held_text(left) for step in found.stuck}
    return held


def _held_text(journal: Path) -> str:
    return (
        "an earlier run changed its replica order, which can't be put back: settle it by"
        f" --resume {journal}, with --keep-order to leave it as it is"
    )


def _same(one: Path, other: Path | None) -> bool:
    return other is not None and one.resolve() == other.resolve()


def own_state_directory(cluster_id: str) -> Path:
    """Return the state directory, which is created if it is missing. Raises Exit(2) when
    another user may have put something there."""
    directory = state_directory(os.environ, cluster_id)
    why = why_not_to_use(os.environ, directory)
    if why is None:
        # Another process may create it at the same time.
        with contextlib.suppress(OSError):
            make_private_directory(directory)
        why = why_not_to_use(os.environ, directory)
    if why is not None:
        raise usage(f"{why}: set XDG_STATE_HOME, or HOME, to a directory of your own")
    return directory


def _linked(path: Path, directory: Path) -> Path:
    """Link the journal from the state directory, where later runs look. Raises Exit(2)."""
    try:
        return link_to(path, directory)
    except OSError as error:
        raise usage(f"{directory}: {error.strerror}: later runs find {path} from there") from None


@contextlib.contextmanager
def _only_run(directory: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(only_holder(directory / _LOCK))
        except JournalBusy:
            raise usage(
                f"another run is electing on this cluster ({directory}): wait for it"
            ) from None
        except JournalError as error:
            raise usage(
                f"{error}: the state directory keeps runs apart and finds what they left; set"
                " XDG_STATE_HOME to a directory that can be written to and locked"
            ) from None
        yield


@dataclass(frozen=True, slots=True)
class Finished:
    """The replica orders that an earlier run left. back: those that are put back; stuck: those that
    can't be, which hold up their own partitions and nothing else."""

    back: tuple[Reordered, ...] = ()
    stuck: tuple[Reordered, ...] = ()


async def finish(
    session: Session, journal: Journal, cluster_id: str, keep: Collection[str] = ()
) -> Finished:
    """Put back the replica orders that the journal's run left. keep: partitions whose order is to
    stay as it is. Raises Exit(1) when it is not certain what the controller does."""
    _check_cluster(journal, cluster_id)
    steps = unfinished(journal.lines)
    if strange := set(keep) - {str(step.topic_partition) for step in steps}:
        raise usage(f"--keep-order {min(strange)}: {journal.path} has no order to put back there")
    if not half_done(journal.lines):
        return Finished()
    if steps:
        session.console.say(f"{journal.path}: {len(steps)} replica orders are to be put back first")
    await _settle(session, journal)
    steps = await _kept(session, journal, steps, keep)
    if not steps:
        return Finished()
    order = ReplicaOrder(session.controller, session.reader, journal)
    complaints = await resume(order, [step for step in steps if step.move is None])
    complaints |= await _finish_moves(session, journal, [s for s in steps if s.move is not None])
    for sentence in complaints.values():
        session.console.say(sentence)
    still = unfinished(journal.lines)
    if still and journal.failure is not None:
        raise Exit(NOT_ALL, _incomplete(journal, journal.failure))
    text = f"{journal.path}: {len(still)} replica orders could not be put back"
    if still and session.controller.haunted:
        raise Exit(NOT_ALL, text)
    back = tuple(
        step for step in steps if step.topic_partition not in {*complaints, *order.gone_with_topic}
    )
    if still:
        session.console.say(f"{text}; --resume with --keep-order leaves them as they are")
        return Finished(back, still)
    counts = {"changed by somebody else": len(complaints), "gone": len(order.gone_with_topic)}
    others = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    how = f"all put back{others and f', but {others}'}" if back else f"none put back: {others}"
    session.console.say(f"{journal.path}: {how}")
    return Finished(back)


async def _finish_moves(
    session: Session, journal: Journal, steps: Sequence[Reordered]
) -> dict[TopicPartition, str]:
    """End the reassignments that the journal's run began, or take them back. Return sentences on
    those that are not over."""
    found = await MovedSets(session.controller, session.reader, journal).settle(steps)
    return dict(found.left)


async def _kept(
    session: Session, journal: Journal, steps: Sequence[Reordered], keep: Collection[str]
) -> tuple[Reordered, ...]:
    """Note the orders that are to stay as they are, and return the others."""
    kept = [step for step in steps if str(step.topic_partition) in keep]
    if kept:
        seen = await session.reader.described(sorted(step.topic_partition for step in kept))
        sentences = [kept_text(step, seen) for step in kept]
        rows = [step.topic_partition._asdict() for step in kept]
        journal.write("restored", partitions=rows, left_alone=sentences)
        for sentence in sentences:
            session.console.say(sentence)
    return tuple(step for step in steps if step not in kept)


async def _settle(session: Session, journal: Journal) -> None:
    """Wait until no request of the journal's run can still be carried out. Raises Unsure."""
    now = boot_time()
    for each in outstanding(journal.lines):
        # The age is unknown when the machine was booted since, or was another machine.
        age = None if now is None else now.seconds_since(each.at)
        session.controller.given_up_by(each.broker, age or 0.0)
    reason = f"the run of {journal.path} ended in the middle of an election"
    await settle(session.controller, journal, reason)


def _check_cluster(journal: Journal, cluster_id: str) -> None:
    begun: list[dict[str, Any]] = [line for line in journal.lines if line["event"] == "begin"]
    # A list, because a broken line may have anything there.
    others = [line.get("cluster_id") for line in begun if line.get("cluster_id") != cluster_id]
    if others:
        raise usage(
            f"journal {journal.path} belongs to cluster {others[0]}, not to {cluster_id}; name"
            " another with --journal"
        )
    at_home = journal.path.parent == state_directory(os.environ, cluster_id)
    if not begun and not at_home and half_done(journal.lines):
        # On another cluster its topics look as if they were gone, and the journal would be closed.
        raise usage(
            f"journal {journal.path}: which cluster it is of is not known, for its first lines are"
            " gone; restore it"
        )


def warn_of_unfinished(session: Session, cluster_id: str) -> None:
    """Say what earlier runs left half done; this run only reads and does not finish it."""
    directory = state_directory(os.environ, cluster_id)
    if (why := why_not_to_use(os.environ, directory)) is not None:
        session.console.say(f"what an earlier run left is not known: {why}")
        return
    paths, complaints = unfinished_journals(directory)
    for complaint in complaints.values():
        session.console.say(f"{complaint}: what that run left half done is not known")
    for path in paths:
        session.console.say(
            f"an earlier run left replica orders to be put back: run with --resume {path}"
        )
