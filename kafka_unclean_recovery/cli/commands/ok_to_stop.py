"""kafka-unclean-recovery ok-to-stop tells whether brokers may be stopped."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli import metrics_file
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import CommandConfig, Format, MetricsFile, OutputFormat
from kafka_unclean_recovery.cli.selection import broker_ids
from kafka_unclean_recovery.cli.session import Session, run
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import (
    Console,
    Pulse,
    check_output,
    clocked,
    read_input,
)
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import print_text
from kafka_unclean_recovery.cli.terminal.output_files import write_new
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.documents.observation import ObservationJson, read_observation
from kafka_unclean_recovery.documents.ok_to_stop import BackAfterStopJson, OkToStopJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.errors import CANNOT_TELL, NOT_ALL, OK, usage
from kafka_unclean_recovery.ok_to_stop.answer import Question, answer, back, largest_set
from kafka_unclean_recovery.ok_to_stop.looking import Look
from kafka_unclean_recovery.ok_to_stop.text import answer_metrics, render_answer, render_back
from kafka_unclean_recovery.survey.any_broker import FAILURES, will_not_pass
from kafka_unclean_recovery.transport.choosing import ChosenSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Tell what stopping brokers together would do to their partitions, and change nothing.

    The rules of Kafka's controller are applied to the cluster as it is now, for a controlled stop
    and for a kill. The answer is yes (exit code 0), no (1), or unknown (4) where something that
    decides it can't be read. It is true for the moment of the look only.
    """

    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT[,...]",
            help="Brokers to contact first, to find the others; required without --what-if.",
        ),
    ] = None
    command_config: CommandConfig = None
    brokers: Annotated[
        str | None,
        typer.Option(metavar="ID[,...]", help="Brokers that would be stopped together."),
    ] = None
    rack: Annotated[
        str | None,
        typer.Option(metavar="RACK", help="All brokers of this broker.rack."),
    ] = None
    controllers: Annotated[
        str | None,
        typer.Option(
            metavar="ID[,...]",
            help="Controllers that would be stopped too; a node that is both counts in --brokers.",
        ),
    ] = None
    margin: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="How many more failures each partition must stand before writes are blocked.",
        ),
    ] = 0
    max: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Also show how far the brokers can be joined by others of their rack, one at a"
            " time, up to N in all; with --rack, it begins with none. By default this is not"
            " tried.",
        ),
    ] = None
    wait_ms: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="MS",
            help="Look again until the answer is yes, for at most this time, in milliseconds. By"
            " default there is one look.",
        ),
    ] = None
    after: Annotated[
        bool,
        typer.Option(
            "--after",
            help="After the start: show which of the brokers' replicas are not back in the ISR.",
        ),
    ] = False
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE",
            help="Write what was seen of the cluster to this new file, for --what-if.",
        ),
    ] = None
    what_if: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Answer from a file that --save wrote, and contact no cluster.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    metrics_file: MetricsFile = None
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


_LOOK_AGAIN_SECONDS = 1.0
_EXITS = {"yes": OK, "no": NOT_ALL, "unknown": CANNOT_TELL}

Found = OkToStopJson | BackAfterStopJson


@dataclass(frozen=True, slots=True)
class _Asked:
    """Whom the flags name. controllers: see --controllers."""

    brokers: frozenset[int]
    controllers: frozenset[int]


