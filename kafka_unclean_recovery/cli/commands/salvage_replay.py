"""kafka-unclean-recovery salvage replay produces the records that salvage saved to a topic."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.connecting import connection_flags
from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    CommandConfig,
    Format,
    IncidentJournal,
    OutputFormat,
    PartitionsFile,
    Topics,
)
from kafka_unclean_recovery.cli.incident import check_cluster, note, read_incident
from kafka_unclean_recovery.cli.selection import Selection, selection
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, check_outside_log_directories
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import (
    columns_to_fit,
    count_and_first,
    print_text,
    window_above,
)
from kafka_unclean_recovery.cli.terminal.scan_watch import Signals
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.wire.bootstrap import Address, connect_any, parse_bootstrap
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.errors import NOT_ALL, OK, UNREACHABLE, Exit, usage
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.kafka_names import INTERNAL_TOPICS
from kafka_unclean_recovery.salvage.replay.checkpoint import open_checkpoint, read_checkpoint
from kafka_unclean_recovery.salvage.replay.client_settings import load_settings
from kafka_unclean_recovery.salvage.replay.producing import Client, NotReached, ProducingFailed
from kafka_unclean_recovery.salvage.replay.replay_partition import Known, Work, replay
from kafka_unclean_recovery.salvage.replay.replay_table import refusals, render_json, render_replay
from kafka_unclean_recovery.salvage.replay.saved import Salvage, read_saved
from kafka_unclean_recovery.salvage.replay.target import target_name
from kafka_unclean_recovery.shown import shell_join

TARGET = "{topic}.salvaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Produce the records that salvage saved to another topic than the one that lost them.

    Without --execute nothing is produced: the command only shows what it would produce, and what
    the target topics would alter or refuse. Each record keeps its partition, key, headers and time,
    and gets further headers that say where it was. When the command is run again, it continues
    where it ended, and adds no record that is already there.
    """

    saved: Annotated[Path, typer.Argument(metavar="SAVED", help="Directory that salvage wrote.")]
    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    topics: Topics = None
    path_to_json_file: PartitionsFile = None
    target: Annotated[
        str,
        typer.Option(
            metavar="TEMPLATE",
            help="Name of the target topic; {topic} stands for the topic that the records were in.",
        ),
    ] = TARGET
    include_open: Annotated[
        bool,
        typer.Option(
            "--include-open",
            help="Also produce records of transactions whose end is not among the saved records.",
        ),
    ] = False
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File that notes what has been produced; by default SAVED.replay-checkpoint.",
        ),
    ] = None
    journal: IncidentJournal = None
    execute: Annotated[
        bool,
        typer.Option(
            "--execute", help="Produce the records; by default the command only shows them."
        ),
    ] = False
    format: OutputFormat = Format.TABLE
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


_ASK = "no marker here says how it ended: find that out, or give --include-open"
_CONNECTING_SECONDS = 15.0
# Each may be a command of several lines, and most of the window is for the table.
_LINES_A_REFUSAL = 12


