"""kafka-unclean-recovery aftercare shows what an unclean election left, and whether all is
resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.aftercare import gone_disks
from kafka_unclean_recovery.aftercare.care_table import render_aftercare, summary
from kafka_unclean_recovery.aftercare.comparing import with_returning
from kafka_unclean_recovery.aftercare.ending import Ended, end_transactions
from kafka_unclean_recovery.aftercare.looking import IN_A_ROW, look, watch
from kafka_unclean_recovery.aftercare.partitions_now import Scope
from kafka_unclean_recovery.aftercare.reading_disks import DiskReader
from kafka_unclean_recovery.aftercare.report import note_aftercare, render_json
from kafka_unclean_recovery.aftercare.result import (
    Aftercare,
    aftercare_metrics,
    producers_advice,
    refused_advice,
    with_lost,
)
from kafka_unclean_recovery.aftercare.returning import advice
from kafka_unclean_recovery.aftercare.setting_back import SettingBack
from kafka_unclean_recovery.aftercare.transactions import Hanging
from kafka_unclean_recovery.cli import RECOVERY, metrics_file
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.connecting import check_connection, connection_flags
from kafka_unclean_recovery.cli.disk_sources import Sources, read_sources
from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    CommandConfig,
    Format,
    Gone,
    Last,
    LogDirs,
    MetricsFile,
    OutputFormat,
    PartitionsFile,
    ReplicaInfoFiles,
    Topics,
)
from kafka_unclean_recovery.cli.incident import last_journal, note
from kafka_unclean_recovery.cli.selection import broker_ids, selection
from kafka_unclean_recovery.cli.session import Session, own_state_directory, run
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, read_input
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import columns_to_fit, print_text
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.documents.journal_lines import (
    JournalError,
    elected,
    lost_unasked,
    parse,
)
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, InputError, usage
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.files.state_directory import new_path
from kafka_unclean_recovery.model import Broker, GroupBeyond, ReplicaInfo, TopicPartition
from kafka_unclean_recovery.planning.merged_scans import check_cluster
from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from kafka_unclean_recovery.post_mortem.story import Election, groups_given_up, lossless, topic_ids
from kafka_unclean_recovery.shown import shell_join
from kafka_unclean_recovery.shutdown import Interrupted
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.transport.choosing import ChosenSource
from kafka_unclean_recovery.wording import count_text, ids_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Show what an unclean election left behind: hanging transactions, groups, missing replicas.

    The command only reads, unless --end-transactions or --reset-share-groups is given. Transactions
    whose end was lost block read_committed consumers for ever; groups may have read records that
    are lost; replicas may not be back in the ISR; and disks of dead brokers may hold more than the
    leaders. The exit code is 0 when nothing is left.
    """

    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="JOURNAL",
            help="Only the partitions that this journal's run elected; the journal also gets what"
            " is found and done. By default all partitions.",
        ),
    ] = None
    last: Last = False
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    log_dirs: LogDirs = None
    replica_info_file: ReplicaInfoFiles = None
    gone: Gone = None
    end_transactions: Annotated[
        bool,
        typer.Option(
            "--end-transactions",
            help="End the hanging transactions whose outcome their coordinators know for certain.",
        ),
    ] = False
    reset_share_groups: Annotated[
        bool,
        typer.Option(
            "--reset-share-groups",
            help="Set the share groups that had read beyond the new log ends back to where the logs"
            " part. Stop their consumers first.",
        ),
    ] = False
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Look again every second until nothing is left three times in a row."
        ),
    ] = False
    watch_duration_ms: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="MS",
            help="How long --watch may take, in milliseconds; by default 600000.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    metrics_file: MetricsFile = None
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


_COMMANDS_SHOWN = 10
_WATCH_MS = 600_000
_WATCH_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """The partitions and disks to look at.

    cluster_id: the journal's cluster, None without a journal. disks: the replica info of brokers
    that are or were down. reader: reads their logs again. lost: what the journal's run found lost
    under leaders that it did not elect.
    """

    asked: Scope
    cluster_id: str | None = None
    disks: ReplicaInfo | None = None
    reader: DiskReader = field(default_factory=DiskReader)
    lost: Mapping[TopicPartition, str] = field(default_factory=dict)