def may_stop(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    asked = _checked(options)
    if options.what_if is not None:
        seen = read_observation(read_input(options.what_if, "--what-if"), str(options.what_if))
        return _told(console, options, _found(options, asked, seen))
    assert options.bootstrap_server is not None
    return run(
        console,
        options.bootstrap_server,
        options.command_config,
        lambda session: _ask(session, options, asked),
    )


def _checked(options: Options) -> _Asked:
    """Check the flags. Raises Exit(2)."""
    asked = _Asked(
        broker_ids(options.brokers, "--brokers"), broker_ids(options.controllers, "--controllers")
    )
    if options.bootstrap_server is None and options.what_if is None:
        raise usage("give --bootstrap-server, or --what-if with a file that --save wrote")
    if options.brokers is not None and options.rack is not None:
        raise usage("--brokers and --rack exclude each other")
    if options.brokers is None and options.rack is None and not asked.controllers:
        raise usage("give --brokers, --rack or --controllers: whom do you want to stop?")
    for flag, given in _only_live(options):
        if given and options.what_if is not None:
            raise usage(f"{flag} does not go with --what-if, which contacts no cluster")
    for flag, given in _only_before(options, asked):
        if given and options.after:
            raise usage(f"{flag} does not go with --after")
    check_output(options.save, "--save")
    return asked


def _only_live(options: Options) -> list[tuple[str, bool]]:
    return [("--wait-ms", options.wait_ms is not None), ("--save", options.save is not None)]


def _only_before(options: Options, asked: _Asked) -> list[tuple[str, bool]]:
    return [
        ("--max", options.max is not None),
        ("--margin", options.margin > 0),
        ("--controllers", bool(asked.controllers)),
    ]


async def _ask(session: Session, options: Options, asked: _Asked) -> int:
    await session.cluster()
    deadline = Deadline.after((options.wait_ms or 0) / 1000)
    progress = clocked(Pulse(session.console))
    while True:
        last = deadline.remaining() <= _LOOK_AGAIN_SECONDS
        try:
            seen = await _look(session)
        except FAILURES as error:
            if last or will_not_pass(error):
                return _not_looked(session, error)
            short = str(error)
        else:
            found = _found(options, asked, seen)
            if last or found.verdict == "yes":
                break
            short = _short(found)
        progress(f"not yet: {short}; {deadline.remaining():.0f} s left")
        await session.stop.unless(asyncio.sleep(_LOOK_AGAIN_SECONDS))
    if options.save is not None:
        write_new(options.save, json_line(seen), "--save")
    return _told(session.console, options, found)


async def _look(session: Session) -> ObservationJson:
    source = ChosenSource(session.nodes, session.wishes)
    looking = Look(session.nodes, session.reader, source=source).observation(_now)
    return await metrics_file.timed("look", session.stop.unless(looking))


def _not_looked(session: Session, error: Exception) -> int:
    """Say why there is no answer. An error is no no: that is exit code 1. Raises what says that
    nobody could be reached."""
    if not isinstance(error, RequestFailed):
        raise error
    session.console.say(f"the cluster can't be looked at: {error}")
    return CANNOT_TELL


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _short(found: Found) -> str:
    if isinstance(found, BackAfterStopJson):
        return (
            f"{len(found.missing)} replicas are not in the ISR, {len(found.down)} brokers are down"
        )
    counts = ", ".join(f"{number} {name}" for name, number in found.stop.counts.items())
    return f"{found.verdict}{counts and f' ({counts})'}"


def _found(options: Options, asked: _Asked, seen: ObservationJson) -> Found:
    """Return the answer to the flags. Raises Exit(2) for whom the cluster does not have."""
    brokers = _brokers(options, asked, seen)
    if options.after:
        return back(seen, brokers)
    question = Question(brokers, asked.controllers, options.margin)
    if options.max is None:
        return answer(seen, question)
    racks = {b.rack for b in seen.brokers if b.id in brokers}
    if len(racks) > 1:
        raise usage("--max goes with brokers of one rack")
    begin = Question(asked.brokers, asked.controllers, options.margin)
    rack = racks.pop() if racks else None
    return answer(seen, question, largest_set(seen, begin, rack, options.max))


def _brokers(options: Options, asked: _Asked, seen: ObservationJson) -> frozenset[int]:
    if options.rack is not None:
        found = frozenset(b.id for b in seen.brokers if b.rack == options.rack)
        if not found:
            racks = ", ".join(sorted({b.rack for b in seen.brokers if b.rack})) or "none is set"
            raise usage(f"--rack {options.rack}: no broker is in it; the racks are: {racks}")
        return found
    known = {b.id for b in seen.brokers} | {
        id_ for topic in seen.topics for p in topic.partitions for id_ in p.replicas
    }
    strangers = sorted(asked.brokers - known)
    if strangers:
        ids = ",".join(map(str, sorted(known)))
        raise usage(f"--brokers {strangers[0]}: the cluster has no such broker; it has {ids}")
    voters = {voter.id for voter in seen.voters} if seen.voters is not None else asked.controllers
    for stranger in sorted(asked.controllers - voters):
        raise usage(f"--controllers {stranger}: is no voter; the voters are {sorted(voters)}")
    return asked.brokers


def _told(console: Console, options: Options, found: Found) -> int:
    if isinstance(found, OkToStopJson):
        metrics_file.found(answer_metrics(found))
        text = render_answer(found)
    else:
        text = render_back(found)
    print_text(console, json_line(found) if options.format.is_json else text, options.format)
    return _EXITS[found.verdict]


COMMAND = Command(Options, may_stop, "kafka-unclean-recovery ok-to-stop")
