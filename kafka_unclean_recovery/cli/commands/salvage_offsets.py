"""kafka-unclean-recovery salvage offsets brings commits of groups back that an election lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.commands.salvage_replay import connected_client
from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    CommandConfig,
    Format,
    IncidentJournal,
    OutputFormat,
)
from kafka_unclean_recovery.cli.incident import check_cluster, note, read_incident
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, ask, is_terminal
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import count_and_first, print_text
from kafka_unclean_recovery.cli.terminal.scan_watch import Signals
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.errors import NOT_ALL, OK, UNREACHABLE, Exit, usage
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.kafka_names import CONSUMER_OFFSETS
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.offsets.commits import SavedCommit, newest_commits
from kafka_unclean_recovery.salvage.offsets.commits_table import render_offsets, render_offsets_json
from kafka_unclean_recovery.salvage.offsets.groups import (
    BroughtBack,
    GroupFailed,
    bring_back,
    read_now,
)
from kafka_unclean_recovery.salvage.offsets.lineage import epoch_ends
from kafka_unclean_recovery.salvage.offsets.resets import Allowed, Decision, Reset, resets
from kafka_unclean_recovery.salvage.replay.client_settings import load_settings
from kafka_unclean_recovery.salvage.replay.parquet import read_records
from kafka_unclean_recovery.salvage.replay.producing import (
    TIMEOUT,
    Client,
    NotReached,
    ProducingFailed,
)
from kafka_unclean_recovery.salvage.replay.records import merged
from kafka_unclean_recovery.salvage.replay.saved import Salvage, read_saved
from kafka_unclean_recovery.shutdown import Interrupted, Stop
from kafka_unclean_recovery.wording import count_text, one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Show the commits of consumer groups among the saved records of __consumer_offsets, and bring
    them back.

    Without --execute nothing is changed. Groups go forwards only: a commit is brought
    back where the group would read again what it has read, and where the log still has
    the records that it read, as their leader epoch tells. Of a group that has members
    nothing is brought back.
    """

    saved: Annotated[Path, typer.Argument(metavar="SAVED", help="Directory that salvage wrote.")]
    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help="Look only at this group; may be repeated."),
    ] = None
    backwards: Annotated[
        bool,
        typer.Option(
            "--backwards",
            help="Also bring commits back that lie below what the group has committed now: it reads"
            " again from there.",
        ),
    ] = False
    without_epoch: Annotated[
        bool,
        typer.Option(
            "--without-epoch",
            help="Also bring commits back whose records tell no leader epoch, as those of old"
            " clients: if an election replaced records, the group passes over the new ones.",
        ),
    ] = False
    journal: IncidentJournal = None
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Change nothing, and show the commits; this is the default."),
    ] = False
    execute: Annotated[
        bool,
        typer.Option(
            "--execute", help="Bring the commits back; on a terminal the command asks first."
        ),
    ] = False
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask on a terminal.")] = False
    format: OutputFormat = Format.TABLE
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


_AGAIN = "run it again: what was brought back is then gone on"