def produce(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    try:
        return _run(console, options)
    except (NoBrokerReachable, ConnectionFailed, NotReached) as error:
        raise Exit(UNREACHABLE, str(error)) from None
    except (ProducingFailed, OSError) as error:
        again = "what was produced is known: run it again, which goes on there"
        raise Exit(NOT_ALL, f"{error}; {again}") from None


def _run(console: Console, options: Options) -> int:
    """Look at the saved records, and produce them with --execute.

    Raises Exit(2), Exit(128 plus a signal's number), and the exceptions that `produce` handles.
    """
    chosen = selection(options.topics, options.path_to_json_file)
    saved = read_saved(options.saved, chosen.includes)
    if chosen.everything:
        saved = _without_kafkas_own(console, saved)
    known = _checkpoint(options, saved)
    if options.journal is not None:
        check_cluster(read_incident(options.journal), saved.cluster_id, f"{options.saved} is")
    with _stoppable(console) as going_on:
        client = connected_client(console, options.bootstrap_server, options.command_config)
        works = _works(client, options, saved)
        for work in works:
            console.progress(f"looking at {work.saved.topic_partition}")
            work.look(known, time.time_ns() // 1_000_000, going_on)
        connection = connection_flags(options.bootstrap_server, options.command_config)
        refused = refusals(works, connection)
        produces = options.execute and not refused
        if produces:
            ended = False
            try:
                _produce(console, options, client, works, saved.digest, going_on)
                ended = True
            finally:
                whole = ended and chosen.everything
                note(console, options.journal, partial(_note, options.saved, works, whole))
    is_json = options.format.is_json
    if is_json:
        text = render_json(works, produces, refused)
    else:
        text = render_replay(works, produces, columns_to_fit(options.format))
    others = list(_complaints(saved, works, chosen))
    below = [*_first_refusals(console, refused, options.format), *others]
    if not produces:
        below.append("nothing was produced")
        if works and not options.execute:
            below.append(f"next, to produce them: {_executing(options)}")
    print_text(console, text, options.format, below)
    return NOT_ALL if refused or others else OK


def _first_refusals(console: Console, refused: Sequence[str], how: Format) -> Iterator[str]:
    """Yield the refusals; in the window of a terminal the first ones, and how many there are."""
    window = window_above(console, how, ())
    most = len(refused) if window is None else max(1, window.lines // _LINES_A_REFUSAL)
    yield from refused[:most]
    if len(refused) > most:
        yield f"{len(refused) - most} more of these, each with what to do: --format wide"


def _executing(options: Options) -> str:
    """Return this command line with --execute."""
    connection = connection_flags(options.bootstrap_server, options.command_config)
    given: dict[str, object] = {
        "--topics": options.topics,
        "--path-to-json-file": options.path_to_json_file,
        "--target": None if options.target == TARGET else options.target,
        "--checkpoint": options.checkpoint,
        "--journal": options.journal,
    }
    flags = [word for flag, v in given.items() if v is not None for word in (flag, str(v))]
    opened = ["--include-open"] if options.include_open else []
    words = [RECOVERY, "salvage", "replay", str(options.saved), *connection, *flags, *opened]
    return shell_join([*words, "--execute"])


def _note(saved: Path, works: Sequence[Work], whole: bool, journal: Journal) -> None:
    rows = [
        {
            **work.saved.topic_partition._asdict(),
            "target": work.target_topic,
            "produced": work.produced + work.there,
        }
        for work in works
        if work.produced + work.there
    ]
    journal.note("replayed", directory=str(saved.absolute()), partitions=rows, whole=whole)


def _without_kafkas_own(console: Console, saved: Salvage) -> Salvage:
    """Leave out Kafka's internal topics: committed offsets and transaction states have no meaning
    in another topic."""
    own = {part.topic_partition.topic for part in saved.partitions} & set(INTERNAL_TOPICS)
    if own:
        console.say(f"left out: {', '.join(sorted(own))}, Kafka's own; --topics asks for them")
    kept = tuple(part for part in saved.partitions if part.topic_partition.topic not in own)
    return replace(saved, partitions=kept)


def _checkpoint(options: Options, saved: Salvage) -> Known:
    """Read what was produced before. Raises Exit(2), InputError."""
    path = _checkpoint_file(options)
    if not path.parent.is_dir():
        raise usage(f"--checkpoint {path}: {path.parent} is no directory; make it first")
    check_outside_log_directories(path, "--checkpoint")
    return read_checkpoint(path, saved.digest)


def _checkpoint_file(options: Options) -> Path:
    if options.checkpoint is not None:
        return options.checkpoint
    saved = options.saved.resolve()
    return saved.with_name(f"{saved.name}.replay-checkpoint")


def connected_client(console: Console, servers: str, command_config: Path | None) -> Client:
    """Return the client, after a test connection of our own, whose errors say more than those of
    librdkafka. Raises ConfigError, NoBrokerReachable."""
    addresses = parse_bootstrap(servers)
    path = None if command_config is None else str(command_config)
    settings, config = load_settings(servers, path)
    if config.not_honoured:
        console.say(f"{path}: no effect here: {', '.join(config.not_honoured)}")
    for warning in config.warnings:
        console.say(f"{path}: {warning}")
    asyncio.run(_try_connection(addresses, config))
    return Client(settings)


async def _try_connection(addresses: Sequence[Address], config: ClientConfig) -> None:
    connection = await connect_any(addresses, config, Deadline.after(_CONNECTING_SECONDS))
    await connection.close()


def _works(client: Client, options: Options, saved: Salvage) -> list[Work]:
    """Return the work for each saved partition. Raises InputError, NotReached, ProducingFailed."""
    names = [target_name(options.target, part.topic_partition.topic) for part in saved.partitions]
    targets = client.describe(names)
    return [
        Work(saved.cluster_id, partition, name, targets.get(name), options.include_open)
        for partition, name in zip(saved.partitions, names, strict=True)
    ]


def _produce(
    console: Console,
    options: Options,
    client: Client,
    works: Sequence[Work],
    digest: str,
    going_on: Callable[[], None],
) -> None:
    """Produce all partitions. Raises Exit(128 plus a signal's number), ProducingFailed, InputError,
    OSError."""
    producer = client.producer(work.target for work in works if work.target is not None)
    with open_checkpoint(_checkpoint_file(options), digest) as checkpoint:
        for done, work in enumerate(works):
            console.progress(f"{done} of {len(works)} partitions, {work.saved.topic_partition}")
            replay(work, client, producer, checkpoint, going_on)


@contextmanager
def _stoppable(console: Console) -> Iterator[Callable[[], None]]:
    """Give a function that raises Exit(128 plus the signal's number) after a signal; a second
    signal ends the process."""
    again = "run it again, which goes on from there"
    first = "stopping: what was sent is awaited (a second signal stops at once)"
    signals = Signals(console, first, f"stopped at once; {again}")

    def going_on() -> None:
        signals.tell()
        if signals.exit_code is not None:
            raise Exit(signals.exit_code, f"interrupted: {again}")

    with signals.taken():
        yield going_on


def _complaints(saved: Salvage, works: Sequence[Work], chosen: Selection) -> Iterator[str]:
    yield from count_and_first(
        "doubt about what was saved", "doubts about what was saved", saved.problems
    )
    missing = sorted(chosen.named - {work.saved.topic_partition for work in works})
    yield from count_and_first(
        "partition is not in it", "partitions are not in it", [str(each) for each in missing]
    )
    if not works:
        yield "nothing of these topics was saved; see --topics"
    skipped = sum(work.counts.open for work in works)
    if skipped == 1:
        yield f"1 record of an open transaction was left out; {_ASK}"
    elif skipped:
        yield f"{skipped} records of open transactions were left out; {_ASK}"


COMMAND = Command(Options, produce)