def care(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    if options.last and options.journal is not None:
        raise usage("--journal and --last both name a journal: give one of them")
    if options.last:
        options = replace(options, journal=last_journal(console))
    chosen = _chosen(console, options)
    return run(
        console,
        options.bootstrap_server,
        options.command_config,
        lambda session: _care(session, options, chosen),
    )


def _connection(options: Options) -> list[str]:
    return connection_flags(options.bootstrap_server, options.command_config)


def _selection(options: Options) -> list[str]:
    """Return the given flags that choose partitions."""
    given = {
        "--journal": options.journal,
        "--topics": options.topics,
        "--path-to-json-file": options.path_to_json_file,
    }
    return [word for flag, v in given.items() if v is not None for word in (flag, str(v))]


def _chosen(console: Console, options: Options) -> Chosen:
    """Check the flags and read the files that they name. Raises Exit."""
    if options.watch_duration_ms is not None and not options.watch:
        raise usage("--watch-duration-ms goes with --watch")
    if options.journal is not None and options.path_to_json_file is not None:
        raise usage("--journal and --path-to-json-file exclude each other")
    selected = selection(options.topics, options.path_to_json_file)
    named = bool(_selection(options))
    chosen = Chosen(Scope(selected.includes, selected.partitions, may_lack=lambda _: named))
    if options.journal is not None:
        cluster_id, partitions, elections, lost = _read_journal(options.journal)
        may_lack = (partitions - lossless(elections)).__contains__
        asked = Scope(
            selected.includes,
            partitions | lost.keys(),
            partitions,
            may_lack,
            groups_given_up(elections),
            topic_ids(elections),
        )
        chosen = Chosen(asked, cluster_id, lost=lost)
    gone = broker_ids(options.gone, "--gone")
    chosen = replace(chosen, asked=replace(chosen.asked, gone=gone))
    sources = Sources(options.replica_info_file or (), options.log_dirs or ())
    if not sources.any:
        return chosen
    check_connection(options.bootstrap_server, options.command_config)
    return replace(chosen, disks=read_sources(console, sources, selected))


def _read_journal(
    path: Path,
) -> tuple[str, frozenset[TopicPartition], Sequence[Election], Mapping[TopicPartition, str]]:
    """Return (the journal's cluster, the partitions it elected, what it tells of their elections,
    what it tells to be lost otherwise). Raises Exit(2)."""
    text = read_input(path, "--journal", torn=True)
    try:
        # The run never acted on an incomplete last line.
        lines = parse(text[: text.rfind("\n") + 1], f"--journal {path}")
        clusters = {line["cluster_id"] for line in lines if line["event"] == "begin"}
        partitions, lost = elected(lines), lost_unasked(lines)
    except JournalError as error:
        raise usage(str(error)) from None
    except (KeyError, TypeError):
        raise usage(
            f"--journal {path}: the journal is not as it was written; leave it out"
        ) from None
    if len(clusters) != 1 or not (partitions or lost):
        raise usage(f"--journal {path}: it tells of no election; name another, or leave it out")
    return clusters.pop(), partitions, _elections(text, path), lost


def _elections(text: str, path: Path) -> Sequence[Election]:
    try:
        return read_post_mortem(text, str(path)).elections
    except InputError:
        return ()  # The journal does not say what was lost.


async def _care(session: Session, options: Options, chosen: Chosen) -> int:
    found = await _look(session, chosen)
    done = True
    if options.end_transactions and any(found.endable()):
        await _end_transactions(session, options, found)
        found = await _look(session, chosen)
    if options.reset_share_groups and any(found.share_groups()):
        done = await _reset_share_groups(session, options, found)
        found = await _look(session, chosen)
    over = found.over
    if options.watch:
        watched = _Watched(session.console, found)
        over = await _watch(session, options, chosen, watched)
        found = watched.last
    note(session.console, options.journal, lambda journal: note_aftercare(journal, found))
    width = columns_to_fit(options.format)
    text = render_json(found) if options.format.is_json else render_aftercare(found, width)
    print_text(session.console, text, options.format, list(_advice(options, found)))
    return OK if over and done else NOT_ALL


@dataclass(slots=True)
class _Watched:
    """The result of the last successful look, and the last sentence that was said about a look."""

    console: Console
    last: Aftercare
    said: str = ""

    def tell(self, found: Aftercare | Exception) -> None:
        if isinstance(found, Aftercare):
            self.last = found
        sentence = summary(found) if isinstance(found, Aftercare) else str(found)
        if sentence != self.said:
            self.console.say(sentence)
            self.said = sentence


async def _watch(session: Session, options: Options, chosen: Chosen, watched: _Watched) -> bool:
    """Look until the aftercare is over several times in a row, or the time is up. Return whether it
    is over; a signal ends the watch with False."""
    duration = options.watch_duration_ms or _WATCH_MS
    deadline = Deadline.after(duration / 1000)
    try:
        looking = watch(
            lambda: _look(session, chosen), watched.tell, deadline, _WATCH_PAUSE_SECONDS
        )
        over = await session.stop.unless(looking)
    except Interrupted:
        return False
    if not over:
        session.console.say(
            f"the aftercare was not over {IN_A_ROW} times in a row within {duration} ms"
        )
    return over


async def _look(session: Session, chosen: Chosen) -> Aftercare:
    """Look once, and update the metrics. Raises Exit(2) for the journal or the disks of another
    cluster."""
    found = await metrics_file.timed("look", session.stop.unless(_find(session, chosen)))
    metrics_file.found(aftercare_metrics(found))
    metrics_file.write_pass()
    return found


async def _find(session: Session, chosen: Chosen) -> Aftercare:
    found = await look(session.nodes, session.reader, chosen.asked, budgets.AFTERCARE.seconds)
    if chosen.cluster_id not in (None, found.cluster_id):
        raise usage(
            f"--journal is of cluster {chosen.cluster_id}, not of {found.cluster_id};"
            " name a journal of this cluster, or leave it out"
        )
    if chosen.disks is not None:
        check_cluster(chosen.disks, found.cluster_id)
    cluster, _ = await session.reader.cluster()
    source = ChosenSource(session.nodes, session.wishes)
    deadline = budgets.AFTERCARE.deadline()
    found = await with_returning(
        found, source, cluster.brokers, chosen.disks, chosen.reader, deadline
    )
    return with_lost(found, chosen.lost)


async def _end_transactions(session: Session, options: Options, found: Aftercare) -> None:
    """End the transactions whose ending is known. Raises JournalError before anything is done."""
    chosen = list(found.endable())
    leaders = await session.stop.unless(_leaders(session, found))
    with _journal(session, options, found) as journal:
        journal.write("markers", partitions=list(map(_marker_line, chosen)))
        done = await end_transactions(
            session.nodes,
            leaders,
            chosen,
            budgets.AFTERCARE.seconds,
            lambda: not session.stop.requested,
        )
        journal.note("marked", partitions=list(map(_marked_line, done)))
    for each in done:
        what = f"{_name(each.hanging)}: {each.hanging.verdict.ending}"
        session.console.say(f"{what}: {each.problem}" if each.problem else f"{what}: done")
    _say_noted(session, journal, "markers")


async def _reset_share_groups(session: Session, options: Options, found: Aftercare) -> bool:
    """Set back the share groups beyond the logs, and return whether all were. Raises JournalError
    before anything is done."""
    chosen = list(found.share_groups())
    states = {row.topic_partition: row.state for row in found.partitions}
    with_states = [(states[each.commit.topic_partition], each) for each in chosen]
    cluster, _ = await session.stop.unless(session.reader.cluster())
    with _journal(session, options, found) as journal:
        journal.write("resets", partitions=list(map(_reset_line, chosen)))
        seconds = budgets.AFTERCARE.seconds
        setting = SettingBack(session.nodes, session.reader, cluster.brokers, seconds)
        done = await setting.set_back(with_states, lambda: not session.stop.requested)
        rows = [_reset_line(each.found) | {"problem": each.problem} for each in done]
        journal.note("reset", partitions=rows)
    for each in done:
        commit = each.found.commit
        what = f"{commit.topic_partition}: share group {commit.group}"
        session.console.say(
            f"{what}: {each.problem}" if each.problem else f"{what}: set to {each.found.reset_to}"
        )
    _say_noted(session, journal, "resets")
    return len(done) == len(chosen) and all(each.problem is None for each in done)


@contextmanager
def _journal(session: Session, options: Options, found: Aftercare) -> Iterator[Journal]:
    """Open the journal of --journal, or a new one, and note that a run begins."""
    path = options.journal or new_path(own_state_directory(found.cluster_id))
    session.stop.leaves_a_journal()
    with Journal.open(path) as journal:
        command = f"{RECOVERY} aftercare"
        journal.note("begin", version=__version__, cluster_id=found.cluster_id, command=command)
        yield journal


def _say_noted(session: Session, journal: Journal, what: str) -> None:
    if journal.failure is not None:
        raise Exit(NOT_ALL, f"{journal.failure}: what became of the {what} is not in the journal")
    session.console.say(f"noted in {journal.path}")


def _reset_line(found: GroupBeyond) -> dict[str, object]:
    commit = found.commit
    return {
        "group": commit.group,
        "topic": commit.topic_partition.topic,
        "partition": commit.topic_partition.partition,
        "done_to": commit.share_done_to,
        "read_to": commit.offset,
        "set_to": found.reset_to,
    }


async def _leaders(session: Session, found: Aftercare) -> Mapping[TopicPartition, Broker]:
    cluster, _ = await session.reader.cluster()
    rows = {row.topic_partition: row.state.leader for row in found.partitions}
    return {tp: cluster.brokers[id_] for tp, id_ in rows.items() if id_ in cluster.brokers}


def _name(found: Hanging) -> str:
    here = found.transaction
    return f"{here.topic_partition}: transaction of producer id {here.producer_id}"


def _marker_line(found: Hanging) -> dict[str, object]:
    here = found.transaction
    return {
        "topic": here.topic_partition.topic,
        "partition": here.topic_partition.partition,
        "producer_id": here.producer_id,
        "producer_epoch": here.producer_epoch,
        "start_offset": here.start_offset,
        "transactional_id": None if found.told is None else found.told.transactional_id,
        "ending": str(found.verdict.ending),
    }


def _marked_line(done: Ended) -> dict[str, object]:
    here = done.hanging.transaction
    return {
        "topic": here.topic_partition.topic,
        "partition": here.topic_partition.partition,
        "producer_id": here.producer_id,
        "problem": done.problem,
    }


def _advice(options: Options, found: Aftercare) -> Iterator[str]:
    moving = [row.topic_partition for row in found.partitions if row.state.reassigning]
    if moving:
        yield (
            f"{count_text(len(moving), 'partition')}, the first {moving[0]}, is being reassigned:"
            " it is over once that has ended, or was cancelled"
        )
    yield from _transactions_advice(options, found)
    yield from _groups_advice(options, found)
    yield from producers_advice(found.partitions)
    yield from advice(each for row in found.partitions for each in row.returning)
    yield from gone_disks.advice(found.gone)
    yield from refused_advice(found.partitions)


def _transactions_advice(options: Options, found: Aftercare) -> Iterator[str]:
    if any(found.hanging()):
        yield (
            "keep the producers of hanging transactions stopped until these are ended: the next"
            " transaction of a producer ends the hanging one with its own result"
        )
    if any(row.hanging for row in found.partitions if row.leaderless):
        yield (
            "transactions of partitions without a leader hang once their replica leads: elect it,"
            " then end them"
        )
    if any(found.endable()):
        if options.journal is None and any(e.verdict.witness is None for e in found.endable()):
            yield (
                "without --journal it is not known whether the coordinators' own log,"
                " __transaction_state, was elected uncleanly: then these endings may be wrong"
            )
        command = _own_command(options, "--end-transactions")
        yield f"this command ends the transactions whose ending is known: {command}"
    unsure = sum(not each.verdict.sure for each in found.hanging())
    if unsure:
        yield (
            f"{count_text(unsure, 'hanging transaction')} of unknown ending: none is ended here;"
            " kafka-transactions.sh abort hides the records, committed or not"
        )
    if unread := _unread_disks(found):
        yield (
            f"disks that nobody has read, of broker {ids_text(unread)}, may hold the ends of"
            " transactions of unknown ending: give them with --log-dirs"
        )


def _groups_advice(options: Options, found: Aftercare) -> Iterator[str]:
    beyond = [each for each in found.groups() if each.commit.share_done_to is None]
    if beyond:
        yield "before writers and these groups go on, set the groups to where the log parts:"
        yield from (_reset(options, each) for each in islice(beyond, _COMMANDS_SHOWN))
        if len(beyond) > _COMMANDS_SHOWN:
            yield f"and {len(beyond) - _COMMANDS_SHOWN} more, which --format json lists"
    if any(found.share_groups()):
        command = _own_command(options, "--reset-share-groups")
        yield (
            "before writers go on, stop the consumers of the share groups that are beyond the end,"
            f" and set these groups to where the log parts: {command}"
        )


def _unread_disks(found: Aftercare) -> Sequence[int]:
    """Return the brokers whose disks may know how transactions of unknown ending ended."""
    unsure = (r for r in found.partitions if any(not h.verdict.sure for h in r.hanging))
    return sorted({each.broker for r in unsure for each in r.returning if not each.directory})


def _own_command(options: Options, flag: str) -> str:
    disks = Sources(options.replica_info_file or (), options.log_dirs or ()).flags()
    words = [RECOVERY, "aftercare", *_connection(options), *_selection(options), *disks]
    words += [] if options.gone is None else ["--gone", options.gone]
    return shell_join([*words, flag])


def _reset(options: Options, found: GroupBeyond) -> str:
    where = found.commit.topic_partition
    which = ["--group", found.commit.group, "--topic", f"{where.topic}:{where.partition}"]
    how = ["--reset-offsets", "--to-offset", str(found.reset_to), "--execute"]
    return shell_join(["kafka-consumer-groups.sh", *_connection(options), *which, *how])


COMMAND = Command(Options, care)