def bring_back_offsets(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    try:
        return _run(console, options)
    except (NoBrokerReachable, ConnectionFailed, NotReached, RequestFailed) as error:
        raise Exit(UNREACHABLE, str(error)) from None
    except ProducingFailed as error:
        raise Exit(NOT_ALL, f"{error}; {_AGAIN}") from None


def _run(console: Console, options: Options) -> int:
    """Show the commits, and bring them back with --execute and consent. Raises Exit, and the
    exceptions that `bring_back_offsets` handles."""
    if options.plan and options.execute:
        raise usage("--plan changes nothing and --execute does: give one of them")
    saved = read_saved(options.saved, _of_groups)
    if options.journal is not None:
        check_cluster(read_incident(options.journal), saved.cluster_id, f"{options.saved} is")
    commits = [c for c in _commits(saved) if options.group is None or c.group in options.group]
    asked = Allowed(options.backwards, options.without_epoch)
    with _stoppable(console) as going_on:
        client = connected_client(console, options.bootstrap_server, options.command_config)
        now = read_now(client, commits, _epoch_ends(options, commits), going_on)
        found = resets(commits, now, asked)
    wanted = [reset for reset in found if reset.decision is Decision.BRING_BACK]
    done = None
    if options.execute and wanted and _consents(console, options, wanted):
        with _stoppable(console) as going_on:
            look_again = partial(_look_again, client, options, asked, going_on)
            done = BroughtBack()
            try:
                bring_back(client, wanted, look_again, going_on, done)
            finally:
                note(console, options.journal, partial(_note, options.saved, done.done))
    changed = [] if done is None else done.changed
    found = _with_changes(found, changed)
    render = render_offsets_json if options.format.is_json else render_offsets
    complaints = [*_complaints(saved, found, options), *_left_alone(changed)]
    below = [*complaints]
    if done is None:
        below.append("nothing was changed" + ("" if options.execute else "; --execute does it"))
    told = render(found, None if done is None else done.done)
    print_text(console, told, options.format, below)
    declined = options.execute and bool(wanted) and done is None
    return NOT_ALL if complaints or declined else OK


def _note(saved: Path, brought_back: int, journal: Journal) -> None:
    journal.note("commits", directory=str(saved.absolute()), brought_back=brought_back)


def _look_again(
    client: Client,
    options: Options,
    asked: Allowed,
    going_on: Callable[[], None],
    before: Sequence[Reset],
) -> Sequence[Reset]:
    """Return the same lost commits, of one group, as the cluster is now. Raises GroupFailed where
    that can't be seen."""
    commits = [reset.saved for reset in before]
    try:
        now = read_now(client, commits, _epoch_ends(options, commits), going_on)
    except (NoBrokerReachable, ConnectionFailed, NotReached, RequestFailed) as error:
        group = one_line(commits[0].group)
        raise GroupFailed(f"group {group}: it could not be looked at again: {error}") from None
    by_place = {reset.saved: reset for reset in resets(commits, now, asked)}
    return [by_place[commit] for commit in commits]


def _with_changes(found: Sequence[Reset], changed: Sequence[Reset]) -> list[Reset]:
    now = {reset.saved: reset for reset in changed}
    return [now.get(reset.saved, reset) for reset in found]


def _left_alone(changed: Sequence[Reset]) -> Iterator[str]:
    names = [f"{reset.saved.group}, {reset.saved.topic_partition}" for reset in changed]
    yield from count_and_first(
        "commit changed meanwhile and was left alone (look again)",
        "commits changed meanwhile and were left alone (look again)",
        names,
    )


def _epoch_ends(
    options: Options, commits: Sequence[SavedCommit]
) -> Mapping[tuple[TopicPartition, int], int]:
    path = None if options.command_config is None else str(options.command_config)
    _, config = load_settings(options.bootstrap_server, path)
    bootstrap = parse_bootstrap(options.bootstrap_server)
    return asyncio.run(epoch_ends(bootstrap, config, commits, TIMEOUT))


def _of_groups(partition: TopicPartition) -> bool:
    return partition.topic == CONSUMER_OFFSETS


def _commits(saved: Salvage) -> Iterator[SavedCommit]:
    for partition in saved.partitions:
        source = str(partition.topic_partition)
        files = [read_records(file) for file in partition.files]
        yield from newest_commits(merged(files, source), source)


def _consents(console: Console, options: Options, wanted: Sequence[Reset]) -> bool:
    """Ask on a terminal. Without one, or with --yes, the author of the command line has consented,
    as for an election. Raises Exit(128 plus a signal's number)."""
    if options.yes or not is_terminal():
        return True
    found = Counter(reset.saved.group for reset in wanted)
    for group, number in sorted(found.items()):
        what = count_text(number, "commit")
        console.show_person(f"group {one_line(group)}: {what} to be brought back\n")
    answer = asyncio.run(_asked(console, f"bring back {len(wanted)} commits? [y/N] "))
    return answer.lower() in ("y", "yes")


async def _asked(console: Console, question: str) -> str:
    stop = Stop(console.say, console.last_words)
    stop.install()
    try:
        return await ask(console, question, stop)
    except Interrupted:
        raise Exit(stop.exit_code or NOT_ALL, "interrupted: nothing was changed") from None
    finally:
        stop.let_go()


def _complaints(saved: Salvage, found: Sequence[Reset], options: Options) -> Iterator[str]:
    yield from count_and_first(
        "doubt about what was saved", "doubts about what was saved", saved.problems
    )
    if not saved.partitions:
        yield f"nothing of {CONSUMER_OFFSETS} was saved; salvage it from a dead broker's disk"
    missing = sorted(set(options.group or ()) - {reset.saved.group for reset in found})
    yield from count_and_first("group has no commit there", "groups have no commit there", missing)
    odd = (
        Decision.ANOTHER_TOPIC,
        Decision.BEYOND_LOG_END,
        Decision.BELOW_LOG_START,
        Decision.OTHER_RECORDS,
        Decision.NOT_SURE,
        Decision.IN_USE,
    )
    left = [reset.saved for reset in found if reset.decision in odd]
    yield from count_and_first(
        "commit can't be brought back",
        "commits can't be brought back",
        [f"{commit.group}, {commit.topic_partition}" for commit in left],
    )


@contextmanager
def _stoppable(console: Console) -> Iterator[Callable[[], None]]:
    """Give a function that raises Exit(128 plus the signal's number) after a signal; a second
    signal ends the process."""
    first = "stopping: the group in hand is finished (a second signal stops at once)"
    signals = Signals(console, first, f"stopped at once; {_AGAIN}")

    def going_on() -> None:
        signals.tell()
        if signals.exit_code is not None:
            raise Exit(signals.exit_code, f"interrupted: {_AGAIN}")

    with signals.taken():
        yield going_on


COMMAND = Command(Options, bring_back_offsets)
